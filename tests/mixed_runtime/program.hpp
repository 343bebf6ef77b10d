// SPDX-License-Identifier: BSL-1.0
// A program of two files, of which one uses the compiled runtime and one is header-only.
#pragma once

#include <onto/onto.hpp>

namespace mixed_runtime {

using namespace onto;

inline constexpr auto x = placeholder<"x", float, dyn, 3>;
inline constexpr auto w = variable<"w", float, 3>;

/// The same expressions in each file: adds 2 to the sum of `w`. *Returns* whether that and a product are what they are.
[[maybe_unused]] static bool add_two(session& sess, float before) {
  const tensor<float, dyn, 3> data{{1, 2, 3}, {4, 5, 6}};
  const auto products = static_cast<float>(sess.run(sum(matmul(x, transpose(x))), x = data));
  const auto after = static_cast<float>(sess.run(sum(assign_add(w, sum<0>(softmax(x)))), x = data));
  return products == 155 && after > before + 1.99f && after < before + 2.01f;
}

bool in_header_only_file(session& sess, float before);
/// A session made here.
session& compiled_session();

}  // namespace mixed_runtime
