// SPDX-License-Identifier: BSL-1.0
// Binding kernels' arguments: which kernel a step launches, over which space, and how each operand lies in memory.
#pragma once

#include <onto/graph/index_map.hpp>
#include <onto/graph/kernel_codegen.hpp>
#include <onto/session/bound_call.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// What is bound: a program, the shapes of its nodes, and its schedule.
struct call_input {
  const compiled_program& program;
  const extents* shapes;
  const plan_value* values;
  const int* value_of;          // per node its first value, or -1
  kernel_partition units;       // kernels as they are scheduled
  const matmul_form& products;  // what the session says of all matrix products
};

/// `Memory` is an arena, or what stands for one while compiling.
template <class Memory>
class call_binder {
 public:
  constexpr call_binder(const call_input& in, Memory& memory)
      : p_(in.program),
        g_(p_.graph),
        products_(in.products),
        b_(in),
        m_(memory),
        units_(in.units),
        value_of_(in.value_of),
        registers_(m_.template make<int>(g_.count)) {}

  /// Finds the kernel of a step, and what it is called with.
  ONTO_NOINLINE constexpr void bind(bound_step& s, const plan_step& step) {
    s.step = step;
    if (step.kind != step_kind::kernel) {
      if (step.kind != step_kind::transfer) return;
      const bool has_rows = step.source >= 0 && b_.values[step.source].node == step.node;
      s.from_node = has_rows ? step.node : base_of(g_, units_, step.node);
      if (s.from_node != step.node)
        s.from_offset = layout_of(g_, units_, b_.shapes, step.node, s.from_node).offset * size_of(g_[step.node].type);
      return;
    }
    const int root = step.node;
    const int product = product_of(g_, units_, root);
    s.kernel = step.whole ? &p_.whole[root] : units_.is_single(root) ? &p_.single[root] : &p_.parts[root];
    const int made = product >= 0 ? product : root;
    if (g_[made].kind() == op_kind::matmul)
      bind_product(s, made);
    else if (g_[made].kind() == op_kind::own_kernel)
      bind_own(s, made);
    else if (step.batched > 1)
      bind_batch(s, root);
    else if (has_code(g_, units_, root) || (step.whole && is_row_kernel(g_, units_, root) && !is_lone_softmax(root)))
      bind_program(s, root);
    else if (g_[root].kind() == op_kind::concat)
      bind_concat(s, root);
    else
      bind_plain(s, root);
    for (int k = 0; k < s.call_count; ++k) clear_empty_extents(s.calls[k].call);
  }

 private:
  /// Kernels multiply a space's extents in orders of their own. Where there are no elements, a product of some of the
  /// extents may be more than any number holds: those of a dimension that is 0 in any case are made 0.
  static constexpr void clear_empty_extents(kernel_call& c) {
    std::int64_t n = 1;
    for (int k = 0; k < c.space.rank; ++k) n = times(n, c.space.dims[k] == 0 ? 1 : c.space.dims[k]);
    if (n != most_count) return;
    const unsigned folded = c.op->kind == op_kind::reduce ? folded_axes(*c.op, c.space.rank) : 0;
    bool results = true;
    for (int k = 0; k < c.space.rank; ++k) results = results && (folded >> k & 1u || c.space.dims[k] != 0);
    for (int k = 0; k < c.space.rank; ++k)
      if (folded >> k & 1u || !results) c.space.dims[k] = 0;
  }

  constexpr int find_value(int node, const place& at) const {
    for (int v = value_of_[node]; v >= 0; v = b_.values[v].next)
      if (b_.values[v].at == at) return v;
    return -1;
  }

  constexpr void open_calls(bound_step& s, int calls) { s.calls = m_.template make<bound_call>(calls); }

  constexpr bound_call& next_call(bound_step& s, int operands) { return next_call(s, operands, s.step.node); }
  constexpr bound_call& next_call(bound_step& s, int operands, int root) {
    bound_call& c = s.calls[s.call_count++];
    c.views = m_.template make<operand_view>(operands);
    c.sources = m_.template make<operand_source>(operands);
    c.call.op = g_[root].op;
    c.call.half_precision = p_.half_precision;
    c.call.out.type = g_[root].type;
    return c;
  }

  /// The node whose memory on the device of a step holds the elements of `o`.
  constexpr int held_at(const bound_step& s, int o) const {
    return find_held(g_, units_, o, [&](int n) { return find_value(n, s.step.at) >= 0; });
  }

  /// Adds an operand: the elements of node `o` with a layout, over `space` (or with the layout's own strides where it
  /// is null).
  constexpr void add_operand(bound_step& s, bound_call& c, int o, const view_layout& l, const extents& shape,
                             const extents* space) {
    const int held = held_at(s, o);
    operand_view& v = c.views[c.call.inputs];
    operand_source& source = c.sources[c.call.inputs++];
    v.type = g_[o].type;
    if (space)
      broadcast_strides(shape, l.stride, *space, v.stride);
    else
      for (int k = 0; k < max_rank; ++k) v.stride[k] = l.stride[k];
    c.call.rolls = c.call.rolls || l.rolls;
    int* const rolled = l.rolls ? m_.template make<int>(max_rank) : nullptr;
    for (int k = 0; rolled && k < max_rank; ++k) rolled[k] = l.rolled[k];
    v.rolled = rolled;
    source.offset = l.offset * size_of(v.type);
    source.value = find_value(held, s.step.at);
    if (source.value < 0) source.leaf = held;
  }

  constexpr void add_node(bound_step& s, bound_call& c, int o, const extents* space) {
    add_operand(s, c, o, layout_of(g_, units_, b_.shapes, o, held_at(s, o)), b_.shapes[o], space);
  }

  /// Adds what is added to a product's elements in shape `whole`, seen in the product's own, `space`.
  constexpr void add_reshaped(bound_step& s, bound_call& c, int o, const extents& whole, const extents& space) {
    view_layout l = layout_of(g_, units_, b_.shapes, o, held_at(s, o));
    std::int64_t stride[max_rank]{};
    broadcast_strides(b_.shapes[o], l.stride, whole, stride);
    reshape_strides(whole, stride, space, l.stride);
    add_operand(s, c, o, l, space, nullptr);
  }

  /// Adds the operands of a kernel, each seen through its view path, and the space of the call.
  constexpr void add_operands(bound_step& s, bound_call& c, int root, const kernel_operands& o, const int* path_of) {
    const extents& space = b_.shapes[space_of(g_, root)];
    extents all = space;
    int axis[max_rank];
    for (int k = 0; k < all.rank; ++k) axis[k] = k;
    Memory scratch;
    auto* const seen = scratch.template make<index_map>(o.input_count);
    for (int k = 0; k < o.input_count; ++k) {
      seen[k] = index_map_of(g_, units_, path_of, b_.shapes, o.inputs[k], held_at(s, o.inputs[k]), o.paths[k], space);
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
    if (g_[root].kind() == op_kind::reduce && (!(all == space) || folds_to_extents_of(root))) {
      c.call.op =
          reduce_of(folds_to_extents_of(root) ? fold_to_extents(root, space) : *g_[root].op, axis, all.rank, space);
      c.own_op = true;
    }
  }

  /// Of a reduction that folds what its operand has more of than its result: now that extents are known, the axes.
  constexpr bool folds_to_extents_of(int root) const {
    return g_[root].made >= 0 && g_[root].op->attribute[2] == folds_to_extents;
  }
  constexpr op_info fold_to_extents(int root, const extents& space) const {
    unsigned set = 0;
    for (int k = 0; k < space.rank; ++k) set |= (b_.shapes[root][k] != space[k] ? 1u : 0u) << k;
    return set ? with_axes(*g_[root].op, set) : *g_[root].op;
  }

  /// The reduction of a space whose axes are parts of those of another one.
  constexpr const op_info* reduce_of(const op_info& op, const int* axis, int rank, const extents& space) {
    const unsigned folded = folded_axes(op, space.rank);
    unsigned set = 0;
    for (int d = 0; d < rank; ++d) set |= (folded >> axis[d] & 1u) << d;
    auto* r = m_.template make<op_info>(1);
    *r = folds_all(op) || set == 0 ? op : with_axes(op, set);
    return r;
  }

  constexpr bool is_lone_softmax(int root) const { return p_.lone_softmax && p_.lone_softmax[root]; }

  /// How the kernel of a step evaluates what may be several nodes; an operation alone, always per use.
  constexpr evaluation how_of(const bound_step& s, int root) const {
    return s.step.whole ? p_.how[root] : units_.is_single(root) ? evaluation::per_use : p_.part_how[root];
  }

  constexpr void bind_program(bound_step& s, int root) {
    open_calls(s, 1);
    kernel_partition kernels = units_;
    if (!s.step.whole) kernels.path_of = no_paths();
    bind_code(s, root, kernels);
  }

  /// A call for each kernel of a batch, in the order of their values.
  constexpr void bind_batch(bound_step& s, int last) {
    open_calls(s, s.step.batched);
    bind_code(s, last, p_.kernels);
    for (int m = units_.first_member[last]; m >= 0; m = units_.next_member[m])
      if (p_.kernels.kernel_of[m] == m && m != last) bind_code(s, m, p_.kernels);
  }

  /// The call of a kernel that is a program of instructions.
  constexpr void bind_code(bound_step& s, int root, const kernel_partition& kernels) {
    int capacity = 4 + 3 * most_repeated, more = 0;
    for (int n = kernels.first_member[root]; n >= 0; n = kernels.next_member[n]) {
      if (n != root && units_.result[n]) ++more;
      capacity += most_instructions_of(g_, n);
      registers_[n] = -1;
      for (int k = 0; k < g_[n].count; ++k) registers_[g_.operand(n, k)] = -1;
    }
    auto* inputs = m_.template make<int>(capacity);
    auto* paths = m_.template make<int>(capacity);
    auto* scalars = m_.template make<int>(capacity);
    kernel_operands o{inputs, paths, 0, scalars, 0};
    Memory scratch;
    kernel_codegen(g_, kernels, root, nullptr, 0, {scratch.template make<kernel_instruction>(capacity), registers_}, o,
                   how_of(s, root))
        .run();

    const int first =
        s.call_count == 0 ? 0 : s.calls[s.call_count - 1].first_value + s.calls[s.call_count - 1].call.more_outputs + 1;
    bound_call& c = next_call(s, o.input_count, root);
    c.first_value = first;
    add_operands(s, c, root, o, kernels.path_of);
    if (const int axis = row_axis_of_kernel(g_, kernels, root); axis > 0) c.call.row_axis = axis;
    c.scalars = scalars;
    c.scalar_count = o.scalar_count;
    c.bits = m_.template make<std::uint64_t>(o.scalar_count);  // set in each run
    c.call.scalars = c.bits;
    contiguous_strides(b_.shapes[root], c.call.out.stride);
    c.more = m_.template make<operand_view>(more);
    c.call.more_outputs = more;
    c.call.more_out = c.more;
    for (int k = 0; k < more; ++k) c.more[k].type = g_[b_.values[s.step.value + first + 1 + k].node].type;
  }

  constexpr void bind_product(bound_step& s, int product) {
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
    bind_epilogue(s, c, product);
    contiguous_strides(out, c.call.out.stride);
  }

  /// What a product's kernel does beside multiplying; the addend is its last operand.
  constexpr void bind_epilogue(bound_step& s, bound_call& c, int product) {
    if (s.step.node == product) return;
    // The schedule kept the group whole, so the pattern is as the compiler found it.
    const matmul_epilogue& e = p_.kernels.epilogue_of(product);
    c.alpha_sign = e.sign_product;
    c.call.form.relu = e.relu;
    if (e.addend >= 0) {
      c.beta_sign = e.sign_addend;
      c.call.form.beta = e.sign_addend;
      add_reshaped(s, c, e.addend, b_.shapes[e.view >= 0 ? e.view : product], b_.shapes[product]);
    }
    c.scalars = m_.template make<int>(2);
    c.scalars[0] = e.alpha;
    c.scalars[1] = e.beta;
    c.scalar_count = 2;
  }

  /// An operation with a kernel of its own: operands with the strides of their own shapes, and of a convolution its
  /// epilogue. Kernels are told the shapes of the operands, of an addend, which is as the result, and of the result.
  constexpr void bind_own(bound_step& s, int n) {
    const int operands = g_[n].count;
    open_calls(s, 1);
    bound_call& c = next_call(s, operands + 1, n);
    c.call.space = b_.shapes[g_.operand(n, 0)];
    for (int k = 0; k < operands; ++k) add_node(s, c, g_.operand(n, k), nullptr);
    c.call.form.tf32 = products_.tf32;  // of convolutions
    if (g_[n].has_epilogue()) bind_epilogue(s, c, n);
    auto* const shapes = m_.template make<extents>(c.call.inputs + 1);
    for (int k = 0; k <= c.call.inputs; ++k) shapes[k] = b_.shapes[k < operands ? g_.operand(n, k) : n];
    c.call.shapes = shapes;
    contiguous_strides(b_.shapes[n], c.call.out.stride);
  }

  /// For each node -1: no path.
  constexpr const int* no_paths() {
    if (!no_paths_) {
      no_paths_ = m_.template make<int>(g_.count);
      for (int n = 0; n < g_.count; ++n) no_paths_[n] = -1;
    }
    return no_paths_;
  }

  constexpr void bind_concat(bound_step& s, int root) {
    const graph_node& x = g_[root];
    const int axis = normalize_axis(static_cast<int>(x.op->attribute[0]), b_.shapes[root].rank);
    if (is_part_of_concat(x)) return bind_part_of_concat(s, root, axis);
    std::int64_t stride[max_rank]{};
    contiguous_strides(b_.shapes[root], stride);
    open_calls(s, bind_parts(s, root, root, stride, 0));
    bind_parts(s, root, root, stride, 0);
  }

  /// A call for each part of concatenation `n`, which lies in the result of `root` with these strides, from `offset`
  /// on; what is made in this kernel comes apart. *Returns* how many: before there is room for calls, that alone.
  constexpr int bind_parts(bound_step& s, int n, int root, const std::int64_t* stride, std::int64_t offset) {
    const int axis = normalize_axis(static_cast<int>(g_[n].op->attribute[0]), b_.shapes[n].rank);
    int parts = 0;
    for (int k = 0; k < g_[n].count; ++k) {
      const int o = g_.operand(n, k), made = is_reshape(g_, o) ? g_.operand(o, 0) : o;
      if (units_.kernel_of[made] == root) {
        std::int64_t below[max_rank]{};
        reshape_strides(b_.shapes[o], stride, b_.shapes[made], below);
        parts += bind_parts(s, made, root, below, offset);
      } else if (++parts; s.calls) {
        bound_call& c = next_call(s, 1);
        c.call.space = b_.shapes[o];
        add_node(s, c, o, &c.call.space);
        for (int d = 0; d < max_rank; ++d) c.call.out.stride[d] = stride[d];
        c.out_offset = offset * size_of(g_[root].type);
      }
      offset += b_.shapes[o].dims[axis] * stride[axis];
    }
    return parts;
  }

  ONTO_INLINE constexpr void bind_part_of_concat(bound_step& s, int root, int axis) {
    std::int64_t position = 0;
    for (int k = 2; k < g_[root].count; ++k) position += b_.shapes[g_.operand(root, k)].dims[axis];
    open_calls(s, 1);
    bound_call& c = next_call(s, 1);
    const int all = g_.operand(root, 0);
    c.call.space = b_.shapes[root];
    view_layout from = layout_of(g_, units_, b_.shapes, all, held_at(s, all));
    from.offset += position * from.stride[axis];
    add_operand(s, c, all, from, c.call.space, &c.call.space);
    contiguous_strides(c.call.space, c.call.out.stride);
  }

  /// Softmax, and views that are made into contiguous memory.
  constexpr void bind_plain(bound_step& s, int root) {
    int x = g_.operand(root, 0);
    if (is_roll(g_, root)) return bind_roll(s, root, x);
    open_calls(s, 1);
    bound_call& c = next_call(s, 1);
    if (g_[root].kind() == op_kind::view) {
      int path = is_reshape(g_, root) ? -1 : root;
      add_operands(s, c, root, {&x, &path, 1, nullptr, 0}, no_paths());
    } else {
      c.call.space = b_.shapes[x];
      add_node(s, c, x, nullptr);
    }
    contiguous_strides(c.call.space, c.call.out.stride);
  }

  /// A roll in memory: what is before the end of the axis, and what comes from its beginning.
  ONTO_INLINE constexpr void bind_roll(bound_step& s, int root, int x) {
    extents space = b_.shapes[root];
    const int axis = rolled_axis(*g_[root].op, space.rank), extent = space.dims[axis],
              by = rolled_by(*g_[root].op, extent);
    open_calls(s, 2);
    for (int part = 0; part < 2; ++part) {
      bound_call& c = next_call(s, 1);
      contiguous_strides(b_.shapes[root], c.call.out.stride);
      c.out_offset = part * (extent - by) * c.call.out.stride[axis] * size_of(g_[root].type);
      view_layout from = layout_of(g_, units_, b_.shapes, x, held_at(s, x));
      from.offset += (1 - part) * by * from.stride[axis];
      space.dims[axis] = part == 0 ? extent - by : by;
      c.call.space = space;
      add_operand(s, c, x, from, space, nullptr);
    }
  }

  const compiled_program& p_;
  const graph_view& g_;
  const matmul_form& products_;
  const call_input& b_;
  Memory& m_;
  kernel_partition units_;
  const int* value_of_;
  int* registers_;
  int* no_paths_ = nullptr;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
