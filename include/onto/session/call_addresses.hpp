// SPDX-License-Identifier: BSL-1.0
// What a run fills in of a kernel's call: where operands and results are, and the scalars.
#pragma once

#include <onto/expr/state.hpp>
#include <onto/graph/made_operation.hpp>
#include <onto/session/bound_call.hpp>

namespace onto::detail {

/// Copies contiguous elements on the host.
ONTO_COLD inline void copy_fetched_elements(kernel_context&, const kernel_call& c) {
  const std::int64_t bytes = c.inner * size_of(c.out.type);
  if (bytes > 0) std::memcpy(c.out.data, c.in->data, static_cast<std::size_t>(bytes));
}

/// A factor of a product from a scalar's bits. *Throws* `internal_error` where it is of no type that has
/// factors.
ONTO_INLINE double factor_of(element type, std::uint64_t bits) {
  switch (computed_as(type)) {
    case element::float32: return static_cast<double>(__builtin_bit_cast(float, static_cast<std::uint32_t>(bits)));
    case element::float64: return __builtin_bit_cast(double, bits);
    default:
      fail<internal_error>(message("[onto.matmul] a product of ") << name_of(type) << " has no factors in its kernel");
  }
}

/// A number in the bits of the type that a kernel computes in.
inline std::uint64_t bits_of_number(element type, double v) {
  if (!is_floating(type)) return static_cast<std::uint64_t>(static_cast<std::int64_t>(v));
  if (computed_as(type) == element::float64) return __builtin_bit_cast(std::uint64_t, v);
  return __builtin_bit_cast(std::uint32_t, static_cast<float>(v));
}

/// Where the values and leaves of a run are.
struct call_addresses {
  const graph_view& g;
  const host_slot* address;     // per value
  const host_slot* leaf;        // per node
  const state* const* scalars;  // per node: the state of a scalar
  const extents* shapes;        // per node, or null: as the graph has them

  void* address_of(int value, int node, std::int64_t offset) const {
    return beyond((value >= 0 ? address[value] : leaf[node]).data, offset);
  }

  /// Fills in call `number` of a step.
  void fill(bound_call& c, const plan_step& step, int number) const {
    for (int i = 0; i < c.call.inputs; ++i)
      c.views[i].data = address_of(c.sources[i].value, c.sources[i].leaf, c.sources[i].offset);
    c.call.in = c.views;
    const host_slot* const results = address + step.value + c.first_value;
    c.call.out.data = beyond(results->data, c.out_offset);
    for (int i = 0; i < c.call.more_outputs; ++i) c.more[i].data = results[1 + i].data;
    c.call.continues = number > 0 && step.batched == 1;
    if (!c.scalars_stand) set_scalars(c);
  }

 private:
  /// Values of no elements have no address, wherever in them a part is.
  static void* beyond(void* data, std::int64_t offset) { return data ? static_cast<char*>(data) + offset : data; }

  ONTO_COLD ONTO_NOINLINE double factor(int node) const {
    if (node < 0) return 1;
    if (g[node].made >= 0) return made_number(*g[node].op, {g, shapes, shapes != nullptr});
    const std::uint64_t bits =
        g[node].is_literal() ? static_cast<std::uint64_t>(g[node].op->attribute[0]) : scalars[node]->scalar;
    return factor_of(g[node].type, bits);
  }

  bool is_fixed(int node) const { return node < 0 || (g[node].made < 0 && g[node].is_literal()); }

  void set_scalars(bound_call& c) const {
    if (c.call.op->has_epilogue) {
      c.scalars_stand = c.scalar_count == 0 || (is_fixed(c.scalars[0]) && is_fixed(c.scalars[1]));
      c.call.form.alpha = c.alpha_sign * (c.scalar_count ? factor(c.scalars[0]) : 1);
      c.call.form.beta = c.beta_sign * (c.scalar_count ? factor(c.scalars[1]) : 1);
      return;
    }
    for (int k = 0; k < c.scalar_count; ++k) {
      const int node = c.scalars[k];
      c.bits[k] = g[node].made >= 0 ? bits_of_number(g[node].type, factor(node)) : scalars[node]->scalar;
    }
  }
};

/// Fills in a step's calls of a kernel, and gives `launch` each of them; of a batch that the kernel goes over the
/// first.
template <class Launch>
ONTO_INLINE void for_each_launch(const bound_step& s, const call_addresses& where, const Launch& launch) {
  for (int k = 0; k < s.call_count; ++k) {
    bound_call& c = s.calls[k];
    where.fill(c, s.step, k);
    if (!s.one_launch)
      launch(c);
    else
      c.call.next = k + 1 < s.call_count ? &s.calls[k + 1].call : nullptr;
  }
  if (s.one_launch) launch(s.calls[0]);
}

}  // namespace onto::detail
