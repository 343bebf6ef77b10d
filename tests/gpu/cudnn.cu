// SPDX-License-Identifier: BSL-1.0
// Programs with convolutions on GPUs, through cuDNN: what they compute and their gradients are the CPU's, of every
// element type, in both layouts, on several devices, and in programs that are prepared.
#include <onto/convolution.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <tuple>

#include "catch.hpp"
#include "gpu.hpp"

#if !defined(ONTO_HAS_CUDNN)
TEST_CASE("cuDNN is not linked", "[gpu]") { SUCCEED("convolution.cu is about the kernels without it"); }
#else

using namespace onto;

namespace {

template <class T>
inline constexpr auto image = placeholder<"image", T, dyn, dyn, dyn, dyn>;
template <class T>
inline constexpr auto filter = placeholder<"filter", T, dyn, dyn, dyn, dyn>;

template <class T>
tensor<T, dyn, dyn, dyn, dyn> numbers(int a, int b, int c, int d, int salt = 0) {
  tensor<T, dyn, dyn, dyn, dyn> t({a, b, c, d});
  int k = salt;
  for (T& v : t) v = static_cast<T>(std::sin(1.7f * static_cast<float>(++k)));
  return t;
}

template <class A, class B>
double difference(const A& got, const B& wanted) {
  if (!(got.shape() == wanted.shape())) return 1e9;
  double worst = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    const auto a = static_cast<double>(got.data()[k]), b = static_cast<double>(wanted.data()[k]);
    worst = std::fmax(worst, std::isnan(a) ? 1e9 : std::fabs(a - b) / (1 + std::fabs(b)));
  }
  return worst;
}

/// A convolution and its gradients by image and filter, on a GPU and on the CPU.
template <class T, class F>
void check(session& sess, double tolerance, const F& f, const tensor<T, dyn, dyn, dyn, dyn>& x,
           const tensor<T, dyn, dyn, dyn, dyn>& w) {
  const auto all = [&](auto device) {
    using D = decltype(device);
    const auto y = on<D>(f(image<T>, filter<T>));
    const auto loss = on<D>(sum(square(y) + y));
    return fetches(y, gradient(loss, image<T>), gradient(loss, filter<T>));
  };
  const auto [y0, x0, w0] = sess.run(all(cpu<0>()), image<T> = x, filter<T> = w);
  const auto [y1, x1, w1] = sess.run(all(gpu<0>()), image<T> = x, filter<T> = w);
  CHECK(difference(y1, y0) < tolerance);
  CHECK(difference(x1, x0) < tolerance);
  CHECK(difference(w1, w0) < tolerance);
}

template <class T>
void check_type(double tolerance) {
  session sess;
  INFO(name_of(element_of<T>));
  check<T>(
      sess, tolerance, [](const auto& x, const auto& w) { return conv2d<strides<2>, same>(x, w); },
      numbers<T>(2, 8, 8, 3), numbers<T>(3, 3, 3, 4, 5));
}

}  // namespace

TEST_CASE("convolutions on a GPU, of every type", "[gpu]") {
  check_type<float>(1e-5);
  check_type<double>(1e-12);
  check_type<onto::half>(2e-2);
  check_type<bfloat16>(1e-1);
}

TEST_CASE("convolutions of floats are as exact as sums of products, at sizes where libraries transform", "[gpu]") {
#if defined(ONTO_CUDA_EMULATION)
  constexpr int batch = 2, channels = 3;
#else
  constexpr int batch = 64, channels = 64;  // cuDNN proposes Winograd's transforms: filters of 5 x 5 wrong by 1e-3
#endif
  session sess;
  constexpr auto filled = [](tensor<float, dyn, dyn, dyn, dyn>& t, std::size_t salt) {
    for (std::size_t k = 0; k < t.size(); ++k) t.data()[k] = static_cast<float>(gpu_test::number(k + salt));
  };
  for (const int window : {3, 5}) {
    tensor<float, dyn, dyn, dyn, dyn> x({batch, 12, 12, channels}), w({window, window, channels, 32});
    tensor<double, dyn, dyn, dyn, dyn> wide_x({batch, 12, 12, channels}), wide_w({window, window, channels, 32});
    filled(x, 1);
    filled(w, 2);
    std::copy(x.begin(), x.end(), wide_x.begin());
    std::copy(w.begin(), w.end(), wide_w.begin());
    const auto all = [](auto type) {
      using T = decltype(type);
      const auto y = on<gpu<0>>(conv2d<same>(image<T>, filter<T>));
      return fetches(y, on<gpu<0>>(gradient(sum(y * y), image<T>)), on<gpu<0>>(gradient(sum(y * y), filter<T>)));
    };
    const auto [y0, x0, w0] = sess.run(all(0.0), image<double> = wide_x, filter<double> = wide_w);
    const auto [y1, x1, w1] = sess.run(all(0.f), image<float> = x, filter<float> = w);
    const auto wrong_by = [](const auto& got, const auto& wanted) {
      double off = 0, scale = 0;
      for (std::size_t k = 0; k < got.size(); ++k) {
        const double d = static_cast<double>(got.data()[k]) - wanted.data()[k];
        off += d * d;
        scale += wanted.data()[k] * wanted.data()[k];
      }
      return std::sqrt(off / scale);
    };
    INFO("filters of " << window << " x " << window);
    CHECK(wrong_by(y1, y0) < 3e-6);
    CHECK(wrong_by(x1, x0) < 3e-6);
    CHECK(wrong_by(w1, w0) < 3e-6);
  }
}

TEST_CASE("convolutions on a GPU, of every form", "[gpu]") {
  session sess;
  check<double>(
      sess, 1e-12,
      [](const auto& x, const auto& w) {
        return conv2d<nchw, groups<2>, dilation<2, 1>, padding<2>, padding<0, 1>>(x, w);
      },
      numbers<double>(2, 4, 5, 6), numbers<double>(6, 2, 3, 2, 5));
  check<float>(
      sess, 1e-5, [](const auto& x, const auto& w) { return depthwise_conv2d<same>(x, w); }, numbers<float>(2, 5, 5, 3),
      numbers<float>(3, 3, 3, 2, 5));
  check<float>(
      sess, 1e-5, [](const auto& x, const auto& w) { return conv2d_transpose<strides<2>, same>(x, w); },
      numbers<float>(2, 3, 4, 5), numbers<float>(3, 3, 2, 5, 5));
  check<float>(
      sess, 1e-5,
      [](const auto& x, const auto& w) { return conv1d<strides<2>, padding<1, 2>>(squeeze<1>(x), squeeze<0>(w)); },
      numbers<float>(2, 1, 9, 3), numbers<float>(1, 3, 3, 4, 5));
  // What lies in another order: a turned image, a part of it.
  check<float>(
      sess, 1e-5, [](const auto& x, const auto& w) { return conv2d(permute<0, 2, 3, 1>(x), permute<2, 3, 1, 0>(w)); },
      numbers<float>(2, 3, 5, 5), numbers<float>(4, 3, 2, 2, 5));
}

TEST_CASE("what follows a convolution is computed with it", "[gpu]") {
  session sess;
  const auto check_followed = [&](auto type, double tolerance, const auto& f, const auto& x, const auto& w,
                                  const auto& b) {
    using T = decltype(type);
    constexpr auto added = placeholder<"added", T, dyn, dyn, dyn, dyn>;
    INFO(name_of(element_of<T>));
    const auto all = [&](auto device) {
      const auto y = [&](auto scale) { return f(image<T> * scale, filter<T>); };  // another one for each number
      const auto at = [](const auto& e) { return on<decltype(device)>(e); };
      return fetches(at(relu(y(1_c) + added)), at(y(2_c) * -0.5_c - added), at(relu(y(3_c))), at(added - y(4_c) * 3_c),
                     at(sum<-1>(y(5_c) + y(6_c))));
    };
    const auto wanted = sess.run(all(cpu<0>()), image<T> = x, filter<T> = w, added = b);
    const auto got = sess.run(all(gpu<0>()), image<T> = x, filter<T> = w, added = b);
    CHECK(difference(std::get<0>(got), std::get<0>(wanted)) < tolerance);
    CHECK(difference(std::get<1>(got), std::get<1>(wanted)) < tolerance);
    CHECK(difference(std::get<2>(got), std::get<2>(wanted)) < tolerance);
    CHECK(difference(std::get<3>(got), std::get<3>(wanted)) < tolerance);
    CHECK(difference(std::get<4>(got), std::get<4>(wanted)) < tolerance);
  };
  const auto plain = [](const auto& x, const auto& w) { return conv2d<same>(x, w); };
  check_followed(0.f, 1e-5, plain, numbers<float>(2, 4, 5, 3), numbers<float>(3, 3, 3, 4), numbers<float>(1, 1, 1, 4));
  check_followed(0.0, 1e-12, plain, numbers<double>(2, 4, 5, 3), numbers<double>(3, 3, 3, 4),
                 numbers<double>(2, 4, 5, 4));
  check_followed(onto::half(), 3e-2, plain, numbers<onto::half>(2, 4, 5, 3), numbers<onto::half>(3, 3, 3, 4),
                 numbers<onto::half>(1, 1, 1, 4));
  check_followed(bfloat16(), 2e-1, plain, numbers<bfloat16>(2, 4, 5, 3), numbers<bfloat16>(3, 3, 3, 4),
                 numbers<bfloat16>(1, 4, 1, 1));
  check_followed(
      0.f, 1e-5, [](const auto& x, const auto& w) { return conv2d<nchw, groups<2>>(x, w); }, numbers<float>(2, 4, 5, 6),
      numbers<float>(6, 2, 3, 2, 5), numbers<float>(1, 6, 1, 1));
  check_followed(
      0.f, 1e-5, [](const auto& x, const auto& w) { return conv2d_transpose<strides<2>, same>(x, w); },
      numbers<float>(2, 3, 4, 5), numbers<float>(3, 3, 2, 5, 5), numbers<float>(1, 1, 1, 2));
}

TEST_CASE("no images give no results, and gradients of zeros", "[gpu]") {
  session sess;
  const auto x = numbers<float>(0, 5, 5, 3), w = numbers<float>(3, 3, 3, 4);
  const auto y = conv2d(image<float>, filter<float>);
  CHECK(sess.run(on<gpu<0>>(y), image<float> = x, filter<float> = w).size() == 0);
  const auto g = sess.run(on<gpu<0>>(gradient(sum(square(y)), filter<float>)), image<float> = x, filter<float> = w);
  REQUIRE(g.size() == 108);
  for (const float v : g) CHECK(v == 0);
}

TEST_CASE("a prepared program with convolutions repeats", "[gpu]") {
  session sess;
  const auto step = [](auto device) {
    const auto y = conv2d<same>(image<float>, filter<float>);
    const auto loss = on<decltype(device)>(sum(square(relu(y))));
    return fetches(loss, gradient(loss, filter<float>));
  };
  auto prepared = sess.prepare(step(gpu<0>()));
  for (int round = 0; round < 4; ++round) {
    const auto x = numbers<float>(2, 6, 6, 3, round), w = numbers<float>(3, 3, 3, 4, 2 * round);
    const auto [l0, g0] = sess.run(step(cpu<0>()), image<float> = x, filter<float> = w);
    const auto [l1, g1] = prepared(image<float> = x, filter<float> = w);
    CHECK(static_cast<float>(l1) == Approx(static_cast<float>(l0)));
    CHECK(difference(g1, g0) < 1e-5);
  }
}

TEST_CASE("floats are multiplied as such unless tf32 is asked for", "[gpu]") {
  const auto y = on<gpu<0>>(conv2d(image<float>, filter<float>));
  // 1 + 2^-12 is 1 in TF32.
  tensor<float, dyn, dyn, dyn, dyn> x({1, 8, 8, 8}), w({1, 1, 8, 8});
  for (float& v : x) v = 1 + 0x1p-12f;
  for (float& v : w) v = 1;
  session exact;
  CHECK(exact.run(y, image<float> = x, filter<float> = w).data()[0] == 8 + 0x1p-9f);
  session_options options;
  options.math = math_mode::tf32;
  session fast{options};
  CHECK(std::fabs(fast.run(y, image<float> = x, filter<float> = w).data()[0] - 8) < 0.01f);
}

#endif
