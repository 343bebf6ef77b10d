// SPDX-License-Identifier: BSL-1.0
// Sorts on the CPU, by keys: short rows by std::sort, long ones by a radix sort, a single long one by all threads.
// Keys, and numbers beside them, have one order, so that a result does not depend on the number of threads.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/kernels.hpp>
#include <onto/backend/cpu/radix_sort.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/kernel/sort.hpp>
#include <onto/runtime/kernel.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace onto::detail {

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
    const bool selects = r_.n > few && (inserts() || r_.count * 8 < r_.n);
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

  /// Whether some of elements that are looked at together, in vectors, may be before one.
  template <int Block>
  static bool any_before(const T* from, typename order::ordinal bound) {
    typename order::bits any = 0;
    for (int k = 0; k < Block; ++k) any |= static_cast<typename order::bits>(order::may_be_before(from[k], bound));
    return any != 0;
  }
  static typename order::ordinal bound_of(const held& x) { return order::ordinal_of(order::value(item::key(x))); }

  /// The first of a row that are kept: few of them in their order, to which what is before the last is inserted; of
  /// many, or where most are before it, as in rows that are in order the other way round, what is kept is cut to them
  /// whenever it has become twice as many.
  bool inserts() const { return r_.count <= 32 && r_.count * 2 < r_.n; }
  void select(std::int64_t row, held* kept) const {
    const T* const from = row_of(row);
    std::int64_t k = 0, count = 0;
    if (inserts()) {
      k = insert(from, kept);
      count = r_.count;
    }
    if (k < r_.n) select_from(k, count, from, kept);
    store_at(result_row(row), kept);
  }

  /// *Returns* how many of the row were looked at, of which `kept` has the first.
  std::int64_t insert(const T* from, held* kept) const {
    constexpr int block = 16;
    const std::int64_t stride = r_.stride[0], last = r_.count - 1;
    std::int64_t left = 4 * r_.count + 64, k = 0;  // that may be inserted
    const auto put = [kept](const held& x, std::int64_t at) {
      for (; at > 0 && x < kept[at - 1]; --at) kept[at] = kept[at - 1];
      kept[at] = x;
    };
    for (; k <= last; ++k) put(item_at(from, k), k);
    auto bound = bound_of(kept[last]);
    const auto offer = [&](std::int64_t n) {
      if (!order::may_be_before(from[n * stride], bound)) return;
      const held x = item_at(from, n);
      if (!(x < kept[last])) return;
      put(x, last);
      bound = bound_of(kept[last]);
      --left;
    };
    for (; stride == 1 && k + block <= r_.n && left > 0; k += block)
      if (any_before<block>(from + k, bound))
        for (int j = 0; j < block; ++j) offer(k + j);
    for (; k < r_.n && left > 0; ++k) offer(k);
    return k;
  }

  /// The rest of a row, from `k` on, where `kept` has the first of what was before it, or nothing.
  void select_from(std::int64_t k, std::int64_t count, const T* from, held* kept) const {
    constexpr int block = 64;
    held least{};  // of those that are in no case among them
    typename order::ordinal bound{};
    bool bounded = false;
    const auto is_cut = [&] {
      least = kept[count - 1];
      bound = bound_of(least);
      bounded = true;
    };
    const auto offer = [&](std::int64_t n) __attribute__((always_inline)) {
      const held x = item_at(from, n);
      if (bounded && !(x < least)) return;
      kept[count++] = x;
      if (count < room()) return;
      std::nth_element(kept, kept + r_.count - 1, kept + count);
      count = r_.count;
      is_cut();
    };
    if (count > 0) is_cut();
    for (; r_.stride[0] == 1 && r_.n >= 8 * block && k + block <= r_.n; k += block)
      if (!bounded || any_before<block>(from + k, bound))
        for (int j = 0; j < block; ++j) offer(k + j);
    for (; k < r_.n; ++k) offer(k);
    std::sort(kept, kept + count);
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
