// SPDX-License-Identifier: BSL-1.0
// The network of examples/cifar10, a batch of 128, with plain descent. Nothing is placed: with a GPU the parameters are
// there, as the other libraries have them.
#include "../../examples/cifar10/model.hpp"

#include "rows.hpp"

using namespace onto;

namespace {

constexpr auto as_placed_by_default = [](const auto& w) { return w; };
constexpr auto decay(const auto& w) { return sum(square(w)) * 0.002_c; }
constexpr auto loss = softmax_cross_entropy(cifar10::scores(cifar10::x, as_placed_by_default), cifar10::y) +
                      decay(cifar10::parameters::local3) + decay(cifar10::parameters::local4);
constexpr auto step = minimize<sgd{.rate = 0.01}>(loss);

}  // namespace

beside::row training::cifar10(int threads) {
  namespace p = ::cifar10::parameters;
  return row_of(
      threads, step, plan_of<world<cpu<0>>>(step).peak_bytes(cpu<0>{}),
      [X = numbers<128, 24, 24, 3>(1, 3.4), Y = labels<128>()](auto& learn) {
        return learn(::cifar10::x = X, ::cifar10::y = Y);
      },
      set<5, 5, 3, 64>(p::conv1, 2, 0.17), set<5, 5, 64, 64>(p::conv2, 3, 0.17), set<2304, 384>(p::local3, 4, 0.14),
      set<384, 192>(p::local4, 5, 0.14), set<192, 10>(p::softmax, 6, 0.018));
}
