// SPDX-License-Identifier: BSL-1.0
// Which plans cuDNN itself has for the convolutions that onto asks it for, on a GPU that is only described: no GPU is
// needed. Prints a table, docs/measurements/cudnn_plans.md; usage: plans DEVICE.json, run by check.py.
#include <onto/backend/cuda/cudnn/plan.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using namespace onto;
using namespace onto::detail;

int failures = 0, checks = 0;
void check(bool right, const std::string& what) {
  ++checks;
  if (right) return;
  ++failures;
  std::fprintf(stderr, "FAIL %s\n", what.c_str());
}

struct shape {
  const char* name;
  convolution_form form;
};

convolution_form convolution(std::int64_t batch, std::int64_t size, std::int64_t in, std::int64_t out,
                             std::int64_t window) {
  convolution_form f;
  f.batch = batch;
  f.image_channels = in;
  f.result_channels = out;
  for (int k = 0; k < image_axes; ++k) {
    f.image[k] = f.result[k] = size;
    f.filter[k] = window;
    f.before[k] = f.after[k] = window / 2;
  }
  return f;
}

std::vector<shape> shapes() {
  std::vector<shape> all;
  all.push_back({"5x5, 3 to 64 channels, 24x24", convolution(128, 24, 3, 64, 5)});
  all.push_back({"5x5, 64 to 64 channels, 12x12", convolution(128, 12, 64, 64, 5)});
  all.push_back({"3x3, 1 to 16 channels, 8x8", convolution(32, 8, 1, 16, 3)});
  all.push_back({"1x1, 256 to 64 channels, 14x14", convolution(32, 14, 256, 64, 1)});
  convolution_form f = convolution(128, 24, 64, 64, 3);
  for (int k = 0; k < image_axes; ++k) f.stride[k] = 2, f.before[k] = 0, f.after[k] = 1, f.result[k] = 12;
  all.push_back({"3x3, strides 2, padding 0 and 1", f});
  f = convolution(128, 12, 64, 64, 3);
  f.groups = 4;
  for (int k = 0; k < image_axes; ++k) f.dilation[k] = 2, f.before[k] = f.after[k] = 2;
  all.push_back({"3x3, 4 groups, dilation 2", f});
  f = convolution(128, 12, 64, 64, 3);
  f.groups = 64;
  all.push_back({"3x3, depthwise", f});
  f = convolution(128, 12, 32, 64, 3);
  f.groups = 32;
  all.push_back({"3x3, depthwise, 2 for each channel", f});
  f = convolution(32, 100, 5, 7, 3);
  f.image[0] = f.result[0] = f.filter[0] = 1;
  f.before[0] = f.after[0] = 0;
  all.push_back({"one axis, window 3, 5 to 7 channels", f});
  return all;
}

constexpr const char* part_names[] = {"forward", "image gradient", "filter gradient"};
constexpr std::int64_t most = std::int64_t{256} << 20;

/// "workspace in MB", or "none".
std::string cell(const cudnn_target& target, const cudnn_form& form) {
  const ref<cudnn_plan> plan = find_cudnn_plan(target, form, most);
  if (!plan) return "none";
  char text[64];
  std::snprintf(text, sizeof text, "%.2f%s", static_cast<double>(plan->workspace) / 1e6, plan->compiles ? " c" : "");
  return text;
}

/// Every form has a plan that is exact and gives the same bits each time, but for what the table of gaps says.
void print_table(const cudnn_target& target) {
  static constexpr struct {
    const char* name;
    element type;
    bool tf32;
  } types[] = {{"float", element::float32, false},
               {"float, tf32", element::float32, true},
               {"half", element::float16, false},
               {"bfloat16", element::bfloat16, false},
               {"double", element::float64, false}};
  std::printf("| convolution | part | layout |");
  for (const auto& t : types) std::printf(" %s |", t.name);
  std::printf("\n|---|---|---|---|---|---|---|---|\n");
  for (const shape& s : shapes())
    for (int part = 0; part < 4; ++part)
      for (const image_layout layout : {image_layout::nhwc, image_layout::nchw}) {
        const bool epilogue = part == 1;  // after the forward one
        const int which = part < 2 ? 0 : part - 1;
        std::printf("| %s | %s%s | %s |", s.name, part_names[which], epilogue ? ", bias, relu" : "",
                    layout == image_layout::nhwc ? "nhwc" : "nchw");
        for (const auto& t : types) {
          cudnn_form f;
          f.of = s.form;
          f.of.part = static_cast<convolution_part>(which);
          f.of.layout = layout;
          f.of.type = t.type;
          f.bias = f.relu = epilogue;
          f.tf32 = t.tf32;
          const std::string found = cell(target, f);
          std::printf(" %s |", found.c_str());
          const bool known = find_cudnn_gap(f) == cudnn_gap::none;
          check((found != "none") == known,
                std::string(s.name) + ", " + part_names[which] + ", " + t.name +
                    (known ? ": no plan, and no gap that is known" : ": a plan, where a gap was thought to be"));
        }
        std::printf("\n");
      }
}

/// Every row of the table of gaps is asked for, past it. *Returns* whether there is a plan after all.
bool has_plan(const cudnn_target& target, const cudnn_form& form) {
  try {
    return static_cast<bool>(find_cudnn_plan(target, form, std::int64_t{1} << 40));
  } catch (const onto::error&) {
    return false;
  }
}

void check_gaps(const cudnn_target& target) {
  const auto expect = [&](cudnn_gap gap, const char* what, const cudnn_form& form) {
    check(find_cudnn_gap(form) == gap, std::string(what) + ": not in the table of gaps");
    const bool found = has_plan(target, form);
    std::printf("| %s | %s |\n", what, found ? "a plan" : "none");
    check(!found, std::string(what) + ": cuDNN has a plan by now; the table can be shorter");
  };
  std::printf("\n| asked for past the table of gaps | cuDNN |\n|---|---|\n");
  cudnn_form plain;
  plain.of = convolution(16, 12, 8, 8, 3);
  check(has_plan(target, plain), "the plain form of this test has a plan");
  cudnn_form f;
  for (const element type : {element::float32, element::float16}) {
    f = plain;
    f.of.type = type;
    f.relu = true;
    expect(cudnn_gap::relu_alone, type == element::float32 ? "float, relu without bias" : "half, relu without bias", f);
  }
  f = plain;
  f.of.part = convolution_part::image_gradient;
  f.bias = true;
  expect(cudnn_gap::after_gradient, "bias after the image's gradient", f);
  f = plain;
  f.of.before[0] = -1;
  f.of.result[0] -= 2;
  expect(cudnn_gap::cropped, "padding below 0", f);
  f = plain;
  f.of.batch = 0;
  expect(cudnn_gap::nothing_computed, "no images", f);
}

/// Which engines there are for operands that are aligned to one element.
void print_alignments(const cudnn_target& target) {
  std::printf("\n| aligned to, bytes | float | half | double |\n|---|---|---|---|\n");
  for (const int alignment : {16, 8, 4, 2}) {
    std::printf("| %d |", alignment);
    for (const element type : {element::float32, element::float16, element::float64}) {
      cudnn_form f;
      f.of = convolution(128, 12, 64, 64, 5);
      f.of.type = type;
      f.alignment = alignment;
      const bool possible = alignment >= size_of(type);
      std::string found = possible ? cell(target, f) : "";
      std::printf(" %s |", found.c_str());
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int, char** arguments) {
  std::ifstream file(arguments[1]);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  cudnn_descriptor device(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, json.c_str(), static_cast<std::int64_t>(json.size()) + 1);
  device.finalize("describing a device");
  const cudnn_target target{nullptr, &device};
  std::printf("cuDNN %zu\n\n", cudnnGetVersion());
  print_table(target);
  check_gaps(target);
  print_alignments(target);
  std::fprintf(stderr, "plans: %d passed, %d failed, 0 skipped\n", checks - failures, failures);
  return failures > 0;
}
