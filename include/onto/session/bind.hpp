// SPDX-License-Identifier: BSL-1.0
// Binding: a compiled program meets real devices and real shapes, and becomes steps whose every argument is known but
// for addresses.
#pragma once

#include <onto/graph/code.hpp>
#include <onto/graph/layout.hpp>
#include <onto/graph/schedule.hpp>
#include <onto/runtime/compiled_program.hpp>
#include <onto/session/requests.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Where an operand's memory comes from at each run: a value of the plan, or a leaf.
struct operand_source {
  int value = -1;           // of the plan
  int leaf = -1;            // a feed, a constant or a variable
  std::int64_t offset = 0;  // in bytes, of a view
};

/// One launch.
struct bound_call {
  kernel_call call;
  operand_view* views = nullptr;  // call.inputs of them
  operand_source* sources = nullptr;
  int* scalars = nullptr;  // the scalar nodes, by slot; of a matrix product alpha and beta, or -1
  int scalar_count = 0;
  std::uint64_t* bits = nullptr;  // of each, for this run
  double alpha_sign = 1;          // of a matrix product
  double beta_sign = 0;           // 0: no addend
  std::int64_t out_offset = 0;    // bytes
};

struct bound_step {
  plan_step step;
  const kernel_entry* kernel = nullptr;
  int device = -1;       // index among the session's devices
  int from_device = -1;  // of a transfer
  bound_call* calls = nullptr;
  int call_count = 0;
  int* waits = nullptr;  // values that must have arrived: made on other devices
  int wait_count = 0;
};

/// A program ready to run with given shapes on given devices. One run has it at a time.
struct bound_program {
  // What it was bound for.
  const compiled_program* program = nullptr;
  extents* leaf_shapes = nullptr;
  place* places = nullptr;
  place* pinned = nullptr;

  extents* shapes = nullptr;
  node_placement* where = nullptr;
  plan_value* values = nullptr;
  bound_step* steps = nullptr;
  std::int64_t* block_bytes = nullptr;  // per device
  schedule_counts counts;

  arena memory;
  bound_program* next = nullptr;
};

/// Binds kernels' arguments.
class binder {
 public:
  binder(const device_list& devices, bound_program& b)
      : p_(*b.program), g_(p_.graph), devices_(devices), b_(b), m_(b.memory) {}

  /// `shapes` and `where` of the program are filled. Makes the schedule, the memory plan and the calls.
  ONTO_NOINLINE void run() {
    int room = g_.count + 2 * g_.fetch_count + 1;
    for (int n = 0; n < g_.count; ++n) room += g_[n].count;
    auto* steps = m_.make<plan_step>(room);
    b_.values = m_.make<plan_value>(room);
    unit_ = m_.make<int>(g_.count);
    value_of_ = m_.make<int>(g_.count);
    registers_ = m_.make<int>(g_.count);
    auto* split = m_.make<bool>(g_.count);
    for (int n = 0; n < g_.count; ++n) split[n] = p_.root[n] == n && !fits(n);
    scheduler s(
        g_, p_.root, b_.shapes, b_.where,
        {steps, b_.values, unit_, m_.make<int>(g_.count), m_.make<int>(g_.count), value_of_, m_.make<bool>(g_.count)});
    b_.counts = s.run(split);
    b_.block_bytes = m_.make<std::int64_t>(devices_.count());
    for (int d = 0; d < devices_.count(); ++d)
      b_.block_bytes[d] = assign_offsets(b_.values, b_.counts.values, devices_[d].where());
    b_.steps = m_.make<bound_step>(b_.counts.steps);
    for (int k = 0; k < b_.counts.steps; ++k) bind_step(b_.steps[k], steps[k]);
  }

 private:
  /// Whether a matrix product's epilogue still fits now that extents are known.
  bool fits(int root) const {
    for (int n = 0; n < root; ++n)
      if (p_.root[n] == root && g_[n].kind() == op_kind::matmul && !(b_.shapes[n] == b_.shapes[root])) return false;
    return true;
  }

  int find_value(int node, const place& at) const {
    for (int v = value_of_[node]; v >= 0; v = b_.values[v].next)
      if (b_.values[v].at == at) return v;
    return -1;
  }

  void open_calls(bound_step& s, int calls, int operands) {
    s.calls = m_.make<bound_call>(calls);
    s.waits = m_.make<int>(operands);
  }

  bound_call& next_call(bound_step& s, int operands) {
    bound_call& c = s.calls[s.call_count++];
    c.views = m_.make<operand_view>(operands);
    c.sources = m_.make<operand_source>(operands);
    c.call.op = g_[s.step.node].op;
    c.call.out.type = g_[s.step.node].type;
    return c;
  }

  /// Adds an operand: the elements of node `o` with a layout, over `space` (or with the layout's own strides where it
  /// is null).
  void add_operand(bound_step& s, bound_call& c, int o, const view_layout& l, const extents& shape,
                   const extents* space) {
    const int base = base_of(g_, p_.root, o);
    operand_view& v = c.views[c.call.inputs];
    operand_source& source = c.sources[c.call.inputs++];
    v.type = g_[o].type;
    if (space)
      broadcast_strides(shape, l.stride, *space, v.stride);
    else
      for (int k = 0; k < max_rank; ++k) v.stride[k] = l.stride[k];
    source.offset = l.offset * size_of(v.type);
    source.value = find_value(base, s.step.at);
    if (source.value < 0)
      source.leaf = base;
    else
      s.waits[s.wait_count++] = source.value;
  }

  void add_node(bound_step& s, bound_call& c, int o, const extents* space) {
    add_operand(s, c, o, layout_of(g_, p_.root, b_.shapes, o), b_.shapes[o], space);
  }

  ONTO_NOINLINE void bind_step(bound_step& s, const plan_step& step) {
    s.step = step;
    s.device = devices_.index_of(step.at);
    if (step.kind != step_kind::kernel) {
      if (step.kind == step_kind::transfer) s.from_device = devices_.index_of(step.from);
      if (step.source >= 0) {
        s.waits = m_.make<int>(1);
        s.waits[s.wait_count++] = step.source;
      }
      return;
    }
    const int root = step.node;
    s.kernel = step.whole ? &p_.whole[root] : &p_.single[root];
    int product = -1;
    for (int n = 0; n <= root; ++n)
      if (unit_[n] == root && g_[n].kind() == op_kind::matmul) product = n;
    if (product >= 0)
      bind_product(s, product);
    else if (has_code(g_, root))
      bind_program(s, root);
    else if (g_[root].kind() == op_kind::concat)
      bind_concat(s, root);
    else
      bind_plain(s, root);
  }

  void bind_program(bound_step& s, int root) {
    int room = 4;
    for (int n = 0; n <= root; ++n) {
      registers_[n] = -1;
      if (unit_[n] == root) room += 2 * g_[n].count + 1;
    }
    auto* inputs = m_.make<int>(room);
    auto* scalars = m_.make<int>(room);
    kernel_operands o{inputs, 0, scalars, 0};
    code_collector(g_, unit_, root, nullptr, 0, {m_.make<code_line>(room), registers_}, o).run();

    const bool folds = g_[root].kind() == op_kind::reduce;
    open_calls(s, 1, o.input_count);
    bound_call& c = next_call(s, o.input_count);
    c.call.space = b_.shapes[folds ? g_.operand(root, 0) : root];
    for (int k = 0; k < o.input_count; ++k) add_node(s, c, inputs[k], &c.call.space);
    c.scalars = scalars;
    c.scalar_count = o.scalar_count;
    c.bits = m_.make<std::uint64_t>(o.scalar_count);
    contiguous_strides(b_.shapes[root], c.call.out.stride);
  }

  void bind_product(bound_step& s, int product) {
    open_calls(s, 1, 3);
    bound_call& c = next_call(s, 3);
    const extents& out = b_.shapes[product];
    c.call.op = g_[product].op;
    c.call.space = out;
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
      auto* uses = m_.make<int>(g_.count);
      for (int n = 0; n < g_.count; ++n)
        for (int k = 0; k < g_[n].count; ++k) ++uses[g_.operand(n, k)];
      for (int k = 0; k < g_.fetch_count; ++k) ++uses[g_.fetches[k]];
      matmul_epilogue e;
      match_epilogue(g_, uses, product, e);
      c.alpha_sign = e.sign_product;
      c.call.form.relu = e.relu;
      if (e.addend >= 0) {
        c.beta_sign = e.sign_addend;
        add_node(s, c, e.addend, &out);
      }
      c.scalars = m_.make<int>(2);
      c.scalars[0] = e.alpha;
      c.scalars[1] = e.beta;
      c.scalar_count = 2;
    }
    contiguous_strides(out, c.call.out.stride);
  }

  void bind_concat(bound_step& s, int root) {
    const graph_node& x = g_[root];
    const int axis = normalize_axis(static_cast<int>(x.op->attribute[0]), b_.shapes[root].rank);
    open_calls(s, x.count, x.count);
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
    const int x = g_.operand(root, 0);
    open_calls(s, 1, 1);
    bound_call& c = next_call(s, 1);
    if (g_[root].kind() == op_kind::view && g_[root].op->attribute[0] != static_cast<int>(view_kind::reshape)) {
      // What is copied is the view itself: look through it at what is below.
      c.call.space = b_.shapes[root];
      const view_layout below = layout_of(g_, p_.root, b_.shapes, x);
      add_operand(s, c, x, look_through(*g_[root].op, below, b_.shapes[x], b_.shapes[root]), b_.shapes[root], nullptr);
    } else {
      c.call.space = b_.shapes[x];
      add_node(s, c, x, nullptr);
    }
    contiguous_strides(c.call.space, c.call.out.stride);
  }

  const compiled_program& p_;
  const graph_view& g_;
  const device_list& devices_;
  bound_program& b_;
  arena& m_;
  int* unit_ = nullptr;
  int* value_of_ = nullptr;
  int* registers_ = nullptr;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
