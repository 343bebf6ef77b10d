// SPDX-License-Identifier: BSL-1.0
// Binding: a compiled program meets real devices and real shapes, and becomes steps whose every argument is known but
// for addresses.
#pragma once

#include <onto/plan/workspace.hpp>
#include <onto/session/bind_calls.hpp>
#include <onto/session/missing_kernels.hpp>
#include <onto/session/step_labels.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Makes the steps of a program.
class binder {
 public:
  /// `products`: whether a GPU may round float products' operands to TF32; and, for prepared programs, try several
  /// algorithms.
  /// `over_tasks`: how a program of several tasks is scheduled; or null.
  binder(const device_list& devices, const matmul_form& products, bound_program& b, const task_scheduling* over_tasks)
      : p_(*b.program),
        g_(p_.graph),
        devices_(devices),
        products_(products),
        over_tasks_(over_tasks),
        b_(b),
        m_(b.memory) {
    products_.tune = products_.tune && b.kept;
  }

  /// `shapes` and `where` of the program are filled. Makes the schedule, the memory plan and the calls.
  ONTO_NOINLINE void run() {
    const int tasks = task_count(devices_.places(), devices_.count());
    int edges = 0;
    for (int n = 0; n < g_.count && devices_.count() > 1; ++n) edges += g_[n].count;  // copies between devices
    const int capacity =
        schedule_capacity(g_.count, edges, g_.fetch_count, tasks, tasks > 1 ? over_tasks_->repeated(g_) : 0);
    here_ = devices_.here();
    arena scratch;
    auto* steps = scratch.make<plan_step>(capacity);
    b_.values = m_.make<plan_value>(capacity);
    const kernel_arrays units = kernel_arrays::make(m_, g_.count);
    auto* value_of = m_.make<int>(g_.count);
    auto* split = m_.make<bool>(g_.count);
    for (int n = 0; n < g_.count; ++n)
      if (p_.kernels.runs(n) && !fits(n)) split[p_.kernels.kernel_of[n]] = true;
    const schedule_input in_order{g_,
                                  p_.kernels,
                                  p_.unmerged,
                                  b_.shapes,
                                  b_.where,
                                  {steps, b_.values, units, value_of, m_.make<bool>(g_.count), m_.make<bool>(g_.count)},
                                  {devices_.places(), tasks > 0 ? devices_.count() : 0, b_.places}};
    b_.counts = tasks > 1 ? over_tasks_->run(in_order, devices_, split) : scheduler(in_order).run(split);
    b_.devices = devices_.count();
    b_.block_bytes = m_.make<std::int64_t>(devices_.count());
    b_.value_bytes = m_.make<std::int64_t>(devices_.count());
    const kernel_partition scheduled = units;
    const workspace_finder workspace(g_, scheduled, b_.shapes);
    for (int d = 0; d < devices_.count(); ++d) {
      b_.value_bytes[d] = assign_offsets(b_.values, b_.counts.values, devices_[d].where());
      b_.block_bytes[d] = plus(b_.value_bytes[d], workspace.of(steps, b_.counts.steps, devices_[d].where()));
    }
    b_.blocks = m_.make<device_block*>(b_.devices);
    b_.workspaces = m_.make<counted*>(b_.devices);
    b_.rest = m_.make<device_event*>(stream_count(b_.devices));
    b_.used = m_.make<bool>(stream_count(b_.devices));
    b_.leaf = m_.make<host_slot>(g_.count);
    b_.variable = m_.make<const device_block*>(g_.count);
    b_.results = m_.make<host_slot>(g_.fetch_count);
    b_.address = m_.make<host_slot>(b_.counts.values);
    b_.written = m_.make<device_block*>(b_.counts.values);
    b_.spare = m_.make<device_block*>(b_.counts.values);
    b_.moving = m_.make<int>(b_.counts.values);
    for (int v = 0; v < b_.counts.values; ++v)
      if (b_.values[v].variable || b_.values[v].fetch >= 0) b_.moving[b_.moving_count++] = v;
    b_.steps = m_.make<bound_step>(b_.counts.steps);
    const call_input in{p_, b_.shapes, b_.values, value_of, units, products_};
    call_binder<arena> calls(in, m_);
    for (int k = 0; k < b_.counts.steps; ++k) {
      bound_step& made = b_.steps[k];
      made.elsewhere = is_elsewhere(steps[k], here_);
      made.is_message = is_collective(steps[k].kind) || is_message(steps[k]);
      made.is_direct = steps[k].direct;
      if (made.is_message && g_[steps[k].node].type == element::text) refuse_text(steps[k].node);
      if (made.elsewhere)
        made.step = steps[k];
      else
        calls.bind(made, steps[k]);
      made.device = devices_.index_of(steps[k].at);
      b_.reads_rows = b_.reads_rows || (made.from_node >= 0 && made.from_node != made.step.node);
      if (steps[k].kind == step_kind::transfer) made.from_device = devices_.index_of(steps[k].from);
      if (made.kernel && !made.kernel->launch[devices_[made.device].slot()].run)
        throw_no_kernel(g_, steps[k].node, devices_[made.device]);
      made.one_launch =
          made.kernel && steps[k].batched > 1 && made.kernel->launch[devices_[made.device].slot()].batches;
    }
    order(steps, units);
    find_replay();
    provide_workspace();
    if (tasks > 1) find_absent();
    find_plain();
  }

 private:
  /// Whether a product's epilogue, and a kernel's folds over rows, still fit now that extents are known: it was
  /// found from types, where one unknown extent is taken for another that it is combined with.
  bool fits(int n) const {
    const int root = p_.kernels.kernel_of[n];
    const op_kind kind = g_[n].kind();
    if (g_[n].has_epilogue()) return n == root || b_.shapes[space_of_product(n)] == b_.shapes[root];
    if (kind != op_kind::reduce && kind != op_kind::row) return true;
    return b_.shapes[g_.operand(n, 0)] == b_.shapes[space_of(g_, root)];
  }

  /// The node with the shape in which a product's result is: its own, or that of its elements seen otherwise.
  int space_of_product(int product) const {
    const int view = p_.kernels.epilogue_of(product).view;
    return view >= 0 ? view : product;
  }

  /// Streams, waits, events and labels.
  void order(const plan_step* steps, const kernel_partition& units) {
    int* peer_groups = m_.make<int>(b_.devices);
    for (int d = 0; d < b_.devices; ++d)
      for (int c = d; c >= 0; --c)
        if (devices_[c].peer_group() == devices_[d].peer_group()) peer_groups[d] = c;
    const order_input in{
        g_,         units,       steps, b_.counts.steps, b_.values, b_.counts.values, devices_.places(),
        b_.devices, peer_groups, here_};
    arena scratch;
    const int streams = stream_count(b_.devices);
    auto* orders = scratch.make<step_order>(b_.counts.steps);
    auto* waits = scratch.make<int>(b_.counts.steps * streams);
    stream_assigner(in, orders, waits).run();
    const step_costs costs(in, b_.shapes);
    const node_names names(g_);
    b_.title = kept_text(names.text(g_.fetches[0]), m_);
    for (int k = 0; k < b_.counts.steps; ++k) {
      bound_step& s = b_.steps[k];
      s.stream = orders[k].stream;
      s.waits = m_.copy(waits + orders[k].first, orders[k].count);
      s.wait_count = orders[k].count;
      s.is_of_host = s.stream == 0 && s.kernel && s.wait_count == 0 && !s.is_message && !s.is_direct;
      if (orders[k].waited && s.stream > 0) s.event = devices_[(s.stream - 1) / stream_kinds].make_event().release();
      label_step(s, g_, units, names, costs.of(k), m_);
    }
  }

  /// Finds the run of steps between the host's first and last ones, if one peer_group does them all.
  void find_replay() {
    int first = 0;
    int end = b_.counts.steps;
    while (first < end && b_.steps[first].stream == 0) ++first;
    while (end > first && b_.steps[end - 1].stream == 0) --end;
    const void* peer_group = nullptr;
    for (int k = first; k < end; ++k) {
      if (b_.steps[k].stream == 0 || b_.steps[k].is_message) return;
      const void* f = devices_[(b_.steps[k].stream - 1) / stream_kinds].peer_group();
      if (peer_group && f != peer_group) return;
      peer_group = f;
    }
    b_.replay_first = first;
    b_.replay_end = end;
  }

  [[noreturn]] ONTO_COLD void refuse_text(int node) const {
    message m("[onto.cluster] ");
    const node_names names(g_);
    names.write(m, node) << " (" << g_[node].op->name;
    fail<invalid_argument_error>(m << ") is text, which does not go from one process to another; use it on the task "
                                      "where it is, and fetch it there with on<task<...>>");
  }

  /// Whether runs copy nothing, wait for nothing, and write nothing that others see.
  void find_plain() {
    bool plain = b_.devices == 1 && !b_.reads_rows && !b_.absent, by_types = true;
    for (int n = 0; n < g_.count; ++n) {
      plain = plain && g_[n].kind() != op_kind::variable && !is_text(g_[n].type);
      by_types = by_types && b_.places[n] == g_[n].request;
    }
    for (int k = 0; k < b_.counts.steps; ++k) plain = plain && b_.steps[k].is_of_host;
    b_.plain = plain;
    b_.placed_by_types = by_types;
  }

  /// Which results are only for other processes.
  void find_absent() {
    b_.absent = m_.make<bool>(g_.fetch_count);
    for (int k = 0; k < g_.fetch_count; ++k)
      b_.absent[k] = b_.places[g_.fetches[k]].in_task && !same_task(b_.where[g_.fetches[k]].where, here_);
  }

  /// The kernels of a device run one after the other and share what the plan has set apart for them to work in. Who
  /// likes to have more shares a piece with those of other programs, where there is so much.
  void provide_workspace() {
    for (int d = 0; d < b_.devices; ++d) {
      if (devices_[d].is_host()) continue;
      const std::int64_t planned = b_.block_bytes[d] - b_.value_bytes[d];
      std::int64_t most = 0, needed = 0;
      for_each_working_call(d, [&](const backend_kernel& kernel, bound_call& c) {
        c.call.in = c.views;
        device& at = devices_[d];
        const auto wanted = static_cast<std::int64_t>(at.ask_workspace(kernel.workspace, c.call));
        const auto least_wanted = kernel.least_workspace
                                      ? static_cast<std::int64_t>(at.ask_workspace(kernel.least_workspace, c.call))
                                      : wanted;
        c.call.workspace_bytes = wanted;
        if (wanted <= planned) return;
        most = greatest(most, wanted);
        if (least_wanted > planned) needed = greatest(needed, least_wanted);
      });
      void* data = nullptr;
      std::int64_t bytes = most;
      if (most > 0) b_.workspaces[d] = devices_[d].workspace_up_to(bytes, needed, b_.block_bytes[d], data).release();
      for_each_working_call(d, [&](const backend_kernel&, bound_call& c) {
        if (c.call.workspace_bytes == 0) return;
        c.works_in_block = planned > 0 && (c.call.workspace_bytes <= planned || bytes <= planned);
        c.call.workspace = c.works_in_block ? nullptr : data;
        c.call.workspace_bytes = c.works_in_block ? planned : bytes;
      });
    }
  }

  /// The calls on a device of kernels that need memory to work in.
  template <class Function>
  void for_each_working_call(int device, const Function& function) {
    for (int k = 0; k < b_.counts.steps; ++k) {
      const bound_step& s = b_.steps[k];
      if (s.device != device || !s.kernel) continue;
      const backend_kernel& kernel = s.kernel->launch[devices_[device].slot()];
      for (int c = 0; kernel.workspace && c < s.call_count; ++c) function(kernel, s.calls[c]);
    }
  }

  const compiled_program& p_;
  const graph_view& g_;
  const device_list& devices_;
  matmul_form products_;  // of all products: what the session says of them
  const task_scheduling* over_tasks_;
  bound_program& b_;
  arena& m_;
  place here_{};
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
