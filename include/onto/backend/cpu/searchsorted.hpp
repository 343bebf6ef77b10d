// SPDX-License-Identifier: BSL-1.0
// Binary search for many values in a sorted vector: searchsorted.
#pragma once

#include <onto/backend/cpu/indexing.hpp>
#include <onto/backend/cpu/kernels.hpp>
#include <onto/kernel/indexing.hpp>

#include <cstdint>
#include <vector>

namespace onto::detail {

/// Whether sorted numbers are about as far from each other as the first from the second, as edges of bins are: then
/// where a value belongs can be computed, to a place or two.
class even_spacing {
 public:
  template <class Number>
  even_spacing(const Number* sorted, std::int64_t count) : first_(static_cast<double>(sorted[0])), last_(count) {
    const double width = static_cast<double>(sorted[count - 1]) - first_;
    scale_ = static_cast<double>(count - 1) / width;
    holds_ = count > 2 && width > 0 && scale_ > 0;  // else it is infinite, or no number
    for (std::int64_t k = 0; k < count && holds_; ++k) {
      const std::int64_t off = guess(sorted[k]) - k;
      holds_ = off >= 0 && off <= 2;
    }
  }
  bool holds() const { return holds_; }
  /// Behind how many a value belongs, about.
  template <class Number>
  ONTO_INLINE std::int64_t guess(Number value) const {
    double place = (static_cast<double>(value) - first_) * scale_ + 1;
    place = place < 0 ? 0 : place;
    return place < static_cast<double>(last_) ? static_cast<std::int64_t>(place) : last_;
  }

 private:
  double first_, scale_ = 0;
  std::int64_t last_;
  bool holds_ = false;
};

/// Searches side by side, none of which has a branch that depends on an element: processors guess those wrong.
/// *Complexity* as many steps for each element as the vector is long in binary digits.
template <bool Right, class T>
void cpu_searchsorted(thread_pool& pool, const kernel_call& call) {
  using number = computed_of<T>;
  const extents& values = call.shapes[1];
  const std::int64_t count = call.shapes[0][0], step = call.in[0].stride[0];
  const T* const there = static_cast<const T*>(call.in[0].data);
  const auto is_nan = [](number x) { return x != x; };
  std::int64_t numbers = count;  // NaN comes last
  while (numbers > 0 && is_nan(static_cast<number>(there[(numbers - 1) * step]))) --numbers;
  if (values.size() < count || numbers == 0 || !is_contiguous(values, call.in[1].stride))
    return cpu_indexed<op::searchsorted<Right>, T>(pool, call);
  std::vector<number> sorted(static_cast<std::size_t>(numbers));
  for (std::int64_t k = 0; k < numbers; ++k) sorted[static_cast<std::size_t>(k)] = static_cast<number>(there[k * step]);
  const auto behind = [](number value, number x) { return std::int64_t{Right ? !(value < x) : x < value}; };
  const T* const in = static_cast<const T*>(call.in[1].data);
  auto* const out = static_cast<std::int64_t*>(call.out.data);
  if (const even_spacing even(sorted.data(), numbers); even.holds()) {
    auto near_guess = [&](std::int64_t lo, std::int64_t hi) {
      for (; lo < hi; ++lo) {
        const number value = static_cast<number>(in[lo]);
        if (is_nan(value)) {
          out[lo] = Right ? count : numbers;
          continue;
        }
        std::int64_t k = even.guess(value);
        while (k < numbers && behind(value, sorted[static_cast<std::size_t>(k)])) ++k;
        while (k > 0 && !behind(value, sorted[static_cast<std::size_t>(k - 1)])) --k;
        out[lo] = k;
      }
    };
    return split(pool, values.size(), 1024, near_guess);
  }
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    constexpr std::int64_t wide = 16;
    number value[wide]{};
    for (; lo < hi; lo += wide) {
      const std::int64_t searches = least(hi - lo, wide);
      const number* at[wide];
      for (std::int64_t j = 0; j < wide; ++j) at[j] = sorted.data();
      for (std::int64_t j = 0; j < searches; ++j) value[j] = static_cast<number>(in[lo + j]);
      for (std::int64_t left = numbers; left > 1; left -= left / 2) {
        const std::int64_t middle = left / 2;
        for (std::int64_t j = 0; j < wide; ++j) at[j] += middle * behind(value[j], at[j][middle - 1]);
      }
      for (std::int64_t j = 0; j < searches; ++j)
        out[lo + j] = is_nan(value[j]) ? (Right ? count : numbers) : at[j] - sorted.data() + behind(value[j], *at[j]);
    }
  };
  split(pool, values.size(), 1024, body);
}

template <bool Right>
struct operation_kernels<op::searchsorted<Right>, cpu_backend> {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_on_pool<&cpu_searchsorted<Right, T>>};
  }
};

}  // namespace onto::detail
