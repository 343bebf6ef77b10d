// SPDX-License-Identifier: BSL-1.0
// Convolutions with a filter for each channel, on the CPU: for each pixel the sum over the filter's elements, vector by
// vector of channels.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/gemm_tile.hpp>
#include <onto/backend/cpu/image_epilogue.hpp>
#include <onto/backend/cpu/instruction_set.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/kernel/convolution.hpp>

#include <cstdint>
#include <cstring>

namespace onto::detail {
inline namespace ONTO_VECTOR_ABI {

/// Two runs of channels, one factor each.
template <class T>
struct channel_factors {
  const T *left, *right;
};

/// `sum` += the next vector of the left times that of the right, or times one number for all.
template <class Lanes, bool One, class T>
ONTO_INLINE void add_products(typename Lanes::type& sum, const T* left, const T* right) {
  typename Lanes::type a, b;
  Lanes::load(a, left);
  if constexpr (One) {
    sum += a * right[0];
  } else {
    Lanes::load(b, right);
    sum += a * b;
  }
}

/// The sums over pairs of runs of their products, vector by vector. `One`: the right ones are one number each.
template <class T, int Bytes, bool One>
ONTO_INLINE void sum_runs(const channel_factors<T>* pairs, std::int64_t count, std::int64_t size, T* out) {
  using lanes = lanes_of<T, Bytes>;
  constexpr std::int64_t width = lanes::width, next = One ? 0 : width;
  std::int64_t c = 0;
  for (; c + 4 * width <= size; c += 4 * width) {
    typename lanes::type sum[4] = {};
    for (std::int64_t j = 0; j < count; ++j) {
      const T *const left = pairs[j].left + c, *const right = pairs[j].right + (One ? 0 : c);
      add_products<lanes, One>(sum[0], left, right);
      add_products<lanes, One>(sum[1], left + width, right + next);
      add_products<lanes, One>(sum[2], left + 2 * width, right + 2 * next);
      add_products<lanes, One>(sum[3], left + 3 * width, right + 3 * next);
    }
    std::memcpy(static_cast<void*>(out + c), &sum, sizeof sum);
  }
  if (size >= width) {
    for (; c < size; c += width) {
      if (c > size - width) c = size - width;  // the last vector: some of it again
      typename lanes::type sum{};
      for (std::int64_t j = 0; j < count; ++j)
        add_products<lanes, One>(sum, pairs[j].left + c, pairs[j].right + (One ? 0 : c));
      std::memcpy(static_cast<void*>(out + c), &sum, sizeof sum);
    }
  } else if constexpr (Bytes > 16) {
    sum_runs<T, Bytes / 2, One>(pairs, count, size, out);
  } else {
    for (; c < size; ++c) {
      T sum = 0;
      for (std::int64_t j = 0; j < count; ++j) sum += pairs[j].left[c] * pairs[j].right[One ? 0 : c];
      out[c] = sum;
    }
  }
}

/// The sums over pairs of runs, channel by channel. `Makes`: of each channel of the left, as many results as the right
/// has elements for it (`times`); else as many elements of both are summed to one result. 0 times: the right is one
/// number for all channels.
template <class T, bool Makes>
struct sum_of_channels {
  template <int Bytes>
  ONTO_INLINE static void run(const channel_factors<T>* pairs, std::int64_t count, std::int64_t channels,
                              std::int64_t times, T* out) {
    if (times == 1) return sum_runs<T, Bytes, false>(pairs, count, channels, out);
    if constexpr (Makes)
      if (times == 0) return sum_runs<T, Bytes, true>(pairs, count, channels, out);
    for (std::int64_t c = 0; c < channels; ++c) {
      if constexpr (Makes) {
        for (std::int64_t t = 0; t < times; ++t) {
          T sum = 0;
          for (std::int64_t j = 0; j < count; ++j) sum += pairs[j].left[c] * pairs[j].right[c * times + t];
          out[c * times + t] = sum;
        }
      } else {
        T sum = 0;
        for (std::int64_t j = 0; j < count; ++j)
          for (std::int64_t t = 0; t < times; ++t) sum += pairs[j].left[c * times + t] * pairs[j].right[c * times + t];
        out[c] = sum;
      }
    }
  }
};

template <class T>
using channel_sums = void(const channel_factors<T>*, std::int64_t, std::int64_t, std::int64_t, T*);

/// Along one axis, for each element of the filter the place in the image of a window; -1 outside.
inline std::int64_t place_in_image(const convolution_form& f, int a, std::int64_t window, std::int64_t tap) {
  const std::int64_t at = window * f.stride[a] - f.before[a] + tap * f.dilation[a];
  return at >= 0 && at < f.image[a] ? at : -1;
}
/// And the window in which that element of the filter is at a place in the image; -1 where there is none.
inline std::int64_t window_at(const convolution_form& f, int a, std::int64_t place, std::int64_t tap) {
  const std::int64_t from = place + f.before[a] - tap * f.dilation[a];
  return from >= 0 && from % f.stride[a] == 0 && from / f.stride[a] < f.result[a] ? from / f.stride[a] : -1;
}

/// For each pixel of `to`, `to_extent` each: the pixels of `from` at `At` of it, times the filter.
template <class T, bool Makes, std::int64_t (*At)(const convolution_form&, int, std::int64_t, std::int64_t)>
void depthwise_pixels(thread_pool& pool, const convolution_form& f, const T* from, const std::int64_t* from_extent,
                      std::int64_t from_channels, const T* filter, T* to, const std::int64_t* to_extent,
                      std::int64_t to_channels, const image_epilogue<T>& epilogue) {
  const auto sum = vector_variants<sum_of_channels<T, Makes>, channel_sums<T>>::chosen();
  const std::int64_t taps = f.filter[0] * f.filter[1], repeat = f.result_channels / f.image_channels;
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    small_array<channel_factors<T>, 64> pairs(taps);
    // An addend may be where the result is: a line is made elsewhere.
    small_array<T, 256> line_made(epilogue.any() ? to_extent[1] * to_channels : 0);
    for (; lo < hi; ++lo) {
      T* const made = epilogue.any() ? line_made.data() : to + lo * to_extent[1] * to_channels;
      const std::int64_t image = lo / to_extent[0], y = lo % to_extent[0];
      for (std::int64_t x = 0; x < to_extent[1]; ++x) {
        std::int64_t count = 0;
        for (std::int64_t r = 0; r < f.filter[0]; ++r) {
          const std::int64_t line = At(f, 0, y, r);
          for (std::int64_t c = 0; line >= 0 && c < f.filter[1]; ++c) {
            const std::int64_t place = At(f, 1, x, c);
            if (place >= 0)
              pairs[count++] = {from + ((image * from_extent[0] + line) * from_extent[1] + place) * from_channels,
                                filter + (r * f.filter[1] + c) * f.result_channels};
          }
        }
        sum(pairs.data(), count, f.image_channels, repeat, made + x * to_channels);
      }
      if (epilogue.any()) epilogue.finish(to, to_channels, lo * to_extent[1], to_extent[1], made, to_channels);
    }
  };
  split(pool, f.batch * to_extent[0], 65536 / (taps * f.result_channels * to_extent[1] + 1) + 1, body);
}

template <class T>
void depthwise_forward(thread_pool& pool, const convolution_form& f, const T* image, const T* filter, T* result,
                       const image_epilogue<T>& epilogue) {
  depthwise_pixels<T, true, &place_in_image>(pool, f, image, f.image, f.image_channels, filter, result, f.result,
                                             f.result_channels, epilogue);
}

template <class T>
void depthwise_image_gradient(thread_pool& pool, const convolution_form& f, const T* gradient, const T* filter,
                              T* image, const image_epilogue<T>& epilogue) {
  depthwise_pixels<T, false, &window_at>(pool, f, gradient, f.result, f.result_channels, filter, image, f.image,
                                         f.image_channels, epilogue);
}

/// The sum of products of `count` pixels, so far apart, for some channels, added to `out`.
template <class T>
struct add_pixel_products {
  template <int Bytes>
  ONTO_INLINE static void run(const T* image, std::int64_t image_step, const T* gradient, std::int64_t gradient_step,
                              std::int64_t count, std::int64_t channels, std::int64_t repeat, T* out) {
    if (repeat != 1) {
      for (std::int64_t c = 0; c < channels * repeat; ++c) {
        T sum = 0;
        const T *a = image + c / repeat, *b = gradient + c;
        for (std::int64_t k = 0; k < count; ++k) sum += a[k * image_step] * b[k * gradient_step];
        out[c] += sum;
      }
      return;
    }
    using lanes = lanes_of<T, Bytes>;
    constexpr std::int64_t width = lanes::width;
    if (channels == 1 && image_step == 1 && gradient_step == 1) {  // vectors of pixels
      typename lanes::type sum[4] = {};
      std::int64_t k = 0;
      for (; k + 4 * width <= count; k += 4 * width) {
        add_products<lanes, false>(sum[0], image + k, gradient + k);
        add_products<lanes, false>(sum[1], image + k + width, gradient + k + width);
        add_products<lanes, false>(sum[2], image + k + 2 * width, gradient + k + 2 * width);
        add_products<lanes, false>(sum[3], image + k + 3 * width, gradient + k + 3 * width);
      }
      for (; k + width <= count; k += width) add_products<lanes, false>(sum[0], image + k, gradient + k);
      sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
      T all = 0;
      for (; k < count; ++k) all += image[k] * gradient[k];
      for (std::int64_t lane = 0; lane < width; ++lane) all += sum[0][lane];
      out[0] += all;
      return;
    }
    std::int64_t c = 0;
    for (; c + width <= channels; c += width) {
      typename lanes::type sum{}, before;
      for (std::int64_t k = 0; k < count; ++k)
        add_products<lanes, false>(sum, image + k * image_step + c, gradient + k * gradient_step + c);
      lanes::load(before, out + c);
      before += sum;
      std::memcpy(static_cast<void*>(out + c), &before, sizeof before);
    }
    for (; c < channels; ++c) {
      T sum = 0;
      for (std::int64_t k = 0; k < count; ++k) sum += image[k * image_step + c] * gradient[k * gradient_step + c];
      out[c] += sum;
    }
  }
};

/// Each element of the filter sums over all windows: first those of a line, then the lines of an image, then images, so
/// that sums stay short whatever the number of threads.
template <class T>
void depthwise_filter_gradient(thread_pool& pool, const convolution_form& f, const T* image, const T* gradient,
                               T* filter) {
  using signature = void(const T*, std::int64_t, const T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, T*);
  const auto add = vector_variants<add_pixel_products<T>, signature>::chosen();
  const std::int64_t repeat = f.result_channels / f.image_channels, channels = f.image_channels,
                     all = f.result_channels;
  const std::int64_t windows = f.batch * f.result[0] * f.result[1];
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    small_array<T, 64> of_image(all);
    for (; lo < hi; ++lo) {
      T* const out = filter + lo * all;
      for (std::int64_t c = 0; c < all; ++c) out[c] = 0;
      const std::int64_t row = lo / f.filter[1], column = lo % f.filter[1];
      std::int64_t first = 0, last = f.result[1];  // windows whose element is in the image
      while (first < last && place_in_image(f, 1, first, column) < 0) ++first;
      while (last > first && place_in_image(f, 1, last - 1, column) < 0) --last;
      for (std::int64_t n = 0; n < f.batch; ++n) {
        for (std::int64_t c = 0; c < all; ++c) of_image[c] = 0;
        for (std::int64_t y = 0; y < f.result[0] && first < last; ++y) {
          const std::int64_t line = place_in_image(f, 0, y, row), place = place_in_image(f, 1, first, column);
          if (line < 0) continue;
          add(image + ((n * f.image[0] + line) * f.image[1] + place) * channels, f.stride[1] * channels,
              gradient + ((n * f.result[0] + y) * f.result[1] + first) * all, all, last - first, channels, repeat,
              of_image.data());
        }
        for (std::int64_t c = 0; c < all; ++c) out[c] += of_image[c];
      }
    }
  };
  split(pool, f.filter[0] * f.filter[1], 65536 / (windows * all + 1) + 1, body);
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail
