// SPDX-License-Identifier: BSL-1.0
// The step of digits.hpp as a row.
#include "digits.hpp"

#include "rows.hpp"

beside::row training::digits(int threads) {
  using namespace digits_network;
  tensor<std::uint8_t, 32, 8, 8> images;
  for (std::size_t k = 0; k < images.size(); ++k)
    images.data()[k] = static_cast<std::uint8_t>(8.5f + beside::number(k, 1, 16));
  return row_of(
      threads, step, plan_of<world<cpu<0>>>(step).peak_bytes(cpu<0>{}),
      [images, Y = labels<32>()](auto& learn) { return learn(x = images, y = Y); }, set<3, 3, 1, 16>(filter1, 2, 1.6),
      set<3, 3, 16, 32>(filter2, 3, 0.4), set<512, 64>(weights3, 4, 0.2), set<64, 10>(weights4, 5, 0.5));
}
