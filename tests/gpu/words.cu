// SPDX-License-Identifier: BSL-1.0
// Words that move elements on the GPU: views that step backwards, that stretch and repeat, in every kind of kernel, are
// what they are on the CPU.
#include <onto/onto.hpp>

#include <cstdint>

#include "catch.hpp"
#include "gpu.hpp"

using namespace onto;

namespace {

template <class T>
inline constexpr auto x = placeholder<"x", T, dyn, dyn>;
inline constexpr auto k = placeholder<"k", float, 40, 40>;

template <class T>
tensor<T, dyn, dyn> numbers(int rows, int columns) {
  tensor<T, dyn, dyn> t({rows, columns});
  std::size_t n = 3;
  for (T& v : t) v = static_cast<T>(gpu_test::number(n++) * (std::is_integral_v<T> ? 50 : 1.25));
  return t;
}

template <class Expression, class... Feeds>
bool same_on_gpu(session& sess, const Expression& e, const Feeds&... feeds) {
  const auto wanted = sess.run(on<cpu<0>>(e), feeds...);
  const auto got = sess.run(on<gpu<0>>(e), feeds...);
  bool same = got.shape() == wanted.shape();
  for (std::size_t n = 0; same && n < wanted.size(); ++n) {
    const auto g = static_cast<double>(got.data()[n]), w = static_cast<double>(wanted.data()[n]);
    same = std::abs(g - w) <= 1e-3 * (1 + std::abs(w));
  }
  return same;
}

template <class T>
void check_views(session& sess, int rows, int columns) {
  const auto X = numbers<T>(rows, columns);
  INFO(name_of(element_of<T>) << " (" << rows << ", " << columns << ")");
  CHECK(same_on_gpu(sess, flip(x<T>), x<T> = X));
  CHECK(same_on_gpu(sess, flip<1>(x<T>) + x<T>, x<T> = X));
  CHECK(same_on_gpu(sess, flip<0>(x<T>) + transpose(flip<1>(transpose(x<T>))), x<T> = X));
  CHECK(same_on_gpu(sess, slice<range<>, range<-2, to_begin, -3>>(x<T>), x<T> = X));
  CHECK(same_on_gpu(sess, sum<0>(flip<0>(x<T>) * x<T>), x<T> = X));
  CHECK(same_on_gpu(sess, sum<1>(flip<1>(x<T>) * x<T>), x<T> = X));
  CHECK(same_on_gpu(sess, broadcast_to<3, dyn, dyn>(x<T>) + x<T>, x<T> = X));
  CHECK(same_on_gpu(sess, tile<2, 3>(x<T>), x<T> = X));
  CHECK(same_on_gpu(sess, repeat<3, 1>(x<T>), x<T> = X));
  CHECK(same_on_gpu(sess, pad<padding<1, 2>, padding<3>>(roll<1, 1>(x<T>), 1), x<T> = X));
  CHECK(same_on_gpu(sess, roll<-3, 0>(x<T>), x<T> = X));
  CHECK(same_on_gpu(sess, roll<1, 0>(x<T>) - roll<-2, 1>(x<T>) * x<T>, x<T> = X));
  CHECK(same_on_gpu(sess, roll<3, 0>(roll<1, 1>(x<T>)) + roll<40, 0>(transpose(flip<0>(transpose(x<T>)))), x<T> = X));
  CHECK(same_on_gpu(sess, roll<1, 1>(x<T>) - roll<2, 0>(slice<range<0, 1>>(x<T>)) * x<T>, x<T> = X));
}

}  // namespace

TEST_CASE("views that step backwards and stretch agree with the CPU's", "[gpu]") {
  session sess;
  check_views<float>(sess, 37, 65);
  check_views<double>(sess, 8, 64);
  check_views<onto::half>(sess, 5, 128);
  check_views<std::int8_t>(sess, 33, 31);
  check_views<std::int64_t>(sess, 1, 9);
}

TEST_CASE("what products and rows read backwards agrees with the CPU's", "[gpu]") {
  session sess;
  const auto X = numbers<float>(40, 40);
  CHECK(same_on_gpu(sess, matmul(flip<0>(k), flip<1>(k)), k = X));
  CHECK(same_on_gpu(sess, matmul(k, flip<0>(k)) + flip<1>(k), k = X));
  CHECK(same_on_gpu(sess, softmax(flip<1>(k)), k = X));
  CHECK(same_on_gpu(sess, softmax<0>(flip<0>(k)) * 2.f, k = X));
  CHECK(same_on_gpu(sess, logsumexp<1>(flip<1>(k)), k = X));
  CHECK(same_on_gpu(sess, (flip<1>(k) - mean<1>(k, keep_extents)) * stddev<1>(flip<1>(k), keep_extents), k = X));
  CHECK(same_on_gpu(sess, softmax(broadcast_to<3, dyn, dyn>(slice<0, 1>(k))), k = X));
}

TEST_CASE("what knows its place agrees with the CPU's", "[gpu]") {
  session sess;
  const auto X = numbers<float>(40, 40);
  CHECK(same_on_gpu(sess, tril<-1>(stack(k, k * 2.f)), k = X));
  CHECK(same_on_gpu(sess, triu(k) + eye<float, 40, 40, 3>(), k = X));
  CHECK(same_on_gpu(sess, one_hot<9>(cast<int>(k * 4.f)), k = X));
  CHECK(same_on_gpu(sess, one_hot<9>(cast<std::uint8_t>(abs(k) * 4.f)), k = X));
  CHECK(same_on_gpu(sess, linspace<float, 40>(-1, 1) + k, k = X));
  static constexpr auto open = placeholder<"open", float, dyn, dyn>;
  CHECK(same_on_gpu(sess, tril<-1>(open) + triu<2>(open), open = X));
  CHECK(same_on_gpu(sess, sum<1>(tril(transpose(open)) * open), open = X));
  static constexpr auto seed = placeholder<"seed", std::int64_t>;
  CHECK(same_on_gpu(sess, random_uniform<float, 1600>(seed * 3 + 1), seed = 7));
}

TEST_CASE("stencils whose ends are joined agree with the CPU's", "[gpu]") {
  session sess;
  const auto X = numbers<float>(40, 40);
  static constexpr auto fixed = placeholder<"k", float, 40, 40>;
  const auto across = roll<1, 1>(fixed) + roll<-1, 1>(fixed);
  const auto along = roll<1, 0>(fixed) + roll<-1, 0>(fixed);
  // Each box knows its place, and the further results of a kernel are written there.
  CHECK(same_on_gpu(sess, triu<2>(across + along) * linspace<float, 40>(0, 1), fixed = X));
  const auto wanted = sess.run(fetches(on<cpu<0>>(across * fixed), on<cpu<0>>(along - fixed)), fixed = X);
  const auto got = sess.run(fetches(on<gpu<0>>(across * fixed), on<gpu<0>>(along - fixed)), fixed = X);
  for (int n = 0; n < 1600; ++n) {
    CHECK(get<0>(got).data()[n] == Approx(get<0>(wanted).data()[n]));
    CHECK(get<1>(got).data()[n] == Approx(get<1>(wanted).data()[n]));
  }
  // Two variables of different extents, updated by one launch where nothing is rolled.
  constexpr auto v = on<gpu<0>>(variable<"v", float, 24>);
  constexpr auto w = on<gpu<0>>(variable<"w", float, 7>);
  const tensor<float, 24> V = sess.run(linspace<float, 24>(1, 3));
  const tensor<float, 7> W = sess.run(linspace<float, 7>(-3, 1));
  sess.run(group(assign(v, V), assign(w, W)));
  sess.run(group(assign_add(v, roll<1, 0>(v)), assign_add(w, roll<1, 0>(w))));
  const auto [a, b] = sess.run(fetches(v, w));
  for (int n = 0; n < 24; ++n) CHECK(a(n) == Approx(V(n) + V((n + 23) % 24)));
  for (int n = 0; n < 7; ++n) CHECK(b(n) == Approx(W(n) + W((n + 6) % 7)));
}

TEST_CASE("what knows its place is folded as on the CPU", "[gpu]") {
  session sess;
  const auto X = numbers<float>(40, 40);
  static constexpr auto fixed = placeholder<"k", float, 40, 40>;
  static constexpr auto classes = cast<int>(fixed * 4_c);
  CHECK(same_on_gpu(sess, sum<0>(one_hot<9>(cast<int>(k * 4.f))), k = X));
  CHECK(same_on_gpu(sess, sum<1>(one_hot<9>(cast<std::uint8_t>(abs(k) * 4.f))), k = X));
  CHECK(same_on_gpu(sess, sum<2>(one_hot<8>(cast<std::int64_t>(k * 4.f))), k = X));
  CHECK(same_on_gpu(sess, sum<0, 2>(one_hot<8>(cast<int>(k * 4.f))), k = X));
  CHECK(same_on_gpu(sess, sum<0, 1>(one_hot<64>(classes) * expand_dims<2>(fixed)), fixed = X));
  CHECK(same_on_gpu(sess, argmax<2>(one_hot<33>(classes)), fixed = X));
  CHECK(same_on_gpu(sess, sum(tril(fixed)), fixed = X));
  CHECK(same_on_gpu(sess, max<0>(triu<-2>(fixed)), fixed = X));
  CHECK(same_on_gpu(sess, sum<1>(tril(fixed) * fixed), fixed = X));
  CHECK(same_on_gpu(sess, sum<0>(iota<int, 40>()), fixed = X));
}
