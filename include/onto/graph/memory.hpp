// SPDX-License-Identifier: BSL-1.0
// Memory of a schedule: where in a device's block each value lies, so that values which are not needed at the same time
// share it.
#pragma once

#include <onto/graph/schedule.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Memory is handed out in pieces of this many bytes.
inline constexpr std::int64_t alignment = 256;

/// As many bytes as whole pieces have; where no number holds them, the most there can be.
constexpr std::int64_t rounded(std::int64_t bytes) {
  const std::int64_t pieces = bytes / alignment + (bytes % alignment != 0 ? 1 : 0);
  return times(pieces, alignment);
}

/// A piece of a device's memory and what is in it.
struct memory_range {
  int device = 0;
  std::int64_t begin = 0, end = 0;
  int value = -1;
};

/// Pieces of memory by device and by where they begin.
class memory_ranges {
 public:
  constexpr explicit memory_ranges(int most) : at_(most) {}

  constexpr int count() const { return count_; }
  constexpr const memory_range& operator[](int k) const { return at_.get()[k]; }

  /// The first one that begins at `offset` of a device or behind it.
  constexpr int from(int device, std::int64_t offset) const {
    int low = 0, high = count_;
    while (low < high) {
      const int middle = (low + high) / 2;
      const memory_range& r = at_.get()[middle];
      if (r.device < device || (r.device == device && r.begin < offset))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  constexpr void insert(int k, const memory_range& r) {
    for (int j = count_++; j > k; --j) at_.get()[j] = at_.get()[j - 1];
    at_.get()[k] = r;
  }
  constexpr void erase(int first, int end) {
    if (first == end) return;
    for (int j = end; j < count_; ++j) at_.get()[first + j - end] = at_.get()[j];
    count_ -= end - first;
  }

 private:
  scratch_array<memory_range> at_;
  int count_ = 0;
};

/// Gives the values of one device offsets in one block: first fit in order of birth; what takes over an operand's
/// memory lies where that does. Values written straight to a result or kept by a variable are elsewhere.
class memory_packer {
 public:
  constexpr memory_packer(plan_value* values, int count, const place& at)
      : values_(values), count_(count), at_(at), live_(count), next_(count), earliest_(count + 1) {}

  /// *Returns* the block's size, or -1 where an extent is not known.
  constexpr std::int64_t run() {
    int latest = 0;
    int* const earliest = earliest_.get();
    earliest[count_] = 1 << 30;
    for (int v = count_ - 1; v >= 0; --v) {
      earliest[v] = earliest[v + 1];
      if (!is_here(values_[v])) continue;
      if (values_[v].begin < earliest[v]) earliest[v] = values_[v].begin;
      if (values_[v].begin > latest) latest = values_[v].begin;
    }
    const scratch_array<int> dying(latest + 1, -1);
    int dead = 0;  // the steps before it
    std::int64_t top = 0;
    for (int v = 0; v < count_; ++v) {
      plan_value& x = values_[v];
      if (!is_here(x)) continue;
      if (x.bytes < 0) return -1;
      for (; dead < earliest[v]; ++dead)
        for (int u = dying.get()[dead]; u >= 0; u = next_.get()[u]) remove(u);
      const std::int64_t size = rounded(x.bytes);
      x.offset = x.reuses >= 0 ? values_[x.reuses].offset : size > 0 ? first_fit(x, size, earliest[v] == x.begin) : 0;
      if (size == 0) continue;
      const std::int64_t end = plus(x.offset, size);
      if (end > top) top = end;
      insert({0, x.offset, end, v});
      if (x.end > latest) continue;
      next_.get()[v] = dying.get()[x.end];
      dying.get()[x.end] = v;
    }
    return top;
  }

 private:
  constexpr bool is_here(const plan_value& x) const { return x.at == at_ && x.fetch < 0 && !x.variable; }

  /// `exact`: what is dead by then was taken out.
  constexpr std::int64_t first_fit(const plan_value& x, std::int64_t size, bool exact) {
    std::int64_t offset = exact ? full_ : 0;
    for (int k = exact ? packed_ : 0; k < live_.count(); ++k) {
      const memory_range& y = live_[k];
      if (values_[y.value].end < x.begin) continue;
      if (y.begin > offset && y.begin - offset >= size) break;
      if (exact && k == packed_ && y.begin <= full_) {
        ++packed_;
        if (y.end > full_) full_ = y.end;
      }
      if (y.end > offset) offset = y.end;
    }
    return offset;
  }

  constexpr void insert(const memory_range& r) {
    const int k = live_.from(0, r.begin);
    live_.insert(k, r);
    if (k >= packed_) return;
    ++packed_;
    if (r.end > full_) full_ = r.end;
  }

  constexpr void remove(int value) {
    int k = live_.from(0, values_[value].offset);
    while (live_[k].value != value) ++k;
    live_.erase(k, k + 1);
    if (k < packed_) packed_ = 0, full_ = 0;
  }

  plan_value* values_;
  int count_;
  place at_;
  memory_ranges live_;
  scratch_array<int> next_;      // another value that dies in the same step
  scratch_array<int> earliest_;  // per value: when the first of it and those after it begins
  int packed_ = 0;               // so many of what is alive leave no gap from 0 on
  std::int64_t full_ = 0;        // to here
};

/// *Returns* the size of a device's block, or -1 where an extent is not known.
constexpr std::int64_t assign_offsets(plan_value* values, int count, const place& at) {
  return memory_packer(values, count, at).run();
}

/// Bytes of the new values of variables on a device that a run makes beside the old ones; -1 where an extent is not
/// known.
constexpr std::int64_t variable_bytes(const plan_value* values, int count, const place& at) {
  std::int64_t sum = 0;
  for (int v = 0; v < count; ++v) {
    if (!(values[v].at == at) || !values[v].variable || values[v].in_place) continue;
    if (values[v].bytes < 0) return -1;
    sum = plus(sum, rounded(values[v].bytes));
  }
  return sum;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
