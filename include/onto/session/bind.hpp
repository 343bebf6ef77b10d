// SPDX-License-Identifier: BSL-1.0
// Binding: a compiled program meets real devices and real shapes, and becomes steps whose every argument is known but
// for addresses.
#pragma once

#include <onto/graph/code.hpp>
#include <onto/graph/layout.hpp>
#include <onto/session/bound_program.hpp>
#include <onto/session/step_labels.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Binds kernels' arguments.
class binder {
 public:
  /// `products`: whether a GPU may round float products' operands to TF32; and, for prepared programs, try several
  /// algorithms.
  binder(const device_list& devices, const matmul_form& products, bound_program& b)
      : p_(*b.program), g_(p_.graph), devices_(devices), products_(products), b_(b), m_(b.memory) {
    products_.tune = products_.tune && b.kept;
  }

  /// `shapes` and `where` of the program are filled. Makes the schedule, the memory plan and the calls.
  ONTO_NOINLINE void run() {
    int room = g_.count + 2 * g_.fetch_count + 1;
    for (int n = 0; n < g_.count && devices_.count() > 1; ++n) room += g_[n].count;  // copies between devices
    arena scratch;
    auto* steps = scratch.make<plan_step>(room);
    b_.values = m_.make<plan_value>(room);
    unit_ = m_.make<int>(g_.count);
    value_of_ = m_.make<int>(g_.count);
    registers_ = m_.make<int>(g_.count);
    result_ = m_.make<bool>(g_.count);
    auto* split = m_.make<bool>(g_.count);
    for (int n = 0; n < g_.count; ++n)
      if (p_.root[n] >= 0 && !fits(n)) split[p_.root[n]] = true;
    auto* first = m_.make<int>(g_.count);
    auto* next = m_.make<int>(g_.count);
    members_ = {first, next};
    scheduler s(
        g_, p_.root, p_.part, p_.via, b_.shapes, b_.where,
        {steps, b_.values, unit_, first, next, value_of_, m_.make<bool>(g_.count), result_, m_.make<bool>(g_.count)});
    b_.counts = s.run(split);
    b_.devices = devices_.count();
    b_.block_bytes = m_.make<std::int64_t>(devices_.count());
    for (int d = 0; d < devices_.count(); ++d)
      b_.block_bytes[d] = assign_offsets(b_.values, b_.counts.values, devices_[d].where());
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
    b_.steps = m_.make<bound_step>(b_.counts.steps);
    for (int k = 0; k < b_.counts.steps; ++k) bind_step(b_.steps[k], steps[k]);
    order(steps);
    find_replay();
    provide_workspace();
  }

 private:
  /// Whether a matrix product's epilogue, and a kernel's folds over rows, still fit now that extents are known: it was
  /// found from types, where one unknown extent is taken for another that it is combined with.
  bool fits(int n) const {
    const int root = p_.root[n];
    const op_kind kind = g_[n].kind();
    if (kind == op_kind::matmul) return n == root || b_.shapes[n] == b_.shapes[root];
    if (kind != op_kind::reduce && kind != op_kind::row) return true;
    return b_.shapes[g_.operand(n, 0)] == b_.shapes[space_of(g_, root)];
  }

  int find_value(int node, const place& at) const {
    for (int v = value_of_[node]; v >= 0; v = b_.values[v].next)
      if (b_.values[v].at == at) return v;
    return -1;
  }

  /// Streams, waits, events and labels.
  void order(const plan_step* steps) {
    int* families = m_.make<int>(b_.devices);
    for (int d = 0; d < b_.devices; ++d)
      for (int c = d; c >= 0; --c)
        if (devices_[c].family() == devices_[d].family()) families[d] = c;
    const order_input in{
        g_,         p_.root, unit_, members_, steps, b_.counts.steps, b_.values, b_.counts.values, devices_.places(),
        b_.devices, families};
    arena scratch;
    const int streams = stream_count(b_.devices);
    auto* orders = scratch.make<step_order>(b_.counts.steps);
    auto* waits = scratch.make<int>(b_.counts.steps * streams);
    step_orderer(in, orders, waits).run();
    const step_costs costs(in, b_.shapes);
    const node_names names(g_);
    b_.title = kept_text(names.text(g_.fetches[0]), m_);
    for (int k = 0; k < b_.counts.steps; ++k) {
      bound_step& s = b_.steps[k];
      s.stream = orders[k].stream;
      s.waits = m_.copy(waits + orders[k].first, orders[k].count);
      s.wait_count = orders[k].count;
      if (orders[k].waited && s.stream > 0) s.event = devices_[(s.stream - 1) / lane_count].make_event().leave();
      label_step(s, g_, members_, names, costs.of(k), m_);
    }
  }

  /// Finds the run of steps between the host's first and last ones, if one family does them all.
  void find_replay() {
    int first = 0;
    int end = b_.counts.steps;
    while (first < end && b_.steps[first].stream == 0) ++first;
    while (end > first && b_.steps[end - 1].stream == 0) --end;
    const void* family = nullptr;
    for (int k = first; k < end; ++k) {
      if (b_.steps[k].stream == 0) return;
      const void* f = devices_[(b_.steps[k].stream - 1) / lane_count].family();
      if (family && f != family) return;
      family = f;
    }
    b_.replay_first = first;
    b_.replay_end = end;
  }

  /// The kernels of a device run one after the other and share one piece of memory to work in.
  void provide_workspace() {
    for (int d = 0; d < b_.devices; ++d) {
      if (devices_[d].is_host()) continue;
      std::size_t most = 0, least = 0;
      for (int k = 0; k < b_.counts.steps; ++k) {
        bound_step& s = b_.steps[k];
        if (s.device != d || !s.kernel || !s.kernel->gpu_workspace) continue;
        for (int c = 0; c < s.call_count; ++c) {
          s.calls[c].call.in = s.calls[c].views;
          const std::size_t wanted = s.kernel->gpu_workspace(s.calls[c].call);
          const std::size_t needed =
              s.kernel->gpu_least_workspace ? s.kernel->gpu_least_workspace(s.calls[c].call) : wanted;
          if (wanted > most) most = wanted;
          if (needed > least) least = needed;
        }
      }
      if (most == 0) continue;
      void* data = nullptr;
      auto bytes = static_cast<std::int64_t>(most);
      b_.workspaces[d] = devices_[d].workspace_up_to(bytes, static_cast<std::int64_t>(least), data).leave();
      for (int k = 0; k < b_.counts.steps; ++k)
        for (int c = 0; b_.steps[k].device == d && c < b_.steps[k].call_count; ++c) {
          b_.steps[k].calls[c].call.workspace = data;
          b_.steps[k].calls[c].call.workspace_bytes = bytes;
        }
    }
  }

  void open_calls(bound_step& s, int calls) { s.calls = m_.make<bound_call>(calls); }

  bound_call& next_call(bound_step& s, int operands) {
    bound_call& c = s.calls[s.call_count++];
    c.views = m_.make<operand_view>(operands);
    c.sources = m_.make<operand_source>(operands);
    c.call.op = g_[s.step.node].op;
    c.call.narrow = p_.narrow;
    c.call.out.type = g_[s.step.node].type;
    return c;
  }

  /// The node whose memory on the device of a step holds the elements of `o`.
  int held_at(const bound_step& s, int o) const {
    return find_held(g_, p_.root, o, [&](int n) { return find_value(n, s.step.at) >= 0; });
  }

  /// Adds an operand: the elements of node `o` with a layout, over `space` (or with the layout's own strides where it
  /// is null).
  void add_operand(bound_step& s, bound_call& c, int o, const view_layout& l, const extents& shape,
                   const extents* space) {
    const int held = held_at(s, o);
    operand_view& v = c.views[c.call.inputs];
    operand_source& source = c.sources[c.call.inputs++];
    v.type = g_[o].type;
    if (space)
      broadcast_strides(shape, l.stride, *space, v.stride);
    else
      for (int k = 0; k < max_rank; ++k) v.stride[k] = l.stride[k];
    source.offset = l.offset * size_of(v.type);
    source.value = find_value(held, s.step.at);
    if (source.value < 0) source.leaf = held;
  }

  void add_node(bound_step& s, bound_call& c, int o, const extents* space) {
    add_operand(s, c, o, layout_of(g_, p_.root, b_.shapes, o, held_at(s, o)), b_.shapes[o], space);
  }

  /// Adds the operands of a kernel, each seen in its frame, and the space of the call.
  void add_seen(bound_step& s, bound_call& c, int root, const kernel_operands& o, const int* via) {
    const extents& space = b_.shapes[space_of(g_, root)];
    extents all = space;
    int axis[max_rank];
    for (int k = 0; k < all.rank; ++k) axis[k] = k;
    arena scratch;
    auto* seen = scratch.make<seen_operand>(o.input_count);
    for (int k = 0; k < o.input_count; ++k) {
      seen[k] = see(g_, p_.root, via, b_.shapes, o.inputs[k], held_at(s, o.inputs[k]), o.frames[k], space);
      if (!seen[k].split || space.size() == 0) continue;
      int of[max_rank], source[max_rank];
      refine(all, seen[k].over, all, of);
      for (int d = 0; d < all.rank; ++d) source[d] = axis[of[d]];
      for (int d = 0; d < all.rank; ++d) axis[d] = source[d];
    }
    c.call.space = all;
    for (int k = 0; k < o.input_count; ++k) {
      view_layout l = seen[k].layout;
      if (!(all == seen[k].over)) reshape_strides(seen[k].over, seen[k].layout.stride, all, l.stride);
      add_operand(s, c, o.inputs[k], l, all, nullptr);
    }
    if (g_[root].kind() == op_kind::reduce && !(all == space))
      c.call.op = reduce_of(*g_[root].op, axis, all.rank, space);
  }

  /// The reduction of a space whose axes are parts of those of another one.
  const op_info* reduce_of(const op_info& op, const int* axis, int rank, const extents& space) {
    auto* r = m_.make<op_info>(1);
    *r = op;
    if (op.attribute[2] == 0) return r;
    bool folded[max_rank] = {};
    for (int k = 0; k < op.attribute[2]; ++k)
      folded[normalize_axis(static_cast<int>(op.attribute[3 + k]), space.rank)] = true;
    r->attribute[2] = 0;
    for (int d = 0; d < rank; ++d)
      if (folded[axis[d]]) r->attribute[3 + r->attribute[2]++] = d;
    return r;
  }

  ONTO_NOINLINE void bind_step(bound_step& s, const plan_step& step) {
    s.step = step;
    s.device = devices_.index_of(step.at);
    if (step.kind != step_kind::kernel) {
      if (step.kind != step_kind::transfer) return;
      s.from_device = devices_.index_of(step.from);
      s.from_node = base_of(g_, p_.root, step.node);
      if (s.from_node != step.node)
        s.from_offset = layout_of(g_, p_.root, b_.shapes, step.node, s.from_node).offset * size_of(g_[step.node].type);
      return;
    }
    const int root = step.node;
    int product = -1;
    int members = 0;
    for (int n = members_.first[root]; n >= 0; n = members_.next[n]) {
      ++members;
      if (g_[n].kind() == op_kind::matmul) product = n;
    }
    s.kernel = step.whole ? &p_.whole[root] : members > 1 ? &p_.parts[root] : &p_.single[root];
    if (product >= 0)
      bind_product(s, product);
    else if (has_code(g_, unit_, root) || (step.whole && is_row_kernel(g_, members_, root)))
      bind_program(s, root);
    else if (g_[root].kind() == op_kind::concat)
      bind_concat(s, root);
    else
      bind_plain(s, root);
  }

  void bind_program(bound_step& s, int root) {
    int room = 4;
    for (int n = members_.first[root]; n >= 0; n = members_.next[n]) {
      room += code_room_for(g_, n);
      registers_[n] = -1;
      for (int k = 0; k < g_[n].count; ++k) registers_[g_.operand(n, k)] = -1;
    }
    auto* inputs = m_.make<int>(room);
    auto* frames = m_.make<int>(room);
    auto* scalars = m_.make<int>(room);
    kernel_operands o{inputs, frames, 0, scalars, 0};
    const int* const via = s.step.whole ? p_.via : no_frames();
    arena scratch;
    code_collector(g_, unit_, via, root, nullptr, 0, {scratch.make<code_line>(room), registers_}, o, result_,
                   members_.first[root])
        .run();

    open_calls(s, 1);
    bound_call& c = next_call(s, o.input_count);
    add_seen(s, c, root, o, via);
    c.scalars = scalars;
    c.scalar_count = o.scalar_count;
    c.bits = m_.make<std::uint64_t>(o.scalar_count);  // set in each run
    c.call.scalars = c.bits;
    contiguous_strides(b_.shapes[root], c.call.out.stride);
    c.more = m_.make<operand_view>(s.step.more);
    c.call.more_outputs = s.step.more;
    c.call.more_out = c.more;
    for (int k = 0; k < s.step.more; ++k) c.more[k].type = g_[b_.values[s.step.value + 1 + k].node].type;
  }

  void bind_product(bound_step& s, int product) {
    open_calls(s, 1);
    bound_call& c = next_call(s, 3);
    const extents& out = b_.shapes[product];
    c.call.op = g_[product].op;
    c.call.space = out;
    c.call.form = products_;
    for (int k = 0; k < 2; ++k) {
      // The batch broadcasts; rows and columns are the operand's own.
      const extents& x = b_.shapes[g_.operand(product, k)];
      extents space = out;
      space.dims[out.rank - 2] = x.dims[x.rank - 2];
      space.dims[out.rank - 1] = x.dims[x.rank - 1];
      if (k == 0) c.call.inner = x.dims[x.rank - 1];
      add_node(s, c, g_.operand(product, k), &space);
    }
    if (s.step.node != product) {
      // The schedule kept the group whole, so the pattern is as the compiler found it.
      matmul_epilogue e;
      match_epilogue(g_, uses(), product, e);
      c.alpha_sign = e.sign_product;
      c.call.form.relu = e.relu;
      if (e.addend >= 0) {
        c.beta_sign = e.sign_addend;
        c.call.form.beta = e.sign_addend;
        add_node(s, c, e.addend, &out);
      }
      c.scalars = m_.make<int>(2);
      c.scalars[0] = e.alpha;
      c.scalars[1] = e.beta;
      c.scalar_count = 2;
    }
    contiguous_strides(out, c.call.out.stride);
  }

  /// For each node -1: no frame.
  const int* no_frames() {
    if (!no_frames_) {
      no_frames_ = m_.make<int>(g_.count);
      for (int n = 0; n < g_.count; ++n) no_frames_[n] = -1;
    }
    return no_frames_;
  }

  /// How often nodes are used, and by whom last.
  node_uses uses() {
    if (!uses_.count) uses_ = count_uses(g_, m_.make<int>(g_.count), m_.make<int>(g_.count));
    return uses_;
  }

  void bind_concat(bound_step& s, int root) {
    const graph_node& x = g_[root];
    const int axis = normalize_axis(static_cast<int>(x.op->attribute[0]), b_.shapes[root].rank);
    open_calls(s, x.count);
    std::int64_t position = 0;
    for (int k = 0; k < x.count; ++k) {
      const int o = g_.operand(root, k);
      bound_call& c = next_call(s, 1);
      c.call.space = b_.shapes[o];
      add_node(s, c, o, &c.call.space);
      contiguous_strides(b_.shapes[root], c.call.out.stride);
      c.out_offset = position * c.call.out.stride[axis] * size_of(x.type);
      position += b_.shapes[o].dims[axis];
    }
  }

  /// Softmax, and views that are made into contiguous memory.
  void bind_plain(bound_step& s, int root) {
    int x = g_.operand(root, 0);
    open_calls(s, 1);
    bound_call& c = next_call(s, 1);
    if (g_[root].kind() == op_kind::view) {
      int frame = is_reshape(g_, root) ? -1 : root;
      add_seen(s, c, root, {&x, &frame, 1, nullptr, 0}, nullptr);
    } else {
      c.call.space = b_.shapes[x];
      add_node(s, c, x, nullptr);
    }
    contiguous_strides(c.call.space, c.call.out.stride);
  }

  const compiled_program& p_;
  const graph_view& g_;
  const device_list& devices_;
  matmul_form products_;  // of all products: what the session says of them
  bound_program& b_;
  arena& m_;
  int* unit_ = nullptr;
  int* value_of_ = nullptr;
  int* registers_ = nullptr;
  bool* result_ = nullptr;
  kernel_members members_;
  int* no_frames_ = nullptr;
  node_uses uses_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
