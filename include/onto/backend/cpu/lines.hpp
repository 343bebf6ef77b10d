// SPDX-License-Identifier: BSL-1.0
// Convolutions of images of one channel to one channel, on the CPU: what channels are to a filter for each channel, the
// pixels of a line are to one filter. Line by line, vector by vector of pixels.
#pragma once

#include <onto/backend/cpu/depthwise.hpp>

#include <cstdint>

namespace onto::detail {

/// A convolution of images of one column as one of images of one line, which are the same memory.
constexpr convolution_form along_lines(convolution_form f) {
  if (f.image[1] != 1 || f.filter[1] != 1 || f.result[1] != 1) return f;
  for (std::int64_t* axes : {f.image, f.filter, f.result, f.stride, f.dilation, f.before, f.after}) {
    const std::int64_t height = axes[0];
    axes[0] = axes[1];
    axes[1] = height;
  }
  return f;
}

/// Whether a part of a convolution goes line by line. Of fewer pixels a line, or with strides in gradients, the product
/// is faster.
constexpr bool goes_by_lines(const convolution_form& f) {
  if (f.image_channels != 1 || f.result_channels != 1) return false;
  if (f.part == convolution_part::forward) return f.result[1] >= 4;
  return f.stride[1] == 1 && (f.part == convolution_part::image_gradient ? f.image[1] >= 4 : f.result[1] >= 16);
}

/// Along a line: pixel x is the sum over taps, of those at `x * step + first + tap * tap_step`.
struct line_form {
  std::int64_t step, first, tap_step, taps;
  std::int64_t least, reach;     // the leftmost neighbour of pixel 0, and from it to the rightmost
  std::int64_t extent, made;     // pixels that are read, and that are made
  std::int64_t inside, outside;  // the first pixel that is summed where the image is, and the next that is not
};
constexpr line_form line_of(const convolution_form& f) {
  const bool forward = f.part == convolution_part::forward;
  line_form l{};
  l.step = forward ? f.stride[1] : 1;
  l.first = forward ? -f.before[1] : f.before[1];
  l.tap_step = forward ? f.dilation[1] : -f.dilation[1];
  l.taps = f.filter[1];
  l.reach = (f.filter[1] - 1) * f.dilation[1];
  l.least = forward ? l.first : l.first - l.reach;
  l.extent = forward ? f.image[1] : f.result[1];
  l.made = forward ? f.result[1] : f.image[1];
  l.inside = l.least < 0 ? -l.least : 0;
  l.outside = l.extent - l.reach - l.least;
  if (l.outside > l.made) l.outside = l.made;
  // Neighbours in the image next to each other; not for a vector or two, since both ends are a sum each, too.
  if (l.step != 1 || l.outside - l.inside < 32) l.inside = l.outside = l.made;
  return l;
}

inline namespace ONTO_VECTOR_ABI {

/// Copies the neighbours of `pixels` pixels from `x` on, with zeros beyond the line; every `step`th next to each other,
/// `pitch` for each of the `step` runs.
template <class T>
void copy_neighbours(const line_form& l, const T* line, std::int64_t x, std::int64_t pitch, T* to) {
  for (std::int64_t run = 0; run < l.step && run <= l.reach; ++run, to += pitch) {
    const std::int64_t place = l.least + x * l.step + run;
    std::int64_t begin = place < 0 ? (-place - 1) / l.step + 1 : 0;
    std::int64_t end = place < l.extent ? (l.extent - place - 1) / l.step + 1 : 0;
    if (begin > pitch) begin = pitch;
    if (end > pitch) end = pitch;
    for (std::int64_t k = 0; k < begin; ++k) to[k] = 0;
    if (end > begin)
      copy_strided<sizeof(T)>(reinterpret_cast<word<sizeof(T)>*>(to + begin),
                              reinterpret_cast<const word<sizeof(T)>*>(line + (place + begin * l.step)), l.step,
                              end - begin);
    for (std::int64_t k = end > begin ? end : begin; k < pitch; ++k) to[k] = 0;
  }
}

/// A convolution, or its gradient by the image, which is one with the filter turned round.
template <class T>
void convolve_lines(thread_pool& pool, const convolution_form& f, const T* from, const T* filter, T* to,
                    const image_epilogue<T>& epilogue) {
  const auto sum = vector_variants<sum_of_channels<T, true>, channel_sums<T>>::chosen();
  const bool forward = f.part == convolution_part::forward;
  const auto line_at = forward ? &place_in_image : &window_at;
  const std::int64_t from_height = forward ? f.image[0] : f.result[0], height = forward ? f.result[0] : f.image[0];
  const line_form l = line_of(f);
  // Blocks of a line stay in the first cache, and go to several threads.
  const std::int64_t block = l.made < 4096 ? l.made : 4096, blocks = (l.made - 1) / block + 1;
  std::int64_t copied = l.inside > l.made - l.outside ? l.inside : l.made - l.outside;  // pixels at most
  if (copied > block) copied = block;
  const std::int64_t runs = l.step <= l.reach ? l.step : l.reach + 1;
  const bool one_addend = epilogue.addend.data != nullptr && epilogue.addend.row == 0;
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    small_array<channel_factors<T>, 64> pairs(f.filter[0] * l.taps);
    small_array<T, 256> copies(copied == 0 ? 0 : f.filter[0] * runs * (copied + l.reach / l.step));
    // An addend may be where the result is: a block is made elsewhere.
    small_array<T, 256> block_made(epilogue.any() ? block : 0), addends(one_addend ? block : 0);
    for (std::int64_t k = 0; one_addend && k < block; ++k) addends[k] = epilogue.addend.data[0];
    for (; lo < hi; ++lo) {
      const std::int64_t line = lo / blocks, begin = lo % blocks * block;
      const std::int64_t end = l.made - begin < block ? l.made : begin + block;
      const std::int64_t image = line / height, y = line % height, pixel = line * l.made + begin;
      T* const made = epilogue.any() ? block_made.data() : to + pixel;
      for (std::int64_t x = begin, next; x < end; x = next) {
        const bool in_place = x >= l.inside && x < l.outside;
        next = x < l.inside ? l.inside : in_place ? l.outside : end;
        if (next > end) next = end;
        const std::int64_t pitch = next - x + l.reach / l.step;
        T* copy = copies.data();
        std::int64_t count = 0;
        for (std::int64_t r = 0; r < f.filter[0]; ++r) {
          const std::int64_t row = line_at(f, 0, y, r);
          if (row < 0) continue;
          const T* const read = from + (image * from_height + row) * l.extent;
          if (!in_place) copy_neighbours(l, read, x, pitch, copy);
          const T* const leftmost = in_place ? read + (l.least + x) : copy;
          for (std::int64_t c = 0; c < l.taps; ++c) {
            std::int64_t at = l.first - l.least + c * l.tap_step;
            if (l.step != 1) at = at % l.step * pitch + at / l.step;
            pairs[count++] = {leftmost + at, filter + r * l.taps + c};
          }
          if (!in_place) copy += runs * pitch;
        }
        sum(pairs.data(), count, next - x, 0, made + (x - begin));
      }
      if (!epilogue.any()) continue;
      gemm_target<T> target = epilogue.target(to, 1, pixel);  // the block as one row
      target.addend.column = 1;
      if (one_addend) target.addend.data = addends.data();
      best_gemm_epilogue<T>()(target, 1, end - begin, made, 0);
    }
  };
  split(pool, f.batch * height * blocks, 65536 / (f.filter[0] * l.taps * block + 1) + 1, body);
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail
