// SPDX-License-Identifier: BSL-1.0
// Stream assignment, what runs at the same time: steps go to streams, and wait for those steps of other streams whose
// results they read or whose memory they write over.
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

/// What the order is made from.
struct order_input {
  const graph_view& graph;
  kernel_partition kernels;  // as they are scheduled
  const plan_step* steps;
  int step_count;
  const plan_value* values;
  int value_count;
  const place* devices;
  int device_count;
  const int* peer_groups = nullptr;  // per device: those of one number copy to each other; null: all GPUs do
  place here{};                      // a place of the process whose streams these are
};

/// Whether another process does a step: this one has no part in it.
ONTO_INLINE constexpr bool is_elsewhere(const plan_step& s, const place& here) {
  return !same_task(s.at, here) && !(s.kind == step_kind::transfer && same_task(s.from, here));
}

/// The values of a plan, found by what they are of and where.
class value_finder {
 public:
  constexpr explicit value_finder(const order_input& in) : in_(in), latest_(in.graph.count, -1) {
    for (int v = 0; v < in.value_count; ++v) latest_.get()[in.values[v].node] = v;
  }
  constexpr int find(int node, const place& at) const {
    for (int v = latest_.get()[node]; v >= 0; v = in_.values[v].next)
      if (in_.values[v].at == at) return v;
    return -1;
  }

  /// Calls `f(value)` for each value of the plan that a step reads; more than once where it reads it more than once.
  template <class F>
  constexpr void for_each_read(int step, const F& f) const {
    const plan_step& s = in_.steps[step];
    if (is_collective(s.kind)) {
      for (int v = s.value; v >= 0 && v <= s.value + s.more; ++v)
        if (const int given = in_.values[v].term < 0 ? -1 : find(in_.values[v].term, s.at); given >= 0) f(given);
      if (s.source >= 0) f(s.source);
      return;
    }
    if (s.kind != step_kind::kernel) {
      if (s.source >= 0) f(s.source);
      return;
    }
    for (int m = in_.kernels.first_member[s.node]; m >= 0; m = in_.kernels.next_member[m]) {
      for (int k = 0; k < in_.graph[m].count; ++k) {
        const int o = in_.graph.operand(m, k);
        if (in_.kernels.kernel_of[base_of(in_.graph, in_.kernels, o)] == s.node) continue;
        const int held = find_held(in_.graph, in_.kernels, o, [&](int node) { return find(node, s.at) >= 0; });
        if (const int v = find(held, s.at); v >= 0) f(v);
      }
    }
  }

 private:
  const order_input& in_;
  scratch_array<int> latest_;  // per node, the first of a list
};

/// Who wrote to which memory last: pieces that do not overlap.
class memory_writers {
 public:
  /// For `most` values.
  constexpr explicit memory_writers(int most) : pieces_(2 * most + 1) {}

  /// Gives memory to a value. Calls `f(value)` for those that had some of it.
  template <class F>
  constexpr void write(const memory_range& r, const F& f) {
    int first = pieces_.from(r.device, r.begin);
    if (first > 0 && pieces_[first - 1].device == r.device && pieces_[first - 1].end > r.begin) --first;
    memory_range before = r, after = r;  // what is left of those that had it
    before.end = before.begin;
    after.begin = after.end;
    int last = first;
    for (; last < pieces_.count() && pieces_[last].device == r.device && r.end > pieces_[last].begin; ++last) {
      const memory_range& had = pieces_[last];
      f(had.value);
      if (had.begin < r.begin) before = {had.device, had.begin, r.begin, had.value};
      if (had.end > r.end) after = {had.device, r.end, had.end, had.value};
    }
    pieces_.erase(first, last);
    if (after.begin < after.end) pieces_.insert(first, after);
    pieces_.insert(first, r);
    if (before.begin < before.end) pieces_.insert(first, before);
  }

 private:
  memory_ranges pieces_;
};

/// Orders steps. A value waits for those alone that had its memory last, and for who read them: these waited for the
/// ones before.
class stream_assigner {
 public:
  /// Room: `steps` one a step; `waits` one a step and stream.
  constexpr stream_assigner(const order_input& in, step_order* steps, int* waits)
      : in_(in),
        steps_(steps),
        waits_(waits),
        streams_(stream_count(in.device_count)),
        values_(in),
        writers_(in.value_count),
        clocks_(in.step_count * streams_),
        now_(streams_ * streams_, -1),
        need_(streams_),
        read_(in.value_count * streams_, -1) {}

  /// *Complexity* steps * streams^2 and edges.
  constexpr void run() {
    for (int k = 0; k < in_.step_count; ++k) steps_[k].stream = stream_of(in_.steps[k]);
    for (int k = 0; k < in_.step_count; ++k)
      if (is_elsewhere(in_.steps[k], in_.here))
        keep_clock(k);
      else
        order(k);
  }

 private:
  constexpr int device_of(const place& p) const {
    int d = 0;
    while (d < in_.device_count && !(in_.devices[d] == p)) ++d;
    return d;
  }

  /// Whether the host does it: the CPU of another process is a device like a GPU, with streams that messages go in.
  ONTO_INLINE constexpr bool is_host(const place& p) const {
    return p.kind == device_kind::cpu && same_task(p, in_.here);
  }

  /// A device of another task: collectives, one after the other, have the stream of its kernels.
  ONTO_INLINE constexpr int another_task() const {
    int d = 0;
    while (same_task(in_.devices[d], in_.here)) ++d;
    return d;
  }

  constexpr int stream_of(const plan_step& s) const {
    if (is_elsewhere(s, in_.here)) return 0;
    const bool on_host = is_host(s.at);
    if (s.direct) return out_stream(device_of(same_task(s.at, in_.here) ? s.at : s.from));
    if (is_collective(s.kind)) return compute_stream(another_task());
    if (is_message(s)) return same_task(s.from, in_.here) ? in_stream(device_of(s.at)) : out_stream(device_of(s.from));
    if (s.kind != step_kind::transfer) return on_host ? 0 : compute_stream(device_of(s.at));
    if (in_.peer_groups && !on_host && !is_host(s.from) &&
        in_.peer_groups[device_of(s.at)] != in_.peer_groups[device_of(s.from)])
      return 0;  // through the host
    if (!is_host(s.from)) return out_stream(device_of(s.from));
    return on_host ? 0 : in_stream(device_of(s.at));
  }

  constexpr void need(int step) {
    if (int& latest = need_.get()[steps_[step].stream]; step > latest) latest = step;
  }

  /// The value that a step makes needs what had its memory to be written, and read.
  constexpr void write(int value) {
    const plan_value& x = in_.values[value];
    if (x.fetch >= 0 || x.variable || x.bytes <= 0 || !same_task(x.at, in_.here)) return;
    writers_.write({device_of(x.at), x.offset, plus(x.offset, x.bytes), value}, [&](int had) {
      need(in_.values[had].birth);
      for (int q = 0; q < streams_; ++q)
        if (const int reader = read_.get()[had * streams_ + q]; reader >= 0) need(reader);
    });
  }

  /// What another process does is nothing to wait for.
  constexpr void keep_clock(int k) {
    now_.get()[0] = k;
    for (int q = 0; q < streams_; ++q) clocks_.get()[k * streams_ + q] = now_.get()[q];
  }

  constexpr void order(int k) {
    step_order& s = steps_[k];
    int* const needed = need_.get();
    for (int q = 0; q < streams_; ++q) needed[q] = -1;
    values_.for_each_read(k, [&](int v) {
      need(in_.values[v].birth);
      read_.get()[v * streams_ + s.stream] = k;  // nobody waits for a step of its own stream
    });
    const int made = in_.steps[k].value;
    for (int x = made; made >= 0 && x <= made + in_.steps[k].more; ++x) write(x);

    // What the host has waited for was over before this step was issued.
    int* const now = now_.get() + s.stream * streams_;
    for (int q = 0; q < streams_; ++q)
      if (now_.get()[q] > now[q]) now[q] = now_.get()[q];
    s.first = k * streams_;
    for (;;) {
      // The latest first: having waited for it, often nothing else is left to wait for.
      int q = -1;
      for (int c = 0; c < streams_; ++c)
        if (c != s.stream && needed[c] > now[c] && (q < 0 || needed[c] > needed[q])) q = c;
      if (q < 0) break;
      const int step = needed[q];
      const int* then = clocks_.get() + step * streams_;
      for (int c = 0; c < streams_; ++c)
        if (then[c] > now[c]) now[c] = then[c];
      if (q == 0) continue;  // the host had done it before it issued this step
      waits_[s.first + s.count++] = step;
      steps_[step].waited = true;
    }
    now[s.stream] = k;
    for (int q = 0; q < streams_; ++q) clocks_.get()[k * streams_ + q] = now[q];
  }

  const order_input& in_;
  step_order* steps_;
  int* waits_;
  int streams_;
  value_finder values_;
  memory_writers writers_;
  scratch_array<int> clocks_;  // per step and stream: the last step of that stream that is over when this one is
  scratch_array<int> now_;     // per stream and stream: the same of what comes next there
  scratch_array<int> need_;    // per stream: the last step that has to be over
  scratch_array<int> read_;    // per value and stream: the last step there that read it so far
};

/// What a step does, for labels and for simulated time.
struct step_cost {
  std::int64_t bytes = 0;  // of a kernel, what it reads and writes; of another step, what it gives; -1: not known
  std::int64_t flops = 0;  // -1: not known
};

/// Says what steps do.
class step_costs {
 public:
  constexpr step_costs(const order_input& in, const extents* shapes)
      : in_(in), shapes_(shapes), seen_(in.graph.count, -1) {}

  constexpr step_cost of(int step) const {
    const graph_view& g = in_.graph;
    const plan_step& s = in_.steps[step];
    step_cost c;
    c.bytes = bytes_of(g[s.node].type, shapes_[s.node]);
    for (int v = s.value + 1; v <= s.value + s.more; ++v) c.bytes = known_sum(c.bytes, in_.values[v].bytes);
    if (s.kind != step_kind::kernel) return c;
    for (int m = in_.kernels.first_member[s.node]; m >= 0; m = in_.kernels.next_member[m]) {
      c.flops = known_sum(c.flops, flops_of(g, shapes_, m));
      for (int k = 0; k < g[m].count; ++k) {
        const int o = g.operand(m, k);
        if (seen_.get()[o] == step || g[o].kind() == op_kind::scalar ||
            in_.kernels.kernel_of[base_of(g, in_.kernels, o)] == s.node)
          continue;
        seen_.get()[o] = step;
        c.bytes = known_sum(c.bytes, bytes_of(g[o].type, shapes_[o]));
      }
    }
    return c;
  }

 private:
  const order_input& in_;
  const extents* shapes_;
  scratch_array<int> seen_;  // per node: the last kernel that was found to read it
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
