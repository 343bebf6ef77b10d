// SPDX-License-Identifier: BSL-1.0
// What steps are called in traces and where they fail: the node, the operations, how much they do.
#pragma once

#include <onto/plan/node_names.hpp>
#include <onto/runtime/work.hpp>
#include <onto/session/bound_program.hpp>
#include <onto/session/inline_states.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

inline std::string_view kept_text(const std::string& text, arena& memory) {
  return {memory.copy(text.data(), static_cast<int>(text.size())), text.size()};
}

inline void label_step(bound_step& s, const graph_view& g, const kernel_partition& kernels, const node_names& names,
                       const step_cost& cost, arena& memory) {
  message m;
  s.label.name = kept_text(names.text(s.step.node), memory);
  if (s.step.kind == step_kind::transfer) {
    write_short(write_short(m << "copy from ", s.step.from) << " to ", s.step.at);
  } else if (s.step.kind == step_kind::fetch_copy) {
    m << "copy to the result";
  } else if (is_collective(s.step.kind)) {
    m << name_of(s.step.kind);
  } else {
    const char* comma = "";
    for (int n = kernels.first_member[s.step.node]; n >= 0; n = kernels.next_member[n]) {
      m << comma << g[n].op->name;
      comma = ", ";
    }
  }
  s.label.operation = kept_text(m.text(), memory);
  s.label.bytes = cost.bytes;
  s.label.flops = cost.flops;
}

#if ONTO_DEFINITIONS
[[noreturn]] ONTO_COLD ONTO_RUNTIME void rethrow_named(const graph_view& g, const kernel_partition& kernels, int root) {
  arena memory;
  bound_step s;
  s.step.node = root;
  s.step.at = cpu<0>::value;
  label_step(s, g, kernels, node_names(g), {}, memory);
  std::rethrow_exception(named_failure(s.label, s.step.at));
}
#endif

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
