// SPDX-License-Identifier: BSL-1.0
// A convolution as cuDNN is asked for it, and what cuDNN is known to have no engine for. Plain arithmetic: nothing of
// cuDNN's is named here.
#pragma once

#include <onto/kernel/convolution.hpp>

#include <cstdint>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// One call of a convolution, all but its pointers. The filter lies as the image does: (out, height, width, in) where
/// channels come last, (out, in, height, width) where not.
struct cudnn_form {
  convolution_form of{};
  bool bias = false, relu = false;  // after the convolution: one number for each channel; the negative become 0
  bool tf32 = false;                // of floats: their products need not be true float
  bool deterministic = true;        // the same bits every time
  int alignment = 16;               // bytes, of every operand

  friend constexpr bool operator==(const cudnn_form&, const cudnn_form&) = default;
};

/// Why cuDNN has no engine for a form, as far as that is known before it is asked.
enum class cudnn_gap : int {
  none,
  element_type,      ///< not a floating type
  relu_alone,        ///< relu without a bias
  after_gradient,    ///< bias or relu after a gradient
  cropped,           ///< padding below 0
  nothing_computed,  ///< a tensor without elements
};

/// A row of the table of gaps. `tests/cudnn` asks the library itself for each: docs/measurements/cudnn_plans.md.
struct cudnn_gap_row {
  cudnn_gap gap;
  bool (*has)(const cudnn_form& form);
};
inline constexpr cudnn_gap_row cudnn_gaps[] = {
    {cudnn_gap::element_type, [](const cudnn_form& f) { return !is_floating(f.of.type); }},
    {cudnn_gap::relu_alone, [](const cudnn_form& f) { return f.relu && !f.bias; }},
    {cudnn_gap::after_gradient,
     [](const cudnn_form& f) { return (f.bias || f.relu) && f.of.part != convolution_part::forward; }},
    {cudnn_gap::cropped,
     [](const cudnn_form& f) {
       bool any = false;
       for (int k = 0; k < image_axes; ++k) any = any || f.of.before[k] < 0 || f.of.after[k] < 0;
       return any;
     }},
    {cudnn_gap::nothing_computed,
     [](const cudnn_form& f) { return f.of.image_size() == 0 || f.of.filter_size() == 0 || f.of.result_size() == 0; }},
};

constexpr cudnn_gap find_cudnn_gap(const cudnn_form& form) {
  for (const cudnn_gap_row& row : cudnn_gaps)
    if (row.has(form)) return row.gap;
  return cudnn_gap::none;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
