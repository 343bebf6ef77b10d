// SPDX-License-Identifier: BSL-1.0
// Sorts on the GPU: the CPU's results, bit for bit, of every element type, along any axis of any view, in short rows
// and long ones, few and many; quantiles, whose products a GPU adds unrounded.
#include <onto/sort.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"

using namespace gpu_test;

namespace {

template <class T>
inline constexpr auto x = placeholder<"x", T, dyn, dyn, dyn>;
inline constexpr auto line = placeholder<"line", float, dyn>;

/// Numbers of which some are equal; of floating point some are none.
template <class T>
tensor<T, dyn, dyn, dyn> numbers(int a, int b, int c) {
  tensor<T, dyn, dyn, dyn> t({a, b, c});
  std::size_t k = 7;
  for (T& v : t) {
    ++k;
    if constexpr (std::is_same_v<T, bool>) {
      v = k * k % 3 == 0;
    } else {
      v = static_cast<T>(static_cast<int>(k * 7919 % 61) - 30);
      if constexpr (!std::is_integral_v<T>) {
        if (k % 11 == 0) v = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
        if (k % 17 == 0) v = static_cast<T>(-0.0f);
        if (k % 23 == 0) v = static_cast<T>(-std::numeric_limits<float>::infinity());
      }
    }
  }
  return t;
}

template <class Expression, class... Feeds>
bool same_on_gpu(session& sess, const Expression& e, const Feeds&... feeds) {
  const auto wanted = sess.run(on<cpu<0>>(e), feeds...);
  const auto got = sess.run(on<gpu<0>>(e), feeds...);
  return got.shape() == wanted.shape() &&
         (got.size() == 0 || std::memcmp(got.data(), wanted.data(), got.size() * sizeof(*got.data())) == 0);
}

template <class T>
void check_type(session& sess, int a, int b, int c) {
  const auto X = numbers<T>(a, b, c);
  INFO(name_of(element_of<T>) << " (" << a << ", " << b << ", " << c << ")");
  CHECK(same_on_gpu(sess, sort(x<T>), x<T> = X));
  CHECK(same_on_gpu(sess, argsort<1>(x<T>, descending), x<T> = X));
}

template <class T>
void check_axes(session& sess, int a, int b, int c) {
  const auto X = numbers<T>(a, b, c);
  INFO(name_of(element_of<T>) << " (" << a << ", " << b << ", " << c << ")");
  CHECK(same_on_gpu(sess, sort<0>(x<T>, descending), x<T> = X));
  CHECK(same_on_gpu(sess, argsort(x<T>), x<T> = X));
  CHECK(same_on_gpu(sess, sort<1>(permute<2, 0, 1>(x<T>)), x<T> = X));
  CHECK(same_on_gpu(sess, argsort<2>(flip(x<T>)), x<T> = X));
}

}  // namespace

TEST_CASE("a sort of each type agrees with the CPU's", "[gpu]") {
  session sess;
  check_type<float>(sess, 3, 5, 67);
  check_type<double>(sess, 10, 70, 5);
  check_type<onto::half>(sess, 2, 9, 66);
  check_type<bfloat16>(sess, 5, 65, 3);
  check_type<std::int8_t>(sess, 3, 4, 130);
  check_type<std::uint8_t>(sess, 9, 70, 2);
  check_type<std::int16_t>(sess, 2, 3, 65);
  check_type<std::uint16_t>(sess, 1, 4, 90);
  check_type<std::int32_t>(sess, 3, 7, 80);
  check_type<std::uint32_t>(sess, 3, 70, 8);
  check_type<std::int64_t>(sess, 3, 7, 80);
  check_type<std::uint64_t>(sess, 2, 7, 8);
  check_type<bool>(sess, 2, 66, 8);
}

TEST_CASE("rows of each length that threads share otherwise are sorted as on the CPU", "[gpu]") {
  session sess;
  // A thread, some of a warp, a warp, warps of a block, a block; with few elements a thread and many.
  for (const int n : {1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257, 1000}) {
    check_type<float>(sess, 3, 1, n);
    check_axes<std::uint8_t>(sess, 2, 1, n);
    check_axes<double>(sess, 1, 2, n);
  }
  for (const int n : {1023, 1024, 1025, 2048, 2049, 4095, 4096, 4097}) {
    check_type<float>(sess, 1, 2, n);
    check_type<double>(sess, 2, 1, n);
    check_type<onto::half>(sess, 1, 1, n);
    check_type<std::int8_t>(sess, 1, 1, n);
    check_type<std::int64_t>(sess, 1, 1, n);
  }
  // More rows than a block has at once, and a block that is not full.
  check_type<float>(sess, 5, 67, 3);
  check_type<std::int16_t>(sess, 7, 11, 17);
  check_type<double>(sess, 3, 7, 40);
}

/// Sorts rows that lie one after another, with `Per` items a thread.
template <class Rule, class T, int Per>
void sort_with(gpu_context& context, const kernel_call& call) {
  sort_rows_with<Rule, T, Per>(context.stream, sort_space_of(call), static_cast<const T*>(call.in[0].data),
                               static_cast<typename cuda_sorting<Rule, T>::result*>(call.out.data));
}

template <class Rule, class T, int Per>
void check_items(int rows, int n) {
  using result = typename cuda_sorting<Rule, T>::result;
  INFO(rows << " rows of " << n << ", " << Per << " items a thread, " << name_of(element_of<T>));
  bench b;
  const auto X = numbers<T>(1, rows, n);
  const extents shapes[] = {shape_of({rows, n}), shape_of({rows, n})};
  const op_info op = op_info_of<op::sort<1, Rule::descending>>;
  kernel_call call;
  call.space = shapes[0];
  call.shapes = shapes;
  const std::size_t size = X.size();
  const operand_view in = contiguous_view(b.upload(X.data(), size), element_of<T>, call.space);
  call.inputs = 1;
  call.in = &in;
  call.out = contiguous_view(b.reserve<result>(size), element_of<result>, call.space);
  call.op = &op;
  b.order(stream_kind::in, stream_kind::compute);
  b.launch(&sort_with<Rule, T, Per>, call);
  const std::vector<result> got = b.download(static_cast<const result*>(call.out.data), size);
  std::vector<result> wanted;
  using order = ordered<Rule, T>;
  for (int r = 0; r < rows; ++r) {
    std::vector<std::pair<typename order::bits, int>> row;
    for (int k = 0; k < n; ++k) row.emplace_back(order::key(X(0, r, k)), k);
    std::sort(row.begin(), row.end());
    for (const auto& [key, k] : row) {
      if constexpr (Rule::numbers)
        wanted.push_back(k);
      else
        wanted.push_back(order::value(key));
    }
  }
  CHECK(std::memcmp(got.data(), wanted.data(), size * sizeof(result)) == 0);
}

TEST_CASE("rows of few items a thread and of many are sorted by each number of threads", "[gpu]") {
  for (const int n : {1, 2, 3, 4, 5, 16, 17, 33, 64, 65, 127, 256, 257, 512, 513, 1000, 1024}) {
    check_items<sorting<false, false>, float, 4>(5, n);
    check_items<sorting<false, false>, float, 16>(5, n);
    check_items<sorting<true, true>, float, 16>(3, n);
    check_items<sorting<false, true>, std::int8_t, 16>(2, n);
    check_items<sorting<true, false>, double, 16>(2, n);
    check_items<sorting<true, true>, std::int64_t, 4>(3, n);
  }
}

TEST_CASE("sorts go along any axis of any view", "[gpu]") {
  session sess;
  check_axes<float>(sess, 4, 6, 5);
  check_axes<float>(sess, 70, 2, 3);
  check_axes<double>(sess, 3, 5, 66);
  // Rows longer than a block sorts, few and many.
  check_axes<float>(sess, 4100, 2, 1);
  check_axes<double>(sess, 3, 4, 1030);
  check_axes<std::uint8_t>(sess, 2, 5, 4099);
  check_axes<std::int16_t>(sess, 1, 1, 1);
  check_axes<float>(sess, 0, 3, 70);
  check_axes<float>(sess, 70, 0, 4);
}

TEST_CASE("the greatest k and distinct values agree with the CPU's", "[gpu]") {
  session sess;
  for (const int n : {9, 70, 1030, 4100}) {
    const auto X = numbers<float>(3, 4, n);
    CHECK(same_on_gpu(sess, top_k<5>(x<float>).values, x<float> = X));
    CHECK(same_on_gpu(sess, top_k<5>(x<float>).indices, x<float> = X));
    CHECK(same_on_gpu(sess, top_k<3, 0>(x<float>).indices, x<float> = X));
    CHECK(same_on_gpu(sess, unique<100>(x<float>).values, x<float> = X));
    CHECK(same_on_gpu(sess, unique<7>(x<float>).counts, x<float> = X));
    CHECK(same_on_gpu(sess, unique<7>(x<float>).found, x<float> = X));
  }
}

/// The first `K` of a long row, and of rows with any strides, in both orders.
template <int K, class T>
void check_first(session& sess, const tensor<T, dyn, dyn, dyn>& X) {
  INFO(K << " of " << name_of(element_of<T>) << " " << X.shape()[0] << ", " << X.shape()[2]);
  CHECK(same_on_gpu(sess, top_k<K>(x<T>).indices, x<T> = X));
  CHECK(same_on_gpu(sess, make<op::argsort<-1, false, K>>(flip(x<T>)), x<T> = X));
  CHECK(same_on_gpu(sess, top_k<K, 0>(permute<2, 0, 1>(x<T>)).indices, x<T> = X));
}
template <int K, class T>
void check_first(session& sess, int rows, int n) {
  check_first<K>(sess, numbers<T>(rows, 1, n));
}
template <class T, class Value>
tensor<T, dyn, dyn, dyn> row_of(int n, const Value& value) {
  tensor<T, dyn, dyn, dyn> t({1, 1, n});
  for (int k = 0; k < n; ++k) t(0, 0, k) = static_cast<T>(value(k));
  return t;
}

TEST_CASE("the first of long rows are selected as on the CPU", "[gpu]") {
  session sess;
  // A part, several, and a last one with fewer than are asked for.
  for (const int n : {4097, 5120, 8192, 8193, 2 * 8192 + 5, 20001}) {
    check_first<10, float>(sess, 1, n);
    check_first<1, std::int32_t>(sess, 2, n);
    check_first<256, std::uint32_t>(sess, 1, n);
  }
  check_first<7, onto::half>(sess, 3, 9000);
  check_first<100, bfloat16>(sess, 1, 17000);
  check_first<20, std::int8_t>(sess, 2, 9000);
  check_first<20, std::uint16_t>(sess, 1, 9000);
  check_first<20, bool>(sess, 1, 9000);
  check_first<5, float>(sess, 9, 4100);
  check_first<257, float>(sess, 1, 9000);  // sorted
  check_first<5, double>(sess, 1, 9000);   // sorted
  const int n = 9000;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  check_first<30>(sess, row_of<float>(n, [](int) { return 1; }));
  check_first<30>(sess, row_of<float>(n, [=](int) { return nan; }));
  check_first<30>(sess, row_of<float>(n, [](int k) { return k % 2 ? 0.0f : -0.0f; }));
  check_first<30>(sess, row_of<std::uint32_t>(n, [](int) { return ~0u; }));
  // Each is before all that came earlier, and after.
  check_first<200>(sess, row_of<std::int32_t>(n, [](int k) { return k; }));
  check_first<200>(sess, row_of<std::int32_t>(n, [](int k) { return -k; }));
  // All that are selected come to one thread.
  check_first<200>(sess, row_of<std::int32_t>(n, [](int k) { return k % 256 == 77 ? k : 0; }));
}

TEST_CASE("a long sort agrees with the CPU's", "[gpu]") {
  session sess;
#if defined(ONTO_CUDA_EMULATION)
  constexpr int n = 5000;
#else
  constexpr int n = 10'000'000;
#endif
  tensor<float, dyn> X({n});
  for (int k = 0; k < n; ++k) X(k) = static_cast<float>(gpu_test::number(static_cast<std::size_t>(k)));
  CHECK(same_on_gpu(sess, sort(line), line = X));
  CHECK(same_on_gpu(sess, argsort(line, descending), line = X));
  CHECK(same_on_gpu(sess, top_k<10>(line).values, line = X));
  CHECK(same_on_gpu(sess, top_k<10>(line).indices, line = X));
}

TEST_CASE("quantiles agree with the CPU's", "[gpu]") {
  session sess;
  constexpr auto parts = placeholder<"parts", double, dyn>;
  for (const int n : {1, 2, 300}) {
    tensor<float, dyn> X({n});
    for (int k = 0; k < n; ++k) X(k) = static_cast<float>(gpu_test::number(static_cast<std::size_t>(k)));
    const auto of = fetches(quantile(line, parts), reshape<1>(median(line)));
    const tensor<double, 4> wanted{0, 0.2, 0.9, 1};
    const auto [on_cpu, middle_on_cpu] = sess.run(on<cpu<0>>(of), line = X, parts = wanted);
    const auto [on_gpu, middle_on_gpu] = sess.run(on<gpu<0>>(of), line = X, parts = wanted);
    for (int k = 0; k < 4; ++k) CHECK(std::abs(on_gpu(k) - on_cpu(k)) <= 1e-6f * (1 + std::abs(on_cpu(k))));
    CHECK(std::abs(middle_on_gpu(0) - middle_on_cpu(0)) <= 1e-6f * (1 + std::abs(middle_on_cpu(0))));
  }
}

TEST_CASE("a prepared sort runs again and again between maps", "[gpu]") {
  session sess;
  constexpr auto e = on<gpu<0>>(sort<0>(x<float> * 2_c) + 1.0_c);
  auto step = sess.prepare(e);
  for (int round = 0; round < 5; ++round) {
    tensor<float, dyn, dyn, dyn> X({80, 1, 2});
    for (int k = 0; k < 80; ++k) X(k, 0, 0) = X(k, 0, 1) = static_cast<float>((k * 7 + round) % 80);
    const auto got = step(x<float> = X);
    CHECK(got(0, 0, 1) == 1);
    CHECK(got(79, 0, 0) == 159);
  }
}
