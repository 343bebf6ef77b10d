// SPDX-License-Identifier: BSL-1.0
// Buckets: small collectives of a kind that are ready one after the other are one call, and what reads them waits for
// all of the call. So the gradients of a backward pass, the last ones first, are sent in some pieces while it goes on.
#pragma once

#include <onto/core/scratch_array.hpp>

#include <cstdint>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class collective_buckets {
 public:
  /// A bucket is full from so many bytes on: a larger tensor is a bucket alone, and is not copied into one.
  static constexpr std::int64_t enough = std::int64_t{1} << 20;

  constexpr explicit collective_buckets(int units) : units_(units), ends_(units) {}

  constexpr bool is_empty() const { return open_ == count_; }
  /// Those that are collected.
  constexpr const int* begin() const { return units_.get() + open_; }
  constexpr const int* end() const { return units_.get() + count_; }

  /// Whether one goes with those that are collected: a call is over the same tasks, and of one element type.
  constexpr bool takes(std::uint64_t key, std::int64_t bytes) const {
    return is_empty() || (key == key_ && bytes >= 0 && bytes < enough);
  }
  /// *Returns* whether the bucket is full.
  constexpr bool add(int unit, std::uint64_t key, std::int64_t bytes) {
    key_ = key;
    units_.get()[count_++] = unit;
    bytes_ += bytes < 0 ? enough : bytes;
    return bytes_ >= enough;
  }
  /// They are a bucket.
  constexpr void close() {
    bytes_ = 0;
    open_ = count_;
    ends_.get()[closed_++] = count_;
  }
  /// Whether all that was collected is released.
  constexpr bool are_done() const { return done_ == count_; }
  /// Calls `f(unit)` for the units of the first bucket for which that was not done.
  template <class F>
  constexpr void release_first(const F& f) {
    for (const int end = ends_.get()[released_++]; done_ < end;) f(units_.get()[done_++]);
  }

 private:
  scratch_array<int> units_;
  scratch_array<int> ends_;  // of each bucket
  std::uint64_t key_ = 0;
  std::int64_t bytes_ = 0;
  int count_ = 0;
  int open_ = 0;
  int done_ = 0;
  int closed_ = 0;
  int released_ = 0;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
