// SPDX-License-Identifier: BSL-1.0
// Convolutions, pooling and their gradients on the GPU: what the CPU computes, in every layout, with strides, padding,
// dilation and groups, of views and of half precision, where groups have many channels, few, or one.
#include <onto/convolution.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>

#include "catch.hpp"
#include "gpu.hpp"

using namespace onto;
using namespace onto::detail;

namespace {

template <class T>
inline constexpr auto x = placeholder<"x", T, dyn, dyn, dyn, dyn>;
template <class T>
inline constexpr auto w = placeholder<"w", T, dyn, dyn, dyn, dyn>;

template <class T>
tensor<T, dyn, dyn, dyn, dyn> numbers(std::array<int, 4> e, std::size_t seed) {
  tensor<T, dyn, dyn, dyn, dyn> t({e[0], e[1], e[2], e[3]});
  for (T& v : t) v = static_cast<T>(static_cast<float>(gpu_test::number(seed++)));
  return t;
}

template <class T>
bool alike(const auto& got, const auto& wanted) {
  const double eps = sizeof(T) == 8 ? 1e-12 : sizeof(T) == 4 ? 1e-5 : std::is_same_v<T, onto::half> ? 2e-3 : 2e-2;
  double most = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const double v = std::abs(static_cast<double>(static_cast<float>(wanted.data()[k])));
    most = v > most ? v : most;
  }
  bool same = got.shape() == wanted.shape();
  for (std::size_t k = 0; same && k < wanted.size(); ++k)
    same = std::abs(static_cast<double>(got.data()[k]) - static_cast<double>(wanted.data()[k])) <= eps * most;
  return same;
}

template <class Expression, class... Feeds>
bool same_on_gpu(session& sess, const Expression& e, const Feeds&... feeds) {
  const auto wanted = sess.run(on<cpu<0>>(e), feeds...);
  const auto got = sess.run(on<gpu<0>>(e), feeds...);
  return alike<typename Expression::element_type>(got, wanted);
}

/// A convolution and its gradients.
template <class T, class F>
void check(session& sess, F convolve, std::array<int, 4> image, std::array<int, 4> filter) {
  const auto X = numbers<T>(image, 7), W = numbers<T>(filter, 11);
  INFO(name_of(element_of<T>) << " " << image[0] << " " << image[1] << " " << image[2] << " " << image[3]);
  const auto y = convolve(x<T>, w<T>);
  CHECK(same_on_gpu(sess, y, x<T> = X, w<T> = W));
  CHECK(same_on_gpu(sess, gradient(sum(y * y), x<T>), x<T> = X, w<T> = W));
  CHECK(same_on_gpu(sess, gradient(sum(y * y), w<T>), x<T> = X, w<T> = W));
}

/// What follows a convolution in its kernel: `b` is a number for each channel, or as many as the result has.
template <class T, class F>
void check_followed(session& sess, F convolve, std::array<int, 4> image, std::array<int, 4> filter,
                    std::array<int, 4> added) {
  const auto X = numbers<T>(image, 7), W = numbers<T>(filter, 11), B = numbers<T>(added, 13);
  INFO(name_of(element_of<T>) << " " << added[0] << " " << added[1] << " " << added[2] << " " << added[3]);
  constexpr auto b = placeholder<"b", T, dyn, dyn, dyn, dyn>;
  const auto all = [&](auto device) {
    const auto y = [&](auto scale) { return convolve(x<T> * scale, w<T>); };  // another convolution for each number
    const auto at = [](const auto& e) { return on<decltype(device)>(e); };
    // Of a sum of two convolutions, the one that is added is not needed again: the sum is where it was.
    return fetches(at(relu(y(1_c) + b)), at(relu(y(2_c) * -0.5_c - b)), at(2_c * b - y(3_c)), at(relu(y(4_c))),
                   at(sum<-1>(y(5_c) + y(6_c))));
  };
  const auto wanted = sess.run(all(cpu<0>()), x<T> = X, w<T> = W, b = B);
  const auto got = sess.run(all(gpu<0>()), x<T> = X, w<T> = W, b = B);
  CHECK(alike<T>(std::get<0>(got), std::get<0>(wanted)));
  CHECK(alike<T>(std::get<1>(got), std::get<1>(wanted)));
  CHECK(alike<T>(std::get<2>(got), std::get<2>(wanted)));
  CHECK(alike<T>(std::get<3>(got), std::get<3>(wanted)));
  CHECK(alike<T>(std::get<4>(got), std::get<4>(wanted)));
}

/// The same bits, or no number in both.
template <class T>
bool equal(const T& got, const T& wanted) {
  bool same = got.shape() == wanted.shape();
  for (std::size_t k = 0; same && k < wanted.size(); ++k) {
    const auto g = static_cast<double>(got.data()[k]), w = static_cast<double>(wanted.data()[k]);
    same = (g == w && std::signbit(g) == std::signbit(w)) || (g != g && w != w);
  }
  return same;
}
template <class Expression, class... Feeds>
bool equal_on_gpu(session& sess, const Expression& e, const Feeds&... feeds) {
  return equal(sess.run(on<gpu<0>>(e), feeds...), sess.run(on<cpu<0>>(e), feeds...));
}

/// Images with many equal numbers, zeros of both signs, infinite ones, and, in some channels, such as are none.
template <class T>
tensor<T, dyn, dyn, dyn, dyn> hard_numbers(std::array<int, 4> e) {
  tensor<T, dyn, dyn, dyn, dyn> t({e[0], e[1], e[2], e[3]});
  const float some[] = {0.f, -0.f, 1.f, -2.f, 1.f, -INFINITY, INFINITY, NAN};
  std::size_t seed = 3;
  for (std::size_t k = 0; k < t.size(); ++k) {
    const auto any = static_cast<std::size_t>((gpu_test::number(seed++) + 1) * 4);
    const std::size_t kinds = k % 3 == 0 ? 8 : k % 3 == 1 ? 6 : 4;
    t.data()[k] = static_cast<T>(k % 5 == 4 ? -INFINITY : some[any % kinds]);
  }
  return t;
}

template <class T, class F>
void check_image(session& sess, F f, std::array<int, 4> image = {2, 7, 9, 3}) {
  const auto check = [&](const auto& X) {
    CHECK(equal_on_gpu(sess, f(x<T>), x<T> = X));
    CHECK(equal_on_gpu(sess, gradient(sum(f(x<T>) * c<2>), x<T>), x<T> = X));
    // The windows' gradients are all different, but for hard numbers.
    CHECK(equal_on_gpu(sess, gradient(sum(square(f(x<T>))), x<T>), x<T> = X));
  };
  INFO(name_of(element_of<T>) << " " << image[0] << " " << image[1] << " " << image[2] << " " << image[3]);
  check(numbers<T>(image, 5));
  check(hard_numbers<T>(image));
}

/// Windows of all kinds that kernels tell apart.
template <class T, class... Words>
void check_windows(session& sess, std::array<int, 4> image = {2, 7, 9, 3}) {
  // In registers: side by side, over each other, apart, of one pixel, beyond the image.
  const auto both = [&](auto... words) {
    check_image<T>(
        sess, [&](const auto& a) { return max_pool2d<decltype(words)..., Words...>(a); }, image);
    check_image<T>(
        sess, [&](const auto& a) { return avg_pool2d<decltype(words)..., Words...>(a); }, image);
  };
  both(window<2>{});
  both(window<3>{}, strides<2>{}, same{});
  both(window<3>{}, strides<1>{}, padding<2, 1>{});
  both(window<2, 3>{}, strides<3, 2>{}, padding<1>{});
  both(window<1>{}, strides<3>{});
  // Others: too large, or too many over each other.
  both(window<5>{}, strides<2>{}, same{});
  both(window<7, 9>{});
  both(window<6, 2>{}, strides<1, 5>{}, padding<1>{});
  // Where 32 bits are too few.
  both(window<2, 3>{}, strides<(1 << 30)>{}, padding<1>{});
}

}  // namespace

TEST_CASE("convolutions on the GPU are those of the CPU", "[gpu][convolution]") {
  session sess;
  const auto plain = [](const auto& a, const auto& b) { return conv2d<same>(a, b); };
  check<float>(sess, plain, {2, 9, 8, 3}, {3, 3, 3, 70});  // tiles, two of them beside each other
  check<float>(sess, plain, {1, 5, 6, 20}, {3, 2, 20, 9});
  check<double>(sess, plain, {2, 5, 4, 9}, {2, 3, 9, 12});
  check<float>(sess, plain, {1, 2, 3, 130}, {3, 3, 130, 9});  // sums of more than 1024 terms, in tiles
  check<float>(sess, plain, {4, 20, 17, 8}, {3, 3, 8, 8});  // few tiles: blocks share the sums of the filter's gradient
  check<double>(sess, plain, {1, 5, 5, 130}, {3, 3, 130, 9});  // and those of the image's
  check<bfloat16>(sess, plain, {3, 20, 17, 8}, {3, 3, 8, 8});
  check<float>(sess, [](const auto& a, const auto& b) { return conv2d<nchw, groups<2>>(a, b); }, {3, 16, 17, 16},
               {16, 8, 3, 2});
  check<onto::half>(sess, plain, {2, 5, 4, 3}, {3, 3, 3, 9});
  check<bfloat16>(sess, plain, {1, 4, 4, 3}, {3, 3, 3, 9});
  check<float>(sess, plain, {2, 50, 45, 1}, {3, 3, 1, 2});  // sums of 4096 terms and more: a block for each
  check<float>(sess,
               [](const auto& a, const auto& b) { return conv2d<strides<2, 3>, padding<1, 2>, dilation<2, 1>>(a, b); },
               {2, 11, 9, 4}, {3, 2, 4, 10});
  check<float>(sess, [](const auto& a, const auto& b) { return conv2d<nchw, groups<2>, strides<2>, same>(a, b); },
               {2, 6, 7, 8}, {18, 3, 3, 2});
  check<float>(sess, [](const auto& a, const auto& b) { return depthwise_conv2d<same>(a, b); }, {2, 6, 5, 12},
               {3, 3, 12, 2});
  check<float>(sess,
               [](const auto& a, const auto& b) { return conv2d(permute<0, 2, 1, 3>(a), permute<1, 0, 2, 3>(b)); },
               {2, 6, 5, 4}, {2, 3, 4, 8});
  check<float>(sess, [](const auto& a, const auto& b) { return conv2d_transpose<strides<2>, same>(a, b); },
               {2, 4, 5, 9}, {3, 3, 10, 9});
}

TEST_CASE("blocks share long sums where there are few tiles", "[gpu][convolution]") {
  convolution_product p{};
  p.groups = 1;
  p.rows = 75;
  p.columns = 64;
  p.depth = 73728;
  const auto parts = [&](std::int64_t most) { return sum_parts::of(p, 2, most); };
  const auto covers = [&](const sum_parts& s) {
    return s.depth % product_depth == 0 && s.count * s.depth >= p.depth && (s.count - 1) * s.depth < p.depth;
  };
  CHECK(parts(1 << 20).count > 200);
  CHECK(covers(parts(1 << 20)));
  CHECK(parts(7).count == 7);
  CHECK(covers(parts(7)));
  CHECK(parts(0).count == 1);  // no room
  CHECK(covers(parts(0)));
  CHECK(sum_parts::of(p, 1000, 1 << 20).count == 1);  // tiles enough
  p.depth = 100;
  CHECK(parts(1 << 20).count == 1);  // too short to share
  p.depth = 0;
  CHECK(parts(1 << 20).count == 1);
}

TEST_CASE("what follows a convolution is in its kernel", "[gpu][convolution]") {
  session sess;
  const auto plain = [](const auto& a, const auto& b) { return conv2d<same>(a, b); };
  check_followed<float>(sess, plain, {2, 5, 4, 3}, {3, 3, 3, 9}, {1, 1, 1, 9});
  check_followed<double>(sess, plain, {2, 5, 4, 3}, {3, 3, 3, 2}, {2, 5, 4, 2});
  check_followed<onto::half>(sess, plain, {2, 4, 4, 3}, {3, 3, 3, 9}, {2, 4, 4, 9});
  check_followed<bfloat16>(sess, plain, {1, 4, 4, 3}, {3, 3, 3, 9}, {1, 1, 1, 9});
  check_followed<float>(sess, [](const auto& a, const auto& b) { return conv2d<nchw, groups<2>, same>(a, b); },
                        {2, 4, 5, 4}, {18, 2, 3, 2}, {1, 18, 1, 1});
  check_followed<float>(sess, [](const auto& a, const auto& b) { return depthwise_conv2d<same>(a, b); }, {2, 5, 4, 3},
                        {3, 3, 3, 2}, {1, 5, 1, 1});
  check_followed<float>(sess, [](const auto& a, const auto& b) { return conv2d_transpose<strides<2>, same>(a, b); },
                        {2, 3, 2, 9}, {3, 3, 10, 9}, {1, 1, 1, 10});
}

TEST_CASE("pooling on the GPU is that of the CPU, bit by bit", "[gpu][convolution]") {
  session sess;
  check_windows<float>(sess);
  check_windows<float, nchw>(sess, {2, 3, 7, 9});
  check_image<double>(sess, [](const auto& a) { return max_pool2d<window<3>, strides<2>, same, nchw>(a); });
  check_image<double>(sess, [](const auto& a) { return avg_pool2d<window<3>, strides<2>, same>(a); });
  check_image<onto::half>(sess, [](const auto& a) { return max_pool2d<window<3>, strides<2>, same>(a); });
  check_image<onto::half>(sess, [](const auto& a) { return avg_pool2d<window<2>>(a); });
  check_image<bfloat16>(sess, [](const auto& a) { return max_pool2d<window<5>>(a); });
  check_image<bfloat16>(sess, [](const auto& a) { return avg_pool2d<window<3, 2>, strides<1, 2>, padding<1, 0>>(a); });
  // Views: channels that are not side by side, lines that go backwards.
  const auto views = [&](const auto& f) {
    check_image<float>(sess, [&](const auto& a) { return f(permute<0, 2, 3, 1>(a)); });
    check_image<float>(sess, [&](const auto& a) { return f(flip<1>(flip<2>(a))); });
  };
  views([](const auto& a) { return max_pool2d<window<3>, strides<2>>(a); });
  views([](const auto& a) { return avg_pool2d<window<3>, strides<2>>(a); });
  views([](const auto& a) { return max_pool2d<window<4, 3>, strides<1>, same>(a); });
}

TEST_CASE("what a pooling picks on the GPU is what it picks on the CPU", "[gpu][convolution]") {
  session sess;
  const auto X = numbers<float>({1, 6, 6, 2}, 3), hard = hard_numbers<float>({2, 6, 7, 3});
  const auto twice = [&](const auto& f) {
    const auto g = gradient(sum(square(f(x<float>))), x<float>);
    CHECK(equal_on_gpu(sess, gradient(sum(square(g)), x<float>), x<float> = X));
    CHECK(equal_on_gpu(sess, gradient(sum(square(g)), x<float>), x<float> = hard));
  };
  twice([](const auto& a) { return max_pool2d<window<3>, strides<2>>(a); });
  twice([](const auto& a) { return max_pool2d<window<2, 3>, strides<1>, padding<1, 0>>(a); });
  twice([](const auto& a) { return max_pool2d<window<5>, strides<1>, same>(a); });
}

TEST_CASE("of no images there is nothing, and nothing is launched", "[gpu][convolution]") {
  session sess;
  const auto X = numbers<float>({0, 9, 8, 3}, 7), W = numbers<float>({3, 3, 3, 70}, 11);
  CHECK(same_on_gpu(sess, conv2d<same>(x<float>, w<float>), x<float> = X, w<float> = W));
  CHECK(same_on_gpu(sess, max_pool2d<window<3>, strides<2>, same>(x<float>), x<float> = X));
}
