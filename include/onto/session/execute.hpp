// SPDX-License-Identifier: BSL-1.0
// One run of a bound program: addresses are filled in, steps are issued in order, devices are waited for, variables
// change at the end.
#pragma once

#include <onto/session/bind.hpp>

#include <exception>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// What a run is given beside the program; entries per node, results per fetch.
struct run_data {
  const void** leaf = nullptr;              // a feed's or constant's elements, in host memory
  const device_block** variable = nullptr;  // a variable's value at the start of the run; a reference is held
  const state** values = nullptr;           // the state of a scalar
  void** results = nullptr;
  int nodes = 0;

  run_data() = default;
  run_data(const run_data&) = delete;
  run_data& operator=(const run_data&) = delete;
  ~run_data() {
    for (int n = 0; variable && n < nodes; ++n)
      if (variable[n]) variable[n]->release();
  }
};

/// Copies contiguous elements on the host.
ONTO_COLD inline void deliver_elements(thread_pool&, const kernel_call& c) {
  const std::int64_t bytes = c.inner * size_of(c.out.type);
  if (bytes > 0) std::memcpy(c.out.data, c.in->data, static_cast<std::size_t>(bytes));
}

class execution {
 public:
  execution(bound_program& b, const device_list& devices, const run_data& data, arena& memory)
      : b_(b),
        g_(b.program->graph),
        devices_(devices),
        d_(data),
        used_(memory.make<bool>(devices.count())),
        blocks_(memory.make<device_block*>(devices.count())),
        address_(memory.make<char*>(b.counts.values)),
        events_(memory.make<device_event*>(b.counts.values)),
        written(memory.make<device_block*>(b.counts.values)) {}
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;
  ~execution() {
    for (int v = 0; v < b_.counts.values; ++v) {
      if (events_[v]) events_[v]->release();
      if (written[v]) written[v]->release();
    }
    for (int d = 0; d < devices_.count(); ++d)
      if (blocks_[d]) blocks_[d]->release();
    while (staging_) {
      char* next = *reinterpret_cast<char**>(staging_);
      std::free(staging_);
      staging_ = next;
    }
  }

  /// *Throws* the first failure, after every device has come to rest; then nothing has changed.
  ONTO_NOINLINE void run() {
    try {
      allocate();
      for (int k = 0; k < b_.counts.steps && !state_.failed(); ++k) issue(b_.steps[k]);
    } catch (...) {
      state_.fail(std::current_exception());
    }
    come_to_rest();
    if (state_.failed()) state_.rethrow();
  }

 private:
  bound_program& b_;
  const graph_view& g_;
  const device_list& devices_;
  const run_data& d_;
  run_state state_;
  bool* used_;
  device_block** blocks_;
  char** address_;
  device_event** events_;
  char* staging_ = nullptr;  // a list of host blocks for copies between families

 public:
  /// The new values of variables, per plan value; read after `run`.
  device_block** written;

 private:
  void allocate() {
    for (int d = 0; d < devices_.count(); ++d) {
      if (b_.block_bytes[d] <= 0) continue;
      used_[d] = true;
      blocks_[d] = new device_block(devices_[d], b_.block_bytes[d]);
    }
    for (int v = 0; v < b_.counts.values; ++v) {
      const plan_value& x = b_.values[v];
      const int d = devices_.index_of(x.at);
      if (x.variable) {
        used_[d] = true;
        written[v] = new device_block(devices_[d], x.bytes);
        address_[v] = static_cast<char*>(written[v]->data());
      } else if (x.fetch >= 0) {
        address_[v] = static_cast<char*>(d_.results[x.fetch]);
      } else {
        address_[v] = blocks_[d] ? static_cast<char*>(blocks_[d]->data()) + x.offset : nullptr;
      }
    }
  }

  void* address_of(int value, int leaf, std::int64_t offset) const {
    if (value >= 0) return address_[value] + offset;
    const void* base = d_.variable[leaf] ? d_.variable[leaf]->data() : d_.leaf[leaf];
    return static_cast<char*>(const_cast<void*>(base)) + offset;
  }

  void issue(const bound_step& s) {
    device& at = devices_[s.device];
    if (at.is_host()) {
      // The host waits for what other devices make; a device waits in its own stream, where transfers have told it to.
      for (int k = 0; k < s.wait_count; ++k)
        if (device_event* e = events_[s.waits[k]]) e->wait();
      if (state_.failed()) return;
    }
    used_[s.device] = true;
    if (s.step.kind == step_kind::transfer)
      transfer(s, at);
    else if (s.step.kind == step_kind::deliver)
      deliver(s, at);
    else
      launch(s, at);
  }

  void transfer(const bound_step& s, device& to) {
    device& from = devices_[s.from_device];
    used_[s.from_device] = true;
    const int v = s.step.value;
    const void* data = address_of(s.step.source, s.step.node, 0);
    void* target = address_[v];
    const std::int64_t bytes = b_.values[v].bytes;
    if (from.is_host()) {
      to.copy_in(state_, target, data, bytes);
    } else if (to.is_host()) {
      from.copy_out(state_, target, data, bytes);
      events_[v] = from.record().leave();
    } else if (from.family() == to.family()) {
      // The memory may still be read by what was issued there before.
      from.wait(to.record());
      from.copy_to(state_, to, target, data, bytes);
      to.wait(from.record());
    } else {
      auto* staging = static_cast<char*>(std::malloc(static_cast<std::size_t>(bytes) + alignment));
      if (!staging) throw std::bad_alloc();
      *reinterpret_cast<char**>(staging) = staging_;
      staging_ = staging;
      from.copy_out(state_, staging + alignment, data, bytes);
      from.record()->wait();
      to.copy_in(state_, target, staging + alignment, bytes);
    }
  }

  void deliver(const bound_step& s, device& at) {
    static constexpr kernel_entry copy{&deliver_elements, nullptr, nullptr};
    operand_view in;
    in.data = address_of(s.step.source, s.step.node, 0);
    kernel_call c;
    c.op = g_[s.step.node].op;
    c.inputs = 1;
    c.in = &in;
    c.out.data = d_.results[s.step.fetch];
    c.out.type = g_[s.step.node].type;
    c.inner = b_.shapes[s.step.node].size();
    at.launch(state_, copy, c);
  }

  void launch(const bound_step& s, device& at) {
    for (int k = 0; k < s.call_count; ++k) {
      bound_call& c = s.calls[k];
      for (int i = 0; i < c.call.inputs; ++i)
        c.views[i].data = address_of(c.sources[i].value, c.sources[i].leaf, c.sources[i].offset);
      c.call.in = c.views;
      c.call.out.data = address_[s.step.value] + c.out_offset;
      c.call.continues = k > 0;
      set_scalars(c);
      const std::size_t workspace = !at.is_host() && s.kernel->gpu_workspace ? s.kernel->gpu_workspace(c.call) : 0;
      if (workspace == 0) {
        at.launch(state_, *s.kernel, c.call);
      } else {
        const ref<device_block> block(new device_block(at, static_cast<std::int64_t>(workspace)));
        c.call.workspace = block->data();
        at.launch(state_, *s.kernel, c.call);
      }
    }
  }

  double number(int node) const {
    if (node < 0) return 1;
    const std::uint64_t b = d_.values[node]->scalar;
    float f;
    double r;
    std::memcpy(&f, &b, sizeof f);
    std::memcpy(&r, &b, sizeof r);
    return g_[node].type == element::float32 ? static_cast<double>(f) : r;
  }

  void set_scalars(bound_call& c) {
    if (c.call.op->kind == op_kind::matmul) {
      c.call.form.alpha = c.alpha_sign * (c.scalar_count ? number(c.scalars[0]) : 1);
      c.call.form.beta = c.beta_sign * (c.scalar_count ? number(c.scalars[1]) : 1);
      return;
    }
    for (int k = 0; k < c.scalar_count; ++k) c.bits[k] = d_.values[c.scalars[k]]->scalar;
    c.call.scalars = c.bits;
  }

  /// Waits for all devices, whatever has happened: nothing of this run is in flight afterwards.
  void come_to_rest() {
    for (int d = 0; d < devices_.count(); ++d) {
      if (!used_[d] || devices_[d].is_host()) continue;
      try {
        devices_[d].record()->wait();
      } catch (...) {
        state_.fail(std::current_exception());
      }
    }
  }
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
