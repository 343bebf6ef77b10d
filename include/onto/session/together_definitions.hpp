// SPDX-License-Identifier: BSL-1.0
// How sessions run programs together with other processes.
#pragma once

#include <onto/core/atomic.hpp>
#include <onto/runtime/communicator.hpp>
#include <onto/session/joined_trace.hpp>
#include <onto/session/open_session.hpp>
#include <onto/session/together.hpp>

#include <memory>

#if ONTO_DEFINITIONS
ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class together {
 public:
  /// What other processes must have, too, to run this program with this one.
  ONTO_COLD static program_identity identity_of(const meaning& m) {
    const graph_view& g = m.program->graph;
    program_identity p{hash_mix(static_cast<std::uint64_t>(g.count), static_cast<std::uint64_t>(g.fetch_count)),
                       g[g.fetches[0]].op->name, g.count};
    for (int n = 0; n < g.count; ++n) {
      p.hash = hash_mix(hash_mix(p.hash, g[n].op->hash), hash_text(g[n].name));
      p.hash = hash_mix(hash_mix(p.hash, key_of(m.state.places[n])), static_cast<std::uint64_t>(g[n].type));
      for (int k = 0; k < g[n].count; ++k) p.hash = hash_mix(p.hash, static_cast<std::uint64_t>(g.operand(n, k)));
      for (int a = 0; a < g[n].shape.rank; ++a) p.hash = hash_mix(p.hash, static_cast<std::uint64_t>(g[n].shape[a]));
    }
    for (int k = 0; k < g.fetch_count; ++k) p.hash = hash_mix(p.hash, static_cast<std::uint64_t>(g.fetches[k]));
    return p;
  }

  static bool is_fed_well(const graph_node& n, const run_request& r) {
    try {
      feed_for(n, r);
      return true;
    } catch (const invalid_argument_error&) {
      return false;
    }
  }

  /// Each task says the extents of the leaves that it reads, where types leave them open.
  /// *Throws* for a feed of this task's that is missing, or of another shape.
  ONTO_COLD static void hear_shapes(session_core& s, const run_request& r, const meaning& m, run_leaves& leaves,
                                    agreed_run& all) {
    const graph_view& g = m.program->graph;
    const auto is_open = [&](int n) {
      return (g[n].kind() == op_kind::placeholder || g[n].kind() == op_kind::constant) && !g[n].shape.is_static();
    };
    bool any = false, bad = false;
    for (int n = 0; n < g.count; ++n) {
      any = any || is_open(n);
      bad = bad || (g[n].kind() == op_kind::placeholder && !leaves.data[n].data);
    }
    if (!any && !bad) return;
    arena memory;
    auto* where = memory.make<node_placement>(g.count);
    s.place_nodes_or_throw(*m.program, m.state, leaves.pinned, where);
    struct said {
      int node;
      extents shape;
    };
    std::string own;
    for (int n = 0; n < g.count; ++n) {
      if (!same_task(where[n].where, s.devices_.here())) continue;
      if (g[n].kind() == op_kind::placeholder && !leaves.data[n].data) feed_for(g[n], r);
      if (!is_open(n)) continue;
      const said one{n, leaves.shapes[n]};
      own.append(reinterpret_cast<const char*>(&one), sizeof one);
    }
    if (!any) return;
    const std::string heard = all.agree(nullptr, own);
    for (std::size_t at = 0; at + sizeof(said) <= heard.size(); at += sizeof(said)) {
      said one;
      std::memcpy(&one, heard.data() + at, sizeof one);
      if (one.node >= 0 && one.node < g.count) leaves.shapes[one.node] = one.shape;
    }
  }

  ONTO_COLD static ref<prepared_program> prepare(session_core& s, const compiled_program& program,
                                                 const state* const* states) {
    arena memory;
    const program_identity identity = identity_of(s.refined_.resolve(program, states, memory));
    agreed_run all(s.group_.get());
    all.of(identity);
    ref<prepared_program> p;
    try {
      p = s.prepared(program, states);
      p->queue_of_all = &s.together_;
      p->finish_queue = [](run_queue& queue) { queue.wait_for_all(); };
    } catch (...) {
      all.fail();
    }
    all.agree(nullptr);
    return p;
  }

  /// What was started before and not waited for is done first, as it is in the other processes.
  static void take_turn(session_core& s) {
    if (!s.together_.is_here()) s.together_.wait_for_all();
    if (s.group_->shared) s.group_->shared->refresh();
  }

  /// Keeps a program until the process ends: messages of a process that was given up may still be under way in its
  /// memory. What it has of GPUs, which are at rest, goes, but for memory that messages begin and end in: a pool that
  /// is destroyed keeps what is not freed. *Source* CUDA Runtime API, cudaMemPoolDestroy.
  ONTO_COLD static void keep(const session_core& s, bound_program* b) {
    const auto is_gpu = [&](const place& p) { return p.kind != device_kind::cpu && same_task(p, s.devices_.here()); };
    const auto goes = [&](const place& p) {
      return is_gpu(p) && !s.devices_[s.devices_.index_of(p)].links.in_messages;
    };
    const auto drop = [](auto*& held) {
      if (held) held->drop();
      held = nullptr;
    };
    const auto is_of_gpu = [&](int stream) {
      return stream > 0 && is_gpu(s.devices_[(stream - 1) / stream_kinds].where());
    };
    for (int k = 0; k < b->counts.steps; ++k)
      if (is_of_gpu(b->steps[k].stream)) drop(b->steps[k].event);
    for (int q = 0; q < stream_count(b->devices); ++q)
      if (is_of_gpu(q)) drop(b->rest[q]);
    for (int k = 0; k < b->leaf_count; ++k)
      if (const int n = b->leaves[k]; goes(b->where[n].where)) drop(b->variable[n]);
    for (int v = 0; v < b->counts.values; ++v) {
      if (!goes(b->values[v].at)) continue;
      drop(b->written[v]);
      drop(b->spare[v]);
    }
    for (int d = 0; d < b->devices; ++d) {
      if (!is_gpu(s.devices_[d].where())) continue;
      if (goes(s.devices_[d].where())) drop(b->blocks[d]);
      drop(b->workspaces[d]);
    }
    static atomic<bound_program*> kept{nullptr};
    b->next = kept.exchange(b);
  }

  /// With what devices do with those of other tasks themselves.
  template <bool UpdatesLast>
  static schedule_counts schedule(schedule_input in, const device_list& devices, const bool* split) {
    in.updates_last = UpdatesLast;
    std::vector<device_links> links;
    bool any = false;
    for (int d = 0; d < devices.count(); ++d) {
      links.push_back(devices[d].links);
      any = any || links.back().hardware != 0 || links.back().in_messages;
    }
    if (any) in.links = links.data();
    return scheduler_over_tasks(in).run(split);
  }

  /// This task's part in a collective, or in a message from GPU to GPU.
  static void run_collective(process_group& group, bound_program& b, int step, device& at) {
    const graph_view& g = b.program->graph;
    const plan_step& s = b.steps[step].step;
    int first = step, end = step;  // the parts of all tasks follow each other
    const auto is_part = [&](int k) { return b.steps[k].step.kind == s.kind && b.steps[k].step.bucket == s.bucket; };
    const bool message = s.kind == step_kind::transfer;
    while (!message && first > 0 && is_part(first - 1)) --first;
    while (end < b.counts.steps && (message ? end == step : is_part(end))) ++end;
    std::vector<place> tasks;
    if (message) tasks.push_back(s.from);
    for (int k = first; k < end; ++k) tasks.push_back(b.steps[k].step.at);
    std::vector<shared_value> values;
    std::vector<element_range> ranges(tasks.size() * static_cast<std::size_t>(s.more + 1));
    if (message) {
      const bool sends = same_task(s.from, at.where());
      values.push_back({sends ? (s.source >= 0 ? b.address[s.source] : b.leaf[s.node]).data : nullptr,
                        sends ? nullptr : b.address[s.value].data, b.shapes[s.node].size()});
    } else if (s.kind == step_kind::broadcast) {
      const void* const from = step > first ? nullptr : (s.source >= 0 ? b.address[s.source] : b.leaf[s.node]).data;
      values.push_back({from, s.value < 0 ? nullptr : b.address[s.value].data, b.shapes[s.node].size()});
    }
    for (int v = s.value; !message && s.kind != step_kind::broadcast && v <= s.value + s.more; ++v) {
      const plan_value& x = b.values[v];
      int given = 0;
      while (given < b.counts.values && !(b.values[given].node == x.term && b.values[given].at == s.at)) ++given;
      values.push_back({(given < b.counts.values ? b.address[given] : b.leaf[x.term]).data, b.address[v].data,
                        b.shapes[base_of(g, b.program->kernels, x.node)].size()});
      element_range* const own = ranges.data() + tasks.size() * static_cast<std::size_t>(v - s.value);
      values.back().ranges = own;
      for (int k = first; k < end; ++k) {
        const plan_value& of_task = b.values[b.steps[k].step.value + v - s.value];
        if (s.kind == step_kind::reduce_scatter) own[k - first] = elements_of_rows(b, of_task.node);
        if (s.kind == step_kind::all_gather) own[k - first] = elements_of_term(b, x.node, of_task.term, values.back());
      }
    }
    group.begin({b.progress, b.steps[step].label}, at,
                {s.kind, g[s.node].type, values.data(), static_cast<int>(values.size()), tasks.data(),
                 static_cast<int>(tasks.size())});
  }

  /// Which elements of the tensor below it a slice of rows is.
  static element_range elements_of_rows(const bound_program& b, int rows) {
    const graph_view& g = b.program->graph;
    const extents& all = b.shapes[g.operand(rows, 0)];
    const std::int64_t begin = range_of(*g[rows].op, 0).begin, most = all.dims[0];
    const std::int64_t at = most == 0 ? 0 : all.size() / most * (begin < most ? begin : most);
    return {at, at + b.shapes[rows].size()};
  }

  /// Which elements of a row of a concatenation are those of a term; `value` gets the number of rows.
  static element_range elements_of_term(const bound_program& b, int node, int term, shared_value& value) {
    const graph_view& g = b.program->graph;
    const extents& all = b.shapes[node];
    const int axis = normalize_axis(static_cast<int>(g[node].op->attribute[0]), all.rank);
    value.rows = 1;
    for (int k = 0; k < axis; ++k) value.rows *= all.dims[k];
    element_range r;
    for (int k = 0; k < g[node].count; ++k) {
      const int o = g.operand(node, k);
      r.begin = r.end;
      r.end += value.rows == 0 ? 0 : b.shapes[o].size() / value.rows;
      if (base_of(g, b.program->kernels, o) == term) break;
    }
    return r;
  }

  template <bool UpdatesLast>
  static constexpr together_functions functions{
      &identity_of, &is_fed_well, &hear_shapes, &prepare, &take_turn, &keep, {&count_repeated, &schedule<UpdatesLast>}};
};

ONTO_RUNTIME ref<session_runtime> open_together(session_options& options, const gpu_finder* finders,
                                                process_group* adopted) {
  ref<process_group> group(adopted);
  if (options.simulated_tasks.opener())
    fail_option(message("simulated_tasks is a cluster of its own; leave it out where a server has the tasks"));
  apply_environment(options);
  message compared("allow_soft_placement ");
  compared << (options.allow_soft_placement ? "on" : "off") << ", math "
           << (options.math == math_mode::tf32 ? "tf32" : "full") << ", deterministic "
           << (options.deterministic ? "on" : "off") << ", trace " << (options.trace.empty() ? "off" : "on");
  device_list own;
  std::unique_ptr<joined_trace> trace;
  std::exception_ptr failure;
  try {
    own = find_devices(options, finders);
    if (!options.trace.empty())
      trace.reset(new joined_trace(options.trace.path(), *group->here().task, group->exchange_traces()));
  } catch (...) {
    failure = std::current_exception();
  }
  group->programs = group->updates_last ? &together::functions<true> : &together::functions<false>;
  group->run_collective = &together::run_collective;
  group->deterministic = options.deterministic;
  device_list all = group->meet(static_cast<device_list&&>(own), failure, compared.text());
  if (trace) trace->align(group->here(), options.simulation.is_set());
  ref<session_core> made(new session_core(static_cast<device_list&&>(all), options,
                                          static_cast<ref<process_group>&&>(group), trace.release()));
  if (made->group()->shared) made->group()->shared->attach(*made);
  return static_cast<ref<session_core>&&>(made);
}

}  // namespace onto::detail
ONTO_END_RUNS_ONCE
#endif
