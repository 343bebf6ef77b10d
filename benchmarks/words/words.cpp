// SPDX-License-Identifier: BSL-1.0
// How long words of an array library take on one thread: a line for each, its text and nanoseconds an element of the
// operand, the least of several runs. measure.py puts NumPy beside it.
#include <onto/sort.hpp>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <numeric>
#include <vector>

using namespace onto;

namespace {

constexpr int size = 1 << 20, rows = 1 << 10;

constexpr auto v = placeholder<"v", float, size>;
constexpr auto d = placeholder<"d", double, size>;
constexpr auto n = placeholder<"n", int, size>;
constexpr auto m = placeholder<"m", float, rows, rows>;

/// Seconds for which the processor worked for this program, not for others.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// The time of `f`, the least of what half a second allows.
template <class F>
double nanoseconds_an_element(F f) {
  double least = 1e30;
  const double begin = processor_seconds();
  for (int k = 0; k < 3 || processor_seconds() - begin < 0.5; ++k) {
    const double start = processor_seconds();
    f();
    least = std::min(least, processor_seconds() - start);
  }
  return least / size * 1e9;
}

void show(const char* word, double time) { std::cout << word << '\t' << time << '\n'; }

template <class T, class Less>
void show_standard(const char* word, const std::vector<T>& values, Less less) {
  std::vector<T> copy;
  show(word, nanoseconds_an_element([&] {
         copy = values;
         std::sort(copy.begin(), copy.end(), less);
       }));
}

}  // namespace

int main() {
  tensor<float, size> V;
  tensor<float, rows, rows> M;
  tensor<double, size> D;
  tensor<int, size> N;
  std::uint64_t seed = 1;
  for (int k = 0; k < size; ++k) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    V(k) = static_cast<float>(seed >> 40) * 0x1p-24f;
    D(k) = static_cast<double>(seed >> 11) * 0x1p-53;
    N(k) = static_cast<int>(seed >> 54);  // 0 to 1023
  }
  std::copy(V.begin(), V.end(), M.begin());
  session sess{{.cpu_threads = 1}};

#define WORD(feed, data, ...)                                               \
  {                                                                         \
    auto step = sess.prepare(__VA_ARGS__);                                  \
    show(#__VA_ARGS__, nanoseconds_an_element([&] { step(feed = data); })); \
  }
  WORD(v, V, sort(v));
  WORD(d, D, sort(d));
  WORD(n, N, sort(n));
  WORD(m, M, sort(m));
  WORD(m, M, sort<0>(m));
  WORD(v, V, argsort(v));
  WORD(d, D, argsort(d));
  WORD(m, M, argsort(m));
  WORD(v, V, top_k<10>(v).values);
  WORD(m, M, top_k<10>(m).values);
  WORD(n, N, unique<1024>(n).counts);
  WORD(v, V, cumsum(v));
  WORD(m, M, cumsum<0>(m));
  {
    auto step = sess.prepare(take(v, n));
    show("take(v, n)", nanoseconds_an_element([&] { step(v = V, n = N); }));
  }
  WORD(n, N, bincount<1024>(n));
  WORD(v, V, histogram<100>(v, 0, 1));
  WORD(m, M, flip<1>(m) + m);
  WORD(m, M, roll<1, 0>(m));
  WORD(m, M, roll<1, 1>(m));
  WORD(m, M, argmax<1>(m));
  WORD(m, M, tile<1, 2>(slice<range<>, range<0, 512>>(m)));
  WORD(m, M, pad<padding<1>, padding<1>>(m));
  WORD(m, M, clip(m, 0.25, 0.75));
  WORD(m, M, var<1>(m));
  WORD(m, M, logsumexp<1>(m));

  show_standard("std::sort of float", std::vector<float>(V.begin(), V.end()), std::less<>{});
  show_standard("std::sort of double", std::vector<double>(D.begin(), D.end()), std::less<>{});
  std::vector<int> numbers(size);
  std::iota(numbers.begin(), numbers.end(), 0);
  show_standard("std::sort of numbers by float", numbers, [&](int a, int b) { return V(a) < V(b); });
}
