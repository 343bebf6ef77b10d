// SPDX-License-Identifier: BSL-1.0
// What could be issued next: kernels whose operands are made, in order, on the host and on each GPU.
#pragma once

#include <onto/core/scratch_array.hpp>
#include <onto/device/place.hpp>

#include <cstdint>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Different places, by number.
class place_numbers {
 public:
  constexpr explicit place_numbers(int most) : places_(most), most_(most) {}

  constexpr int count() const { return count_; }
  constexpr int most() const { return most_; }
  /// The number of a place, or -1.
  constexpr int find(const place& p) const {
    for (int k = 0; k < count_; ++k)
      if (places_.get()[k] == p) return k;
    return -1;
  }
  /// The number of a place, which is new or not.
  constexpr int add(const place& p) {
    if (const int k = find(p); k >= 0) return k;
    places_.get()[count_] = p;
    return count_++;
  }

 private:
  scratch_array<place> places_;
  int most_;
  int count_ = 0;
};

/// Numbers from 0 on, of which the least one from somewhere on is wanted; one set for the host and two for each GPU:
/// what could run at once, and what waits for a copy from another GPU.
class ready_units {
 public:
  /// Turns that a GPU has while a copy to it is under way: it computes what else there is, then what waited.
  static constexpr int turns_of_a_copy = 4;

  /// `gpus`: as many different GPUs there are at most.
  constexpr ready_units(int units, int gpus)
      : words_((units + 63) / 64),
        gpus_(gpus),
        bits_((2 * gpus + 1) * words_),
        had_turn_(gpus),
        copied_(units),
        due_(units) {}

  constexpr void add(int unit, const place& at) { word(set_of(at), unit) |= bit(unit); }
  /// The same of a unit on a GPU that reads what another GPU has just made.
  constexpr void add_behind_copy(int unit, const place& at) {
    word(set_of(at) + gpus_.most(), unit) |= bit(unit);
    copied_.get()[last_copied_] = {unit, at};
    due_.get()[last_copied_++] = round_ + turns_of_a_copy;
  }
  /// A GPU that it was for has had its turn.
  constexpr void remove(int unit, const place& at) {
    const int set = set_of(at);
    word(set, unit) &= ~bit(unit);
    if (set == 0) return;
    word(set + gpus_.most(), unit) &= ~bit(unit);
    had_turn_.get()[set - 1] = true;
  }

  constexpr void begin_round() {
    for (int d = 0; d < gpus_.count(); ++d) had_turn_.get()[d] = false;
    for (++round_; first_copied_ < last_copied_ && due_.get()[first_copied_] <= round_; ++first_copied_) {
      const unit_at& u = copied_.get()[first_copied_];
      const int set = set_of(u.at), behind = set + gpus_.most();
      if ((word(behind, u.unit) & bit(u.unit)) == 0) continue;  // nothing else was there
      word(behind, u.unit) &= ~bit(u.unit);
      word(set, u.unit) |= bit(u.unit);
    }
  }
  /// The least one from `from` on, or -1: of GPUs that had no turn in this round where there are several.
  constexpr int next_on_gpus(int from, bool turns) const {
    int least = -1;
    for (int d = 0; d < gpus_.count(); ++d) {
      if (turns && had_turn_.get()[d]) continue;
      const int n = next(next(d + 1, 0) >= 0 ? d + 1 : d + 1 + gpus_.most(), from);
      if (n >= 0 && (least < 0 || n < least)) least = n;
    }
    return least;
  }
  constexpr int next_on_host(int from) const { return next(0, from); }

 private:
  static constexpr std::uint64_t bit(int unit) { return std::uint64_t{1} << (unit % 64); }
  constexpr std::uint64_t& word(int set, int unit) { return bits_.get()[set * words_ + unit / 64]; }

  constexpr int set_of(const place& at) { return at.kind == device_kind::cpu ? 0 : 1 + gpus_.add(at); }

  constexpr int next(int set, int from) const {
    const std::uint64_t* const words = bits_.get() + set * words_;
    for (int w = from / 64; w < words_; ++w) {
      std::uint64_t some = words[w];
      if (w == from / 64) some &= ~std::uint64_t{0} << (from % 64);
      if (some != 0) return 64 * w + __builtin_ctzll(some);
    }
    return -1;
  }

  struct unit_at {
    int unit = -1;
    place at{};
  };

  int words_;
  place_numbers gpus_;
  scratch_array<std::uint64_t> bits_;
  scratch_array<bool> had_turn_;
  scratch_array<unit_at> copied_;  // those that were behind a copy, in order
  scratch_array<int> due_;         // and the round from which on they no longer are
  int first_copied_ = 0;
  int last_copied_ = 0;
  int round_ = 0;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
