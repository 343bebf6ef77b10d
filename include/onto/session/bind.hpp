// SPDX-License-Identifier: BSL-1.0
// Binding: a compiled program meets real devices and real shapes, and becomes steps whose every argument is known but for addresses.
#pragma once

#include <onto/graph/code.hpp>
#include <onto/graph/layout.hpp>
#include <onto/graph/schedule.hpp>
#include <onto/runtime/compiled_program.hpp>
#include <onto/session/requests.hpp>

#include <cstring>
#include <vector>

namespace onto::detail {

/// Where an operand's memory comes from at each run: a value of the plan, or a leaf.
struct operand_source {
  int value = -1;          // of the plan
  int leaf = -1;           // a feed, a constant or a variable
  std::int64_t offset = 0; // in bytes, of a view
};

/// One launch. Operands point into `views` of the bound step.
struct bound_call {
  kernel_call call;
  std::vector<operand_view> views;
  std::vector<operand_source> sources;
  std::vector<int> scalars;         // the scalar nodes, by slot; of a matrix product alpha and beta, or -1
  std::vector<std::uint64_t> bits;  // of each, for this run
  double alpha_sign = 1;            // of a matrix product
  double beta_sign = 0;             // 0: no addend
  std::int64_t out_offset = 0;      // bytes
};

struct bound_step {
  plan_step step;
  const kernel_entry* kernel = nullptr;
  int device = -1;       // index among the session's devices
  int from_device = -1;  // of a transfer
  std::vector<bound_call> calls;
  std::vector<int> waits;  // values that must have arrived: made on other devices
};

/// A program ready to run with given shapes on given devices.
struct bound_program {
  // What it was bound for.
  std::vector<extents> leaf_shapes;
  std::vector<place> places;
  std::vector<place> pinned;

  std::vector<extents> shapes;
  std::vector<node_placement> where;
  std::vector<plan_value> values;
  std::vector<bound_step> steps;
  std::vector<std::int64_t> block_bytes;  // per device
  schedule_counts counts;
};

/// Binds kernels' arguments.
class binder {
 public:
  binder(const compiled_program& p, const std::vector<place>& devices, bound_program& b) : p_(p), g_(p.graph), devices_(devices), b_(b) {}

  /// `shapes` and `where` of `b` are filled. Makes the schedule, the memory plan and the calls.
  void run() {
    const auto count = static_cast<std::size_t>(g_.count);
    std::size_t edges = 0;
    for (int n = 0; n < g_.count; ++n) edges += static_cast<std::size_t>(g_[n].count);
    const std::size_t room = count + edges + 2 * static_cast<std::size_t>(g_.fetch_count) + 1;
    std::vector<plan_step> steps(room);
    b_.values.resize(room);
    unit_.resize(count);
    std::vector<int> first(count), next(count), value_of(count);
    std::vector<unsigned char> done(count), split(count);
    for (int n = 0; n < g_.count; ++n)
      if (p_.root[n] == n && !fits(n)) split[static_cast<std::size_t>(n)] = 1;
    // bool arrays: vector<bool> is not one.
    std::unique_ptr<bool[]> done_flags(new bool[count]()), split_flags(new bool[count]());
    for (std::size_t n = 0; n < count; ++n) split_flags[n] = split[n] != 0;

    scheduler s(g_, p_.root, b_.shapes.data(), b_.where.data(),
                {steps.data(), b_.values.data(), unit_.data(), first.data(), next.data(), value_of.data(), done_flags.get()});
    b_.counts = s.run(split_flags.get());
    b_.values.resize(static_cast<std::size_t>(b_.counts.values));
    value_of_ = value_of;
    for (const place& d : devices_)
      b_.block_bytes.push_back(assign_offsets(b_.values.data(), b_.counts.values, d));
    for (int k = 0; k < b_.counts.steps; ++k) bind_step(steps[static_cast<std::size_t>(k)]);
  }

 private:
  const extents& shape(int n) const { return b_.shapes[static_cast<std::size_t>(n)]; }

  /// Whether a matrix product's epilogue still fits now that extents are known.
  bool fits(int root) const {
    for (int n = 0; n < root; ++n)
      if (p_.root[n] == root && g_[n].kind() == op_kind::matmul && !(shape(n) == shape(root))) return false;
    return true;
  }

  int device_index(const place& p) const {
    for (std::size_t d = 0; d < devices_.size(); ++d)
      if (devices_[d] == p) return static_cast<int>(d);
    return -1;
  }

  int find_value(int node, const place& at) const {
    for (int v = value_of_[static_cast<std::size_t>(node)]; v >= 0; v = b_.values[static_cast<std::size_t>(v)].next)
      if (b_.values[static_cast<std::size_t>(v)].at == at) return v;
    return -1;
  }

  /// Adds the operand for node `o`, read at `at`, over `space` (or with its own strides where `space` is null).
  void add_operand(bound_step& s, bound_call& c, int o, const place& at, const extents* space) {
    const int base = base_of(g_, p_.root, o);
    const view_layout l = layout_of(g_, p_.root, b_.shapes.data(), o);
    operand_view v;
    v.type = g_[o].type;
    if (space)
      broadcast_strides(shape(o), l.stride, *space, v.stride);
    else
      std::memcpy(v.stride, l.stride, sizeof v.stride);
    operand_source source;
    source.offset = l.offset * size_of(v.type);
    source.value = find_value(base, at);
    if (source.value < 0) source.leaf = base;
    if (source.value >= 0) s.waits.push_back(source.value);
    c.views.push_back(v);
    c.sources.push_back(source);
  }

  void finish(bound_step& s, bound_call& c, int out_node) {
    c.call.inputs = static_cast<int>(c.views.size());
    c.call.op = g_[s.step.node].op;
    c.call.out.type = g_[out_node].type;
    s.calls.push_back(static_cast<bound_call&&>(c));
  }

  void bind_step(const plan_step& step) {
    bound_step s;
    s.step = step;
    s.device = device_index(step.at);
    if (step.kind == step_kind::transfer) {
      s.from_device = device_index(step.from);
      if (step.source >= 0) s.waits.push_back(step.source);
    } else if (step.kind == step_kind::deliver) {
      s.kernel = nullptr;
      if (step.source >= 0) s.waits.push_back(step.source);
    } else {
      s.kernel = step.whole ? &p_.whole[step.node] : &p_.single[step.node];
      bind_kernel(s);
    }
    b_.steps.push_back(static_cast<bound_step&&>(s));
  }

  void bind_kernel(bound_step& s) {
    const int root = s.step.node;
    const place at = s.step.at;
    int product = -1;
    for (int n = 0; n <= root; ++n)
      if (unit_[static_cast<std::size_t>(n)] == root && g_[n].kind() == op_kind::matmul) product = n;
    if (product >= 0)
      bind_product(s, product, at);
    else if (has_code(g_, root))
      bind_program(s, root, at);
    else if (g_[root].kind() == op_kind::concat)
      bind_concat(s, root, at);
    else
      bind_plain(s, root, at);
  }

  void bind_program(bound_step& s, int root, const place& at) {
    const auto count = static_cast<std::size_t>(g_.count);
    std::size_t room = 4;
    for (int n = 0; n <= root; ++n)
      if (unit_[static_cast<std::size_t>(n)] == root) room += 2 * static_cast<std::size_t>(g_[n].count) + 1;
    std::vector<code_line> lines(room);
    std::vector<int> registers(count, -1), inputs(count), scalars(count);
    kernel_operands o{inputs.data(), 0, scalars.data(), 0};
    code_collector(g_, unit_.data(), root, nullptr, 0, {lines.data(), registers.data()}, o).run();

    bound_call c;
    c.call.space = g_[root].kind() == op_kind::reduce ? shape(g_.operand(root, 0)) : shape(root);
    for (int k = 0; k < o.input_count; ++k) add_operand(s, c, inputs[static_cast<std::size_t>(k)], at, &c.call.space);
    for (int k = 0; k < o.scalar_count; ++k)
      c.scalars.push_back(scalars[static_cast<std::size_t>(k)]);
    contiguous(g_[root].kind() == op_kind::reduce ? shape(root) : c.call.space, c.call.out.stride);
    finish(s, c, root);
  }

  void bind_product(bound_step& s, int product, const place& at) {
    const int root = s.step.node;
    bound_call c;
    const extents& out = shape(product);
    const int a = g_.operand(product, 0);
    const int b = g_.operand(product, 1);
    c.call.space = out;
    c.call.inner = shape(a).dims[shape(a).rank - 1];
    for (const int x : {a, b}) {
      // The batch broadcasts; rows and columns are the operand's own.
      extents space = out;
      space.dims[out.rank - 2] = shape(x).dims[shape(x).rank - 2];
      space.dims[out.rank - 1] = shape(x).dims[shape(x).rank - 1];
      add_operand(s, c, x, at, &space);
    }
    if (root != product) {
      // The scheduler kept the group whole, so the pattern holds.
      std::vector<int> uses(static_cast<std::size_t>(g_.count));
      for (int n = 0; n < g_.count; ++n)
        for (int k = 0; k < g_[n].count; ++k) ++uses[static_cast<std::size_t>(g_.operand(n, k))];
      for (int k = 0; k < g_.fetch_count; ++k) ++uses[static_cast<std::size_t>(g_.fetches[k])];
      matmul_epilogue e;
      match_epilogue(g_, uses.data(), product, e);
      c.alpha_sign = e.sign_product;
      c.call.form.relu = e.relu;
      if (e.addend >= 0) {
        c.beta_sign = e.sign_addend;
        add_operand(s, c, e.addend, at, &out);
      }
      c.scalars = {e.alpha, e.beta};
    }
    contiguous(out, c.call.out.stride);
    finish(s, c, product);
    s.calls.back().call.op = g_[product].op;
  }

  void bind_concat(bound_step& s, int root, const place& at) {
    const int axis = normalize_axis(static_cast<int>(g_[root].op->attribute[0]), shape(root).rank);
    std::int64_t stride[max_rank] = {};
    contiguous(shape(root), stride);
    std::int64_t position = 0;
    for (int k = 0; k < g_[root].count; ++k) {
      const int x = g_.operand(root, k);
      bound_call c;
      c.call.space = shape(x);
      add_operand(s, c, x, at, &c.call.space);
      std::memcpy(c.call.out.stride, stride, sizeof stride);
      c.out_offset = position * stride[axis] * size_of(g_[root].type);
      position += shape(x).dims[axis];
      finish(s, c, root);
    }
  }

  /// Softmax, and views that are made into contiguous memory.
  void bind_plain(bound_step& s, int root, const place& at) {
    const int x = g_.operand(root, 0);
    bound_call c;
    if (g_[root].kind() == op_kind::view && g_[root].op->attribute[0] != static_cast<int>(view_kind::reshape)) {
      // The view itself is what is copied: look through it at what is below.
      c.call.space = shape(root);
      const int base = base_of(g_, p_.root, x);
      const view_layout l = look_through(*g_[root].op, layout_of(g_, p_.root, b_.shapes.data(), x), shape(x), shape(root));
      operand_view v;
      v.type = g_[root].type;
      std::memcpy(v.stride, l.stride, sizeof v.stride);
      operand_source source;
      source.offset = l.offset * size_of(v.type);
      source.value = find_value(base, at);
      if (source.value < 0) source.leaf = base;
      if (source.value >= 0) s.waits.push_back(source.value);
      c.views.push_back(v);
      c.sources.push_back(source);
    } else {
      c.call.space = shape(x);
      add_operand(s, c, x, at, nullptr);
    }
    contiguous(c.call.space, c.call.out.stride);
    finish(s, c, root);
  }

  const compiled_program& p_;
  const graph_view& g_;
  const std::vector<place>& devices_;
  bound_program& b_;
  std::vector<int> unit_;
  std::vector<int> value_of_;
};

}  // namespace onto::detail
