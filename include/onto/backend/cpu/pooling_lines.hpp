// SPDX-License-Identifier: BSL-1.0
// Sums and maxima of windows line by line, whole vectors of neighboring windows at once. Each takes its elements row by
// row, as a GPU does, so that both have the same bits: of equals the first is the greatest. Of wide windows' maxima
// twice as many pixels each time (as in sparse tables), so that one costs its logarithm.
#pragma once

#include <onto/backend/cpu/kernels.hpp>
#include <onto/kernel/pooling.hpp>

#include <cstdint>
#include <cstring>
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
  static constexpr std::int64_t wide = 9;  // pixels, from which on twice as many each time are fewer

  /// `image`: what is pooled, or `result` the gradient by the result and `image` that by the image, which is added to.
  /// `room`: elements as `room_of` has them.
  template <int Bytes>
  ONTO_INLINE static void run(const pooling_form& f, const windows_of_line& l, T* image, T* result, T* room) {
    const std::int64_t channels = f.channels, line = f.image[1] * channels, stride = f.stride[1], width = f.window[1];
    std::int64_t row, height;
    window_range(f, 0, l.y, row, height);
    const std::int64_t begin = l.first * stride - f.before[1], pixels = (l.count - 1) * stride + width;
    const std::int64_t lo = begin < 0 ? 0 : begin;
    const std::int64_t hi = begin + pixels < f.image[1] ? begin + pixels : f.image[1];
    T* const lines = image + (l.n * f.image[0] + row) * line + lo * channels;
    T* const to = result + ((l.n * f.result[0] + l.y) * f.result[1] + l.first) * channels;
    if constexpr (Part == pooling_part::mean_gradient) {
      // Each window's share stands where the window ends: those of the windows with a pixel stand there and behind.
      fill<Bytes>(room, (pixels + width - 1) * channels);
      take_shares<Bytes>(f, l, height, room + (width - 1) * channels, stride * channels, to, channels);
      for (std::int64_t y = 0; y < height; ++y)
        fold_windows<Bytes>(lines + y * line, room + (lo - begin) * channels, 0, 1, channels, width,
                            (hi - lo) * channels);
    } else {
      const std::int64_t length = pixels * channels, made = (pixels - width + 1) * channels;
      // Vectors of channels, window by window; or of all that is side by side, of which the windows' are taken.
      const bool of_channels = stride > 1 && channels >= 8, twice_as_many = !adds && width >= wide && !of_channels;
      T* const folded = of_channels ? to : room;
      T* const around = room + length;  // a line with what is around the image
      fill<Bytes>(folded, of_channels ? l.count * channels : made);
      const auto fold_lines = [&](const T* from, std::int64_t rows) {
        if (!of_channels) return fold_windows<Bytes>(folded, from, line, rows, channels, width, made);
        for (std::int64_t x = 0; x < l.count; ++x)
          fold_windows<Bytes>(to + x * channels, from + x * stride * channels, line, rows, channels, width, channels);
      };
      if (hi - lo == pixels && !twice_as_many) {
        fold_lines(lines, height);
      } else {
        for (std::int64_t y = 0; y < height; ++y) {
          put_around<Bytes>(around, lines + y * line, lo - begin, hi - lo, pixels, channels);
          if (!twice_as_many) {
            fold_lines(around, 1);
            continue;
          }
          fold_pixels<Bytes>(around, pixels, width, channels);
          fold_run<Bytes>(folded, folded, around, made);
        }
      }
      if (adds || !of_channels)
        take_shares<Bytes>(f, l, height, to, channels, folded, of_channels ? channels : stride * channels);
    }
  }

  /// The elements of `room` for so many pixels of windows.
  static std::int64_t room_of(const pooling_form& f, std::int64_t pixels) {
    return (Part == pooling_part::mean_gradient ? pixels + f.window[1] - 1 : 2 * pixels) * f.channels;
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

  template <int Bytes>
  ONTO_INLINE static void fill(T* to, std::int64_t count) {
    std::int64_t k = 0;
    if constexpr (has_packs) {
      using lanes = pack<T, Bytes>;
      for (; k + lanes::size <= count; k += lanes::size) lanes(nothing).store_unaligned(to + k);
    }
    for (; k < count; ++k) to[k] = nothing;
  }
  /// `count` pixels, `before` behind the first of `pixels` ones, the others of which are nothing.
  template <int Bytes>
  ONTO_INLINE static void put_around(T* to, const T* from, std::int64_t before, std::int64_t count, std::int64_t pixels,
                                     std::int64_t channels) {
    fill<Bytes>(to, before * channels);
    copy(to + before * channels, from, count * channels);
    fill<Bytes>(to + (before + count) * channels, (pixels - before - count) * channels);
  }
  static void copy(T* to, const T* from, std::int64_t count) {
    std::memcpy(static_cast<void*>(to), from, static_cast<std::size_t>(count) * sizeof(T));
  }
  /// Sums, or the greater, of equals and of NaN the first.
  ONTO_INLINE static T fold(T a, T b) {
    if constexpr (adds)
      return a + b;
    else
      return is_greater(b, a) ? b : a;
  }
  template <int Bytes>
  ONTO_INLINE static pack<T, Bytes> fold(const pack<T, Bytes>& a, const pack<T, Bytes>& b) {
    if constexpr (adds)
      return a + b;
    else
      return select(isnan(b), b, max(b, a));
  }
  /// Adds to what is there the windows that begin at `count` elements: `rows` lines, `apart` from each other, of
  /// `width` pixels each, one after the other.
  template <int Bytes>
  ONTO_INLINE static void fold_windows(T* to, const T* from, std::int64_t apart, std::int64_t rows,
                                       std::int64_t channels, std::int64_t width, std::int64_t count) {
    std::int64_t k = 0;
    if constexpr (has_packs) {
      using lanes = pack<T, Bytes>;
      for (; k + lanes::size <= count; k += lanes::size) {
        lanes all = lanes::load_unaligned(to + k);
        for (std::int64_t y = 0; y < rows; ++y) {
          const T* const line = from + y * apart + k;
          for (std::int64_t x = 0; x < width; ++x) all = fold(all, lanes::load_unaligned(line + x * channels));
        }
        all.store_unaligned(to + k);
      }
    }
    for (; k < count; ++k) {
      T all = to[k];
      for (std::int64_t y = 0; y < rows; ++y)
        for (std::int64_t x = 0; x < width; ++x) all = fold(all, from[y * apart + x * channels + k]);
      to[k] = all;
    }
  }
  template <int Bytes>
  ONTO_INLINE static void fold_run(T* to, const T* a, const T* b, std::int64_t count) {
    std::int64_t k = 0;
    if constexpr (has_packs) {
      using lanes = pack<T, Bytes>;
      for (; k + lanes::size <= count; k += lanes::size)
        fold(lanes::load_unaligned(a + k), lanes::load_unaligned(b + k)).store_unaligned(to + k);
    }
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
    std::int64_t k = 0;
    if constexpr (has_packs) {
      using lanes = pack<T, Bytes>;
      for (; k + lanes::size <= count; k += lanes::size)
        scaled(lanes::load_unaligned(from + k), lanes(by)).store_unaligned(to + k);
    }
    for (; k < count; ++k) to[k] = scaled(from[k], by);
  }

  /// Each of `pixels` becomes the greatest of it and those behind it, `window` in all, where there are so many.
  template <int Bytes>
  ONTO_INLINE static void fold_pixels(T* x, std::int64_t pixels, std::int64_t window, std::int64_t channels) {
    std::int64_t folded = 1;
    for (; 2 * folded <= window; folded *= 2)
      fold_run<Bytes>(x, x, x + folded * channels, (pixels - 2 * folded + 1) * channels);
    fold_run<Bytes>(x, x, x + (window - folded) * channels, (pixels - window + 1) * channels);
  }
};

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail
