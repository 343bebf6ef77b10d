// SPDX-License-Identifier: BSL-1.0
// How the kernels of the GPU benchmarks' rows go through memory, counted on an emulated GPU: a line of JSON for each
// kernel of each row, and one for the runtime calls of a replayed run. benchmarks/gpu/access.py makes a table of it.
#include <onto/indexing.hpp>
#include <onto/sort.hpp>

#include "access.hpp"

namespace {

using namespace onto;
using access_counts::machine;

constexpr auto a = placeholder<"a", float, dyn, dyn>;
constexpr auto b = placeholder<"b", float, dyn, dyn>;
constexpr auto cube = placeholder<"cube", float, dyn, dyn, dyn>;
constexpr auto across = placeholder<"across", float, dyn>;
constexpr auto down = placeholder<"down", float, dyn, 1>;
constexpr auto numbers = placeholder<"numbers", std::int64_t, dyn>;
constexpr auto h = placeholder<"h", onto::half, dyn, dyn>;
constexpr auto k = placeholder<"k", onto::half, dyn, dyn>;

using matrix = tensor<float, dyn, dyn>;

template <class T, class... Extents>
auto filled(Extents... extents) {
  tensor<T, (static_cast<void>(extents), dyn)...> t({extents...});
  unsigned x = 1;
  for (T& v : t) {
    x = x * 1664525u + 1013904223u;
    v = static_cast<T>(static_cast<float>(x >> 8) / 16777216.0f - 0.5f);
  }
  return t;
}

/// Runs `e` with its accesses counted. `needed` is the bytes of what it reads and writes, once.
template <class E, class... Feeds>
void row(const std::string& name, const std::string& shape, double needed, const E& e, const Feeds&... feeds) {
  session& sess = machine();
  cuda_emulation::count_accesses(true);
  (void)sess.run(on<gpu<0>>(e), feeds...);
  access_counts::print(name, shape, needed);
}

std::string by(int rows, int columns) { return std::to_string(rows) + "x" + std::to_string(columns); }

void maps(int n) {
  const matrix x = filled<float>(n, n), y = filled<float>(n, n);
  const auto r = filled<float>(n);
  tensor<float, dyn, 1> c({n, 1});
  const double one = 4.0 * n * n;
  const std::string shape = by(n, n);
  row("exp", shape, 2 * one, exp(a), a = x);
  row("a + s*b", shape, 3 * one, a + 3.0f * b, a = x, b = y);
  row("8 operations", shape, 3 * one, relu(a * b + tanh(a) * 0.5f - b * b), a = x, b = y);
  row("a + b, half", shape, 1.5 * one, h + k, h = filled<onto::half>(n, n), k = filled<onto::half>(n, n));
  row("broadcast add and relu", shape, 2 * one + 4.0 * n, relu(a + across), a = x, across = r);
  row("column added", shape, 2 * one + 4.0 * n, a + down, a = x, down = c);
  row("transpose(a) + b", shape, 3 * one, transpose(a) + b, a = x, b = y);
  row("transpose(a)", shape, 2 * one, transpose(a), a = x);
  row("pairs of rows added", shape, 1.5 * one,
      slice<range<0, to_end, 2>, range<>>(a) + slice<range<1, to_end, 2>, range<>>(a), a = x);
  row("slice, inner axis contiguous", shape, 2.0 * 4 * (n - 2) * (n - 8), exp(slice<range<1, -1>, range<4, -4>>(a)),
      a = x);
  row("slice, rows not aligned", shape, 2.0 * 4 * (n - 2) * (n - 3), exp(slice<range<1, -1>, range<1, -2>>(a)), a = x);
  row("concat of rows", shape, 4 * one, concat<0>(a, b), a = x, b = y);
  row("concat of columns", shape, 4 * one, concat<1>(a, b), a = x, b = y);
}

void reductions(int n) {
  const matrix x = filled<float>(n, n), y = filled<float>(n, n);
  const double one = 4.0 * n * n;
  const std::string shape = by(n, n);
  row("sum of (a - b)^2", shape, 2 * one, sum(square(a - b)), a = x, b = y);
  row("max", shape, one, max(a), a = x);
  row("argmax", shape, one, argmax(reshape<-1>(a)), a = x);
  row("sums of rows", shape, one + 4.0 * n, sum<1>(a), a = x);
  row("sums of columns", shape, one + 4.0 * n, sum<0>(a), a = x);
  const int m = n / 64;
  row("sums of a middle axis", std::to_string(m) + "x64x" + std::to_string(n), one + 4.0 * m * n, sum<1>(cube),
      cube = filled<float>(m, 64, n));
}

template <class E>
void rows_of(const std::string& name, const E& e, int rows, int columns) {
  row(name, by(rows, columns), 8.0 * rows * columns, e, a = filled<float>(rows, columns));
}

template <int Axis>
auto normalized() {
  const auto centred = a - mean<Axis>(a, keep_extents);
  return named<"centred">(centred) * rsqrt(mean<Axis>(square(named<"centred">(centred)), keep_extents) + 1e-5f);
}

void rows(int n) {
  rows_of("softmax", softmax(a), 4096, 1024);
  rows_of("layer normalization", normalized<1>(), 4096, 1024);
  rows_of("softmax", softmax(a), 64, 8192);
  rows_of("softmax", softmax(a), 300, 50000);
  rows_of("layer normalization", normalized<1>(), 300, 50000);
  rows_of("softmax", softmax(a), 1, 70000);
  rows_of("softmax", softmax(a), 8, 128256);
  rows_of("layer normalization", normalized<1>(), 8, 128256);
  rows_of("softmax", softmax(a), n, n);
  rows_of("softmax over the first axis", softmax<0>(a), n, n);
  rows_of("layer normalization over the first axis", normalized<0>(), n, n);
}

/// What an H100 showed to be slow because no row counted it.
void words(int n) {
  constexpr int columns = 256, groups = 100;
  const matrix x = filled<float>(n, columns);
  tensor<std::int64_t, dyn> at({n});
  for (int i = 0; i < n; ++i) at(i) = std::int64_t{i} * 7919 % n;
  const double one = 4.0 * n * columns, read = 8.0 * n;
  row("rows taken", by(n, columns), 2 * one + read, take<0>(a, numbers), a = x, numbers = at);
  for (std::int64_t& i : at) i %= groups;
  row("sums of rows by number", by(n, columns), one + read + 4.0 * groups * columns, segment_sum<groups>(a, numbers),
      a = x, numbers = at);
  row("sums of short rows", by(64 * n, 3), 16.0 * 64 * n, sum<1>(a), a = filled<float>(64 * n, 3));
  row("sorted rows", by(n, 1024), 8.0 * 1024 * n, sort(a), a = filled<float>(n, 1024));
}

}  // namespace

/// usage: access [n]: matrices of n x n, 4096 by default
int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 4096;
  maps(n);
  reductions(n);
  rows(n);
  words(n);
  const matrix tiny{{1, 2}, {3, 4}};
  access_counts::print_calls("a + 1, 2x2", on<gpu<0>>(a + 1.0f), a = tiny);
  access_counts::print_calls("a + 1, 512x512", on<gpu<0>>(a + 1.0f), a = filled<float>(512, 512));
  access_counts::training_steps();
  return cuda_emulation::take_violations().empty() ? 0 : 1;
}
