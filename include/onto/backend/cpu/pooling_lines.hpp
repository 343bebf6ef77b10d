// SPDX-License-Identifier: BSL-1.0
// Sums and maxima of windows line by line: the lines of a window become one, and in it the pixels side by side are
// folded, whole vectors of neighboring windows at once. Of wide windows twice as many pixels each time (as in sparse
// tables), so that one costs its logarithm.
#pragma once

#include <onto/backend/cpu/kernels.hpp>
#include <onto/kernel/pooling.hpp>
#include <onto/ops/arithmetic.hpp>

#include <cstdint>
#include <limits>

namespace onto::detail {
inline namespace ONTO_VECTOR_ABI {

/// `count` windows side by side, from `first` on, of line `y` of the windows of image `n`.
struct windows_of_line {
  std::int64_t n, y, first, count;
};

/// How a line's windows are taken in parts, each of which has room in a core's cache.
struct line_parts {
  std::int64_t windows, parts;

  explicit line_parts(const pooling_form& f) {
    const std::int64_t fitting = 4096 / f.channels, least = 3 * f.window[1];
    windows = ((fitting > least ? fitting : least) - f.window[1]) / f.stride[1] + 1;
    windows = windows < f.result[1] ? windows : f.result[1];
    parts = (f.result[1] + windows - 1) / windows;
  }
  /// The pixels of one part, those of padding too.
  std::int64_t pixels(const pooling_form& f) const { return (windows - 1) * f.stride[1] + f.window[1]; }
};

/// Maximum, mean, and the gradient of the mean over the windows of one line.
template <pooling_part Part, class T>
struct pool_line {
  static constexpr bool adds = Part != pooling_part::max;
  static constexpr T nothing = adds ? T{0} : -std::numeric_limits<T>::infinity();

  /// `image`: what is pooled, or `result` the gradient by the result and `image` that by the image, which is added to.
  /// `room`: twice the elements of the windows' pixels.
  template <int Bytes>
  ONTO_INLINE static void run(const pooling_form& f, const windows_of_line& l, T* image, T* result, T* room) {
    const std::int64_t channels = f.channels, line = f.image[1] * channels, stride = f.stride[1];
    std::int64_t row, height;
    window_range(f, 0, l.y, row, height);
    const std::int64_t begin = l.first * stride - f.before[1], pixels = (l.count - 1) * stride + f.window[1];
    const std::int64_t lo = begin < 0 ? 0 : begin;
    const std::int64_t hi = begin + pixels < f.image[1] ? begin + pixels : f.image[1];
    T* const lines = image + (l.n * f.image[0] + row) * line + lo * channels;
    T* const to = result + ((l.n * f.result[0] + l.y) * f.result[1] + l.first) * channels;
    if constexpr (Part == pooling_part::mean_gradient) {
      // Each window's share stands where the window ends: then those of the windows with a pixel stand before it.
      const std::int64_t before = f.window[1] - 1;
      fill(room, (pixels + before) * channels);
      take_shares<Bytes>(f, l, height, room + before * channels, stride * channels, to, channels);
      const T* const sums = fold_pixels<Bytes>(room, pixels + before, f.window[1], channels, room + room_of(f, pixels));
      for (std::int64_t y = 0; y < height; ++y)
        fold_run<Bytes>(lines + y * line, lines + y * line, sums + (lo - begin) * channels, (hi - lo) * channels);
    } else {
      fill(room, (lo - begin) * channels);
      fold_lines<Bytes>(room + (lo - begin) * channels, lines, line, height, (hi - lo) * channels);
      fill(room + (hi - begin) * channels, (begin + pixels - hi) * channels);
      if (stride > 1 && channels >= 8) {
        // Vectors of channels, window by window.
        for (std::int64_t x = 0; x < l.count; ++x)
          fold_lines<Bytes>(to + x * channels, room + x * stride * channels, channels, f.window[1], channels);
        if constexpr (adds) take_shares<Bytes>(f, l, height, to, channels, to, channels);
      } else {
        const T* const all = fold_pixels<Bytes>(room, pixels, f.window[1], channels, room + room_of(f, pixels));
        take_shares<Bytes>(f, l, height, to, channels, all, stride * channels);
      }
    }
  }

  /// The elements of each of the two parts of `room`, for so many pixels of windows.
  static std::int64_t room_of(const pooling_form& f, std::int64_t pixels) {
    return (pixels + (Part == pooling_part::mean_gradient ? f.window[1] - 1 : 0)) * f.channels;
  }

 private:
  /// Copies a pixel for each window, `to_apart` and `from_apart` elements from each other: of sums, its share.
  template <int Bytes>
  ONTO_INLINE static void take_shares(const pooling_form& f, const windows_of_line& l, std::int64_t height, T* to,
                                      std::int64_t to_apart, const T* from, std::int64_t from_apart) {
    // Windows from `lo` to `hi` have all their pixels in the image.
    const std::int64_t stride = f.stride[1], rest = f.image[1] + f.before[1] - f.window[1];
    const std::int64_t lo = (f.before[1] + stride - 1) / stride - l.first;
    const std::int64_t hi = (rest < 0 ? 0 : rest / stride + 1) - l.first;
    const T whole = T{1} / static_cast<T>(height * f.window[1]);
    for (std::int64_t x = 0; x < l.count;) {
      const bool inside = !adds || (x >= lo && x < hi);
      const std::int64_t end = adds && hi < l.count ? hi : l.count;
      const std::int64_t count = inside ? end - x : 1;
      T share = whole;
      if (!inside) {
        std::int64_t first, width;
        window_range(f, 1, l.first + x, first, width);
        share = T{1} / static_cast<T>(height * width);
      }
      const std::int64_t last = x + count;
      if (to_apart == from_apart)
        scale_run<Bytes>(to + x * to_apart, from + x * from_apart, count * f.channels, share);
      else if (f.channels == 1)
        for (std::int64_t k = x; k < last; ++k) to[k * to_apart] = scaled(from[k * from_apart], share);
      else
        for (std::int64_t k = x; k < last; ++k)
          scale_run<Bytes>(to + k * to_apart, from + k * from_apart, f.channels, share);
      x = last;
    }
  }

  static void fill(T* to, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) to[k] = nothing;
  }
  template <class X>
  ONTO_INLINE static X fold(const X& a, const X& b) {
    if constexpr (adds)
      return a + b;
    else
      return op::maximum::apply(a, b);
  }
  /// `rows` runs of `count` elements, `apart` from each other, become one; `to` may be the first.
  template <int Bytes>
  ONTO_INLINE static void fold_lines(T* to, const T* from, std::int64_t apart, std::int64_t rows, std::int64_t count) {
    using lanes = pack<T, Bytes>;
    std::int64_t k = 0;
    for (; k + lanes::size <= count; k += lanes::size) {
      lanes all = lanes::load_unaligned(from + k);
      for (std::int64_t r = 1; r < rows; ++r) all = fold(all, lanes::load_unaligned(from + k + r * apart));
      all.store_unaligned(to + k);
    }
    for (; k < count; ++k) {
      T all = from[k];
      for (std::int64_t r = 1; r < rows; ++r) all = fold(all, from[k + r * apart]);
      to[k] = all;
    }
  }
  template <int Bytes>
  ONTO_INLINE static void fold_run(T* to, const T* a, const T* b, std::int64_t count) {
    using lanes = pack<T, Bytes>;
    std::int64_t k = 0;
    for (; k + lanes::size <= count; k += lanes::size)
      fold(lanes::load_unaligned(a + k), lanes::load_unaligned(b + k)).store_unaligned(to + k);
    for (; k < count; ++k) to[k] = fold(a[k], b[k]);
  }
  template <class X>
  ONTO_INLINE static X scaled(const X& x, [[maybe_unused]] const X& by) {
    if constexpr (adds)
      return x * by;
    else
      return x;
  }
  /// `to` is `from`, or they have nothing in common.
  template <int Bytes>
  ONTO_INLINE static void scale_run(T* to, const T* from, std::int64_t count, T by) {
    using lanes = pack<T, Bytes>;
    std::int64_t k = 0;
    for (; k + lanes::size <= count; k += lanes::size)
      scaled(lanes::load_unaligned(from + k), lanes(by)).store_unaligned(to + k);
    for (; k < count; ++k) to[k] = scaled(from[k], by);
  }

  /// Each of `pixels` at `x` becomes the fold of it and those behind it, `window` in all, where there are so many:
  /// there, or in `other`.
  template <int Bytes>
  ONTO_INLINE static const T* fold_pixels(T* x, std::int64_t pixels, std::int64_t window, std::int64_t channels,
                                          T* other) {
    const std::int64_t made = (pixels - window + 1) * channels;
    if (window <= 8) {
      fold_lines<Bytes>(x, x, channels, window, made);
      return x;
    }
    std::int64_t folded = 1, sum_of = 0;  // pixels that one at `x`, and one at `other`, is the fold of
    for (;;) {
      if (adds && (window & folded) != 0) {
        if (sum_of == 0)
          for (std::int64_t k = 0; k < made; ++k) other[k] = x[k];
        else
          fold_run<Bytes>(other, other, x + sum_of * channels, made);
        sum_of += folded;
      }
      if (2 * folded > window) break;
      fold_run<Bytes>(x, x, x + folded * channels, (pixels - 2 * folded + 1) * channels);
      folded *= 2;
    }
    if (adds) return other;
    fold_run<Bytes>(x, x, x + (window - folded) * channels, made);
    return x;
  }
};

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail
