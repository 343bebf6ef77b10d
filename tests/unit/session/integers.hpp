// SPDX-License-Identifier: BSL-1.0
// What each type of integers is asked on the CPU: integers_8.cpp to integers_64.cpp.
#pragma once

#include "../catch.hpp"

#include <conformance/integers.hpp>

/// All operations, over random arrays that several threads share out.
template <class T>
void check_integers() {
  using namespace onto;
  session sess{{.cpu_threads = 3}};
  integers::conformance<T, cpu<0>> c{sess, 67, 1031};
  c.elementwise(integers::arithmetic{});
  c.elementwise(integers::comparisons{});
  c.elementwise(integers::casts{});
  c.reduce(integers::reductions{});
  c.template cast_from<float>();
  c.template cast_from<double>();
  c.template cast_from<onto::half>();
  const integers::table& numpy = c.numpy;
  integers::is_row(sess.run(integers::a<T> * 3 + 5, integers::a<T> = integers::array<T>(numpy, "a")), numpy, "scalar");
  integers::is_row(sess.run(iota<T, 20>()), numpy, "iota");
  if constexpr (sizeof(T) >= 4)
    integers::is_row(
        sess.run(matmul(integers::a<T>, transpose(integers::b<T>)), integers::a<T> = integers::array<T>(numpy, "a"),
                 integers::b<T> = integers::array<T>(numpy, "b")),
        numpy, "matmul");
}
