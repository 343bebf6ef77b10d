// SPDX-License-Identifier: BSL-1.0
// What programs over half and bfloat16 have beside the CPU's kernels for floats: conversions of runs, and matrix
// products whose operands become floats and whose result is rounded once.
#pragma once

#include <onto/backend/cpu/convert.hpp>
#include <onto/backend/cpu/map.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>

namespace onto::detail {

/// An operand as floats next to each other, what is broadcast once.
struct widened_operand {
  extents space;  // of the copy
  operand_view view;
  small_array<float, 1024> values;

  ONTO_COLD widened_operand(thread_pool& pool, const extents& over, const operand_view& v)
      : space(without_broadcast(over, v)), values(space.size()) {
    view.data = values.data();
    contiguous_strides(space, view.stride);
    for (int k = 0; k < space.rank; ++k)
      if (v.stride[k] == 0) view.stride[k] = 0;
    const layout l{coalesce<1>(space, {v.stride})};
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      constexpr std::int64_t some = 4096;
      std::uint16_t gathered[some];
      for (; lo < hi; lo += some) {
        const std::int64_t n = hi - lo < some ? hi - lo : some;
        const void* from = advance(static_cast<const void*>(v.data), lo, v.type);
        if (!l.contiguous()) {
          gather(l, size_of(v.type), v.data, lo, n, gathered);
          from = gathered;
        }
        widen_run(v.type, from, n, values.data() + lo);
      }
    };
    split(pool, space.size(), map_grain(1), body);
  }

 private:
  static extents without_broadcast(const extents& over, const operand_view& v) {
    extents e = over;
    for (int k = 0; k < e.rank; ++k)
      if (v.stride[k] == 0 && e.dims[k] > 1) e.dims[k] = 1;
    return e;
  }
};

/// Runs `multiply`, the kernel for floats, for a call whose elements are of type half or bfloat16.
/// *Preconditions* there is a result.
ONTO_COLD ONTO_NOINLINE inline void half_matmul(thread_pool& pool, const kernel_call& call,
                                                void (*multiply)(thread_pool&, const kernel_call&)) {
  const int rank = call.space.rank;
  extents left = call.space, right = call.space, none;
  left.dims[rank - 1] = right.dims[rank - 2] = static_cast<int>(call.inner);
  none.push_back(0);
  const bool adds = call.form.beta != 0;
  widened_operand a(pool, left, call.in[0]), b(pool, right, call.in[1]);
  widened_operand addend(pool, adds ? call.space : none, adds ? call.in[2] : operand_view{});
  const operand_view in[] = {a.view, b.view, addend.view};
  small_array<float, 1024> result(call.space.size());
  kernel_call floats = call;
  floats.in = in;
  floats.out.data = result.data();
  floats.out.type = element::float32;
  multiply(pool, floats);
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    narrow_run(call.out.type, result.data() + lo, hi - lo, advance(call.out.data, lo, call.out.type));
  };
  split(pool, call.space.size(), map_grain(1), body);
}

}  // namespace onto::detail
