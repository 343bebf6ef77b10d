// SPDX-License-Identifier: BSL-1.0
// Operations that go by numbers of elements, on the CPU: element by element over all threads; rows that are taken are
// copied whole, boxes as views are, and updates are gone through once. Numbers are read in blocks, so that their type
// is asked for once.
#pragma once

#include <onto/backend/cpu/copy.hpp>
#include <onto/backend/cpu/kernels.hpp>
#include <onto/kernel/indexing.hpp>
#include <onto/kernel/workspace.hpp>

#include <cstdint>
#include <cstring>
#include <vector>

namespace onto::detail {

/// *Preconditions* the result has elements.
inline indexed_call indexed_call_of(const kernel_call& call) {
  indexed_call c{};
  for (int k = 0; k < call.inputs; ++k) {
    indexed_operand& o = c.in[k];
    o.data = call.in[k].data;
    o.type = call.in[k].type;
    o.shape = call.shapes[k];
    for (int d = 0; d < max_rank; ++d) o.stride[d] = call.in[k].stride[d];
  }
  const extents& result = call.shapes[call.inputs];
  c.rank = result.rank;
  c.size = result.size();
  for (int d = 0; d < result.rank; ++d) c.extent[d] = index_divisor(result[d]);
  return c;
}

/// Elements of the rows that a take along `axis` copies whole; 0 where they lie apart, or the numbers do unevenly.
inline std::int64_t whole_rows_taken(const kernel_call& call, int axis) {
  const extents &numbers = call.shapes[0], &x = call.shapes[1];
  std::int64_t inner = 1;
  for (int d = x.rank - 1; d > axis; --d) {
    if (x[d] != 1 && call.in[1].stride[d] != inner) return 0;
    inner *= x[d];
  }
  return numbers.rank == 1 || is_contiguous(numbers, call.in[0].stride) ? inner : 0;
}

struct host_access {
  template <class T>
  ONTO_HD ONTO_INLINE static T load(const T* p) {
    return *p;
  }
};

inline constexpr std::int64_t block_of_numbers = 256;

/// Numbers of any type of integers, `step` apart.
inline void read_numbers(const indexed_operand& o, std::int64_t offset, std::int64_t step, std::int64_t count,
                         std::int64_t* out) {
  with_integer(o.type, [&](auto zero) {
    const auto* const from = static_cast<const decltype(zero)*>(o.data) + offset;
    for (std::int64_t k = 0; k < count; ++k) out[k] = count_of(from[k * step]);
  });
}

template <class Op, class T>
void cpu_indexed(thread_pool& pool, const kernel_call& call) {
  if (call.shapes[call.inputs].size() <= 0) return;
  const indexed_call c = indexed_call_of(call);
  using result = decltype(indexed_element<Op>::template at<T, host_access>(c, 0));
  auto* const out = static_cast<result*>(call.out.data);
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    for (; lo < hi; ++lo) out[lo] = indexed_element<Op>::template at<T, host_access>(c, lo);
  };
  split(pool, c.size, 1024, body);
}

/// Takes elements that lie alone: `out[k]` is that of number `k` among `length`, which are `stride` apart.
template <class T>
void take_elements(const indexed_operand& numbers, std::int64_t offset, std::int64_t step, std::int64_t count,
                   const T* from, std::int64_t length, std::int64_t stride, T* out) {
  with_integer(numbers.type, [&](auto zero) {
    const auto* const number = static_cast<const decltype(zero)*>(numbers.data) + offset;
    for (std::int64_t k = 0; k < count; ++k) out[k] = from[nearest(count_of(number[k * step]), length) * stride];
  });
}

/// The result of a take is (outer, numbers, inner): a number's row is copied whole where it is one.
template <int Axis, class T>
void cpu_take(thread_pool& pool, const kernel_call& call) {
  const extents &numbers = call.shapes[0], &x = call.shapes[1];
  if (call.shapes[2].size() <= 0) return;
  constexpr int axis = Axis;
  const std::int64_t inner = whole_rows_taken(call, axis), count = numbers.size();
  if (inner == 0) return cpu_indexed<op::take<Axis>, T>(pool, call);

  const indexed_call c = indexed_call_of(call);
  const indexed_operand& of = c.in[1];
  const std::int64_t step = numbers.rank == 1 ? call.in[0].stride[0] : 1;
  auto* const out = static_cast<T*>(call.out.data);
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    std::int64_t at[block_of_numbers];
    for (std::int64_t n = 0; lo < hi; lo += n) {
      std::int64_t outer = lo / count, offset = 0;
      const std::int64_t first = lo - outer * count;
      n = least(least(hi - lo, count - first), block_of_numbers);
      for (int d = axis - 1; d >= 0; --d) {
        offset += outer % x[d] * of.stride[d];
        outer /= x[d];
      }
      const T* const from = static_cast<const T*>(of.data) + offset;
      if (inner == 1) {
        take_elements(c.in[0], first * step, step, n, from, x[axis], of.stride[axis], out + lo);
        continue;
      }
      read_numbers(c.in[0], first * step, step, n, at);
      for (std::int64_t k = 0; k < n; ++k)
        std::memcpy(static_cast<void*>(out + (lo + k) * inner), from + nearest(at[k], x[axis]) * of.stride[axis],
                    static_cast<std::size_t>(inner) * sizeof(T));
    }
  };
  split(pool, c.size / inner, 1024 / inner + 1, body);
}

/// *Complexity* linear in the elements of the result and of the updates.
template <class Op, class T>
void cpu_scatter(thread_pool& pool, const kernel_call& call) {
  if (call.shapes[call.inputs].size() <= 0) return;
  using rule = scatter_rule<Op, T>;
  using row_state = typename rule::state;
  const indexed_call c = indexed_call_of(call);
  const indexed_operand &numbers = c.in[0], &updates = c.in[rule::updates];
  const std::int64_t rows = c.extent[0].divisor, inner = c.size / rows;
  std::vector<row_state> states(static_cast<std::size_t>(c.size));
  auto begin = [&](std::int64_t lo, std::int64_t hi) {
    for (; lo < hi; ++lo) {
      row_state& s = states[static_cast<std::size_t>(lo)];
      if constexpr (rule::base >= 0) {
        const indexed_operand& x = c.in[rule::base];
        const grouped_element e = element_in_row(c, x, lo);
        s = rule::first(element_at<T, host_access>(x, e.group * x.stride[0] + e.offset));
      } else {
        s = rule::none();
      }
    }
  };
  split(pool, c.size, 4096, begin);
  // Each thread has columns of its own, so that the updates of an element keep their order.
  auto columns = [&](std::int64_t lo, std::int64_t hi) {
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(hi - lo));
    for (std::int64_t j = lo; j < hi; ++j)
      offsets[static_cast<std::size_t>(j - lo)] = element_in_row(c, updates, j).offset;
    std::int64_t at[block_of_numbers];
    for (std::int64_t first = 0, n = 0; first < numbers.shape[0]; first += n) {
      n = least(numbers.shape[0] - first, block_of_numbers);
      read_numbers(numbers, first * numbers.stride[0], numbers.stride[0], n, at);
      const T* from = static_cast<const T*>(updates.data) + first * updates.stride[0];
      for (std::int64_t u = 0; u < n; ++u, from += updates.stride[0]) {
        const std::int64_t row = row_of(at[u], rows, rule::wraps);
        if (row < 0) continue;
        row_state* const to = states.data() + row * inner;
        for (std::int64_t j = lo; j < hi; ++j) rule::add(to[j], from[offsets[static_cast<std::size_t>(j - lo)]]);
      }
    }
  };
  if (inner == 1) {
    with_integer(numbers.type, [&](auto zero) {
      const auto* const number = static_cast<const decltype(zero)*>(numbers.data);
      const T* const from = static_cast<const T*>(updates.data);
      for (std::int64_t u = 0; u < numbers.shape[0]; ++u) {
        const std::int64_t row = row_of(count_of(number[u * numbers.stride[0]]), rows, rule::wraps);
        if (row >= 0) rule::add(states[static_cast<std::size_t>(row)], from[u * updates.stride[0]]);
      }
    });
  } else {
    const std::int64_t work = numbers.shape[0] > 0 ? 65536 / numbers.shape[0] : inner;
    split(pool, inner, work > 8 ? work : 8, columns);
  }
  auto* const out = static_cast<typename rule::result*>(call.out.data);
  auto finish = [&](std::int64_t lo, std::int64_t hi) {
    for (; lo < hi; ++lo) out[lo] = rule::finish(states[static_cast<std::size_t>(lo)]);
  };
  split(pool, c.size, 4096, finish);
}

/// Where a result of these extents is, in order and without holes.
inline indexed_operand dense_operand(const extents& shape) {
  indexed_operand o{nullptr, element::float32, shape, {}};
  contiguous_strides(shape, o.stride);
  return o;
}

/// *Complexity* linear in the elements of the result and of the gradient.
template <class Read, class T>
void cpu_gather_gradient(thread_pool& pool, const kernel_call& call) {
  const extents &x = call.shapes[1], &taken = call.shapes[2];
  if (x.size() <= 0) return;
  using rule = scatter_sum<T, T>;
  std::vector<typename rule::state> states(static_cast<std::size_t>(x.size()), rule::none());
  if (taken.size() > 0) {
    const indexed_call c = indexed_call_of(call);
    indexed_call read{{c.in[0], dense_operand(x)}, taken.rank, {}, taken.size()};
    for (int d = 0; d < taken.rank; ++d) read.extent[d] = index_divisor(taken[d]);
    // Threads share an axis along which no two elements were taken from one place: the last one, or the first.
    const auto apart = [&](int d) {
      const int axis = indexed_element<Read>::axis_of(call.shapes[0], d);
      return axis == (d == 0 ? 0 : taken.rank - 1) && x[d] == taken[axis];
    };
    const bool by_last = apart(x.rank - 1), by_first = !by_last && apart(0);
    const std::int64_t shared = by_last ? taken[taken.rank - 1] : by_first ? taken[0] : 1;
    const std::int64_t blocks = by_last ? taken.size() / shared : 1, length = taken.size() / shared / blocks;
    const indexed_operand& gradient = c.in[2];
    // Neighbours were taken from neighbours where their numbers are the same.
    const bool in_rows = by_last && indexed_element<Read>::takes_rows;
    auto add = [&](std::int64_t first, std::int64_t count) {
      const std::int64_t to = indexed_element<Read>::template offset<host_access>(read, first);
      const indexed_place p = place_of(read, first);
      std::int64_t from = 0;
      for (int d = 0; d < taken.rank; ++d) from += p.at[d] * gradient.stride[d];
      const std::int64_t step = taken.rank > 0 ? gradient.stride[taken.rank - 1] : 0;
      for (std::int64_t j = 0; j < count; ++j)
        rule::add(states[static_cast<std::size_t>(to + j)], static_cast<const T*>(gradient.data)[from + j * step]);
    };
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      for (std::int64_t block = 0; block < blocks; ++block) {
        const std::int64_t begin = block * shared * length + lo * length, end = begin + (hi - lo) * length;
        if (in_rows)
          add(begin, end - begin);
        else
          for (std::int64_t k = begin; k < end; ++k) add(k, 1);
      }
    };
    split(pool, shared, 4096 / (blocks * length) + 1, body);
  }
  auto* const out = static_cast<T*>(call.out.data);
  auto finish = [&](std::int64_t lo, std::int64_t hi) {
    for (; lo < hi; ++lo) out[lo] = rule::finish(states[static_cast<std::size_t>(lo)]);
  };
  split(pool, x.size(), 4096, finish);
}

/// *Complexity* linear in the rows of both and the elements of the result.
template <class Write, class T>
void cpu_scatter_gradient(thread_pool& pool, const kernel_call& call) {
  if (call.shapes[call.inputs].size() <= 0) return;
  const indexed_call c = indexed_call_of(call);
  const indexed_operand &numbers = c.in[0], &gradient = c.in[1];
  const std::int64_t count = c.extent[0].divisor, rows = gradient.shape[0], inner = c.size / count;
  std::vector<std::int64_t> row(static_cast<std::size_t>(count));
  std::vector<std::int64_t> last(scatter_rule<Write, T>::replaces ? static_cast<std::size_t>(rows) : 0);
  for (std::int64_t u = 0; u < count; ++u) {
    std::int64_t& to = row[static_cast<std::size_t>(u)];
    to = row_of<host_access>(numbers, u, rows, scatter_rule<Write, T>::wraps);
    if (!last.empty() && to >= 0) last[static_cast<std::size_t>(to)] = u;
  }
  auto* const out = static_cast<T*>(call.out.data);
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    for (; lo < hi; ++lo) {
      const std::int64_t from = row[static_cast<std::size_t>(lo)];
      const bool there = from >= 0 && (last.empty() || last[static_cast<std::size_t>(from)] == lo);
      for (std::int64_t j = lo * inner; j < (lo + 1) * inner; ++j)
        out[j] = there ? element_at<T, host_access>(gradient,
                                                    from * gradient.stride[0] + element_in_row(c, gradient, j).offset)
                       : T(0);
    }
  };
  split(pool, count, 4096 / inner + 1, body);
}

/// Where a box begins that the numbers `starts` are of: that many elements behind the first of `shape`.
inline std::int64_t start_of_box(const indexed_operand& starts, const extents& shape, const std::int64_t* stride,
                                 const extents& box) {
  std::int64_t offset = 0;
  for (int d = 0; d < shape.rank; ++d) offset += start_of<host_access>(starts, d, shape[d], box[d]) * stride[d];
  return offset;
}

inline void copy_box(thread_pool& pool, const extents& box, const operand_view& from, const operand_view& to) {
  kernel_call copy;
  copy.space = box;
  copy.inputs = 1;
  copy.in = &from;
  copy.out = to;
  cpu_copy(pool, copy);
}

/// The box of the operand that is the result.
inline void cpu_dynamic_slice(thread_pool& pool, const kernel_call& call) {
  const extents& box = call.shapes[call.inputs];
  if (box.size() <= 0) return;
  const indexed_call c = indexed_call_of(call);
  operand_view from = call.in[1];
  from.data = advance(from.data, start_of_box(c.in[0], c.in[1].shape, from.stride, box), from.type);
  operand_view to = call.out;
  contiguous_strides(box, to.stride);
  copy_box(pool, box, from, to);
}

/// The operand, and over it the update.
inline void cpu_update_slice(thread_pool& pool, const kernel_call& call) {
  const extents &shape = call.shapes[3], &box = call.shapes[2];
  if (shape.size() <= 0) return;
  const indexed_call c = indexed_call_of(call);
  operand_view to = call.out;
  contiguous_strides(shape, to.stride);
  copy_box(pool, shape, call.in[1], to);
  to.data = advance(to.data, start_of_box(c.in[0], shape, to.stride, box), to.type);
  copy_box(pool, box, call.in[2], to);
}

template <class Op>
struct cpu_indexing {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_on_pool<&cpu_indexed<Op, T>>};
  }
};
template <class Op>
struct cpu_scattering {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_on_pool<&cpu_scatter<Op, T>>};
  }
};

/// Of every element type: elements are copied as they are.
template <void (*Run)(thread_pool&, const kernel_call&)>
struct cpu_boxes {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_on_pool<Run>};
  }
};

template <int Axis>
struct operation_kernels<op::take<Axis>, cpu_backend> {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_on_pool<&cpu_take<Axis, T>>};
  }
};
template <int Axis>
struct operation_kernels<op::take_along<Axis>, cpu_backend> : cpu_indexing<op::take_along<Axis>> {};
template <int... Sizes>
struct operation_kernels<op::dynamic_slice<Sizes...>, cpu_backend> : cpu_boxes<&cpu_dynamic_slice> {};
template <>
struct operation_kernels<op::slice_like, cpu_backend> : cpu_boxes<&cpu_dynamic_slice> {};
template <>
struct operation_kernels<op::update_slice, cpu_backend> : cpu_boxes<&cpu_update_slice> {};
template <int Axis>
struct operation_kernels<op::extent<Axis>, cpu_backend> : cpu_indexing<op::extent<Axis>> {};
template <bool Add>
struct operation_kernels<op::scatter<Add>, cpu_backend> : cpu_scattering<op::scatter<Add>> {};
template <int N>
struct operation_kernels<op::segment_sum<N>, cpu_backend> : cpu_scattering<op::segment_sum<N>> {};
template <class Read>
struct operation_kernels<op::gather_gradient<Read>, cpu_backend> {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_on_pool<&cpu_gather_gradient<Read, T>>};
  }
};
template <class Write>
struct operation_kernels<op::scatter_gradient<Write>, cpu_backend> {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_on_pool<&cpu_scatter_gradient<Write, T>>};
  }
};

}  // namespace onto::detail
