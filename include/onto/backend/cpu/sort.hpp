// SPDX-License-Identifier: BSL-1.0
// Sorts on the CPU, by keys: short rows by std::sort, long ones by a radix sort, a single long one by all threads.
// Keys, and numbers beside them, have one order, so that a result does not depend on the number of threads.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/kernels.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/kernel/sort.hpp>
#include <onto/runtime/kernel.hpp>

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

/// The rows along a sort's axis, in the operand (0) and in the result (1).
struct sort_rows {
  int axis;
  std::int64_t n, count;  // elements of a row, and those that are stored
  std::int64_t rows = 1;
  std::int64_t stride[2];
  strided_layout<2> others;  // the rows: where they begin

  ONTO_COLD explicit sort_rows(const kernel_call& c)
      : axis(sort_axis(*c.op, c.space.rank)), n(c.space[axis]), count(c.shapes[1][axis]) {
    extents space;
    std::int64_t in[max_rank], out[max_rank];
    for (int d = 0; d < c.space.rank; ++d) {
      if (d == axis) continue;
      in[space.rank] = c.in[0].stride[d];
      out[space.rank] = c.out.stride[d];
      space.push_back(c.space.dims[d]);
      rows *= c.space.dims[d];
    }
    others = coalesce<2>(space, {in, out});
    stride[0] = c.in[0].stride[axis];
    stride[1] = c.out.stride[axis];
  }
  std::int64_t offset(int operand, std::int64_t row) const {
    return offset_of(others.rank, others.extent, others.stride[operand], row);
  }
};

template <class Rule, class T>
class cpu_sorter {
 public:
  using rule = Rule;
  using order = ordered<rule, T>;
  using key = typename order::bits;
  using sorter = radix_sort<key, rule::numbers>;
  using item = typename sorter::item;
  using held = typename item::type;
  using result = std::conditional_t<rule::numbers, std::int64_t, T>;

  explicit cpu_sorter(const kernel_call& call) : r_(call), call_(call) {}

  void run(thread_pool& pool) const {
    if (r_.rows * r_.count <= 0) return;
    const bool selects = r_.count * 8 < r_.n;
    if (!selects && r_.rows < pool.size() && r_.n >= 65536) {
      small_array<held, 1> a(r_.n), b(r_.n);
      for (std::int64_t row = 0; row < r_.rows; ++row)
        sorter::sort_over(pool, r_.n, loader(row), a.data(), b.data(), storer(row));
      return;
    }
    if constexpr (!sorter::item::apart)
      if (!selects && r_.n <= few) return run_few(pool);
    // Rows that lie beside each other are read and written together.
    const bool along_memory = r_.stride[0] == 1 && r_.stride[1] == 1;
    const std::int64_t beside =
        along_memory ? 1 : std::clamp(most_held / r_.n, std::int64_t{1}, std::int64_t{most_beside});
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      const std::int64_t together = std::min(beside, hi - lo);
      small_array<held, 1024> items(selects ? room() : together > 1 ? (together + 1) * r_.n : 0);
      small_array<held, 1024> scratch(selects ? 0 : 2 * r_.n);
      for (; lo < hi; lo += beside) {
        if (selects)
          for (std::int64_t row = lo; row < std::min(lo + beside, hi); ++row) select(row, items.data());
        else if (together > 1)
          sort_beside(lo, std::min(beside, hi - lo), items.data(), scratch.data());
        else
          sorter::sort(r_.n, loader(lo), scratch.data(), scratch.data() + r_.n, storer(lo));
      }
    };
    split(pool, r_.rows, std::max(beside, 4096 / (r_.n + 1) + 1), body);
  }

 private:
  static constexpr std::int64_t most_beside = 16, most_held = 1 << 18;

  std::int64_t room() const { return 2 * r_.count + 64; }
  const T* row_of(std::int64_t row) const { return static_cast<const T*>(call_.in[0].data) + r_.offset(0, row); }
  result* result_row(std::int64_t row) const { return static_cast<result*>(call_.out.data) + r_.offset(1, row); }
  held item_at(const T* from, std::int64_t k) const { return item::of(order::key(from[k * r_.stride[0]]), k); }
  static result result_of(const held& x) {
    if constexpr (rule::numbers)
      return item::number(x);
    else
      return order::value(x);
  }
  void store_at(result* to, const held* sorted) const {
    for (std::int64_t k = 0; k < r_.count; ++k) to[k * r_.stride[1]] = result_of(sorted[k]);
  }

  auto loader(std::int64_t row) const {
    return [this, from = row_of(row)](std::int64_t k) { return item_at(from, k); };
  }
  auto storer(std::int64_t row) const {
    return [this, to = result_row(row)](std::int64_t k, const held& x) {
      if (!rule::numbers || k < r_.count) to[k * r_.stride[1]] = result_of(x);  // of elements all are stored
    };
  }

  /// Rows that lie beside each other: read and written together, and sorted from one place of `items` to the one before
  /// it.
  void sort_beside(std::int64_t first, std::int64_t rows, held* items, held* scratch) const {
    const T* from[most_beside];
    result* to[most_beside];
    for (std::int64_t j = 0; j < rows; ++j) {
      from[j] = row_of(first + j);
      to[j] = result_row(first + j);
    }
    for (std::int64_t k = 0; k < r_.n; ++k)
      for (std::int64_t j = 0; j < rows; ++j) items[(j + 1) * r_.n + k] = item_at(from[j], k);
    for (std::int64_t j = 0; j < rows; ++j) {
      held* const sorted = items + j * r_.n;
      const held* const row = sorted + r_.n;
      sorter::sort(
          r_.n, [row](std::int64_t k) { return row[k]; }, scratch, scratch + r_.n,
          [sorted](std::int64_t k, const held& x) { sorted[k] = x; });
    }
    for (std::int64_t k = 0; k < r_.count; ++k)
      for (std::int64_t j = 0; j < rows; ++j) to[j][k * r_.stride[1]] = result_of(items[j * r_.n + k]);
  }

  /// Rows of few elements, a lane of vectors each: neighbours change places until no two can be in the wrong order.
  /// *Source* Knuth, The Art of Computer Programming 3, 5.3.4, exercise 37 (odd-even transposition).
  static constexpr std::int64_t few = 8;
  static constexpr int lanes = 16;
  void run_few(thread_pool& pool) const {
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      held items[few][lanes];
      for (; lo < hi; lo += lanes) {
        const std::int64_t last = std::min(lo + lanes, hi) - 1;
        for (int j = 0; j < lanes; ++j) {  // spare lanes have the last row
          const T* const from = row_of(std::min(lo + j, last));
          for (std::int64_t k = 0; k < r_.n; ++k) items[k][j] = item_at(from, k);
        }
        for (std::int64_t round = 0; round < r_.n; ++round)
          for (std::int64_t k = round % 2; k + 1 < r_.n; k += 2)
            for (int j = 0; j < lanes; ++j) {
              const held a = items[k][j], b = items[k + 1][j];
              items[k][j] = b < a ? b : a;
              items[k + 1][j] = b < a ? a : b;
            }
        for (std::int64_t row = lo; row <= last; ++row) {
          result* const to = result_row(row);
          for (std::int64_t k = 0; k < r_.count; ++k) to[k * r_.stride[1]] = result_of(items[k][row - lo]);
        }
      }
    };
    split(pool, r_.rows, 4096 / r_.n + 1, body);
  }

  /// Elements that are looked at together, in vectors.
  static constexpr int block = 64;
  static bool any_before(const T* from, typename order::ordinal bound) {
    typename order::bits any = 0;
    for (int k = 0; k < block; ++k) any |= static_cast<typename order::bits>(order::may_be_before(from[k], bound));
    return any != 0;
  }

  /// The first few of a row: what is kept of it is cut to them whenever it has become twice as many.
  void select(std::int64_t row, held* kept) const {
    const T* const from = row_of(row);
    std::int64_t count = 0;
    held least{};  // of those that are in no case among them
    typename order::ordinal bound{};
    bool bounded = false;
    const auto offer = [&](std::int64_t k) __attribute__((always_inline)) {
      const held x = item_at(from, k);
      if (bounded && !(x < least)) return;
      kept[count++] = x;
      if (count < room()) return;
      std::nth_element(kept, kept + r_.count - 1, kept + count);
      count = r_.count;
      least = kept[count - 1];
      bound = order::ordinal_of(order::value(item::key(least)));
      bounded = true;
    };
    std::int64_t k = 0;
    for (; r_.stride[0] == 1 && r_.n >= 8 * block && k + block <= r_.n; k += block)
      if (!bounded || any_before(from + k, bound))
        for (int j = 0; j < block; ++j) offer(k + j);
    for (; k < r_.n; ++k) offer(k);
    std::sort(kept, kept + count);
    store_at(result_row(row), kept);
  }

  sort_rows r_;
  const kernel_call& call_;
};

/// Sorts the call's operand along the axis that its operation names.
/// *Complexity* linear for long rows; the first k of rows of n in n + k log k.
template <bool Descending, bool Numbers, class T>
void cpu_sort(thread_pool& pool, const kernel_call& call) {
  cpu_sorter<sorting<Descending, Numbers>, T>(call).run(pool);
}

template <bool Descending, bool Numbers>
struct cpu_sort_kernels {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_on_pool<&cpu_sort<Descending, Numbers, T>>};
  }
};
template <int Axis, bool Descending>
struct operation_kernels<op::sort<Axis, Descending>, cpu_backend> : cpu_sort_kernels<Descending, false> {};
template <int Axis, bool Descending, int Count>
struct operation_kernels<op::argsort<Axis, Descending, Count>, cpu_backend> : cpu_sort_kernels<Descending, true> {};

}  // namespace onto::detail
