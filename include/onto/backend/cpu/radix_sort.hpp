// SPDX-License-Identifier: BSL-1.0
// Items sorted by their keys: short rows by std::sort, long ones by a radix sort, on one thread or over all.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/thread_pool.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace onto::detail {

/// A key of 64 bits with the number of its element; shorter ones stand with theirs in one integer.
struct numbered_key {
  std::uint64_t key;
  std::uint32_t number;

  friend bool operator<(const numbered_key& a, const numbered_key& b) {
    return a.key < b.key || (a.key == b.key && a.number < b.number);
  }
};

/// What is moved when elements with keys of type `Key` are sorted: a key, and where `Numbers` the element's number.
template <class Key, bool Numbers>
struct sort_item {
  static constexpr bool apart = Numbers && sizeof(Key) == 8;
  using type = std::conditional_t<apart, numbered_key, std::conditional_t<Numbers, std::uint64_t, Key>>;

  static type of(Key key, [[maybe_unused]] std::int64_t number) {
    if constexpr (apart)
      return {key, static_cast<std::uint32_t>(number)};
    else if constexpr (Numbers)
      return std::uint64_t{key} << 32 | static_cast<std::uint32_t>(number);
    else
      return key;
  }
  static Key key(const type& x) {
    if constexpr (apart)
      return x.key;
    else if constexpr (Numbers)
      return static_cast<Key>(x >> 32);
    else
      return x;
  }
  static std::int64_t number(const type& x) {
    if constexpr (apart)
      return x.number;
    else
      return static_cast<std::uint32_t>(x);
  }
};

/// A radix sort of items by their keys, from the last digit on. What is sorted is read twice, by `load(k)`, and the
/// sorted is given to `store(k, item)`, so that neither needs a pass of its own.
/// *Source* Knuth, The Art of Computer Programming 3, 5.2.5, algorithm R.
template <class Key, bool Numbers>
class radix_sort {
 public:
  using item = sort_item<Key, Numbers>;
  using held = typename item::type;

  /// Sorts `n` items, at least one, that are in the order of their numbers. *Effects* changes what is at `a` and `b`,
  /// which have room for as many. *Complexity* linear for long rows: a pass for each digit in which keys differ.
  template <class Load, class Store>
  static void sort(std::int64_t n, const Load& load, held* a, held* b, const Store& store) {
    if (n < short_row) {
      for (std::int64_t k = 0; k < n; ++k) a[k] = load(k);
      std::sort(a, a + n);
      for (std::int64_t k = 0; k < n; ++k) store(k, a[k]);
    } else if (few_bits == most_bits || n < long_row) {
      std::uint32_t counts[counts_of<few_bits>] = {};
      digits<few_bits, false>{n, counts}.run(load, a, b, store);
    } else {
      std::uint32_t counts[counts_of<most_bits>] = {};
      digits<most_bits, false>{n, counts}.run(load, a, b, store);
    }
  }

  /// The same of a long row over all threads: each counts and moves the items of its part, behind those of the parts
  /// before it that have the same digit, so that the result is the same for any number of threads.
  template <class Load, class Store>
  static void sort_over(thread_pool& pool, std::int64_t n, const Load& load, held* a, held* b, const Store& store) {
    const int parts = pool.size();
    small_array<std::uint32_t, 1> counts(std::int64_t{parts} * counts_of<most_bits>);
    std::fill_n(counts.data(), std::int64_t{parts} * counts_of<most_bits>, 0u);
    digits<most_bits, true>{n, counts.data(), parts, &pool}.run(load, a, b, store);
  }

 private:
  // Measured: below, std::sort is faster; from there on, fewer passes than 8 bits need, whose counts take longer.
  static constexpr std::int64_t short_row = 16 * sizeof(Key), long_row = 512 * sizeof(Key);
  static constexpr int few_bits = 8, most_bits = sizeof(Key) < 4 ? 8 : 11;
  template <int Bits>
  static constexpr int passes_of = (8 * static_cast<int>(sizeof(Key)) + Bits - 1) / Bits;
  template <int Bits>
  static constexpr int counts_of = passes_of<Bits> << Bits;

  /// Passes over so many bits each, of all threads or of one.
  template <int Bits, bool Over>
  struct digits {
    static constexpr int count = passes_of<Bits>, values = 1 << Bits;

    std::int64_t n;
    std::uint32_t* counts;  // for a part, a digit and a value: how many keys have it; then where the next of these goes
    int threads = 1;
    thread_pool* pool = nullptr;

    static int digit(const held& x, int d) { return static_cast<int>(item::key(x) >> d * Bits & (values - 1)); }
    int parts() const { return Over ? threads : 1; }
    std::uint32_t* counts_at(std::int64_t part, int d) const { return counts + (part * count + d) * values; }

    template <class F>
    void for_each_part(const F& f) const {
      if constexpr (Over) {
        const std::int64_t most = (n + parts() - 1) / parts();
        auto body = [&](std::int64_t lo, std::int64_t hi) {
          for (; lo < hi; ++lo) f(lo, std::min(lo * most, n), std::min((lo + 1) * most, n));
        };
        split(*pool, parts(), 1, body);
      } else {
        f(0, 0, n);
      }
    }

    template <class Load, class Store>
    void run(const Load& load, held* a, held* b, const Store& store) const {
      for_each_part([&](std::int64_t part, std::int64_t lo, std::int64_t hi) {
        std::uint32_t* const __restrict to = counts_at(part, 0);
        for (std::int64_t k = lo; k < hi; ++k) {
          const held x = load(k);
          for (int d = 0; d < count; ++d) ++to[d * values + digit(x, d)];
        }
      });
      int differ[count], passes = 0;
      const held first = load(0);
      for (int d = 0; d < count; ++d) {
        std::int64_t same = 0;
        for (int part = 0; part < parts(); ++part) same += counts_at(part, d)[digit(first, d)];
        if (same != n) differ[passes++] = d;
      }
      const auto in_a = [a](std::int64_t k, const held& x) { a[k] = x; };
      const auto in_b = [b](std::int64_t k, const held& x) { b[k] = x; };
      const auto of_a = [a](std::int64_t k) -> const held& { return a[k]; };
      const auto of_b = [b](std::int64_t k) -> const held& { return b[k]; };
      if (passes == 0) return copy(load, store);
      if (passes == 1) return pass(differ[0], load, store);
      bool at_a = true;
      pass(differ[0], load, in_a);
      for (int p = 1; p < passes; ++p) {
        const int d = differ[p];
        if constexpr (Over) at_a ? count_again(d, of_a) : count_again(d, of_b);
        if (p + 1 == passes)
          at_a ? pass(d, of_a, store) : pass(d, of_b, store);
        else
          at_a ? pass(d, of_a, in_b) : pass(d, of_b, in_a);
        at_a = !at_a;
      }
    }

    template <class Load>
    void count_again(int d, const Load& load) const {
      for_each_part([&](std::int64_t part, std::int64_t lo, std::int64_t hi) {
        std::uint32_t* const __restrict to = counts_at(part, d);
        std::fill_n(to, values, 0u);
        for (std::int64_t k = lo; k < hi; ++k) ++to[digit(load(k), d)];
      });
    }
    template <class Load, class Store>
    void copy(const Load& load, const Store& store) const {
      for_each_part([&](std::int64_t, std::int64_t lo, std::int64_t hi) {
        for (std::int64_t k = lo; k < hi; ++k) store(k, load(k));
      });
    }
    template <class Load, class Store>
    void pass(int d, const Load& load, const Store& store) const {
      std::uint32_t before = 0;
      for (int v = 0; v < values; ++v)
        for (int part = 0; part < parts(); ++part) {
          std::uint32_t& place = counts_at(part, d)[v];
          const std::uint32_t here = place;
          place = before;
          before += here;
        }
      for_each_part([&](std::int64_t part, std::int64_t lo, std::int64_t hi) {
        std::uint32_t* const __restrict place = counts_at(part, d);
        for (std::int64_t k = lo; k < hi; ++k) {
          const held x = load(k);
          store(place[digit(x, d)]++, x);
        }
      });
    }
  };
};

}  // namespace onto::detail
