// SPDX-License-Identifier: BSL-1.0
// Convolutions as plain numbers: padding as TensorFlow has it, options there and back, operations counted.
#include <onto/kernel/convolution.hpp>
#include <onto/kernel/pooling.hpp>

using namespace onto;
using namespace onto::detail;

namespace {

constexpr window_options every_number() {
  window_options o;
  int n[window_options::count];
  for (int k = 0; k < window_options::count; ++k) n[k] = k < 2 ? 1 : k + 10;
  o = window_options(n);
  return o;
}
constexpr bool there_and_back() {
  const window_options o = every_number();
  for (int k = 2; k < window_options::count; ++k)
    if (o.number(k) != k + 10) return false;
  return o.layout == image_layout::nchw && o.padding == padding_rule::same && o.groups == 21 && o.more[1] == 25;
}
static_assert(there_and_back());

constexpr window_options same_by(int stride, int dilation) {
  window_options o;
  o.padding = padding_rule::same;
  o.stride[0] = o.stride[1] = stride;
  o.dilation[0] = o.dilation[1] = dilation;
  return o;
}
// The odd one is after the image; where strides leave elements out, nothing is padded.
static_assert(padding_of(same_by(2, 1), 0, 24, 3).before == 0 && padding_of(same_by(2, 1), 0, 24, 3).after == 1);
static_assert(padding_of(same_by(1, 1), 0, 24, 4).before == 1 && padding_of(same_by(1, 1), 0, 24, 4).after == 2);
static_assert(padding_of(same_by(1, 3), 0, 24, 3).before == 3 && padding_of(same_by(1, 3), 0, 24, 3).after == 3);
static_assert(padding_of(same_by(4, 1), 0, 8, 2).before == 0 && padding_of(same_by(4, 1), 0, 8, 2).after == 0);
static_assert(windows_along(same_by(3, 1), 0, 0, 3) == 0 && windows_along(same_by(3, 1), 0, 7, dyn) == 3);

constexpr convolution_form form =
    form_of_convolution(convolution_part::forward, same_by(2, 1), element::float32, shape<2, 24, 23, 3>{},
                        shape<3, 3, 3, 8>{}, shape<2, 12, 12, 8>{});
static_assert(form.batch == 2 && form.image[0] == 24 && form.image[1] == 23 && form.filter[1] == 3);
static_assert(form.before[0] == 0 && form.after[0] == 1 && form.before[1] == 1 && form.after[1] == 1);
static_assert(form.flops() == 2 * (2 * 144 * 8) * 27 && form.filter_size() == 9 * 24 && !form.is_depthwise());

constexpr window_options depthwise_line() {
  window_options o;
  o.axes = 1;
  o.groups = 0;
  o.layout = image_layout::nchw;
  return o;
}
// Of one axis, the height is 1.
constexpr convolution_form line = form_of_convolution(convolution_part::forward, depthwise_line(), element::float32,
                                                      shape<2, 5, 9>{}, shape<10, 1, 3>{}, shape<2, 10, 7>{});
static_assert(line.image[0] == 1 && line.image[1] == 9 && line.filter[0] == 1 && line.filter[1] == 3);
static_assert(line.is_depthwise() && line.groups == 5 && line.result_channels == 10 && line.filter_channels() == 1);

// NaN is the greatest, the first one of equals. nvcc computes no comparison of NaN as a constant.
static_assert(is_greater(2.f, 1.f) && !is_greater(1.f, 1.f));
#if !defined(__CUDACC__)
static_assert(is_greater(__builtin_nanf(""), 1.f) && !is_greater(__builtin_nanf(""), __builtin_nanf("")) &&
              !is_greater(9.f, __builtin_nanf("")));
#endif

}  // namespace
