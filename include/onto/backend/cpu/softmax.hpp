// SPDX-License-Identifier: BSL-1.0
// Softmax and log-softmax as a kernel of their own on the CPU, where guards have pulled a row kernel apart: over the
// last axis a row kernel, over another by columns, many side by side.
#pragma once

#include <onto/backend/cpu/fold.hpp>
#include <onto/backend/cpu/map.hpp>
#include <onto/backend/cpu/row.hpp>
#include <onto/kernel/layout.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/softmax.hpp>
#include <onto/ops/unary.hpp>
#include <onto/runtime/kernel.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace onto::detail {

/// Softmax over elements of type `E` as the phases of a row kernel, which a fused one has too.
template <element E>
struct softmax_phases {
  template <int Slot>
  using input = instruction<load_input, E, Slot>;
  template <int Slot>
  using scalar = instruction<load_scalar, E, Slot>;
  using power = program<input<0>, scalar<0>, instruction<row_exp, E, 0, 1>>;
  using greatest = fold_phase<program<input<0>>, row_maximum, false>;

  using plain = row_program<1, 0, greatest, fold_phase<power, fold::sum, true>,
                            value_phase<program<scalar<1>, instruction<row_inverse, E, 0>>>,
                            store_phase<program<input<1>, scalar<2>, instruction<op::mul, E, 0, 1>>>>;
  using log = row_program<
      1, 0, greatest, fold_phase<power, fold::sum, false>, value_phase<program<scalar<1>, instruction<op::log, E, 0>>>,
      store_phase<
          program<input<0>, scalar<0>, instruction<op::sub, E, 0, 1>, scalar<2>, instruction<op::sub, E, 2, 3>>>>;
};

/// out = exp(x - shift) over a run; `out` may be `x`.
template <class T, bool Packs, int Bytes>
ONTO_INLINE void exp_run(const T* x, const T* shift, std::int64_t n, T* out) {
  if constexpr (Packs) {
    using lanes = pack<T, Bytes>;
    constexpr std::int64_t width = lanes::size;
    const auto run = [](const T* from, const T* by, std::int64_t count, T* to) __attribute__((always_inline)) {
      for (std::int64_t k = 0; k < count; k += width)
        exp(lanes::load_unaligned(from + k) - lanes::load_unaligned(by + k)).store_unaligned(to + k);
    };
    const std::int64_t left = n % width, whole = n - left;
    run(x, shift, whole, out);
    if (left == 0) return;
    T rest[2][width] = {};
    for (std::int64_t j = 0; j < left; ++j) {
      rest[0][j] = x[whole + j];
      rest[1][j] = shift[whole + j];
    }
    run(rest[0], rest[1], width, rest[0]);
    std::memcpy(out + whole, rest[0], static_cast<std::size_t>(left) * sizeof(T));
  } else {
    for (std::int64_t k = 0; k < n; ++k) out[k] = std::exp(x[k] - shift[k]);
  }
}

/// `columns` (at most 256) neighbouring columns of `n` elements, `pitch` and `out_pitch` apart. `x` may be `out`.
template <class T, bool Packs, int Bytes>
ONTO_INLINE void softmax_columns(const T* x, std::int64_t pitch, std::int64_t n, std::int64_t columns, bool log, T* out,
                                 std::int64_t out_pitch) {
  using greatest = folding<fold::max, T>;
  using total = folding<fold::sum, T>;
  alignas(64) T shift[256], sum[256], scratch[256];
  alignas(64) typename accumulator<fold::sum, T>::state states[256];
  greatest::start(shift, columns);
  greatest::columns(shift, x, n, columns, pitch, 0);
  total::start(states, columns);
  for (std::int64_t r = 0; r < n; ++r) {
    T* const e = log ? scratch : out + r * out_pitch;
    exp_run<T, Packs, Bytes>(x + r * pitch, shift, columns, e);
    total::columns(states, e, 1, columns, columns, r);
  }
  total::finish(states, columns, n, sum);
  for (std::int64_t j = 0; j < columns; ++j) sum[j] = log ? std::log(sum[j]) : 1 / sum[j];
  for (std::int64_t r = 0; r < n; ++r) {
    const T* const from = x + r * pitch;
    T* const to = out + r * out_pitch;
    if (log)
      for (std::int64_t j = 0; j < columns; ++j) to[j] = (from[j] - shift[j]) - sum[j];
    else
      for (std::int64_t j = 0; j < columns; ++j) to[j] *= sum[j];
  }
}

template <class T, bool Packs>
struct softmax_columns_body {
  using variants = vector_variants<softmax_columns_body,
                                   void(const T*, std::int64_t, std::int64_t, std::int64_t, bool, T*, std::int64_t)>;
  template <int Bytes>
  static ONTO_INLINE void run(const T* x, std::int64_t pitch, std::int64_t n, std::int64_t columns, bool log, T* out,
                              std::int64_t out_pitch) {
    softmax_columns<T, Packs, Bytes>(x, pitch, n, columns, log, out, out_pitch);
  }
};

inline namespace ONTO_VECTOR_ABI {

/// The kernel of softmax and log-softmax over one axis. That of float takes half and bfloat16 too.
template <class T, bool Packs = has_packs>
void cpu_softmax(thread_pool& pool, const kernel_call& call) {
  if (call.space.size() <= 0) return;
  using phases = softmax_phases<element_of<T>>;
  const bool log = takes_logarithm(*call.op);
  const int axis = softmax_axis(*call.op, call.space.rank);
  kernel_call rows = call;
  rows.space.rank = axis + 1;
  if (rows.space.size() == call.space.size())
    return log ? cpu_row<typename phases::log, Packs>(pool, rows) : cpu_row<typename phases::plain, Packs>(pool, rows);

  const operand_view& in = call.in[0];
  const std::int64_t n = call.space.dims[axis];
  std::int64_t out_stride[max_rank];
  contiguous_strides(call.space, out_stride);
  extents space = call.space;
  space.dims[axis] = 1;
  const auto l = coalesce<2>(space, {in.stride, out_stride});
  const std::int64_t pitch = out_stride[axis], step = l.stride[0][l.rank - 1];
  const bool narrow = is_half_precision(in.type), brings = narrow || step != 1;
  constexpr std::int64_t most = 256;
  const auto run_columns = softmax_columns_body<T, Packs>::variants::chosen();
  auto columns = [&](const std::int64_t* offset, std::int64_t count) {
    const void* const from = advance(static_cast<const void*>(in.data), offset[0], in.type);
    void* const to = advance(call.out.data, offset[1], in.type);
    if (!brings)
      return run_columns(static_cast<const T*>(from), in.stride[axis], n, count, log, static_cast<T*>(to), pitch);
    small_array<T, 4096> values(n * count);
    small_array<std::uint16_t, 4096> halves(narrow ? n * count : 0);
    void* const brought = narrow ? static_cast<void*>(halves.data()) : values.data();
    copies<computed_sizes<T>, true>::run(size_of(in.type), brought, count, 1, from, in.stride[axis], step, n, count);
    if constexpr (std::is_same_v<T, float>)
      if (narrow) call.half_precision->widen(in.type, brought, n * count, values.data());
    if (!narrow) return run_columns(values.data(), count, n, count, log, static_cast<T*>(to), pitch);
    run_columns(values.data(), count, n, count, log, values.data(), count);
    if constexpr (std::is_same_v<T, float>)
      for (std::int64_t r = 0; r < n; ++r)
        call.half_precision->narrow(in.type, values.data() + r * count, count, advance(to, r * pitch, in.type));
  };
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    for_each_row(l, lo, hi, [&](const std::int64_t* offset, std::int64_t count) {
      for (std::int64_t k = 0; k < count; k += most) {
        const std::int64_t at[] = {offset[0] + k * step, offset[1] + k};
        columns(at, count - k < most ? count - k : most);
      }
    });
  };
  split(pool, l.size(), (map_grain(20) / n + most) / most * most, body);
}

}  // namespace ONTO_VECTOR_ABI

}  // namespace onto::detail
