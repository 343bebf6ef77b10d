// SPDX-License-Identifier: BSL-1.0
// What pooling on the GPU knows of windows and images, and what an element of a result is: of windows whose extents the
// compiler knows, which are few elements and are all read at once, and of others.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/kernel/pooling.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace onto::detail {

/// Extents and strides of windows that are small enough for registers; none where the first extent is 0.
template <int Height, int Width, int Lines, int Pixels>
struct known_windows {
  static constexpr bool known = Height > 0;
  static constexpr int height = Height, width = Width;
  /// The pixels that begin with a window and end before the next one does are a cell. So many windows reach into it,
  /// and they are over so many lines and pixels.
  static constexpr int cell_height = Lines, cell_width = Pixels;
  static constexpr int windows_down = (Height + Lines - 1) / Lines, windows_across = (Width + Pixels - 1) / Pixels;
  static constexpr int reach_down = Height + (windows_down - 1) * Lines;
  static constexpr int reach_across = Width + (windows_across - 1) * Pixels;
};
using other_windows = known_windows<0, 0, 1, 1>;

/// As `known_windows` of a type, or as `other_windows` where what a thread would hold is too much.
template <int Height, int Width, int Lines, int Pixels>
constexpr auto windows_in_registers() {
  constexpr std::int64_t most_read = 36, most_of_cell = 16;
  // Less than what is read, and not too much for an int.
  if constexpr (std::int64_t{Height} * Width <= most_read && std::int64_t{Lines} * Pixels <= most_of_cell) {
    using windows = known_windows<Height, Width, Lines, Pixels>;
    if constexpr (windows::reach_down * windows::reach_across <= most_read)
      return windows{};
    else
      return other_windows{};
  } else {
    return other_windows{};
  }
}

/// An operand by the distances of batches, lines, pixels and channels.
template <class Index>
struct pooled_operand {
  const void* data;
  std::int64_t batch, channel;
  Index line, pixel;

  template <class T>
  ONTO_HD const T* plane(std::int64_t n, Index c) const {
    return static_cast<const T*>(data) + (n * batch + c * channel);
  }
};

template <class Index>
using divisor_for = std::conditional_t<sizeof(Index) == 4, short_divisor, index_divisor>;

/// A call, in numbers that are wide enough for what is in one image. Threads go over a space of places, which are (n,
/// y, x, c) or (n, c, y, x): windows, elements of the image, or cells of it.
template <class Index>
struct pooling_call {
  Index image[2], result[2], window[2], stride[2], before[2];
  bool channels_last;
  std::int64_t size;
  index_divisor places_of_image;
  divisor_for<Index> made[2];  // the extents of the last two axes
  divisor_for<Index> by_stride[2];
  pooled_operand<Index> first, second, out;
};

template <class Index>
struct pooling_place {
  std::int64_t n;
  Index y, x, c;
};

template <class Index>
ONTO_HD ONTO_INLINE pooling_place<Index> place_of(const pooling_call<Index>& call, std::int64_t k) {
  using number = std::conditional_t<sizeof(Index) == 4, std::uint32_t, std::int64_t>;
  const std::int64_t n = call.places_of_image.divide(k);
  const auto rest = static_cast<number>(k - n * call.places_of_image.divisor);
  const number above = call.made[1].divide(rest), first = call.made[0].divide(above);
  const auto last = static_cast<Index>(rest - above * static_cast<number>(call.made[1].divisor));
  const auto middle = static_cast<Index>(above - first * static_cast<number>(call.made[0].divisor));
  const auto outer = static_cast<Index>(first);
  if (call.channels_last) return {n, outer, middle, last};
  return {n, middle, last, outer};
}

/// The part of a window along one axis that is in the image: from `first` up to `end`.
template <class Index>
struct window_part {
  Index first, end;

  ONTO_HD window_part(const pooling_call<Index>& call, int a, Index window) {
    const Index begin = window * call.stride[a] - call.before[a], behind = begin + call.window[a];
    first = begin < 0 ? 0 : begin;
    end = behind > call.image[a] ? call.image[a] : behind;
  }
};

/// What each element of a window has of the gradient of its mean.
template <class T, class Index>
ONTO_HD ONTO_INLINE T share_of_window(const pooling_call<Index>& call, Index i, Index j) {
  const window_part<Index> lines(call, 0, i), pixels(call, 1, j);
  return T{1} / static_cast<T>((lines.end - lines.first) * (pixels.end - pixels.first));
}

/// A product that no addition is fused with, so that a sum of such is the CPU's.
template <class T>
ONTO_HD ONTO_INLINE T rounded_product(T a, T b) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4)
    return __fmul_rn(a, b);
  else
    return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

/// What there is of windows and cells that the compiler knows.
template <class Windows, class T>
struct pooling_in_registers {
  using number = computed_of<T>;
  static constexpr number lowest = -std::numeric_limits<number>::infinity();

  /// Reads lines and pixels from (`top`, `left`) on; what is outside the image is `outside`.
  template <int Down, int Across, class Index>
  ONTO_HD ONTO_INLINE static void read(const pooling_call<Index>& call, const pooled_operand<Index>& o, const T* plane,
                                       Index top, Index left, T outside, T (&value)[Down][Across]) {
    bool in_width[Across];
    ONTO_UNROLL
    for (int b = 0; b < Across; ++b) in_width[b] = left + b >= 0 && left + b < call.image[1];
    ONTO_UNROLL
    for (int a = 0; a < Down; ++a) {
      const bool in_height = top + a >= 0 && top + a < call.image[0];
      const T* line = plane + ((top + a) * o.line + left * o.pixel);
#if defined(__CUDA_ARCH__)
      // One address of a line, not the sum of all that it is made of for each element.
      asm("" : "+l"(line));
      __builtin_assume(__isGlobal(line));
#endif
      ONTO_UNROLL
      for (int b = 0; b < Across; ++b)
        value[a][b] = in_height && in_width[b] ? device_load(line + b * o.pixel) : outside;
    }
  }

  /// Which element of the window that begins at (`Line`, `Pixel`) of what was read is the greatest, line by line. What
  /// is outside is never greater than the lowest number: where nothing is, the first element inside it is.
  template <int Down, int Across, class Index>
  ONTO_HD ONTO_INLINE static int greatest(const T (&value)[Down][Across], int line, int pixel, Index top, Index left,
                                          T& most) {
    int best = -1;
    number so_far = lowest;
    most = static_cast<T>(lowest);
    ONTO_UNROLL
    for (int a = 0; a < Windows::height; ++a) ONTO_UNROLL
    for (int b = 0; b < Windows::width; ++b) {
      const auto v = static_cast<number>(value[line + a][pixel + b]);
      const bool greater = is_greater(v, so_far);
      so_far = greater ? v : so_far;
      most = greater ? value[line + a][pixel + b] : most;
      best = greater ? a * Windows::width + b : best;
    }
    if (best < 0) best = static_cast<int>((top < 0 ? -top : 0) * Windows::width + (left < 0 ? -left : 0));
    return best;
  }

  /// The result of a window.
  template <pooling_part Part, class Index>
  ONTO_HD ONTO_INLINE static T window(const pooling_call<Index>& call, const pooling_place<Index>& at) {
    const Index top = at.y * Windows::cell_height - call.before[0], left = at.x * Windows::cell_width - call.before[1];
    T value[Windows::height][Windows::width];
    constexpr bool compares = Part != pooling_part::mean;
    read(call, call.second, call.second.template plane<T>(at.n, at.c), top, left, static_cast<T>(compares ? lowest : 0),
         value);
    if constexpr (compares) {
      T most;
      [[maybe_unused]] const int best = greatest(value, 0, 0, top, left, most);
      if constexpr (Part == pooling_part::max) return most;
      const Index line = top + best / Windows::width, pixel = left + best % Windows::width;
      return device_load(call.first.template plane<T>(at.n, at.c) +
                         (line * call.first.line + pixel * call.first.pixel));
    } else {
      number sum{0};  // which nothing that is added makes -0, so that a 0 changes nothing
      ONTO_UNROLL
      for (int a = 0; a < Windows::height; ++a) ONTO_UNROLL
      for (int b = 0; b < Windows::width; ++b) sum += static_cast<number>(value[a][b]);
      return static_cast<T>(sum * share_of_window<number>(call, at.y, at.x));
    }
  }

  /// The gradients of a cell, of the windows that reach into it, each of which is looked through once.
  template <pooling_part Part, class Index>
  ONTO_HD ONTO_INLINE static void cell(const pooling_call<Index>& call, const pooling_place<Index>& at) {
    constexpr int down = Windows::windows_down, across = Windows::windows_across;
    const Index top = (at.y - (down - 1)) * Windows::cell_height - call.before[0];
    const Index left = (at.x - (across - 1)) * Windows::cell_width - call.before[1];
    [[maybe_unused]] T value[Windows::reach_down][Windows::reach_across];
    if constexpr (Part == pooling_part::max_gradient)
      read(call, call.second, call.second.template plane<T>(at.n, at.c), top, left, static_cast<T>(lowest), value);
    const T* const gradient = call.first.template plane<T>(at.n, at.c);
    number sum[Windows::cell_height][Windows::cell_width] = {};
    ONTO_UNROLL
    for (int q = 0; q < down; ++q) ONTO_UNROLL
    for (int r = 0; r < across; ++r) {
      const Index i = at.y - (down - 1) + q, j = at.x - (across - 1) + r;
      if (i < 0 || i >= call.result[0] || j < 0 || j >= call.result[1]) continue;
      auto g = static_cast<number>(device_load(gradient + (i * call.first.line + j * call.first.pixel)));
      [[maybe_unused]] int best = 0;
      if constexpr (Part == pooling_part::max_gradient) {
        T most;
        best = greatest(value, q * Windows::cell_height, r * Windows::cell_width,
                        static_cast<Index>(top + q * Windows::cell_height),
                        static_cast<Index>(left + r * Windows::cell_width), most);
      } else {
        g = rounded_product(g, share_of_window<number>(call, i, j));
      }
      ONTO_UNROLL
      for (int y = 0; y < Windows::cell_height; ++y) ONTO_UNROLL
      for (int x = 0; x < Windows::cell_width; ++x) {
        const int a = (down - 1 - q) * Windows::cell_height + y, b = (across - 1 - r) * Windows::cell_width + x;
        if (a >= Windows::height || b >= Windows::width) continue;
        if (Part == pooling_part::mean_gradient || best == a * Windows::width + b) sum[y][x] += g;
      }
    }
    T* const out = const_cast<T*>(call.out.template plane<T>(at.n, at.c));
    ONTO_UNROLL
    for (int y = 0; y < Windows::cell_height; ++y) ONTO_UNROLL
    for (int x = 0; x < Windows::cell_width; ++x) {
      const Index line = at.y * Windows::cell_height - call.before[0] + y;
      const Index pixel = at.x * Windows::cell_width - call.before[1] + x;
      if (line >= 0 && line < call.image[0] && pixel >= 0 && pixel < call.image[1])
        device_store(out + (line * call.out.line + pixel * call.out.pixel), static_cast<T>(sum[y][x]));
    }
  }
};

/// What there is of windows of any extents.
template <class T, class Index>
struct pooling_of_any {
  using number = computed_of<T>;

  /// The result of a window.
  template <pooling_part Part>
  ONTO_HD ONTO_INLINE static T window(const pooling_call<Index>& call, const pooling_place<Index>& at) {
    const window_part<Index> lines(call, 0, at.y), pixels(call, 1, at.x);
    const T* const plane = call.second.template plane<T>(at.n, at.c);
    const Index line_of_first = call.second.line;
    if constexpr (Part == pooling_part::mean) {
      number sum{0};
      for (Index i = lines.first; i < lines.end; ++i)
        for (Index j = pixels.first; j < pixels.end; ++j)
          sum += static_cast<number>(device_load(plane + (i * line_of_first + j * call.second.pixel)));
      return static_cast<T>(sum * share_of_window<number>(call, at.y, at.x));
    } else {
      Index line = lines.first, pixel = pixels.first;
      T most = device_load(plane + (line * line_of_first + pixel * call.second.pixel));
      for (Index i = lines.first; i < lines.end; ++i)
        for (Index j = pixels.first; j < pixels.end; ++j) {
          const T v = device_load(plane + (i * line_of_first + j * call.second.pixel));
          if (!is_greater(static_cast<number>(v), static_cast<number>(most))) continue;
          most = v;
          line = i;
          pixel = j;
        }
      if constexpr (Part == pooling_part::max) return most;
      return device_load(call.first.template plane<T>(at.n, at.c) +
                         (line * call.first.line + pixel * call.first.pixel));
    }
  }

  /// Whether an element is the greatest of a window: it is greater than all before it, and none behind it is.
  ONTO_HD ONTO_INLINE static bool is_greatest(const pooling_call<Index>& call, const T* plane, number mine, Index i,
                                              Index j, Index line, Index pixel) {
    const window_part<Index> lines(call, 0, i), pixels(call, 1, j);
    for (Index y = lines.first; y < lines.end; ++y)
      for (Index x = pixels.first; x < pixels.end; ++x) {
        const auto v = static_cast<number>(device_load(plane + (y * call.second.line + x * call.second.pixel)));
        const bool before = y < line || (y == line && x < pixel);
        if (before ? !is_greater(mine, v) : is_greater(v, mine)) return false;
      }
    return true;
  }

  /// The gradient of an element of the image, of the windows over it.
  template <pooling_part Part>
  ONTO_HD ONTO_INLINE static T element(const pooling_call<Index>& call, const pooling_place<Index>& at) {
    using unsigned_number = std::conditional_t<sizeof(Index) == 4, std::uint32_t, std::int64_t>;
    Index first[2], end[2];
    const Index place[2] = {at.y, at.x};
    for (int a = 0; a < 2; ++a) {
      const auto divide = [&](Index n) {
        return static_cast<Index>(call.by_stride[a].divide(static_cast<unsigned_number>(n)));
      };
      const Index from = place[a] + call.before[a] - call.window[a] + 1;
      first[a] = from <= 0 ? 0 : divide(from + call.stride[a] - 1);
      end[a] = divide(place[a] + call.before[a]) + 1;
      if (end[a] > call.result[a]) end[a] = call.result[a];
    }
    const T* const plane = call.second.template plane<T>(at.n, at.c);
    const T* const gradient = call.first.template plane<T>(at.n, at.c);
    [[maybe_unused]] number mine{};
    if constexpr (Part == pooling_part::max_gradient)
      mine = static_cast<number>(device_load(plane + (at.y * call.second.line + at.x * call.second.pixel)));
    number sum{0};
    for (Index i = first[0]; i < end[0]; ++i)
      for (Index j = first[1]; j < end[1]; ++j) {
        const auto g = static_cast<number>(device_load(gradient + (i * call.first.line + j * call.first.pixel)));
        if constexpr (Part == pooling_part::mean_gradient)
          sum += rounded_product(g, share_of_window<number>(call, i, j));
        else if (is_greatest(call, plane, mine, i, j, at.y, at.x))
          sum += g;
      }
    return static_cast<T>(sum);
  }
};

}  // namespace onto::detail

#endif  // ONTO_CUDA
