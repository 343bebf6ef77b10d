// SPDX-License-Identifier: BSL-1.0
// One run of a bound program: addresses are filled in, steps are issued in order, devices are waited for, variables change at the end.
#pragma once

#include <onto/session/bind.hpp>

#include <exception>
#include <memory>
#include <vector>

namespace onto::detail {

/// A block of a device's memory, given back when the last user is gone.
struct device_block {
  device* owner = nullptr;
  void* data = nullptr;
  std::int64_t bytes = 0;

  device_block() = default;
  device_block(device& d, std::int64_t size) : owner(&d), data(d.allocate(size)), bytes(size) {}
  device_block(const device_block&) = delete;
  device_block& operator=(const device_block&) = delete;
  device_block(device_block&& o) noexcept : owner(o.owner), data(o.data), bytes(o.bytes) { o.owner = nullptr; }
  ~device_block() {
    if (owner) owner->deallocate(data, bytes);
  }
};

/// What a run is given beside the program.
struct run_data {
  std::vector<const void*> leaf;                       // per node: a feed's or constant's elements, in host memory
  std::vector<std::shared_ptr<device_block>> variable; // per node: a variable's value at the start of the run
  std::vector<const state*> values;                    // per node: the state of a scalar
  std::vector<void*> results;                          // per fetch
};

class execution {
 public:
  execution(bound_program& b, const graph_view& g, const std::vector<std::unique_ptr<device>>& devices,
            const kernel_entry& copy, run_data& data)
      : b_(b), g_(g), devices_(devices), copy_(copy), d_(data), used_(devices.size()), events_(b.values.size()) {}

  /// The new values of variables, per plan value; read after `run`.
  std::vector<std::shared_ptr<device_block>> written;

  /// *Throws* the first failure, after every device has come to rest; then nothing has changed.
  void run() {
    try {
      allocate();
      for (bound_step& s : b_.steps) {
        if (state_.failed()) break;
        issue(s);
      }
    } catch (...) {
      state_.fail(std::current_exception());
    }
    come_to_rest();
    state_.rethrow();
  }

 private:
  void allocate() {
    blocks_.reserve(devices_.size());
    written.resize(b_.values.size());
    address_.resize(b_.values.size());
    std::vector<void*> base(devices_.size(), nullptr);
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      if (b_.block_bytes[d] <= 0) continue;
      used_[d] = 1;
      blocks_.emplace_back(*devices_[d], b_.block_bytes[d]);
      base[d] = blocks_.back().data;
    }
    for (std::size_t v = 0; v < b_.values.size(); ++v) {
      const plan_value& x = b_.values[v];
      const std::size_t d = index_of(x.at);
      if (x.variable) {
        used_[d] = 1;
        written[v] = std::make_shared<device_block>(*devices_[d], x.bytes);
        address_[v] = written[v]->data;
      } else if (x.fetch >= 0) {
        address_[v] = d_.results[static_cast<std::size_t>(x.fetch)];
      } else {
        address_[v] = static_cast<char*>(base[d]) + x.offset;
      }
    }
  }

  std::size_t index_of(const place& p) const {
    std::size_t d = 0;
    while (!(devices_[d]->where() == p)) ++d;
    return d;
  }

  void* address_of(const operand_source& s) const {
    const char* base = nullptr;
    if (s.value >= 0) {
      base = static_cast<const char*>(address_[static_cast<std::size_t>(s.value)]);
    } else {
      const auto n = static_cast<std::size_t>(s.leaf);
      base = static_cast<const char*>(d_.variable[n] ? d_.variable[n]->data : d_.leaf[n]);
    }
    return const_cast<char*>(base + s.offset);
  }

  void issue(bound_step& s) {
    const auto d = static_cast<std::size_t>(s.device);
    device& at = *devices_[d];
    // The host waits for what other devices make; a device waits in its own stream, where transfers have told it to.
    if (at.is_host())
      for (const int v : s.waits)
        if (const auto& e = events_[static_cast<std::size_t>(v)]) e->wait();
    if (at.is_host() && state_.failed()) return;
    used_[d] = 1;
    if (s.step.kind == step_kind::transfer)
      transfer(s, at);
    else if (s.step.kind == step_kind::deliver)
      deliver(s, at);
    else
      launch(s, at);
  }

  void transfer(const bound_step& s, device& to) {
    device& from = *devices_[static_cast<std::size_t>(s.from_device)];
    used_[static_cast<std::size_t>(s.from_device)] = 1;
    const auto v = static_cast<std::size_t>(s.step.value);
    operand_source source;
    source.value = s.step.source;
    source.leaf = s.step.node;
    const void* data = address_of(source);
    void* target = address_[v];
    const std::int64_t bytes = b_.values[v].bytes;
    if (from.is_host()) {
      to.copy_in(state_, target, data, bytes);
    } else if (to.is_host()) {
      from.copy_out(state_, target, data, bytes);
      events_[v] = from.record();
    } else if (from.family() == to.family()) {
      // The memory may still be read by what was issued there before.
      from.wait(to.record());
      from.copy_to(state_, to, target, data, bytes);
      to.wait(from.record());
    } else {
      std::unique_ptr<char[]> staging(new char[static_cast<std::size_t>(bytes > 0 ? bytes : 1)]);
      from.copy_out(state_, staging.get(), data, bytes);
      from.record()->wait();
      to.copy_in(state_, target, staging.get(), bytes);
      staging_.push_back(static_cast<std::unique_ptr<char[]>&&>(staging));
    }
  }

  void deliver(const bound_step& s, device& at) {
    operand_source source;
    source.value = s.step.source;
    source.leaf = s.step.node;
    operand_view in;
    in.data = address_of(source);
    in.type = g_[s.step.node].type;
    in.stride[0] = 1;
    kernel_call c;
    c.op = g_[s.step.node].op;
    c.space.push_back(1);
    // Extents are ints; a long tensor is a matrix of rows.
    std::int64_t count = b_.shapes[static_cast<std::size_t>(s.step.node)].size();
    int row = 1;
    if (count > 0x7fffffff) {
      row = 1 << 20;
      while (count % row != 0) row /= 2;
    }
    c.space.dims[0] = static_cast<int>(count / row);
    c.space.push_back(row);
    in.stride[0] = row;
    in.stride[1] = 1;
    c.inputs = 1;
    c.in = &in;
    c.out = in;
    c.out.data = d_.results[static_cast<std::size_t>(s.step.fetch)];
    at.launch(state_, copy_, c);
  }

  void launch(bound_step& s, device& at) {
    bool first = true;
    for (bound_call& c : s.calls) {
      for (std::size_t k = 0; k < c.views.size(); ++k) c.views[k].data = address_of(c.sources[k]);
      c.call.in = c.views.data();
      c.call.out.data = static_cast<char*>(address_[static_cast<std::size_t>(s.step.value)]) + c.out_offset;
      c.call.continues = !first;
      first = false;
      scalars(c);
      const std::size_t workspace = !at.is_host() && s.kernel->gpu_workspace ? s.kernel->gpu_workspace(c.call) : 0;
      if (workspace) {
        device_block block(at, static_cast<std::int64_t>(workspace));
        c.call.workspace = block.data;
        at.launch(state_, *s.kernel, c.call);
      } else {
        at.launch(state_, *s.kernel, c.call);
      }
    }
  }

  std::uint64_t bits(int node) const { return d_.values[static_cast<std::size_t>(node)]->scalar; }

  double number(int node) const {
    if (node < 0) return 1;
    const std::uint64_t b = bits(node);
    if (g_[node].type == element::float32) {
      float f;
      std::memcpy(&f, &b, sizeof f);
      return static_cast<double>(f);
    }
    double f;
    std::memcpy(&f, &b, sizeof f);
    return f;
  }

  void scalars(bound_call& c) {
    if (c.scalars.empty()) return;
    if (c.call.op->kind == op_kind::matmul) {
      c.call.form.alpha = c.alpha_sign * number(c.scalars[0]);
      c.call.form.beta = c.beta_sign * number(c.scalars[1]);
      return;
    }
    c.bits.resize(c.scalars.size());
    for (std::size_t k = 0; k < c.scalars.size(); ++k) c.bits[k] = bits(c.scalars[k]);
    c.call.scalars = c.bits.data();
  }

  /// Waits for all devices, whatever has happened: nothing of this run is in flight afterwards.
  void come_to_rest() {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      if (!used_[d] || devices_[d]->is_host()) continue;
      try {
        if (const auto e = devices_[d]->record()) e->wait();
      } catch (...) {
        state_.fail(std::current_exception());
      }
    }
  }

  bound_program& b_;
  const graph_view& g_;
  const std::vector<std::unique_ptr<device>>& devices_;
  const kernel_entry& copy_;
  run_data& d_;
  run_state state_;
  std::vector<unsigned char> used_;
  std::vector<std::shared_ptr<device_event>> events_;
  std::vector<device_block> blocks_;
  std::vector<void*> address_;
  std::vector<std::unique_ptr<char[]>> staging_;
};

}  // namespace onto::detail
