// SPDX-License-Identifier: BSL-1.0
// Sorts on the CPU, by keys: short rows by std::sort, long ones by a radix sort, a single long one in parts that are
// merged. Keys, and numbers beside them, have one order, so that a result does not depend on the number of threads.
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

/// Sorts `n` items that are in the order of their numbers. *Effects* changes what is at `scratch`, which has room for
/// as many. *Complexity* linear from 128 on: a pass for each byte in which keys differ.
// Measured beside std::sort, ns a key of 32 bits: 14 and 15 (n = 32), 6 and 24 (256), 8 and 54 (1e6); of 64 bits: 35
// and 19 (64), 14 and 21 (128), 20 and 55 (1e6).
// *Source* Knuth, The Art of Computer Programming 3, 5.2.5, algorithm R.
template <class Key, bool Numbers>
void sort_items(typename sort_item<Key, Numbers>::type* items, typename sort_item<Key, Numbers>::type* scratch,
                std::int64_t n) {
  using item = sort_item<Key, Numbers>;
  constexpr std::int64_t short_row = 16 * sizeof(Key);
  if (n < short_row) {
    std::sort(items, items + n);
    return;
  }
  constexpr int digits = static_cast<int>(sizeof(Key));
  std::uint32_t count[digits][256] = {};
  for (std::int64_t k = 0; k < n; ++k) {
    const Key key = item::key(items[k]);
    for (int d = 0; d < digits; ++d) ++count[d][key >> 8 * d & 255];
  }
  auto *from = items, *to = scratch;
  for (int d = 0; d < digits; ++d) {
    std::uint32_t* const place = count[d];
    if (place[item::key(from[0]) >> 8 * d & 255] == static_cast<std::uint32_t>(n)) continue;
    std::uint32_t before = 0;
    for (int b = 0; b < 256; ++b) {
      const std::uint32_t here = place[b];
      place[b] = before;
      before += here;
    }
    for (std::int64_t k = 0; k < n; ++k) to[place[item::key(from[k]) >> 8 * d & 255]++] = from[k];
    std::swap(from, to);
  }
  if (from != items) std::copy(from, from + n, items);
}

/// Merges `a`, of `na`, and `b`, of `nb`: those results whose numbers are from `lo` to `hi`.
/// *Source* Odeh, Green, Mwassi, Shmueli, Birk, Merge Path, 2012.
template <class Item>
void merge_part(const Item* a, std::int64_t na, const Item* b, std::int64_t nb, std::int64_t lo, std::int64_t hi,
                Item* out) {
  // How many of `a` are among the first `k` results, those of equal ones first.
  const auto share = [&](std::int64_t k) {
    std::int64_t least = k > nb ? k - nb : 0, most = k < na ? k : na;
    while (least < most) {
      const std::int64_t middle = least + (most - least) / 2;
      if (b[k - middle - 1] < a[middle])
        most = middle;
      else
        least = middle + 1;
    }
    return least;
  };
  const std::int64_t first = share(lo), last = share(hi);
  std::merge(a + first, a + last, b + (lo - first), b + (hi - last), out + lo);
}

/// Sorts one long row over all threads: equal parts, then merges of two neighbours at a time, each over all threads.
template <class Key, bool Numbers>
void sort_in_parts(thread_pool& pool, typename sort_item<Key, Numbers>::type* items,
                   typename sort_item<Key, Numbers>::type* scratch, std::int64_t n) {
  const std::int64_t part = n / pool.size() + 1;
  auto sort_parts = [&](std::int64_t lo, std::int64_t hi) {
    for (; lo < hi; ++lo)
      sort_items<Key, Numbers>(items + lo * part, scratch + lo * part, std::min(part, n - lo * part));
  };
  split(pool, (n + part - 1) / part, 1, sort_parts);
  constexpr std::int64_t piece = 16384;
  auto *from = items, *to = scratch;
  for (std::int64_t sorted = part; sorted < n; sorted *= 2) {
    auto merge = [&](std::int64_t lo, std::int64_t hi) {
      while (lo < hi) {
        const std::int64_t first = lo / (2 * sorted) * (2 * sorted), middle = std::min(first + sorted, n);
        const std::int64_t end = std::min(first + 2 * sorted, n), upto = std::min(hi, end);
        merge_part(from + first, middle - first, from + middle, end - middle, lo - first, upto - first, to + first);
        lo = upto;
      }
    };
    split(pool, n, piece, merge);
    std::swap(from, to);
  }
  if (from != items) std::copy(from, from + n, items);
}

/// The rows along a sort's axis, in the operand (0) and in the result (1).
struct sort_rows {
  int axis;
  std::int64_t n, count;  // elements of a row, and those that are stored
  std::int64_t rows = 1;
  std::int64_t stride[2];
  const kernel_call& call;

  ONTO_COLD explicit sort_rows(const kernel_call& c)
      : axis(sort_axis(*c.op, c.space.rank)), n(c.space[axis]), count(c.shapes[1][axis]), call(c) {
    for (int d = 0; d < c.space.rank; ++d)
      if (d != axis) rows *= c.space.dims[d];
    stride[0] = c.in[0].stride[axis];
    stride[1] = c.out.stride[axis];
  }
  std::int64_t offset(int operand, std::int64_t row) const {
    const std::int64_t* const strides = operand == 0 ? call.in[0].stride : call.out.stride;
    std::int64_t offset = 0;
    for (int d = call.space.rank - 1; d >= 0; --d) {
      if (d == axis) continue;
      offset += row % call.space.dims[d] * strides[d];
      row /= call.space.dims[d];
    }
    return offset;
  }
};

template <class Rule, class T>
class cpu_sorter {
 public:
  using rule = Rule;
  using order = ordered<rule, T>;
  using key = typename order::bits;
  using item = sort_item<key, rule::numbers>;
  using held = typename item::type;
  using result = std::conditional_t<rule::numbers, std::int64_t, T>;

  explicit cpu_sorter(const kernel_call& call) : r_(call), call_(call) {}

  void run(thread_pool& pool) const {
    if (r_.rows * r_.count <= 0) return;
    const bool selects = r_.count * 8 < r_.n;
    if (!selects && pool.size() > 1 && 2 * r_.rows < pool.size() && r_.n >= 65536) {
      for (std::int64_t row = 0; row < r_.rows; ++row) sort_over(pool, row);
      return;
    }
    // Rows that lie beside each other are read and written together.
    const bool along_memory = r_.stride[0] == 1 && r_.stride[1] == 1;
    const std::int64_t beside =
        along_memory ? 1 : std::clamp(most_held / r_.n, std::int64_t{1}, std::int64_t{most_beside});
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      small_array<held, 1024> items(selects ? room() : std::min(beside, hi - lo) * r_.n);
      small_array<held, 1024> scratch(selects ? 0 : r_.n);
      for (; lo < hi; lo += beside) {
        if (selects)
          for (std::int64_t row = lo; row < std::min(lo + beside, hi); ++row) select(row, items.data());
        else
          sort_beside(lo, std::min(beside, hi - lo), items.data(), scratch.data());
      }
    };
    split(pool, r_.rows, std::max(beside, 4096 / (r_.n + 1) + 1), body);
  }

 private:
  static constexpr std::int64_t most_beside = 16, most_held = 1 << 18;

  std::int64_t room() const { return 2 * r_.count + 64; }
  const T* row_of(std::int64_t row) const { return static_cast<const T*>(call_.in[0].data) + r_.offset(0, row); }
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

  void sort_over(thread_pool& pool, std::int64_t row) const {
    small_array<held, 1> items(r_.n), scratch(r_.n);
    const T* const from = row_of(row);
    auto load = [&](std::int64_t lo, std::int64_t hi) {
      for (; lo < hi; ++lo) items[lo] = item_at(from, lo);
    };
    split(pool, r_.n, 16384, load);
    sort_in_parts<key, rule::numbers>(pool, items.data(), scratch.data(), r_.n);
    result* const to = static_cast<result*>(call_.out.data) + r_.offset(1, row);
    auto give = [&](std::int64_t lo, std::int64_t hi) {
      for (; lo < hi; ++lo) to[lo * r_.stride[1]] = result_of(items[lo]);
    };
    split(pool, r_.count, 16384, give);
  }

  void sort_beside(std::int64_t first, std::int64_t rows, held* items, held* scratch) const {
    const T* from[most_beside];
    result* to[most_beside];
    for (std::int64_t j = 0; j < rows; ++j) {
      from[j] = row_of(first + j);
      to[j] = static_cast<result*>(call_.out.data) + r_.offset(1, first + j);
    }
    if (rows == 1)
      for (std::int64_t k = 0; k < r_.n; ++k) items[k] = item_at(from[0], k);
    else
      for (std::int64_t k = 0; k < r_.n; ++k)
        for (std::int64_t j = 0; j < rows; ++j) items[j * r_.n + k] = item_at(from[j], k);
    for (std::int64_t j = 0; j < rows; ++j) sort_items<key, rule::numbers>(items + j * r_.n, scratch, r_.n);
    if (rows == 1)
      store_at(to[0], items);
    else
      for (std::int64_t k = 0; k < r_.count; ++k)
        for (std::int64_t j = 0; j < rows; ++j) to[j][k * r_.stride[1]] = result_of(items[j * r_.n + k]);
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
    store_at(static_cast<result*>(call_.out.data) + r_.offset(1, row), kept);
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
