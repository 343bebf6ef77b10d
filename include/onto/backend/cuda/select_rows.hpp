// SPDX-License-Identifier: BSL-1.0
// The first few of long rows on the GPU: blocks go over parts of rows once and drop nearly all elements, those that are
// after as many as are asked for; what is left of the parts of a row goes the same way.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/sort_network.hpp>
#include <onto/backend/cuda/sort_space.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace onto::detail {

/// An element of a row as one number: its key, and its number in the row behind it. No two are equal, so what is
/// selected does not depend on who comes first.
using candidate = std::uint64_t;
inline constexpr candidate no_candidate = ~candidate{0};  // after every one

/// The most that are selected: one for each thread of a block.
inline constexpr std::int64_t most_selected = block_threads;

/// How rows are cut into parts, a block each.
struct row_parts {
  index_divisor parts;  // of a row
  std::int64_t rows = 0, length = 0;
  std::int64_t part = 0;  // elements of all parts but the last
  int count = 0;          // that are selected

  std::int64_t candidates() const { return rows * parts.divisor * count; }
};

/// Elements that a thread looks at between two barriers, and of a block.
inline constexpr int looks = 16, block_looks = looks * block_threads;

ONTO_COLD inline row_parts parts_of_rows(std::int64_t rows, std::int64_t length, std::int64_t count) {
  constexpr std::int64_t few_looks = 2, most_candidates = 1 << 15;
  std::int64_t parts = least(divide_up(2 * few_blocks, rows), divide_up(length, few_looks * block_looks));
  parts = greatest(1, least(parts, most_candidates / count));
  parts = greatest(parts, divide_up(length, longest_piece));
  row_parts g;
  g.rows = rows;
  g.length = length;
  g.part = divide_up(divide_up(length, parts), block_looks) * block_looks;
  g.parts = index_divisor(divide_up(length, g.part));
  g.count = static_cast<int>(count);
  return g;
}
/// What is left of the parts of rows: one part a row.
ONTO_COLD inline row_parts rest_of_rows(const row_parts& g) {
  row_parts r;
  r.rows = g.rows;
  r.length = r.part = g.parts.divisor * g.count;
  r.count = g.count;
  return r;
}

/// What is selected from: elements of rows, or candidates that lie one after another.
template <class Rule, class T>
struct row_elements {
  sort_space s;
  const T* in;

  struct part {
    const T* first;
    std::int64_t stride;
    std::uint32_t number;
    using value_type = T;
    __device__ ONTO_INLINE T read(int k) const { return device_load(first + k * stride); }
    __device__ ONTO_INLINE candidate as_candidate(T x, int k) const {
      return candidate{cuda_sorting<Rule, T>::order::key(x)} << 32 | (number + static_cast<std::uint32_t>(k));
    }
  };
  __device__ ONTO_INLINE part from(std::int64_t row, std::int64_t k) const {
    return {in + s.place(0, row, k), s.stride[0], static_cast<std::uint32_t>(k)};
  }
};
struct row_candidates {
  const candidate* in;
  std::int64_t length;

  struct part {
    const candidate* first;
    using value_type = candidate;
    __device__ ONTO_INLINE candidate read(int k) const { return device_load(first + k); }
    __device__ ONTO_INLINE candidate as_candidate(candidate x, int) const { return x; }
  };
  __device__ ONTO_INLINE part from(std::int64_t row, std::int64_t k) const { return {in + row * length + k}; }
};

/// What a block has selected so far. Thread `k` has number `k` of them in order; and candidates that have come since,
/// before the last of these, until there is no room for one more: then all are sorted.
class block_selection {
 public:
  static constexpr int per = 4;
  using network = sorting_network<candidate, per>;

  __device__ ONTO_INLINE block_selection(int thread, int count, candidate* shared)
      : sorter_{block_threads, thread, shared}, count_(count) {}

  /// Begins with `per` candidates of each thread.
  template <class Part>
  __device__ ONTO_INLINE void begin(const Part& part, int length) {
    look(part, length, 0, items_);
    sort();
  }
  /// Goes on from element `first` of a part.
  template <class Part>
  __device__ ONTO_INLINE void go_on(const Part& part, int length, int first) {
    candidate found[looks];
    look(part, length, first, found);
    bool full = take(found);
    while (__syncthreads_or(full)) {
      sort();
      full = take(found);
    }
  }
  /// The candidate that is number `thread` of what was selected.
  __device__ ONTO_INLINE candidate result() {
    if (__syncthreads_or(waiting_ > 0)) sort();
    return items_[0];
  }

 private:
  template <int Count, class Part>
  __device__ ONTO_INLINE void look(const Part& part, int length, int first, candidate (&found)[Count]) const {
    if (first + Count * block_threads <= length)
      look_at<true>(part, length, first, found);
    else
      look_at<false>(part, length, first, found);
  }
  /// `Whole`: not beyond the end, which is not looked for.
  // All is read before anything is compared, and what is beyond the end is read at the end: a load that a branch goes
  // around waits for the one before.
  template <bool Whole, int Count, class Part>
  __device__ ONTO_INLINE void look_at(const Part& part, int length, int first, candidate (&found)[Count]) const {
    const int mine = first + sorter_.thread;
    typename Part::value_type x[Count];
    ONTO_UNROLL
    for (int k = 0; k < Count; ++k) {
      const int at = mine + k * block_threads;
      x[k] = part.read(Whole || at < length ? at : length - 1);
    }
    ONTO_UNROLL
    for (int k = 0; k < Count; ++k) {
      const int at = mine + k * block_threads;
      found[k] = part.as_candidate(x[k], at) | (Whole || at < length ? candidate{0} : no_candidate);
    }
  }
  /// Takes what is before the bound away from `found`. *Returns* whether there is something left.
  __device__ ONTO_INLINE bool take(candidate (&found)[looks]) {
    bool any = false;
    ONTO_UNROLL
    for (int k = 0; k < looks; ++k) any |= (found[k] < bound_);
    if (!any) return false;
    bool left = false;
    ONTO_UNROLL
    for (int k = 0; k < looks; ++k) {
      if (!(found[k] < bound_)) continue;
      if (waiting_ == per - 1) {
        left = true;
        continue;
      }
      ONTO_UNROLL
      for (int i = per - 1; i > 1; --i) items_[i] = items_[i - 1];
      items_[1] = found[k];
      found[k] = no_candidate;
      ++waiting_;
    }
    return left;
  }
  __device__ ONTO_INLINE void sort() {
    sorter_.sort(items_);
    sorter_.stripe(items_);
    bound_ = sorter_.number(count_ - 1);
    if (sorter_.thread >= count_) items_[0] = no_candidate;
    ONTO_UNROLL
    for (int k = 1; k < per; ++k) items_[k] = no_candidate;
    waiting_ = 0;
  }

  network sorter_;
  int count_, waiting_ = 0;
  candidate items_[per], bound_ = no_candidate;
};

/// Writes what was selected of each part as candidates, or where `candidates` is null the numbers of their elements.
template <class From>
__global__ void __launch_bounds__(block_threads)
    select_kernel(const __grid_constant__ From from, const __grid_constant__ row_parts g,
                  const __grid_constant__ sort_space s, candidate* candidates, std::int64_t* out) {
  const int thread = static_cast<int>(threadIdx.x);
  block_selection chosen(thread, g.count, shared_array<candidate, block_selection::network::room>());
  const std::int64_t units = g.rows * g.parts.divisor;
  for (std::int64_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
    const std::int64_t row = g.parts.divide(unit), first = (unit - row * g.parts.divisor) * g.part;
    const auto part = from.from(row, first);
    const int length = static_cast<int>(least(g.part, g.length - first));
    chosen.begin(part, length);
    ONTO_NO_UNROLL
    for (int k = block_selection::per * block_threads; k < length; k += block_looks) chosen.go_on(part, length, k);
    const candidate found = chosen.result();
    if (thread >= g.count) continue;
    if (candidates)
      device_store(candidates + unit * g.count + thread, found);
    else
      device_store(out + s.place(1, row, thread), static_cast<std::int64_t>(found & 0xffffffffu));
  }
}

/// Bytes of workspace that `select_rows` needs.
ONTO_COLD inline std::size_t selection_workspace(const sort_space& s) {
  const row_parts g = parts_of_rows(s.rows.size, s.length.divisor, s.count.divisor);
  return g.parts.divisor > 1 ? static_cast<std::size_t>(g.candidates()) * sizeof(candidate) : 0;
}

/// The numbers of the first elements of rows, in order. *Preconditions* at least one of a row and at most
/// `most_selected`; keys of 4 bytes at most; rows of fewer than 2^32 elements.
template <class Rule, class T>
void select_rows(cudaStream_t stream, const sort_space& s, const T* in, std::int64_t* out, void* workspace) {
  const row_parts g = parts_of_rows(s.rows.size, s.length.divisor, s.count.divisor), rest = rest_of_rows(g);
  auto* const candidates = g.parts.divisor > 1 ? static_cast<candidate*>(workspace) : nullptr;
  const auto blocks = [](const row_parts& x) { return launch_shape{grid_blocks(x.rows * x.parts.divisor)}; };
  launch(stream, "a selection", &select_kernel<row_elements<Rule, T>>, blocks(g), row_elements<Rule, T>{s, in}, g, s,
         candidates, out);
  if (candidates)
    launch(stream, "a selection", &select_kernel<row_candidates>, blocks(rest), row_candidates{candidates, rest.length},
           rest, s, nullptr, out);
}

}  // namespace onto::detail

#endif  // ONTO_CUDA
