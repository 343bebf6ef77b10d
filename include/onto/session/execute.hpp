// SPDX-License-Identifier: BSL-1.0
// One run of a bound program: addresses are filled in, steps are issued in order or replayed, devices are waited for.
#pragma once

#include <onto/runtime/process_group.hpp>
#include <onto/session/bind.hpp>
#include <onto/session/call_addresses.hpp>
#include <onto/session/run_memory.hpp>

#include <exception>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class execution : run_memory {
 public:
  /// The program's leaves, results and scalars are filled in.
  execution(bound_program& b, const device_list& devices) : run_memory(b, devices) {}
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;
  ~execution() {
    while (staging_) {
      char* next = *reinterpret_cast<char**>(staging_);
      std::free(staging_);
      staging_ = next;
    }
  }

  using run_memory::reserve;

  /// *Throws* the first failure, after every device has come to rest; then nothing has changed. With others in
  /// `together` it begins where all can, and ends where all are done.
  ONTO_NOINLINE void run(agreed_run& together) {
    group_ = together.group();
    b_.progress.reset();
    for (int q = 0; q < stream_count(b_.devices); ++q) b_.used[q] = false;
    if (group_) {
      take_memory();
      together.agree(nullptr);
    }
    try {
      if (!group_) take_memory();
      if (shared()) shared()->begin(b_);
      go();
    } catch (...) {
      b_.progress.fail(std::current_exception());
    }
    if (shared()) shared()->leave(b_, nullptr);
    if (group_) decline_messages();
    come_to_rest();
    if (shared()) shared()->end();
    ++b_.runs;
    if (b_.progress.failed()) b_.progress.rethrow();
    if (group_) together.agree(nullptr);
  }

  /// Asks what the updates in place could fail of. *Throws* where one would.
  ONTO_NOINLINE void expect_updates() {
    for (int k = b_.counts.steps - b_.deferred; k < b_.counts.steps; ++k) {
      const bound_step& s = b_.steps[k];
      try {
        for (int c = s.one_launch ? 1 : s.call_count; c > 0; --c) devices_[s.device].expect_kernel();
      } catch (...) {
        std::rethrow_exception(named_failure(s.label, s.step.at));
      }
    }
    b_.progress.asked = true;
  }

  /// Does the updates in place: over the value of `known[n]` where the run and the session alone hold it, else beside
  /// it. *Preconditions* the session is locked, so nobody begins to read; `expect_updates()`. *Throws*
  /// `resource_exhausted_error`; then nothing has changed.
  ONTO_NOINLINE void update_in_place(const variable* const* known) {
    for (int k = 0; k < b_.moving_count; ++k) {
      const int v = b_.moving[k];
      if (!b_.values[v].in_place) continue;
      const int n = g_.operand(b_.values[v].node, 0);
      const device_block*& old = b_.variable[n];
      device_block* const value = known[n]->value;
      bool alone = false;
      if (old && old == value) {
        old->drop();
        old = nullptr;
        alone = value->is_unique() && value->bytes() == rounded(b_.values[v].bytes);
      }
      if (alone)
        b_.address[v].data = value->data();
      else
        take_variable(v);
    }
    for (int k = b_.counts.steps - b_.deferred; k < b_.counts.steps; ++k)
      launch(b_.steps[k], devices_[b_.steps[k].device], addresses());
    if (b_.progress.failed()) b_.progress.rethrow();
  }

 private:
  char* staging_ = nullptr;  // a list of host blocks for copies between peer_groups
  int next_message_ = 0;     // the step after the last message

  shared_variables* shared() const { return group_ ? group_->shared.get() : nullptr; }

  void take_memory() {
    reserve();
    for (int k = 0; k < b_.moving_count; ++k) {
      const int v = b_.moving[k];
      const plan_value& x = b_.values[v];
      if (x.in_place && b_.deferred > 0) continue;
      if (x.variable) {
        take_variable(v);
      } else {
        b_.address[v].data = b_.results[x.fetch].data;
      }
    }
    for (int k = 0; k < b_.leaf_count; ++k)
      if (const device_block* const value = b_.variable[b_.leaves[k]]) b_.leaf[b_.leaves[k]].data = value->data();
    for (int k = 0; b_.reads_rows && k < b_.counts.steps; ++k) {
      const bound_step& s = b_.steps[k];
      if (s.from_node >= 0 && s.from_node != s.step.node)
        b_.leaf[s.step.node].data = address_of(s.step.source, s.from_node, s.from_offset);
    }
    // Whoever reads what this run has not written yet finds out.
    for (int d = 0; d < b_.devices; ++d)
      if (b_.blocks[d] && b_.runs > 0) devices_[d].poison(b_.blocks[d]->data(), b_.blocks[d]->bytes());
  }

  void go() {
    const int steps = b_.counts.steps - b_.deferred;
    int k = 0;
    if (b_.kept && b_.runs > 0 && b_.replay_end > b_.replay_first && !b_.progress.trace && !shared()) {
      while (k < b_.replay_first && !b_.progress.failed()) issue(k++);
      if (b_.progress.failed()) return;
      if (replay()) k = b_.replay_end;
    }
    while (k < steps && !b_.progress.failed())
      k = b_.steps[k].is_of_host && !group_ ? launch_on_host(k, steps) : (issue(k), k + 1);
  }

  /// Does the host's own kernels from step `k` on, up to `end`. *Returns* the first step that is none.
  ONTO_NOINLINE int launch_on_host(int k, int end) {
    const bound_step* s = b_.steps + k;
    const call_addresses where = addresses();
    try {
      for (; k < end && s->is_of_host && !b_.progress.failed(); ++k, ++s) launch(*s, devices_[s->device], where);
    } catch (...) {
      b_.progress.fail(named_failure(s->label, s->step.at));
    }
    return k;
  }

  /// After a failure the other processes still get a message where they wait for one, an empty one.
  void decline_messages() {
    for (int k = next_message_; k < b_.counts.steps && b_.progress.failed(); ++k) {
      const bound_step& s = b_.steps[k];
      if (s.elsewhere || !s.is_message) continue;
      b_.used[s.stream] = true;
      try {
        perform(s);
      } catch (...) {
        return;  // nothing goes to that process any more
      }
    }
  }

  // ---- replaying ------------------------------------------------------------------------------------------

  /// The memory of variables, which another run may have elsewhere. *Returns* how much of it there is.
  int variables_memory(void** key) const {
    int count = 0;
    for (int k = 0; k < b_.leaf_count; ++k)
      if (b_.variable[b_.leaves[k]]) key[count++] = b_.leaf[b_.leaves[k]].data;
    for (int k = 0; k < b_.moving_count; ++k)
      if (b_.written[b_.moving[k]]) key[count++] = b_.address[b_.moving[k]].data;
    return count;
  }

  static void issue_replayed(void* self) {
    auto& e = *static_cast<execution*>(self);
    for (int k = e.b_.replay_first; k < e.b_.replay_end; ++k) e.issue(k);
  }

  /// Does the recorded steps in one call, recording them first where that was not done. *Returns* whether it could.
  bool replay() {
    device& origin = devices_[(b_.steps[b_.replay_first].stream - 1) / stream_kinds];
    arena scratch;
    auto** key = scratch.make<void*>(b_.leaf_count + b_.moving_count);
    const int count = variables_memory(key);
    recorded_run* r = nullptr;
    for (recorded_run& each : b_.recorded)
      if (!r && each.graph && std::memcmp(each.key, key, static_cast<std::size_t>(count) * sizeof(void*)) == 0 &&
          each.graph->adapt())
        r = &each;
    if (!r) {
      pin_host_block(b_, devices_, b_.replay_first, b_.replay_end);
      ref<device_graph> graph = origin.record_graph(issue_replayed, this);
      if (b_.progress.failed()) return false;
      if (!graph) {
        b_.replay_end = b_.replay_first;  // never again
        return false;
      }
      r = &b_.recorded[b_.next_recorded];
      b_.next_recorded = 1 - b_.next_recorded;
      if (r->graph) r->graph->drop();
      r->graph = graph.release();
      if (!r->key) r->key = b_.memory.make<void*>(b_.leaf_count + b_.moving_count);
      std::memcpy(r->key, key, static_cast<std::size_t>(count) * sizeof(void*));
    }
    // Where it fails nothing says when the streams are done.
    for (int k = b_.replay_first; k < b_.replay_end; ++k) b_.used[b_.steps[k].stream] = true;
    b_.used[compute_stream(devices_.index_of(origin.where()))] = true;
    r->graph->perform(b_.progress);
    for (int q = 1; q < stream_count(b_.devices) && !b_.progress.failed(); ++q) b_.used[q] = false;
    return true;
  }

  // ---- issuing --------------------------------------------------------------------------------------------

  void wait_for(device_event& event) {
    trace_sink* const trace = b_.progress.trace;
    const std::int64_t begin = trace ? trace->now() : 0;
    if (group_) group_->settle();
    event.wait();
    const double then = event.time();
    if (trace && then > 0) {
      if (then > b_.progress.now)
        trace->add({trace_span::wait, host, stream_kind::compute, &wait_label, nanoseconds(b_.progress.now),
                    nanoseconds(then)});
    } else if (trace) {
      trace->add({trace_span::wait, host, stream_kind::compute, &wait_label, begin, trace->now()});
    }
    if (then > b_.progress.now) b_.progress.now = then;
  }

  device_event* rest_of(int stream) {
    if (!b_.rest[stream]) b_.rest[stream] = devices_[(stream - 1) / stream_kinds].make_event().release();
    return b_.rest[stream];
  }

  ONTO_NOINLINE void issue(int k) {
    bound_step& s = b_.steps[k];
    if (s.elsewhere) return;
    if (shared()) shared()->leave(b_, &s);
    try {
      if (s.stream == 0) {
        for (int w = 0; w < s.wait_count; ++w)
          if (device_event* e = b_.steps[s.waits[w]].event) wait_for(*e);
        if (b_.progress.failed()) return;
        perform(s);
        return;
      }
      device& owner = devices_[(s.stream - 1) / stream_kinds];
      const auto stream = static_cast<stream_kind>((s.stream - 1) % stream_kinds);
      b_.used[s.stream] = true;
      for (int w = 0; w < s.wait_count; ++w) {
        const bound_step& other = b_.steps[s.waits[w]];
        if (!other.event) continue;
        if (other.is_message && !other.is_direct)
          wait_for(*other.event);  // no GPU knows when a message has come
        else
          owner.wait(b_.progress, stream, *other.event);
      }
      if (s.is_message) {
        if (b_.progress.failed()) return;
        next_message_ = k + 1;
      }
      perform(s);
      if (s.event) owner.record(b_.progress, stream, *s.event);
    } catch (...) {
      b_.progress.fail(named_failure(s.label, s.step.at));
    }
  }

  void perform(const bound_step& s) {
    device& at = devices_[s.device];
    if (group_) group_->progress();
    if (shared()) shared()->enter(b_, s);
    if (is_collective(s.step.kind) || s.is_direct)
      group_->run_collective(*group_, b_, static_cast<int>(&s - b_.steps),
                             s.is_direct ? devices_[(s.stream - 1) / stream_kinds] : at);
    else if (s.step.kind == step_kind::transfer)
      transfer(s, at);
    else if (s.step.kind == step_kind::fetch_copy)
      fetch_copy(s, at);
    else
      launch(s, at, addresses());
  }

  call_addresses addresses() const { return {g_, b_.address, b_.leaf, b_.scalars, b_.shapes}; }

  const host_slot& slot_of(int value, int leaf) const { return value >= 0 ? b_.address[value] : b_.leaf[leaf]; }

  void* address_of(int value, int leaf, std::int64_t offset) const {
    return addresses().address_of(value, leaf, offset);
  }

  void transfer(const bound_step& s, device& to) {
    device& from = devices_[s.from_device];
    const work w{b_.progress, s.label};
    // Rows have a slot of their own.
    const host_slot& source = s.from_node == s.step.node ? slot_of(s.step.source, s.step.node) : b_.leaf[s.step.node];
    const host_slot& target = b_.address[s.step.value];
    const std::int64_t bytes = b_.values[s.step.value].bytes;
    if (group_ && (from.is_host() || to.is_host())) group_->settle();  // the copy may block behind what they do
    // A message may begin or end in a GPU's memory.
    if (from.is_host() || (s.is_message && s.stream == in_stream(s.device)))
      to.copy_in(w, target.data, source, bytes);
    else if (to.is_host() || s.is_message)
      from.copy_out(w, target, source.data, bytes);
    else if (s.stream != 0)
      from.copy_to(w, to, target.data, source.data, bytes);
    else
      transfer_through_host(w, from, to, target.data, source.data, bytes);
  }

  /// Between devices that do not know each other; blocks.
  void transfer_through_host(const work& w, device& from, device& to, void* target, const void* source,
                             std::int64_t bytes) {
    constexpr std::int64_t head = 64;
    auto* block = static_cast<char*>(std::malloc(static_cast<std::size_t>(bytes + head)));
    if (!block) throw std::bad_alloc();
    *reinterpret_cast<char**>(block) = staging_;
    staging_ = block;
    host_slot slot;
    slot.data = block + head;
    from.copy_out(w, slot, source, bytes);
    const ref<device_event> left = from.make_event();
    from.record(b_.progress, stream_kind::out, *left);
    left->wait();
    if (b_.progress.failed()) return;
    to.copy_in(w, target, slot, bytes);
    const ref<device_event> arrived = to.make_event();
    to.record(b_.progress, stream_kind::in, *arrived);
    arrived->wait();
  }

  void fetch_copy(const bound_step& s, device& at) {
    static constexpr kernel_entry copy{{{&copy_fetched_elements}}};
    operand_view in;
    in.data = address_of(s.step.source, s.step.node, 0);
    kernel_call c;
    c.op = g_[s.step.node].op;
    c.inputs = 1;
    c.in = &in;
    c.out.data = b_.results[s.step.fetch].data;
    c.out.type = g_[s.step.node].type;
    c.inner = b_.shapes[s.step.node].size();
    at.launch({b_.progress, s.label}, copy, c);
  }

  ONTO_INLINE void launch(const bound_step& s, device& at, const call_addresses& where) {
    for_each_launch(s, where, [&](bound_call& c) {
      if (c.works_in_block)
        c.call.workspace = static_cast<char*>(b_.blocks[s.device]->data()) + b_.value_bytes[s.device];
      at.launch({b_.progress, s.label}, *s.kernel, c.call);
    });
  }

  /// Waits for all devices, whatever has happened: nothing of this run is in flight afterwards.
  void come_to_rest() {
    for (int q = 1; q < stream_count(b_.devices); ++q) {
      if (!b_.used[q]) continue;
      try {
        device_event* end = rest_of(q);
        devices_[(q - 1) / stream_kinds].record(b_.progress, static_cast<stream_kind>((q - 1) % stream_kinds), *end);
        if (group_) group_->settle();
        end->wait();
        if (end->time() > b_.progress.now) b_.progress.now = end->time();
      } catch (...) {
        b_.progress.fail(std::current_exception());
      }
      // What failed may have been the event itself.
      if (b_.progress.failed())
        devices_[(q - 1) / stream_kinds].finish(static_cast<stream_kind>((q - 1) % stream_kinds));
    }
  }
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
