// SPDX-License-Identifier: BSL-1.0
// What is read by numbers of elements, on the CPU: element by element over all threads; rows that are taken are copied
// whole, and boxes as views are. Numbers are read in blocks, so that their type is asked for once.
#pragma once

#include <onto/backend/cpu/copy.hpp>
#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/kernels.hpp>
#include <onto/backend/cpu/numbered_rows.hpp>
#include <onto/kernel/indexing.hpp>
#include <onto/kernel/workspace.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

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
    if (step == 1 && stride == 1)
      for (std::int64_t k = 0; k < count; ++k) out[k] = from[nearest(count_of(number[k]), length)];
    else
      for (std::int64_t k = 0; k < count; ++k) out[k] = from[nearest(count_of(number[k * step]), length) * stride];
  });
}

/// Takes rows of `bytes`, which are `stride` bytes apart.
inline void take_rows(const std::int64_t* numbers, std::int64_t count, const char* from, std::int64_t length,
                      std::int64_t stride, std::int64_t bytes, char* out) {
  // A short one is two pieces of a known size, which may have bytes in common, where memcpy is a call for each.
  const auto by_two = [&](auto piece) {
    constexpr std::size_t size = sizeof(piece);
    for (std::int64_t k = 0; k < count; ++k, out += bytes) {
      const char* const row = from + nearest(numbers[k], length) * stride;
      std::memcpy(out, row, size);
      std::memcpy(out + bytes - size, row + bytes - size, size);
    }
  };
  if (bytes >= 2 && bytes <= 4)
    by_two(std::array<char, 2>{});
  else if (bytes > 4 && bytes <= 8)
    by_two(std::array<char, 4>{});
  else if (bytes > 8 && bytes <= 16)
    by_two(std::array<char, 8>{});
  else if (bytes > 16 && bytes <= 32)
    by_two(std::array<char, 16>{});
  else if (bytes > 32 && bytes <= 64)
    by_two(std::array<char, 32>{});
  else
    for (std::int64_t k = 0; k < count; ++k, out += bytes)
      std::memcpy(out, from + nearest(numbers[k], length) * stride, static_cast<std::size_t>(bytes));
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

/// The result of a take is (outer, numbers, inner): a number's row is copied whole where it is one.
template <int Axis, class T>
void cpu_take(thread_pool& pool, const kernel_call& call) {
  const extents &numbers = call.shapes[0], &x = call.shapes[1];
  if (call.shapes[2].size() <= 0) return;
  constexpr int axis = Axis;
  if (numbers.size() == 1) {  // a slice
    std::int64_t number = 0;
    read_numbers(call.in[0].data, call.in[0].type, 0, 1, 1, &number);
    extents box = x;
    box.dims[axis] = 1;
    operand_view from = call.in[1], to = call.out;
    from.data = advance(from.data, nearest(number, x[axis]) * from.stride[axis], from.type);
    contiguous_strides(box, to.stride);
    return copy_box(pool, box, from, to);
  }
  const std::int64_t inner = whole_rows_taken(call, axis), count = numbers.size();
  if (inner == 0) {
    if (call.shapes[2].size() < x.size() || is_contiguous(x, call.in[1].stride))
      return cpu_indexed<op::take<Axis>, T>(pool, call);
    // More is taken than there is, as from a transposed table: from a copy, in which rows are whole.
    small_array<std::byte, 1024> copied(x.size() * static_cast<std::int64_t>(sizeof(T)));
    operand_view whole[] = {call.in[0], call.in[1]};
    whole[1].data = copied.data();
    contiguous_strides(x, whole[1].stride);
    copy_box(pool, x, call.in[1], whole[1]);
    kernel_call again = call;
    again.in = whole;
    return cpu_take<Axis, T>(pool, again);
  }

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
      read_numbers(c.in[0].data, c.in[0].type, first * step, step, n, at);
      constexpr auto size = static_cast<std::int64_t>(sizeof(T));
      take_rows(at, n, reinterpret_cast<const char*>(from), x[axis], of.stride[axis] * size, inner * size,
                reinterpret_cast<char*>(out + lo * inner));
    }
  };
  split(pool, c.size / inner, 1024 / inner + 1, body);
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

/// The operand, and over it the update. A variable that is updated in place is the result already.
inline void cpu_update_slice(thread_pool& pool, const kernel_call& call) {
  const extents &shape = call.shapes[3], &box = call.shapes[2];
  if (shape.size() <= 0) return;
  const indexed_call c = indexed_call_of(call);
  operand_view to = call.out;
  contiguous_strides(shape, to.stride);
  if (call.in[1].data != to.data) copy_box(pool, shape, call.in[1], to);
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

}  // namespace onto::detail
