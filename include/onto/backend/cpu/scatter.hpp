// SPDX-License-Identifier: BSL-1.0
// What is written by numbers of elements, on the CPU: scatter, scatter_add, segment_sum, segment_max, and the gradients
// of these and of what is read by numbers.
#pragma once

#include <onto/backend/cpu/indexing.hpp>
#include <onto/backend/cpu/kernels.hpp>
#include <onto/backend/cpu/numbered_rows.hpp>
#include <onto/kernel/indexing.hpp>

#include <cstdint>
#include <cstring>
#include <vector>

namespace onto::detail {

/// Puts the updates of a row in its place, the last of them.
template <numbers_outside Outside, class T>
void replace_rows(thread_pool& pool, const numbered_rows& u, T* out) {
  constexpr std::int64_t few = 8;  // elements, of which a copy is no call
  const std::int64_t inner = u.inner;
  auto body = [&](const block_of_rows& part) {
    block_of_updates b;
    const std::int64_t columns = part.last_column - part.first_column;
    if (part.first == 0 && part.last == u.rows && columns == inner && inner <= few && u.columns.empty()) {
      for_each_line<Outside>(u, 0, u.count(), [&](const auto& line, std::int64_t n) {
        for (std::int64_t k = 0; k < n; ++k) {
          const std::int64_t row = line.row(k);
          if (row < 0 || row >= u.rows) continue;
          const T* const from = static_cast<const T*>(u.updates) + line.update(k);
          T* const to = out + row * inner;
          *to = *from;
          for (std::int64_t j = 1; j < inner; ++j) to[j] = from[j];
        }
      });
      return;
    }
    for_each_block(u.count(), [&](std::int64_t first, std::int64_t n) {
      const std::int64_t kept = b.template read<Outside>(u, first, n, part.first, part.last);
      for (std::int64_t k = 0; k < kept; ++k) {
        const T* const from = static_cast<const T*>(u.updates) + b.from[k];
        T* const to = out + b.place[k] * inner;
        if (u.columns.empty()) {
          std::memcpy(static_cast<void*>(to + part.first_column), from + part.first_column,
                      static_cast<std::size_t>(columns) * sizeof(T));
          continue;
        }
        for (std::int64_t j = part.first_column; j < part.last_column; ++j)
          to[j] = from[u.columns[static_cast<std::size_t>(j)]];
      }
    });
  };
  share_rows(pool, u.count() * inner, u.rows, inner, 64, body);
}

/// *Complexity* linear in the elements of the result and of the updates.
template <class Op, class T>
void cpu_scatter(thread_pool& pool, const kernel_call& call) {
  using rule = scatter_rule<Op, T>;
  const extents& result = call.shapes[call.inputs];
  if (result.size() <= 0) return;
  constexpr auto outside = rule::wraps ? numbers_outside::left_out_from_end : numbers_outside::left_out;
  const numbered_rows u(call, call.shapes[0], rule::updates, 0, result[0]);
  auto* const out = static_cast<typename rule::result*>(call.out.data);
  const auto copy_base = [&] {
    operand_view to = call.out;
    contiguous_strides(result, to.stride);
    copy_box(pool, result, call.in[rule::base], to);
  };
  if constexpr (rule::replaces) {
    copy_base();
    replace_rows<outside>(pool, u, out);
  } else {
    row_sums<rule, T, outside, (rule::base >= 0)> sums(u, out);
    if constexpr (rule::base >= 0) {
      const operand_view& base = call.in[rule::base];
      if (!is_contiguous(result, base.stride) || !sums.begins_at(static_cast<const T*>(base.data))) copy_base();
    }
    sums.run(pool);
  }
}

/// Where a result of these extents is, in order and without holes.
inline indexed_operand dense_operand(const extents& shape) {
  indexed_operand o{nullptr, element::float32, shape, {}};
  contiguous_strides(shape, o.stride);
  return o;
}

/// Sums the gradients of elements that were taken along an axis by a number for each of them.
template <class Read, class T>
void cpu_gradient_of_elements(thread_pool& pool, const kernel_call& call) {
  const extents &x = call.shapes[1], &taken = call.shapes[2];
  using rule = scatter_sum<T, T>;
  std::vector<typename rule::state> states(static_cast<std::size_t>(x.size()), rule::none());
  if (taken.size() > 0) {
    const indexed_call c = indexed_call_of(call);
    indexed_call read{{c.in[0], dense_operand(x)}, taken.rank, {}, taken.size()};
    for (int d = 0; d < taken.rank; ++d) read.extent[d] = index_divisor(taken[d]);
    // Threads share an axis along which no two elements were taken from one place: the last one, or the first.
    const auto apart = [&](int d) {
      return indexed_element<Read>::axis_of(call.shapes[0], d) == d && x[d] == taken[d];
    };
    const bool by_last = apart(x.rank - 1), by_first = !by_last && apart(0);
    const std::int64_t shared = by_last ? taken[taken.rank - 1] : by_first ? taken[0] : 1;
    const std::int64_t blocks = by_last ? taken.size() / shared : 1, length = taken.size() / shared / blocks;
    const indexed_operand& gradient = c.in[2];
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      for (std::int64_t block = 0; block < blocks; ++block) {
        const std::int64_t begin = block * shared * length + lo * length, end = begin + (hi - lo) * length;
        for (std::int64_t k = begin; k < end; ++k) {
          const std::int64_t to = indexed_element<Read>::template offset<host_access>(read, k);
          const indexed_place p = place_of(read, k);
          std::int64_t from = 0;
          for (int d = 0; d < taken.rank; ++d) from += p.at[d] * gradient.stride[d];
          rule::add(states[static_cast<std::size_t>(to)], static_cast<const T*>(gradient.data)[from]);
        }
      }
    };
    // Threads do not write to one cache line.
    split(pool, shared, greatest(4096 / (blocks * length) + 1, by_last ? 16 : 1), body);
  }
  auto* const out = static_cast<T*>(call.out.data);
  auto finish = [&](std::int64_t lo, std::int64_t hi) {
    for (; lo < hi; ++lo) out[lo] = rule::finish(states[static_cast<std::size_t>(lo)]);
  };
  split(pool, x.size(), 4096, finish);
}

/// The numbers by which whole rows were taken; of rank -1 where elements were, each by a number of its own.
template <int Axis>
extents numbers_of_rows(op::take<Axis>, const kernel_call& call) {
  return call.shapes[0];
}
template <int Axis>
extents numbers_of_rows(op::take_along<Axis>, const kernel_call& call) {
  const extents &numbers = call.shapes[0], &x = call.shapes[1], &taken = call.shapes[2];
  extents along;
  for (int d = 0; d < x.rank; ++d)
    if (d != Axis && (numbers[d] != 1 || x[d] != taken[d])) along.rank = -1;
  if (along.rank == 0) along.push_back(numbers[Axis]);
  return along;
}
/// The axis that rows are taken along, and which of the numbers' axes that is.
struct taken_axis {
  int axis, of_numbers;
};
template <int Axis>
constexpr taken_axis axis_of(op::take<Axis>) {
  return {Axis, 0};
}
template <int Axis>
constexpr taken_axis axis_of(op::take_along<Axis>) {
  return {Axis, Axis};
}

/// *Complexity* linear in the elements of the result and of the gradient.
template <class Read, class T>
void cpu_gather_gradient(thread_pool& pool, const kernel_call& call) {
  const extents& x = call.shapes[1];
  if (x.size() <= 0) return;
  constexpr taken_axis along = axis_of(Read{});
  const extents numbers = numbers_of_rows(Read{}, call);
  if (numbers.rank < 0) return cpu_gradient_of_elements<Read, T>(pool, call);
  const numbered_rows u(call, numbers, 2, along.axis, x[along.axis], along.of_numbers);
  row_sums<scatter_sum<T, T>, T, numbers_outside::nearest, false>(u, static_cast<T*>(call.out.data)).run(pool);
}

/// *Complexity* linear in the rows of both and the elements of the result.
template <class Write, class T>
void cpu_scatter_gradient(thread_pool& pool, const kernel_call& call) {
  const extents& result = call.shapes[call.inputs];
  if (result.size() <= 0) return;
  const indexed_call c = indexed_call_of(call);
  const indexed_operand &numbers = c.in[0], &gradient = c.in[1];
  const std::int64_t count = result[0], rows = gradient.shape[0], inner = c.size / count;
  std::vector<std::int64_t> row(static_cast<std::size_t>(count));
  std::vector<std::int64_t> last(scatter_rule<Write, T>::replaces ? static_cast<std::size_t>(rows) : 0);
  read_numbers(numbers.data, numbers.type, 0, numbers.stride[0], count, row.data());
  for (std::int64_t u = 0; u < count; ++u) {
    std::int64_t& to = row[static_cast<std::size_t>(u)];
    to = row_of(to, rows, scatter_rule<Write, T>::wraps);
    if (!last.empty() && to >= 0) last[static_cast<std::size_t>(to)] = u;
  }
  extents of_row;
  for (int d = 1; d < result.rank; ++d) of_row.push_back(result[d]);
  const std::vector<std::int64_t> columns = numbered_rows::columns_of(of_row, gradient.stride + 1);
  auto* const out = static_cast<T*>(call.out.data);
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    for (; lo < hi; ++lo) {
      const std::int64_t from = row[static_cast<std::size_t>(lo)];
      const bool there = from >= 0 && (last.empty() || last[static_cast<std::size_t>(from)] == lo);
      const T* const in = static_cast<const T*>(gradient.data) + (there ? from * gradient.stride[0] : 0);
      T* const to = out + lo * inner;
      if (!there)
        for (std::int64_t j = 0; j < inner; ++j) to[j] = T(0);
      else if (columns.empty())
        std::memcpy(static_cast<void*>(to), in, static_cast<std::size_t>(inner) * sizeof(T));
      else
        for (std::int64_t j = 0; j < inner; ++j) to[j] = in[columns[static_cast<std::size_t>(j)]];
    }
  };
  split(pool, count, 4096 / inner + 1, body);
}

template <class Op>
struct cpu_scattering {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_on_pool<&cpu_scatter<Op, T>>};
  }
};

template <bool Add>
struct operation_kernels<op::scatter<Add>, cpu_backend> : cpu_scattering<op::scatter<Add>> {};
template <int N>
struct operation_kernels<op::segment_sum<N>, cpu_backend> : cpu_scattering<op::segment_sum<N>> {};
template <int N, fold F>
struct operation_kernels<op::segment_extreme<N, F>, cpu_backend> : cpu_scattering<op::segment_extreme<N, F>> {};
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
