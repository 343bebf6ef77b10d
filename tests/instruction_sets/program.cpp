// SPDX-License-Identifier: BSL-1.0
// Prints sums of what kernels of every kind give, one a line: those of another build and of other instruction sets are
// the same but for rounding. ONTO_PART names the function, so that a program can be made of two of this file.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, dyn, dyn>;
constexpr auto y = placeholder<"y", float, dyn, dyn>;
constexpr auto z = placeholder<"z", double, dyn, dyn>;
constexpr auto n = placeholder<"n", std::int32_t, dyn, dyn>;

template <class T>
void print(const char* what, const T& t) {
  double sum = 0;
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(t.size()); ++k)
    sum += static_cast<double>(t.data()[k]) * static_cast<double>(1 + (k * 7919) % 13);
  std::printf("%s %.9g\n", what, sum);
}

}  // namespace

void ONTO_PART() {
  session s{{.cpu_threads = 1}};
  for (const int rows : {3, 64})
    for (const int columns : {1, 16, 33, 200}) {
      tensor<float, dyn, dyn> a({rows, columns}), b({columns, rows});
      tensor<double, dyn, dyn> d({rows, columns});
      tensor<std::int32_t, dyn, dyn> i({rows, columns});
      for (int k = 0; k < rows * columns; ++k) {
        a.data()[k] = std::sin(static_cast<float>(k) * 0.37f) * 3;
        b.data()[k] = std::cos(static_cast<float>(k) * 0.11f);
        d.data()[k] = std::sin(k * 0.37) * 4;
        i.data()[k] = (k * 7919) % 101 - 50;
      }
      std::printf("extents %d\n", rows * 1000 + columns);
      print("functions", s.run(exp(x) * tanh(x) + sin(x) - erf(x) / (abs(x) + 1.f) + log1p(abs(x)), x = a));
      print("double", s.run(exp(z) * tanh(z) + sin(z) + log(abs(z) + 1e-3) + expm1(z) * atan(z), z = d));
      print("masks", s.run(where(x > 0.5f && x < 2.f, sqrt(abs(x)), 1.5f - x), x = a));
      print("transposed", s.run(x + transpose(y), x = a, y = b));
      print("every_other", s.run(slice<range<>, range<0, to_end, 2>>(x) * 2.f, x = a));
      print("rows", s.run(sum<1>(square(x)), x = a));
      print("columns", s.run(mean<0>(z), z = d));
      print("all", s.run(max(x * 2.f), x = a));
      print("place", s.run(argmax<1>(x), x = a));
      print("softmax", s.run(softmax(x), x = a));
      print("softmax_columns", s.run(softmax<0>(x), x = a));
      print("product", s.run(matmul(x, y), x = a, y = b));
      print("integers", s.run(max<0>(n * 3 - abs(n)), n = i));
    }
}

#if !defined(ONTO_OTHER_PART)
#define ONTO_OTHER_PART ONTO_PART
constexpr bool two_parts = false;
#else
constexpr bool two_parts = true;
#endif
#if !defined(ONTO_NO_MAIN)
void ONTO_OTHER_PART();
int main() {
  try {
    ONTO_PART();
    if (two_parts) ONTO_OTHER_PART();
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
#endif
