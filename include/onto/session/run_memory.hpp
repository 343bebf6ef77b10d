// SPDX-License-Identifier: BSL-1.0
// The memory of a run: taken before its steps, and exchanged with that of variables behind them.
#pragma once

#include <onto/runtime/process_group.hpp>
#include <onto/session/bind.hpp>
#include <onto/session/pin_host_block.hpp>
#include <onto/session/variables.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class run_memory {
 public:
  ONTO_INLINE run_memory(bound_program& b, const device_list& devices)
      : b_(b), g_(b.program->graph), devices_(devices) {}

  /// Takes the memory that the program needs, as far as it does not hold it. *Throws* `resource_exhausted_error`.
  ONTO_NOINLINE void reserve() {
    for (int d = 0; d < b_.devices; ++d) {
      if (b_.block_bytes[d] <= 0 || b_.blocks[d]) continue;
      at_ = d;
      b_.blocks[d] =
          devices_[d].reserve({b_.block_bytes[d], "program", b_.title, &run_memory::explain_block, this}).release();
      char* const block = static_cast<char*>(b_.blocks[d]->data());
      for (int v = 0; v < b_.counts.values; ++v)
        if (b_.values[v].at == devices_[d].where()) b_.address[v].data = block + b_.values[v].offset;
    }
    if (group_ && b_.kept && b_.runs == 0) pin_host_block(b_, devices_, 0, b_.counts.steps);
  }

 protected:
  /// Memory for the new value of a variable.
  void take_variable(int v) {
    const plan_value& x = b_.values[v];
    const int d = devices_.index_of(x.at);
    if (b_.spare[v]) {
      b_.written[v] = b_.spare[v];
      b_.spare[v] = nullptr;
      devices_[d].poison(b_.written[v]->data(), b_.written[v]->bytes());
    } else {
      at_ = v;
      const std::string_view name = g_[g_.operand(x.node, 0)].name;
      b_.written[v] = devices_[d].reserve({x.bytes, "variable", name, &run_memory::explain_variable, this}).release();
    }
    b_.address[v].data = b_.written[v]->data();
  }

  /// Names the first value that does not fit.
  static void explain_block(const void* self, message& m, std::int64_t free) {
    const auto& e = *static_cast<const run_memory*>(self);
    const bound_program& b = e.b_;
    const plan_value* first = nullptr;
    for (int v = 0; v < b.counts.values; ++v) {
      const plan_value& x = b.values[v];
      if (!(x.at == e.devices_[e.at_].where()) || x.fetch >= 0 || x.variable) continue;
      if (!first ||
          (first->offset + rounded(first->bytes) <= free && x.offset + x.bytes > first->offset + first->bytes))
        first = &x;
    }
    if (b.value_bytes[e.at_] <= free && b.value_bytes[e.at_] < b.block_bytes[e.at_])
      m << "; what does not fit is what its kernels work in";
    else if (first)
      e.name_value(m << "; the first of its values that does not fit is ", first->node);
  }
  static void explain_variable(const void* self, message& m, std::int64_t) {
    const auto& e = *static_cast<const run_memory*>(self);
    e.name_value(m << ", the result of ", e.b_.values[e.at_].node);
  }
  void name_value(message& m, int node) const {
    write_name(m, g_, node);
    m << " (" << g_[node].op->name << ") " << name_of(g_[node].type) << b_.shapes[node];
  }

  bound_program& b_;
  const graph_view& g_;
  const device_list& devices_;
  int at_ = 0;  // the device or step that memory is wanted for
  process_group* group_ = nullptr;
};

/// The new values that lie beside those of variables take their places. *Preconditions* the session is locked.
inline void exchange_values(const graph_view& g, bound_program& b, variable* const* known) {
  for (int k = 0; k < b.moving_count; ++k) {
    const int v = b.moving[k];
    if (!b.values[v].variable || !b.written[v]) continue;
    const int n = g.operand(b.values[v].node, 0);
    variable& slot = *known[n];
    device_block* old = slot.value;
    slot.value = b.written[v];
    slot.where = b.values[v].at;
    slot.shape = b.shapes[n];
    b.written[v] = nullptr;
    if (!old) continue;
    if (b.variable[n] == old) {
      old->drop();  // the run's own reference
      b.variable[n] = nullptr;
    }
    // The next run of a prepared program writes where the value before this one was, if nobody reads it.
    if (b.kept && !b.values[v].in_place && old->is_unique() && old->bytes() == slot.value->bytes() &&
        &old->owner() == &slot.value->owner())
      b.spare[v] = old;
    else
      old->drop();
  }
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
