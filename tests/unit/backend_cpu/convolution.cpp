// SPDX-License-Identifier: BSL-1.0
// Convolutions and pooling on the CPU against plain loops: every part, layout, stride, padding, dilation and number of
// groups, views, half precision, epilogues, and the same bits for any number of threads.
#include <onto/backend/cpu/convert.hpp>
#include <onto/convolution.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "../catch.hpp"

using namespace onto;
using namespace onto::detail;

namespace {

using generator = std::mt19937;
int pick(generator& random, int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); }

constexpr half_kernels conversions{&widen_run, &narrow_run, nullptr};

/// An operand with its elements in order, or spread out: every other element of a larger array.
template <class T>
struct test_operand {
  extents shape;
  std::vector<T> memory;
  operand_view view;
  std::vector<double> values;

  test_operand(generator& random, const extents& e, bool spread) : shape(e) {
    const auto size = static_cast<std::size_t>(e.size());
    const std::size_t apart = spread ? 2 : 1;
    memory.assign(size * apart + 1, T(99));
    contiguous_strides(e, view.stride);
    for (int k = 0; k < e.rank; ++k) view.stride[k] *= static_cast<std::int64_t>(apart);
    for (std::size_t k = 0; k < size; ++k) {
      const double v = pick(random, -16, 16) / 8.0;
      values.push_back(v);
      memory[k * apart] = static_cast<T>(static_cast<float>(v));
    }
    view.data = memory.data();
    view.type = element_of<T>;
  }
};

op_info operation_with(const window_options& o) {
  op_info op{};
  op.kind = op_kind::own_kernel;
  op.attributes = window_options::count;
  for (int k = 0; k < window_options::count; ++k) op.attribute[k] = o.number(k);
  return op;
}

/// What each part sums, by loops over all that there is.
struct plain {
  std::vector<double> sum, magnitude;
};

/// What follows a convolution in its kernel. The addend is one number for each channel, or one for each element, in
/// memory of its own or where the result will be.
template <class T>
struct test_epilogue {
  matmul_form form{};
  std::vector<T> memory{};
  operand_view addend{};
  bool in_place = false;
  std::vector<double> values{};  // of the addend, one for each element of the result

  test_epilogue() = default;
  test_epilogue(generator& random, const window_options& o, const extents& made) {
    constexpr double factors[] = {1, 1, -0.5, 2};
    form.alpha = factors[pick(random, 0, 3)];
    form.relu = pick(random, 0, 1) == 1;
    const int kind = pick(random, 0, 3);
    if (kind == 0) return;
    form.beta = factors[pick(random, 0, 3)];
    in_place = kind == 3;
    test_operand<T> t(random, kind == 1 ? extents(shape<1, 1, 1, 1>{}) : made, kind == 2 && pick(random, 0, 1));
    const std::int64_t size = made.size(), channels = made.dims[channel_axis(o)];
    std::int64_t inner = 1;  // elements of a channel that lie next to each other
    for (int d = channel_axis(o) + 1; d < made.rank; ++d) inner *= made.dims[d];
    if (kind == 1) {
      extents one;
      one.push_back(static_cast<int>(channels));
      t = test_operand<T>(random, one, pick(random, 0, 1) == 1);
      const std::int64_t step = t.view.stride[0];
      for (std::int64_t& s : t.view.stride) s = 0;
      t.view.stride[channel_axis(o)] = step;
    }
    for (std::int64_t k = 0; k < size; ++k)
      values.push_back(t.values[static_cast<std::size_t>(kind == 1 ? k / inner % channels : k)]);
    memory = t.memory;
    addend = t.view;
  }

  /// What a convolution becomes.
  plain of(plain p) const {
    for (std::size_t k = 0; k < p.sum.size(); ++k) {
      const double more = values.empty() ? 0 : form.beta * values[k];
      p.sum[k] = form.alpha * p.sum[k] + more;
      p.magnitude[k] = std::abs(form.alpha) * p.magnitude[k] + std::abs(more);
      if (form.relu && p.sum[k] < 0) p.sum[k] = 0;
    }
    return p;
  }
};

template <class T>
std::vector<T> run(void (*kernel)(thread_pool&, const kernel_call&), int threads, const window_options& o,
                   std::initializer_list<const test_operand<T>*> operands, const extents& made,
                   const test_epilogue<T>& epilogue = {}) {
  const op_info op = operation_with(o);
  std::vector<operand_view> in;
  std::vector<extents> shapes;
  for (const test_operand<T>* x : operands) {
    in.push_back(x->view);
    shapes.push_back(x->shape);
  }
  const auto size = static_cast<std::size_t>(made.size());
  std::vector<T> out(size + 4, T(7)), memory = epilogue.memory;
  if (epilogue.form.beta != 0) {
    shapes.push_back(made);
    in.push_back(epilogue.addend);
    if (epilogue.in_place) {
      for (std::size_t k = 0; k < size; ++k) out[k] = memory[k];
      in.back().data = out.data();
    } else {
      in.back().data = memory.data();
    }
  }
  shapes.push_back(made);
  kernel_call call;
  call.space = shapes[0];
  call.inputs = static_cast<int>(in.size());
  call.in = in.data();
  call.shapes = shapes.data();
  call.out.data = out.data();
  call.out.type = element_of<T>;
  contiguous_strides(made, call.out.stride);
  call.op = &op;
  call.half_precision = &conversions;
  call.form = epilogue.form;
  thread_pool pool(threads);
  kernel(pool, call);
  for (std::size_t k = size; k < out.size(); ++k) CHECK(static_cast<float>(out[k]) == 7);  // nothing beyond the end
  out.resize(size);
  return out;
}

/// Where the element is that four numbers name: how many steps of each. `place` says it, of which they are found.
class places {
 public:
  template <class Place>
  explicit places(const Place& place)
      : steps_{place(1, 0, 0, 0), place(0, 1, 0, 0), place(0, 0, 1, 0), place(0, 0, 0, 1)} {}
  std::size_t operator()(int first, int second, int third, int fourth) const {
    return static_cast<std::size_t>(first * steps_[0] + second * steps_[1] + third * steps_[2] + fourth * steps_[3]);
  }

 private:
  std::int64_t steps_[4];
};

std::int64_t place_in(const extents& e, const int* index) {
  std::int64_t k = 0;
  for (int d = 0; d < e.rank; ++d) k = k * e.dims[d] + index[d];
  return k;
}

/// By its number, row, column and channel.
places places_in_images(const window_options& o, const extents& e) {
  return places([&](int n, int y, int x, int c) {
    int index[4] = {n, c, c, c};
    for (int k = 0; k < o.axes; ++k) index[first_image_axis(o) + k] = k + 1 < o.axes ? y : x;
    return place_in(e, index);
  });
}

/// By row, column, and the channels of what is read and made.
places places_in_filter(const window_options& o, const extents& e) {
  return places([&](int y, int x, int in, int out) {
    int index[4] = {};
    index[filter_in_axis(o)] = in;
    index[filter_out_axis(o)] = out;
    for (int k = 0; k < o.axes; ++k) index[first_filter_axis(o) + k] = k + 1 < o.axes ? y : x;
    return place_in(e, index);
  });
}

plain convolve(convolution_part part, const window_options& o, const convolution_form& f, const extents& image,
               const std::vector<double>& image_values, const extents& filter, const std::vector<double>& filter_values,
               const extents& result, const std::vector<double>& result_values) {
  const extents& made = part == convolution_part::forward          ? result
                        : part == convolution_part::image_gradient ? image
                                                                   : filter;
  plain p;
  p.sum.assign(static_cast<std::size_t>(made.size()), 0);
  p.magnitude = p.sum;
  const places in_image = places_in_images(o, image), in_filter = places_in_filter(o, filter),
               in_result = places_in_images(o, result);
  const int in = static_cast<int>(f.filter_channels()), groups = static_cast<int>(f.groups),
            out = groups > 0 ? static_cast<int>(f.result_channels) / groups : 0;
  const auto i = [](std::int64_t n) { return static_cast<int>(n); };
  for (int n = 0; n < i(f.batch); ++n)
    for (int y = 0; y < i(f.result[0]); ++y)
      for (int x = 0; x < i(f.result[1]); ++x)
        for (int r = 0; r < i(f.filter[0]); ++r)
          for (int c = 0; c < i(f.filter[1]); ++c) {
            const int row = i(y * f.stride[0] - f.before[0] + r * f.dilation[0]),
                      column = i(x * f.stride[1] - f.before[1] + c * f.dilation[1]);
            if (row < 0 || row >= f.image[0] || column < 0 || column >= f.image[1]) continue;
            for (int g = 0; g < groups; ++g)
              for (int a = 0; a < in; ++a)
                for (int b = 0; b < out; ++b) {
                  const bool times = o.groups == 0 && o.layout == image_layout::nhwc;  // a filter (h, w, c, times)
                  const std::size_t at_image = in_image(n, row, column, g * in + a);
                  const std::size_t at_filter = times ? in_filter(r, c, g, b) : in_filter(r, c, a, g * out + b);
                  const std::size_t at_result = in_result(n, y, x, g * out + b);
                  const std::size_t to = part == convolution_part::forward          ? at_result
                                         : part == convolution_part::image_gradient ? at_image
                                                                                    : at_filter;
                  const double v = (part == convolution_part::image_gradient ? 1 : image_values[at_image]) *
                                   (part == convolution_part::filter_gradient ? 1 : filter_values[at_filter]) *
                                   (part == convolution_part::forward ? 1 : result_values[at_result]);
                  p.sum[to] += v;
                  p.magnitude[to] += std::abs(v);
                }
          }
  return p;
}

template <class T>
bool agree(const std::vector<T>& got, const plain& wanted) {
  const double eps = std::is_same_v<T, half>       ? 1.0 / 2048
                     : std::is_same_v<T, bfloat16> ? 1.0 / 256
                                                   : std::numeric_limits<T>::epsilon();
  bool good = got.size() == wanted.sum.size();
  for (std::size_t k = 0; good && k < got.size(); ++k)
    good =
        std::abs(static_cast<double>(static_cast<float>(got[k])) - wanted.sum[k]) <=
        (is_half_precision(element_of<T>) ? eps * std::abs(wanted.sum[k]) + 1e-7 : 0) + (sizeof(T) == 2   ? 1e-6
                                                                                         : sizeof(T) == 8 ? 1e-7
                                                                                                          : 16 * eps) *
                                                                                            wanted.magnitude[k];
  return good;
}

window_options some_options(generator& random, bool small) {
  window_options o;
  o.layout = pick(random, 0, 1) ? image_layout::nhwc : image_layout::nchw;
  o.axes = pick(random, 0, 3) ? 2 : 1;
  o.padding = static_cast<padding_rule>(pick(random, 0, 2));
  for (int a = image_axes - o.axes; a < image_axes; ++a) {
    o.stride[a] = pick(random, 1, 3);
    o.dilation[a] = pick(random, 0, 2) ? 1 : pick(random, 2, 3);
    if (o.padding == padding_rule::numbers) {
      o.before[a] = pick(random, 0, 3);
      o.after[a] = pick(random, 0, 3);
    }
  }
  const int kind = pick(random, 0, 5);
  o.groups = kind == 0 ? 0 : kind == 1 ? pick(random, 2, 3) : 1;
  if (small) o.stride[0] = o.stride[1] = 1;
  return o;
}

extents shape_of_image(const window_options& o, int batch, int height, int width, int channels) {
  extents e;
  e.rank = o.axes + 2;
  e.dims[0] = batch;
  e.dims[channel_axis(o)] = channels;
  for (int k = 0; k < o.axes; ++k) e.dims[first_image_axis(o) + k] = k + 1 < o.axes ? height : width;
  return e;
}
extents shape_of_filter(const window_options& o, int height, int width, int in, int out) {
  extents e;
  e.rank = o.axes + 2;
  e.dims[filter_in_axis(o)] = in;
  e.dims[filter_out_axis(o)] = out;
  for (int k = 0; k < o.axes; ++k) e.dims[first_filter_axis(o) + k] = k + 1 < o.axes ? height : width;
  return e;
}

/// A bias for each channel and relu.
template <class T>
test_epilogue<T> bias_and_relu(generator& random, const extents& made, const window_options& o) {
  test_epilogue<T> e;
  while (e.form.beta == 0 || !e.form.relu || e.addend.stride[0] != 0) e = test_epilogue<T>(random, o, made);
  return e;
}

/// Every part of a convolution, alone and with what follows it.
template <class T>
void check_parts(generator& random, const window_options& o, const extents& image, const extents& filter,
                 const std::string& which) {
  using computed = computed_of<T>;
  const inferred made = convolved(o, image, filter);
  REQUIRE(made.fault == shape_fault::none);
  const bool spread = pick(random, 0, 3) == 0;
  const test_operand<T> x(random, image, spread), w(random, filter, spread), g(random, made.shape, spread);
  const convolution_form f =
      form_of_convolution(convolution_part::forward, o, element_of<T>, image, filter, made.shape);
  INFO(which << " image " << to_string(image) << " filter " << to_string(filter) << " result " << to_string(made.shape)
             << " stride " << o.stride[0] << "," << o.stride[1] << " dilation " << o.dilation[0] << "," << o.dilation[1]
             << " groups " << o.groups);
  const auto wanted = [&](convolution_part part) {
    return convolve(part, o, f, image, x.values, filter, w.values, made.shape, g.values);
  };
  const test_epilogue<T> after(random, o, made.shape), before(random, o, image);
  for (const int threads : {1, 3}) {
    CHECK(agree(run<T>(&cpu_convolution<convolution_part::forward, computed>, threads, o, {&x, &w}, made.shape, after),
                after.of(wanted(convolution_part::forward))));
    CHECK(
        agree(run<T>(&cpu_convolution<convolution_part::image_gradient, computed>, threads, o, {&g, &w}, image, before),
              before.of(wanted(convolution_part::image_gradient))));
    CHECK(agree(run<T>(&cpu_convolution<convolution_part::forward, computed>, threads, o, {&x, &w}, made.shape),
                wanted(convolution_part::forward)));
    CHECK(agree(run<T>(&cpu_convolution<convolution_part::image_gradient, computed>, threads, o, {&g, &w, &x}, image),
                wanted(convolution_part::image_gradient)));
    CHECK(agree(run<T>(&cpu_convolution<convolution_part::filter_gradient, computed>, threads, o, {&x, &g, &w}, filter),
                wanted(convolution_part::filter_gradient)));
  }
}

template <class T>
void check_random(unsigned seed, int rounds, int channels) {
  generator random(seed);
  for (int round = 0; round < rounds; ++round) {
    const window_options o = some_options(random, round % 3 == 0);
    const int groups = o.groups == 0 ? pick(random, 1, channels) : o.groups;
    const int in = o.groups == 0 ? 1 : pick(random, 1, channels), out = pick(random, 1, o.groups == 0 ? 2 : channels);
    const bool times = o.groups == 0 && o.layout == image_layout::nhwc;
    const extents image = shape_of_image(o, pick(random, 1, 3), pick(random, 1, 12), pick(random, 1, 12), in * groups);
    const extents filter = times ? shape_of_filter(o, pick(random, 1, 4), pick(random, 1, 4), groups, out)
                                 : shape_of_filter(o, pick(random, 1, 4), pick(random, 1, 4), in, out * groups);
    if (convolved(o, image, filter).fault != shape_fault::none) continue;
    check_parts<T>(random, o, image, filter, "seed " + std::to_string(seed) + " round " + std::to_string(round));
  }
}

/// One channel to one: lines of 1 to 70 pixels, or every so many of these, in every layout, stride, dilation, padding.
template <class T>
void check_one_channel(unsigned seed, int apart) {
  generator random(seed);
  constexpr int windows[][2] = {{1, 1}, {1, 5}, {5, 1}, {3, 3}, {2, 40}};
  int checked = 0;
  for (int width = 1; width <= 70; width += apart)
    for (const auto& window : windows) {
      window_options o = some_options(random, width % 2 == 0);
      o.groups = pick(random, 0, 1);
      const int height = width % 7 == 0 ? 40 : pick(random, 1, 6);
      // A column of pixels, too.
      const bool column = width % 5 == 0 && window[1] == 1;
      const extents image = shape_of_image(o, pick(random, 1, 3), column ? width : height, column ? 1 : width, 1);
      const extents filter = shape_of_filter(o, window[0], window[1], 1, 1);
      if (convolved(o, image, filter).fault != shape_fault::none) continue;
      ++checked;
      check_parts<T>(random, o, image, filter, "one channel, width " + std::to_string(width));
    }
  CHECK(checked > 200 / apart);
}

/// Of short lines, or of wide windows over lines of `wide` pixels at least.
template <class T>
void check_pooling(unsigned seed, int rounds, int wide = 0) {
  generator random(seed);
  using computed = computed_of<T>;
  for (int round = 0; round < rounds; ++round) {
    window_options o = some_options(random, false);
    o.axes = 2;
    o.groups = 1;
    for (int a = 0; a < image_axes; ++a) {
      o.dilation[a] = 1;
      o.stride[a] = pick(random, 1, 3);
      o.window[a] = pick(random, 1, wide > 0 && a == 1 ? 40 : 4);
      o.before[a] = o.padding == padding_rule::numbers ? pick(random, 0, o.window[a] - 1) : 0;
      o.after[a] = o.padding == padding_rule::numbers ? pick(random, 0, o.window[a] - 1) : 0;
    }
    const extents image = shape_of_image(o, pick(random, 1, 3), pick(random, 1, 9), wide + pick(random, 1, wide + 9),
                                         pick(random, 1, round % 4 == 0 ? 40 : 5));
    const inferred made = pooled(o, image);
    if (made.fault != shape_fault::none) continue;
    const bool spread = pick(random, 0, 3) == 0;
    test_operand<T> x(random, image, spread);
    const test_operand<T> g(random, made.shape, spread);
    if (round % 5 == 0) {
      x.values[0] = std::numeric_limits<double>::quiet_NaN();
      x.memory[0] = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    }
    std::vector<double> most(g.values.size()), mean(g.values.size()), picked(g.values.size());
    std::vector<double> to_most(x.values.size()), to_all(x.values.size());
    const places in_image = places_in_images(o, image), in_result = places_in_images(o, made.shape);
    for (int n = 0; n < image[0]; ++n)
      for (int c = 0; c < image[channel_axis(o)]; ++c)
        for (int y = 0; y < made.shape[first_image_axis(o)]; ++y)
          for (int z = 0; z < made.shape[first_image_axis(o) + 1]; ++z) {
            std::vector<std::size_t> inside;
            for (int r = 0; r < o.window[0]; ++r)
              for (int s = 0; s < o.window[1]; ++s) {
                const int h = image[first_image_axis(o)], v = image[first_image_axis(o) + 1];
                const int row = y * o.stride[0] - static_cast<int>(padding_of(o, 0, h, o.window[0]).before) + r;
                const int column = z * o.stride[1] - static_cast<int>(padding_of(o, 1, v, o.window[1]).before) + s;
                if (row >= 0 && row < h && column >= 0 && column < v) inside.push_back(in_image(n, row, column, c));
              }
            REQUIRE(!inside.empty());
            const std::size_t k = in_result(n, y, z, c);
            std::size_t best = inside[0];
            for (const std::size_t i : inside) {
              if (x.values[best] == x.values[best] && (x.values[i] != x.values[i] || x.values[i] > x.values[best]))
                best = i;
              mean[k] += x.values[i] / static_cast<double>(inside.size());
              to_all[i] += g.values[k] / static_cast<double>(inside.size());
            }
            most[k] = x.values[best];
            picked[k] = x.values[best];
            to_most[best] += g.values[k];
          }
    INFO("seed " << seed << " round " << round << " image " << to_string(image));
    const auto same_as = [](const std::vector<T>& got, const std::vector<double>& wanted) {
      bool good = got.size() == wanted.size();
      for (std::size_t k = 0; good && k < got.size(); ++k) {
        const auto v = static_cast<double>(static_cast<float>(got[k]));
        good = std::isnan(wanted[k]) ? std::isnan(v) : std::abs(v - wanted[k]) <= 4e-3 * std::abs(wanted[k]) + 1e-5;
      }
      return good;
    };
    for (const int threads : {1, 3}) {
      CHECK(same_as(run<T>(&cpu_pooling<pooling_part::max, computed>, threads, o, {&x}, made.shape), most));
      CHECK(same_as(run<T>(&cpu_pooling<pooling_part::mean, computed>, threads, o, {&x}, made.shape), mean));
      CHECK(same_as(run<T>(&cpu_pooling<pooling_part::max_gradient, computed>, threads, o, {&g, &x}, image), to_most));
      CHECK(same_as(run<T>(&cpu_pooling<pooling_part::mean_gradient, computed>, threads, o, {&g, &x}, image), to_all));
      CHECK(same_as(run<T>(&cpu_pooling<pooling_part::pick, computed>, threads, o, {&x, &x}, made.shape), picked));
    }
  }
}

}  // namespace

TEST_CASE("convolutions of random shapes are those of plain loops", "[convolution]") {
  check_random<float>(1, 60, 5);
  check_random<double>(2, 40, 5);
  check_random<half>(3, 20, 4);
  check_random<bfloat16>(4, 20, 4);
  check_random<float>(5, 6, 40);  // more channels than a vector has
  check_random<double>(6, 4, 40);
}

TEST_CASE("convolutions of one channel to one are those of plain loops", "[convolution]") {
  check_one_channel<float>(11, 1);
  check_one_channel<double>(12, 3);
  check_one_channel<half>(13, 6);
  check_one_channel<bfloat16>(14, 7);
}

TEST_CASE("a line of many pixels has the same bits for any number of threads", "[convolution]") {
  generator random(15);
  using part = convolution_part;
  for (const int stride : {1, 2}) {
    window_options o;
    o.axes = 1;
    o.padding = padding_rule::numbers;
    o.before[1] = 4500;  // more than a block of zeros
    o.after[1] = 3;
    o.stride[1] = stride;
    const test_operand<float> x(random, shape<1, 20000, 1>{}, false), w(random, shape<9, 1, 1>{}, false);
    const extents made = convolved(o, x.shape, w.shape).shape;
    const test_operand<float> g(random, made, false);
    const test_epilogue<float> after = bias_and_relu<float>(random, made, o);
    const convolution_form f = form_of_convolution(part::forward, o, element::float32, x.shape, w.shape, made);
    const auto forward = [&](int threads) {
      return run<float>(&cpu_convolution<part::forward, float>, threads, o, {&x, &w}, made, after);
    };
    const auto back = [&](int threads) {
      return run<float>(&cpu_convolution<part::image_gradient, float>, threads, o, {&g, &w}, x.shape);
    };
    const auto wanted = [&](part p) { return convolve(p, o, f, x.shape, x.values, w.shape, w.values, made, g.values); };
    CHECK(agree(forward(1), after.of(wanted(part::forward))));
    CHECK(forward(1) == forward(4));
    CHECK(agree(back(1), wanted(part::image_gradient)));
    CHECK(back(1) == back(4));
    const auto by_filter = [&](int threads) {
      return run<float>(&cpu_convolution<part::filter_gradient, float>, threads, o, {&x, &g, &w}, w.shape);
    };
    CHECK(agree(by_filter(1), wanted(part::filter_gradient)));
    CHECK(by_filter(1) == by_filter(4));
  }
}

TEST_CASE("pooling of random shapes is that of plain loops", "[convolution]") {
  check_pooling<float>(1, 60);
  check_pooling<double>(2, 30);
  check_pooling<half>(3, 20);
}

TEST_CASE("pooling of wide windows, and of lines in parts, is that of plain loops", "[convolution]") {
  check_pooling<float>(4, 20, 60);
  check_pooling<double>(5, 10, 60);
  check_pooling<float>(6, 4, 2500);
}

TEST_CASE("a convolution of many windows has the same bits for any number of threads", "[convolution]") {
  generator random(7);
  window_options o;
  o.padding = padding_rule::same;
  const test_operand<float> x(random, shape<3, 21, 19, 17>{}, false), w(random, shape<3, 5, 17, 35>{}, false),
      g(random, shape<3, 21, 19, 35>{}, false);
  using part = convolution_part;
  const auto forward = [&](int threads) {
    return run<float>(&cpu_convolution<part::forward, float>, threads, o, {&x, &w}, g.shape);
  };
  const auto by_image = [&](int threads) {
    return run<float>(&cpu_convolution<part::image_gradient, float>, threads, o, {&g, &w, &x}, x.shape);
  };
  const auto by_filter = [&](int threads) {
    return run<float>(&cpu_convolution<part::filter_gradient, float>, threads, o, {&x, &g, &w}, w.shape);
  };
  CHECK(forward(1) == forward(2));
  CHECK(forward(1) == forward(5));
  CHECK(by_image(1) == by_image(4));
  CHECK(by_filter(1) == by_filter(4));
  const convolution_form f = form_of_convolution(part::forward, o, element::float32, x.shape, w.shape, g.shape);
  for (const part p : {part::forward, part::image_gradient, part::filter_gradient})
    CHECK(agree(p == part::forward          ? forward(2)
                : p == part::image_gradient ? by_image(2)
                                            : by_filter(2),
                convolve(p, o, f, x.shape, x.values, w.shape, w.values, g.shape, g.values)));
}

TEST_CASE("what follows a convolution has the same bits for any number of threads, and NaN stays", "[convolution]") {
  generator random(10);
  const window_options o;
  using part = convolution_part;
  test_operand<float> x(random, shape<3, 19, 21, 40>{}, false);
  const test_operand<float> w(random, shape<4, 5, 40, 35>{}, false), each(random, shape<4, 5, 40, 1>{}, false);
  const extents made = shape<3, 16, 17, 35>{}, of_each = shape<3, 16, 17, 40>{};
  const test_epilogue<float> after = bias_and_relu<float>(random, made, o);
  const convolution_form f = form_of_convolution(part::forward, o, element::float32, x.shape, w.shape, made);
  const auto forward = [&](int threads) {
    return run<float>(&cpu_convolution<part::forward, float>, threads, o, {&x, &w}, made, after);
  };
  CHECK(agree(forward(1), after.of(convolve(part::forward, o, f, x.shape, x.values, w.shape, w.values, made, {}))));
  CHECK(forward(1) == forward(4));
  x.memory[0] = std::numeric_limits<float>::quiet_NaN();  // in one window
  const std::vector<float> with_nan = forward(2);
  for (std::size_t k = 0; k < with_nan.size(); ++k) CHECK(std::isnan(with_nan[k]) == (k < 35));
  window_options by_channel;
  by_channel.groups = 0;
  const test_epilogue<float> after_each = bias_and_relu<float>(random, of_each, by_channel);
  const std::vector<float> depthwise =
      run<float>(&cpu_convolution<part::forward, float>, 2, by_channel, {&x, &each}, of_each, after_each);
  for (std::size_t k = 0; k < depthwise.size(); ++k) CHECK(std::isnan(depthwise[k]) == (k == 0));
}

#if defined(ONTO_HAS_ONEDNN)
TEST_CASE("oneDNN's convolutions are those of plain loops, with strides, dilation and groups too", "[convolution]") {
  generator random(9);
  using part = convolution_part;
  for (int round = 0; round < 12; ++round) {
    window_options o;
    o.padding = static_cast<padding_rule>(round % 3);
    o.stride[0] = 1 + round % 2;
    o.dilation[1] = 1 + round / 4 % 2;
    o.before[0] = o.padding == padding_rule::numbers ? 2 : 0;
    o.after[1] = o.padding == padding_rule::numbers ? 1 : 0;
    o.groups = round % 4 == 3 ? 2 : 1;
    const extents image = shape<24, 13, 14, 16>{};
    const extents filter = shape_of_filter(o, 3, 1 + round % 4, 16 / o.groups, 32);
    const extents made = convolved(o, image, filter).shape;
    const test_operand<float> x(random, image, false), w(random, filter, false), g(random, made, false);
    const convolution_form f = form_of_convolution(part::forward, o, element::float32, image, filter, made);
    INFO("round " << round << " result " << to_string(made));
    thread_pool pool(2);
    std::vector<float> out(static_cast<std::size_t>(made.size())), in(static_cast<std::size_t>(image.size()));
    for (int again = 0; again < 2; ++again) {  // made, and kept
      REQUIRE(f.flops() >= onednn_convolution_pays);
      REQUIRE(convolve_with_onednn(pool, f, x.memory.data(), w.memory.data(), out.data(), {}));
      convolution_form back = f;
      back.part = part::image_gradient;
      REQUIRE(convolve_with_onednn(pool, back, g.memory.data(), w.memory.data(), in.data(), {}));
    }
    CHECK(agree(out, convolve(part::forward, o, f, image, x.values, filter, w.values, made, g.values)));
    CHECK(agree(in, convolve(part::image_gradient, o, f, image, x.values, filter, w.values, made, g.values)));
    CHECK(run<float>(&cpu_convolution<part::forward, float, matmul_library::onednn>, 2, o, {&x, &w}, made) == out);
    const test_epilogue<float> after(random, o, made), before(random, o, image);
    CHECK(agree(run<float>(&cpu_convolution<part::forward, float, matmul_library::onednn>, 2, o, {&x, &w}, made, after),
                after.of(convolve(part::forward, o, f, image, x.values, filter, w.values, made, g.values))));
    CHECK(agree(run<float>(&cpu_convolution<part::image_gradient, float, matmul_library::onednn>, 2, o, {&g, &w}, image,
                           before),
                before.of(convolve(part::image_gradient, o, f, image, x.values, filter, w.values, made, g.values))));
  }
}
#endif

TEST_CASE("where there is nothing to sum, a convolution is zero", "[convolution]") {
  generator random(8);
  const window_options o;
  const test_operand<float> none(random, shape<2, 4, 4, 0>{}, false), filter(random, shape<3, 3, 0, 5>{}, false),
      no_images(random, shape<0, 4, 4, 2>{}, false), of_none(random, shape<0, 2, 2, 5>{}, false),
      two(random, shape<3, 3, 2, 5>{}, false);
  using part = convolution_part;
  CHECK(run<float>(&cpu_convolution<part::forward, float>, 2, o, {&none, &filter}, shape<2, 2, 2, 5>{}) ==
        std::vector<float>(40, 0));
  const test_epilogue<float> after = bias_and_relu<float>(random, shape<2, 2, 2, 5>{}, o);
  const auto followed =
      run<float>(&cpu_convolution<part::forward, float>, 2, o, {&none, &filter}, shape<2, 2, 2, 5>{}, after);
  for (std::size_t k = 0; k < 40; ++k) CHECK(followed[k] == std::max(0.0, after.form.beta * after.values[k]));
  CHECK(run<float>(&cpu_convolution<part::filter_gradient, float>, 2, o, {&no_images, &of_none, &two},
                   shape<3, 3, 2, 5>{}) == std::vector<float>(90, 0));
}

namespace {

std::vector<double> numbers_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<double> v;
  for (double x = 0; in >> x;) v.push_back(x);
  return v;
}
extents shape_in(const std::string& text) {
  extents e;
  for (const double d : numbers_in(text)) e.push_back(static_cast<int>(d));
  return e;
}

/// The operands of tests/conformance/convolutions.py.
test_operand<double> numbered(const extents& e, std::int64_t salt, std::int64_t modulus, std::int64_t low) {
  generator unused;
  test_operand<double> x(unused, e, false);
  for (std::int64_t k = 0; k < e.size(); ++k)
    x.memory[static_cast<std::size_t>(k)] = static_cast<double>((37 * k + 11 * salt) % modulus - low);
  return x;
}

}  // namespace

TEST_CASE("convolutions, pooling and their gradients are PyTorch's", "[convolution]") {
  std::ifstream file(ONTO_TESTS_DIR "/conformance/convolutions.tsv");
  int rows = 0;
  for (std::string row; std::getline(file, row);) {
    if (row.empty() || row[0] == '#') continue;
    ++rows;
    std::vector<std::string> field(1);
    for (const char c : row)
      if (c == '\t')
        field.emplace_back();
      else
        field.back() += c;
    REQUIRE(field.size() == 8);
    const std::string& what = field[0];
    const std::vector<double> given = numbers_in(field[1]);
    REQUIRE(given.size() == static_cast<std::size_t>(window_options::count));
    const window_options o(given.data());
    INFO(row);
    const bool pools = what == "max" || what == "mean";
    const extents image = shape_in(field[2]), result = shape_in(field[4]);
    auto x = numbered(image, 0, pools ? 101 : 7, pools ? 0 : 3), g = numbered(result, 2, 7, 3);
    const auto check = [&](const std::vector<double>& got, const std::string& wanted) {
      const std::vector<double> w = numbers_in(wanted);
      REQUIRE(got.size() == w.size());
      for (std::size_t k = 0; k < w.size(); ++k) CHECK(got[k] * (what == "mean" ? 36 : 1) == Approx(w[k]).margin(1e-5));
    };
    if (pools) {
      CHECK(pooled(o, image).shape == result);
      const bool most = what == "max";
      check(run<double>(most ? &cpu_pooling<pooling_part::max, double> : &cpu_pooling<pooling_part::mean, double>, 2, o,
                        {&x}, result),
            field[5]);
      check(run<double>(most ? &cpu_pooling<pooling_part::max_gradient, double>
                             : &cpu_pooling<pooling_part::mean_gradient, double>,
                        2, o, {&g, &x}, image),
            field[6]);
      continue;
    }
    const extents filter = shape_in(field[3]);
    auto w = numbered(filter, 1, 7, 3);
    using part = convolution_part;
    if (what == "transposed") {
      CHECK(convolved_back(o, image, filter).shape == result);
      check(run<double>(&cpu_convolution<part::image_gradient, double>, 2, o, {&x, &w}, result), field[5]);
      check(run<double>(&cpu_convolution<part::forward, double>, 2, o, {&g, &w}, image), field[6]);
      check(run<double>(&cpu_convolution<part::filter_gradient, double>, 2, o, {&g, &x, &w}, filter), field[7]);
    } else {
      CHECK(convolved(o, image, filter).shape == result);
      check(run<double>(&cpu_convolution<part::forward, double>, 2, o, {&x, &w}, result), field[5]);
      check(run<double>(&cpu_convolution<part::image_gradient, double>, 2, o, {&g, &w, &x}, image), field[6]);
      check(run<double>(&cpu_convolution<part::filter_gradient, double>, 2, o, {&x, &g, &w}, filter), field[7]);
    }
  }
  CHECK(rows == 40);
}
