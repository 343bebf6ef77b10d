// SPDX-License-Identifier: BSL-1.0
// What runs at the same time: steps go to streams, and wait for those steps of other streams whose results they read or
// whose memory they write over.
#pragma once

#include <onto/graph/memory.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Streams by number: 0 is the host, which does one thing after the other; then three for each device.
ONTO_INLINE constexpr int compute_stream(int device) { return 1 + 3 * device; }
ONTO_INLINE constexpr int in_stream(int device) { return 2 + 3 * device; }
ONTO_INLINE constexpr int out_stream(int device) { return 3 + 3 * device; }
ONTO_INLINE constexpr int stream_count(int devices) { return 1 + 3 * devices; }

/// Where a step runs and what it waits for.
struct step_order {
  int stream = 0;
  int first = 0;        // in the list of waits
  int count = 0;        // steps of other streams that must be done
  bool waited = false;  // another stream waits for it
};

/// Room for an order. `waits` and `clocks`: steps * streams; `now`: streams * streams; `need`: streams.
struct order_room {
  step_order* steps = nullptr;
  int* waits = nullptr;
  int* clocks = nullptr;
  int* now = nullptr;
  int* need = nullptr;
};

/// What the order is made from.
struct order_input {
  const graph_view& graph;
  const int* root;  // fusion, before splitting
  const int* unit;  // and after
  const plan_step* steps;
  int step_count;
  const plan_value* values;
  int value_count;
  const place* devices;
  int device_count;
  const int* families = nullptr;  // per device: those of one number copy to each other; null: all GPUs do
};

/// Calls `f(value)` for each value of the plan that a step reads.
template <class F>
constexpr void for_each_read(const order_input& in, int step, const F& f) {
  const plan_step& s = in.steps[step];
  if (s.kind != step_kind::kernel) {
    if (s.source >= 0) f(s.source);
    return;
  }
  for (int m = 0; m <= s.node; ++m) {
    if (in.unit[m] != s.node) continue;
    for (int k = 0; k < in.graph[m].count; ++k) {
      const int o = in.graph.operand(m, k);
      if (in.unit[base_of(in.graph, in.root, o)] == s.node) continue;
      const auto find = [&](int node) {
        int v = in.value_count - 1;
        while (v >= 0 && !(in.values[v].node == node && in.values[v].at == s.at)) --v;
        return v;
      };
      const int held = find_held(in.graph, in.root, o, [&](int node) { return find(node) >= 0; });
      if (const int v = find(held); v >= 0) f(v);
    }
  }
}

class step_orderer {
 public:
  constexpr step_orderer(const order_input& in, const order_room& room)
      : in_(in), r_(room), streams_(stream_count(in.device_count)) {}

  /// *Complexity* steps * (values + streams^2).
  constexpr void run() {
    for (int k = 0; k < streams_ * streams_; ++k) r_.now[k] = -1;
    for (int k = 0; k < in_.step_count; ++k) r_.steps[k].stream = stream_of(in_.steps[k]);
    for (int k = 0; k < in_.step_count; ++k) order(k);
  }

 private:
  constexpr int device_of(const place& p) const {
    int d = 0;
    while (d < in_.device_count && !(in_.devices[d] == p)) ++d;
    return d;
  }

  constexpr int stream_of(const plan_step& s) const {
    const bool on_host = s.at.kind == device_kind::cpu;
    if (s.kind != step_kind::transfer) return on_host ? 0 : compute_stream(device_of(s.at));
    if (in_.families && !on_host && s.from.kind != device_kind::cpu &&
        in_.families[device_of(s.at)] != in_.families[device_of(s.from)])
      return 0;  // through the host
    if (s.from.kind != device_kind::cpu) return out_stream(device_of(s.from));
    return on_host ? 0 : in_stream(device_of(s.at));
  }

  constexpr void need(int step) {
    const int stream = r_.steps[step].stream;
    if (step > r_.need[stream]) r_.need[stream] = step;
  }

  /// Whether two values lie in the same memory.
  constexpr bool overlap(const plan_value& x, const plan_value& y) const {
    return x.at == y.at && x.fetch < 0 && y.fetch < 0 && !x.variable && !y.variable && x.bytes > 0 && y.bytes > 0 &&
           x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes;
  }

  constexpr void order(int k) {
    step_order& s = r_.steps[k];
    for (int q = 0; q < streams_; ++q) r_.need[q] = -1;
    for_each_read(in_, k, [&](int v) { need(in_.values[v].birth); });
    const int made = in_.steps[k].value;
    for (int x = made; made >= 0 && x <= made + in_.steps[k].more; ++x) {
      for (int y = 0; y < in_.value_count; ++y) {
        if (y == x || in_.values[y].birth >= k || !overlap(in_.values[x], in_.values[y])) continue;
        need(in_.values[y].birth);
        for (int reader = in_.values[y].birth + 1; reader < k; ++reader)
          for_each_read(in_, reader, [&](int v) {
            if (v == y) need(reader);
          });
      }
    }

    // What the host has waited for was over before this step was issued.
    int* now = r_.now + s.stream * streams_;
    for (int q = 0; q < streams_; ++q)
      if (r_.now[q] > now[q]) now[q] = r_.now[q];
    s.first = k * streams_;
    for (;;) {
      // The latest first: having waited for it, often nothing else is left to wait for.
      int q = -1;
      for (int c = 0; c < streams_; ++c)
        if (c != s.stream && r_.need[c] > now[c] && (q < 0 || r_.need[c] > r_.need[q])) q = c;
      if (q < 0) break;
      const int step = r_.need[q];
      const int* then = r_.clocks + step * streams_;
      for (int c = 0; c < streams_; ++c)
        if (then[c] > now[c]) now[c] = then[c];
      if (q == 0) continue;  // the host had done it before it issued this step
      r_.waits[s.first + s.count++] = step;
      r_.steps[step].waited = true;
    }
    now[s.stream] = k;
    for (int q = 0; q < streams_; ++q) r_.clocks[k * streams_ + q] = now[q];
  }

  const order_input& in_;
  order_room r_;
  int streams_;
};

/// What a step does, for labels and for simulated time.
struct step_cost {
  std::int64_t bytes = 0;  // of a kernel, what it reads and writes; of a copy, what it copies; -1: not known
  std::int64_t flops = 0;  // -1: not known
};

constexpr step_cost cost_of_step(const order_input& in, const extents* shapes, int step) {
  const plan_step& s = in.steps[step];
  step_cost c;
  const auto add = [](std::int64_t& sum, std::int64_t more) { sum = sum < 0 || more < 0 ? -1 : sum + more; };
  const graph_view& g = in.graph;
  add(c.bytes, bytes_of(g[s.node].type, shapes[s.node]));
  if (s.kind != step_kind::kernel) return c;
  for (int v = s.value + 1; v <= s.value + s.more; ++v) add(c.bytes, in.values[v].bytes);
  for (int m = 0; m <= s.node; ++m) {
    if (in.unit[m] != s.node) continue;
    add(c.flops, flops_of(g, shapes, m));
    for (int k = 0; k < g[m].count; ++k) {
      const int o = g.operand(m, k);
      if (g[o].kind() == op_kind::scalar || in.unit[base_of(g, in.root, o)] == s.node) continue;
      bool seen = false;  // by this kernel already
      for (int n = 0; n <= m && !seen; ++n)
        for (int j = 0; in.unit[n] == s.node && j < g[n].count && (n < m || j < k); ++j)
          seen = seen || g.operand(n, j) == o;
      if (!seen) add(c.bytes, bytes_of(g[o].type, shapes[o]));
    }
  }
  return c;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
