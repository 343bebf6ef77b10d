// SPDX-License-Identifier: BSL-1.0
// Convolutions and pooling as programs say them: options, extents of the type and of the run, element types, gradients
// beside central differences, gradients of gradients, and what is said where shapes do not fit.
#include <onto/convolution.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "../catch.hpp"

using namespace onto;

namespace {

inline constexpr auto image = placeholder<"image", double, 2, 5, 6, 4>;
inline constexpr auto filter = placeholder<"filter", double, 3, 2, 4, 6>;
inline constexpr auto any_image = placeholder<"image", double, dyn, dyn, dyn, dyn>;
inline constexpr auto any_filter = placeholder<"filter", double, dyn, dyn, dyn, dyn>;

template <class Tensor>
Tensor numbered(Tensor t, int salt) {
  for (std::size_t k = 0; k < t.size(); ++k)
    t.data()[k] = 0.4 + 0.1 * std::sin(1.7 * static_cast<double>(k) + salt) + 0.01 * static_cast<double>(k * 7 % 13);
  return t;
}

/// The gradient of `loss` by the symbol `s` at `at`, beside differences, at some of its elements.
template <class Loss, class Symbol, class Tensor, class... Feeds>
void check(session& run, const Loss& loss, const Symbol& s, const Tensor& at, const Feeds&... others) {
  const auto g = run.run(gradient(loss, s), s = at, others...);
  REQUIRE(g.size() == at.size());
  for (std::size_t k = 0; k < at.size(); k += 1 + at.size() / 23) {
    constexpr double step = 1e-5;
    Tensor above = at, below = at;
    above.data()[k] += step;
    below.data()[k] -= step;
    const double wanted = (static_cast<double>(run.run(loss, s = above, others...)) -
                           static_cast<double>(run.run(loss, s = below, others...))) /
                          (2 * step);
    INFO("element " << k);
    CHECK(g.data()[k] == Approx(wanted).margin(1e-5).epsilon(1e-5));
  }
}

/// By both operands, with extents in the type and with extents of the run; and the gradient of what a gradient gives.
template <class F>
void check_both(const char* text, F f) {
  INFO(text);
  session run;
  const auto x = numbered(tensor<double, 2, 5, 6, 4>(), 1);
  const auto w = numbered(tensor<double, 3, 2, 4, 6>(), 2);
  const auto loss = [&](const auto& a, const auto& b) { return sum(square(f(a, b)) * 0.5_c + exp(f(a, b) * 0.01_c)); };
  check(run, loss(image, filter), image, x, filter = w);
  check(run, loss(image, filter), filter, w, image = x);
  const auto second =
      sum(square(gradient(loss(image, filter), filter))) + sum(sin(gradient(loss(image, filter), image)));
  check(run, second, image, x, filter = w);
  check(run, second, filter, w, image = x);
  tensor<double, dyn, dyn, dyn, dyn> u({2, 5, 6, 4}), v({3, 2, 4, 6});
  for (std::size_t k = 0; k < x.size(); ++k) u.data()[k] = x.data()[k];
  for (std::size_t k = 0; k < w.size(); ++k) v.data()[k] = w.data()[k];
  check(run, loss(any_image, any_filter), any_image, u, any_filter = v);
  check(run, loss(any_image, any_filter), any_filter, v, any_image = u);
}
#define CHECK_CONVOLUTION(...) check_both(#__VA_ARGS__, [](const auto& x, const auto& w) { return __VA_ARGS__; })

/// Of an image alone.
template <class F>
void check_image(const char* text, F f) {
  INFO(text);
  session run;
  auto x = tensor<double, 2, 5, 6, 4>();
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(k * 37 % 241) / 100;  // no ties
  const auto loss = sum(square(f(image)) * 0.5_c + exp(f(image)));
  check(run, loss, image, x);
  check(run, sum(square(gradient(loss, image))), image, x);
}
#define CHECK_IMAGE(...) check_image(#__VA_ARGS__, [](const auto& x) { return __VA_ARGS__; })

}  // namespace

TEST_CASE("convolutions have derivatives by image and filter, and these have theirs", "[convolution]") {
  CHECK_CONVOLUTION(conv2d(x, w));
  CHECK_CONVOLUTION(conv2d<strides<2>, same>(x, w));
  CHECK_CONVOLUTION(conv2d<strides<1, 2>, padding<1>, padding<0, 2>, dilation<2, 1>>(x, w));
}

TEST_CASE("pooling has derivatives, and these have theirs", "[convolution]") {
  CHECK_IMAGE(max_pool2d<window<2>>(x));
  CHECK_IMAGE(max_pool2d<window<3>, strides<2>, same>(x));
  CHECK_IMAGE(avg_pool2d<window<3, 2>, strides<2, 1>, padding<1>>(x));
  CHECK_IMAGE(max_pool2d<window<3>, nchw, strides<1>>(x));
}

TEST_CASE("of equals the first in the window has the gradient of max_pool2d", "[convolution]") {
  static constexpr auto x = placeholder<"x", float, 1, 2, 2, 1>;
  tensor<float, 1, 2, 2, 1> at;
  for (int k = 0; k < 4; ++k) at.data()[k] = k == 0 ? 1.f : 2.f;
  const auto g = session().run(gradient(sum(max_pool2d<window<2>>(x)), x), x = at);
  for (int k = 0; k < 4; ++k) CHECK(g.data()[k] == (k == 1 ? 1.f : 0.f));
}

TEST_CASE("what follows a convolution is the same in its kernel and behind it", "[convolution]") {
  session run;
  static constexpr auto bias = placeholder<"bias", double, 6>;
  static constexpr auto images = placeholder<"images", double, 2, 5, 6, 6>;
  static constexpr auto any = placeholder<"any", double, dyn>;
  static constexpr auto factor = placeholder<"factor", double>;
  const auto x = numbered(tensor<double, 2, 5, 6, 4>(), 1);
  const auto w = numbered(tensor<double, 3, 2, 4, 6>(), 2);
  const auto b = numbered(tensor<double, 6>(), 3);
  const auto m = numbered(tensor<double, 2, 5, 6, 6>(), 4);
  const auto check_followed = [&](const auto& y, const auto& followed) {
    const auto inside = run.run(followed(y), image = x, filter = w, bias = b, images = m);
    // What is fetched itself is made apart.
    const auto [behind, made] = run.run(fetches(followed(y), y), image = x, filter = w, bias = b, images = m);
    REQUIRE(inside.size() == behind.size());
    double most = 0;
    for (std::size_t k = 0; k < inside.size(); ++k) {
      CHECK(inside.data()[k] == Approx(behind.data()[k]).margin(1e-12));
      most = std::max(most, std::abs(inside.data()[k]));
    }
    CHECK(most > 0);
  };
  const auto y = conv2d<same>(image, filter);
  check_followed(y, [](const auto& e) { return relu(e + bias); });
  check_followed(y, [](const auto& e) { return relu(e * 0.25 - bias); });
  check_followed(y, [](const auto& e) { return relu(9.0 * bias - e); });
  check_followed(y, [](const auto& e) { return e * 0.5_c + images; });
  check_followed(y, [](const auto& e) { return relu(e - slice<1, 2>(images)); });
  check_followed(y, [](const auto& e) { return relu(e + flip<1>(images)); });
  check_followed(conv2d<nchw, same>(permute<0, 3, 1, 2>(image), permute<3, 2, 0, 1>(filter)),
                 [](const auto& e) { return relu(e + reshape<6, 1, 1>(bias)); });
  check_followed(conv2d_transpose<strides<2>, same>(images, filter),
                 [](const auto& e) { return relu(9.0 * slice<0, 4>(bias) - e); });
  check_followed(conv2d_transpose<strides<2>, same>(images, filter),
                 [](const auto& e) { return relu(e - slice<0, 4>(bias)) * 2.0; });
  // Extents and factors of the run; a bias that turns out to be one number for all.
  tensor<double, dyn, dyn, dyn, dyn> u({2, 5, 6, 4}), v({3, 2, 4, 6});
  for (std::size_t k = 0; k < x.size(); ++k) u.data()[k] = x.data()[k];
  for (std::size_t k = 0; k < w.size(); ++k) v.data()[k] = w.data()[k];
  const auto z = conv2d(any_image, any_filter);
  for (const int n : {1, 6}) {
    tensor<double, dyn> a({n});
    for (int k = 0; k < n; ++k) a.data()[k] = -0.25 * k - 1;
    const auto inside = run.run(relu(z * factor + any), any_image = u, any_filter = v, any = a, factor = 0.5);
    const auto made = run.run(z, any_image = u, any_filter = v);
    REQUIRE(inside.size() == made.size());
    for (std::size_t k = 0; k < made.size(); ++k)
      CHECK(inside.data()[k] == Approx(std::max(0.0, 0.5 * made.data()[k] + a.data()[n == 1 ? 0 : k % 6])));
  }
}

TEST_CASE("what follows a convolution may be assigned, evaluated in line, and on another device", "[convolution]") {
  static constexpr auto bias = placeholder<"bias", double, 6>;
  static constexpr auto v = variable<"v", double, 2, 3, 5, 6>(ones<double, 2, 3, 5, 6>());
  const auto x = numbered(tensor<double, 2, 5, 6, 4>(), 1);
  const auto w = numbered(tensor<double, 3, 2, 4, 6>(), 2);
  auto b = numbered(tensor<double, 6>(), 3);
  for (int k = 0; k < 6; k += 2) b(k) = -6;  // relu has something to do
  constexpr auto y = conv2d(image, filter);
  static_assert(plan_of(assign(v, relu(y + bias))).kernels == 2);  // the convolution, and v is copied to be fetched
  session run{{.simulated_gpus = 2}};
  const auto made = run.run(y, image = x, filter = w);
  run.initialize(v);
  (void)run.run(assign_sub(v, y * 0.5_c), image = x, filter = w);
  const auto less = run.run(v);
  (void)run.run(assign(v, relu(y + bias)), image = x, filter = w, bias = b);
  const auto kept = run.run(v);
  const auto in_line = evaluate(relu(y + bias), image = x, filter = w, bias = b);
  const auto elsewhere = run.run(on<gpu<1>>(relu(on<gpu<0>>(y) + bias)), image = x, filter = w, bias = b);
  const auto guarded = [] {
    const device_guard outer{gpu<1>{}};
    const auto z = conv2d(image, filter);
    const device_guard inner{gpu<0>{}};
    return relu(z + bias);
  };
  const auto by_guards = run.run(guarded(), image = x, filter = w, bias = b);
  for (std::size_t k = 0; k < made.size(); ++k) {
    const double wanted = std::max(0.0, made.data()[k] + b.data()[k % 6]);
    CHECK(less.data()[k] == Approx(1 - made.data()[k] / 2));
    CHECK(kept.data()[k] == Approx(wanted));
    CHECK(in_line.data()[k] == Approx(wanted));
    CHECK(elsewhere.data()[k] == Approx(wanted));
    CHECK(by_guards.data()[k] == Approx(wanted));
  }
}

TEST_CASE("a sum after a convolution of half is rounded once", "[convolution]") {
  static constexpr auto x = placeholder<"x", half, 1, 1, 2, 1>;
  static constexpr auto w = placeholder<"w", half, 1, 2, 1, 1>;
  static constexpr auto b = placeholder<"b", half, 1>;
  tensor<half, 1, 1, 2, 1> one;
  tensor<half, 1, 2, 1, 1> filter_of;
  tensor<half, 1> less;
  one.data()[0] = one.data()[1] = half(1.f);
  filter_of.data()[0] = half(2048.f);
  filter_of.data()[1] = half(1.f);
  less.data()[0] = half(-2048.f);
  // 2049 is none of half's numbers: it would be 2048.
  CHECK(static_cast<float>(session().run(conv2d(x, w) + b, x = one, w = filter_of, b = less).data()[0]) == 1);
}

TEST_CASE("the words for convolutions agree with each other", "[convolution]") {
  session run;
  const auto x = numbered(tensor<double, 2, 5, 6, 4>(), 1);
  const auto equal = [&](const auto& a, const auto& b, const auto&... feeds) {
    const auto l = run.run(a, feeds...), r = run.run(b, feeds...);
    REQUIRE(l.size() == r.size());
    for (std::size_t k = 0; k < l.size(); ++k) CHECK(l.data()[k] == Approx(r.data()[k]));
  };
  const auto w = numbered(tensor<double, 3, 2, 4, 6>(), 2);
  // With the channels first, images and filters are the same ones, turned.
  equal(permute<0, 2, 3, 1>(conv2d<nchw, same, strides<2, 1>>(permute<0, 3, 1, 2>(image), permute<3, 2, 0, 1>(filter))),
        conv2d<same, strides<2, 1>>(image, filter), image = x, filter = w);
  // A filter for each channel is a group for each channel.
  static constexpr auto each = placeholder<"each", double, 3, 3, 4, 2>;
  const auto e = numbered(tensor<double, 3, 3, 4, 2>(), 3);
  equal(depthwise_conv2d<same>(image, each), conv2d<same, groups<4>>(image, reshape<3, 3, 1, 8>(each)), image = x,
        each = e);
  // Sequences are images of one line.
  static constexpr auto line = placeholder<"line", double, 3, 2, 4>;
  const auto n = numbered(tensor<double, 3, 2, 4>(), 4);
  static constexpr auto sequence = placeholder<"sequence", double, 2, 9, 2>;
  const auto s = numbered(tensor<double, 2, 9, 2>(), 5);
  equal(conv1d<strides<2>, padding<1, 2>>(sequence, line),
        squeeze<1>(conv2d<strides<1, 2>, padding<0>, padding<1, 2>>(expand_dims<1>(sequence), expand_dims<0>(line))),
        sequence = s, line = n);
  // A transposed convolution is the gradient of a convolution by its image.
  static constexpr auto made = placeholder<"made", double, 2, 3, 3, 6>;
  const auto m = numbered(tensor<double, 2, 3, 3, 6>(), 6);
  static constexpr auto large = placeholder<"large", double, 2, 6, 6, 4>;
  equal(conv2d_transpose<strides<2>, same>(made, filter),
        gradient(sum(conv2d<strides<2>, same>(large, filter) * made), large), made = m, filter = w,
        large = tensor<double, 2, 6, 6, 4>());
}

TEST_CASE("a transposed convolution has derivatives", "[convolution]") {
  static constexpr auto x = placeholder<"x", double, 2, 3, 4, 6>;
  const auto at = numbered(tensor<double, 2, 3, 4, 6>(), 1);
  const auto w = numbered(tensor<double, 3, 2, 4, 6>(), 2);
  session run;
  const auto check_loss = [&](const auto& y) {
    const auto loss = sum(square(y) + y * sin(y));
    check(run, loss, x, at, filter = w);
    check(run, loss, filter, w, x = at);
  };
  check_loss(conv2d_transpose<strides<2>, same>(x, filter));
  check_loss(conv2d_transpose<strides<3, 2>, padding<1, 0>, output_padding<1>>(x, filter));
}

TEST_CASE("half and bfloat16 are summed in float", "[convolution]") {
  const auto run_as = [](auto zero) {
    using T = decltype(zero);
    static constexpr auto x = placeholder<"x", T, 1, 1, 4096, 1>;
    static constexpr auto w = placeholder<"w", T, 1, 4096, 1, 1>;
    tensor<T, 1, 1, 4096, 1> a;
    tensor<T, 1, 4096, 1, 1> b;
    for (int k = 0; k < 4096; ++k) {
      a.data()[k] = T(1.f);
      b.data()[k] = T(1.f);
    }
    return static_cast<float>(session().run(conv2d(x, w), x = a, w = b).data()[0]);
  };
  CHECK(run_as(half()) == 4096);  // in half, 2048 + 1 is 2048
  CHECK(run_as(bfloat16()) == 4096);
}

TEST_CASE("what the run finds wrong with a convolution is a sentence", "[convolution]") {
  session run;
  const auto fails = [&](const auto& e, const auto&... feeds) {
    try {
      run.run(e, feeds...);
    } catch (const invalid_argument_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const tensor<double, dyn, dyn, dyn, dyn> x({2, 5, 6, 4}), w({3, 2, 4, 6}), three({3, 3, 3, 6}), large({7, 3, 4, 6});
  CHECK(fails(conv2d(any_image, any_filter), any_image = x, any_filter = three)
            .find("the filter is not for the image's") != std::string::npos);
  CHECK(fails(conv2d(any_image, any_filter), any_image = x, any_filter = large).find("no window fits into the image") !=
        std::string::npos);
  CHECK(fails(conv2d<groups<4>>(any_image, reshape<3, 2, 1, dyn>(any_filter)), any_image = x,
              any_filter = tensor<double, dyn, dyn, dyn, dyn>({3, 2, 1, 6}))
            .find("the groups do not share") != std::string::npos);
}

TEST_CASE("a convolution runs where its scope says, and so do its gradients", "[convolution]") {
  constexpr auto loss = on<gpu<1>>(sum(square(conv2d<same>(image, filter))));
  session s{{.simulated_gpus = 2}};
  const auto x = numbered(tensor<double, 2, 5, 6, 4>(), 1);
  const auto w = numbered(tensor<double, 3, 2, 4, 6>(), 2);
  const auto there = s.run(gradient(loss, filter), image = x, filter = w);
  const auto here = session().run(gradient(sum(square(conv2d<same>(image, filter))), filter), image = x, filter = w);
  for (std::size_t k = 0; k < here.size(); ++k) CHECK(there.data()[k] == here.data()[k]);
}
