// SPDX-License-Identifier: BSL-1.0
// From a fused group of nodes to a kernel: the group becomes a program type, and that an entry point on every backend.
#pragma once

#include <onto/expr/named.hpp>
#include <onto/graph/kernel_codegen.hpp>
#include <onto/graph/lowering.hpp>
#include <onto/graph/placer.hpp>
#include <onto/kernel/program.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/plan/plan.hpp>
#include <onto/runtime/compiled_program.hpp>
#include <onto/session/backends.hpp>
#include <onto/session/row_kernels.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

// With and without CUDA the same kernels have other entry points: in one program both may be linked, so they differ in
// name.
namespace onto::detail {
inline namespace ONTO_ABI {

// The operation types of an expression by number.
template <int K, class Op>
struct numbered_op {};
template <class Indices, class... Ops>
struct op_index;
template <int... K, class... Ops>
struct op_index<std::integer_sequence<int, K...>, Ops...> : numbered_op<K, Ops>... {};
template <int K, class Op>
type_box<Op> op_number(const numbered_op<K, Op>&);

template <class List>
struct op_table;
template <class... Ops>
struct op_table<op_list<Ops...>> {
  using index = op_index<std::make_integer_sequence<int, static_cast<int>(sizeof...(Ops))>, Ops...>;
  static constexpr int count = sizeof...(Ops);

  template <class Op>
  static constexpr std::uint64_t hash() {
    if constexpr (requires { Op::infer; })
      return op_info_of<Op>.hash;
    else
      return 0;  // a variable: listed to be found, not run
  }
  static constexpr std::uint64_t hashes[count + 1] = {hash<Ops>()..., 0};

  template <int K>
  struct op_at {
    using type = typename decltype(op_number<K>(index{}))::type;
  };
};

/// An operation as kernels know it: without its extents where they do not matter to an element, so that a kernel is
/// compiled once and not for each shape.
template <class Op>
struct op_in_kernels {
  using type = Op;
};
template <class Op>
  requires requires { typename Op::of_any_shape; }
struct op_in_kernels<Op> {
  using type = typename Op::of_any_shape;
};

template <class Table, int K>
struct op_or_load {
  using type = typename op_in_kernels<typename Table::template op_at<K>::type>::type;
};
template <class Table>
struct op_or_load<Table, kernel_instruction::input> {
  using type = load_input;
};
template <class Table>
struct op_or_load<Table, kernel_instruction::scalar> {
  using type = load_scalar;
};
template <class Table>
struct op_or_load<Table, kernel_instruction::store> {
  using type = store_result;
};

/// An operation as the CPU runs it. What only rounds, and is `Stored` next, leaves that to the store.
template <class Op, bool Stored>
struct op_in_floats {
  using type = Op;
};
template <class T>
  requires(is_half_precision(element_of<T>))
struct op_in_floats<op::cast<T>, true> {
  using type = op::cast<float>;
};

/// The program of the kernel with this root. The CPU's is made with `Floats`: half and bfloat16 are float there, and so
/// a program over them is the one over float.
template <class Graph, class Table, int Root, extent_of_kernel Extent, evaluation How>
struct kernel_program {
  static constexpr int nodes = Graph::view.count;
  static constexpr bool Whole = Extent != extent_of_kernel::single;
  static constexpr bool Part = Extent == extent_of_kernel::part;

  /// A node may be loaded once for each operand that it is.
  static constexpr int loads = nodes + (Whole ? Graph::lowered::sizes.operands : Graph::view[Root].count) +
                               (How == evaluation::per_use ? most_repeated : 0);

  struct code {
    int count = 0;
    kernel_instruction lines[Whole ? 2 * nodes + loads + 2 : 2 * Graph::view[Root].count + 2]{};
  };

  static constexpr code collect() {
    code c;
    int registers[nodes]{};
    int inputs[loads]{};
    int paths[loads]{};
    int scalars[loads]{};
    for (int n = 0; n < nodes; ++n) registers[n] = -1;
    stored_kernels<nodes> alone;
    if constexpr (!Whole) {
      alone.arrays().clear(nodes);
      alone.arrays().prepend(Root, Root);
    }
    const kernel_partition kernels = Part ? fused<Graph>::parts : Whole ? fused<Graph>::value : alone.view();
    kernel_operands o{inputs, paths, 0, scalars, 0};
    c.count =
        kernel_codegen(Graph::view, kernels, Root, Table::hashes, Table::count, {c.lines, registers}, o, How).run();
    return c;
  }
  static constexpr code value = collect();

  static constexpr kernel_key key() {
    return {value.lines, value.count, reduction_of_kernel(Graph::view, Root), row_order::none};
  }

  static constexpr bool has_half_precision() {
    for (int k = 0; k < value.count; ++k)
      if (is_half_precision(value.lines[k].type)) return true;
    return false;
  }
  /// Whether instruction `k` makes the result of a map from floats.
  static constexpr bool is_stored(int k) {
    return k + 1 == value.count && Graph::view[Root].kind() != op_kind::reduce &&
           computed_as(value.lines[value.lines[k].argument[0]].type) == element::float32;
  }

  template <int K, int... A>
  static auto line(std::integer_sequence<int, A...>) -> instruction<typename op_or_load<Table, value.lines[K].op>::type,
                                                                    value.lines[K].type, value.lines[K].argument[A]...>;
  template <int K, int... A>
  static auto float_line(std::integer_sequence<int, A...>)
      -> instruction<typename op_in_floats<typename op_or_load<Table, value.lines[K].op>::type, is_stored(K)>::type,
                     computed_as(value.lines[K].type), value.lines[K].argument[A]...>;

  template <int... K>
  static auto spell(std::integer_sequence<int, K...>)
      -> program<decltype(line<K>(std::make_integer_sequence<int, value.lines[K].count>{}))...>;
  template <int... K>
  static auto spell_floats(std::integer_sequence<int, K...>)
      -> program<decltype(float_line<K>(std::make_integer_sequence<int, value.lines[K].count>{}))...>;

  // A function and not a member type: nvcc's stub of a kernel names every member type on the way to the kernel's own
  // type, and so spells the whole expression, at a place where a `named` one is not known yet.
  template <bool Floats>
  static auto make() {
    if constexpr (Floats && has_half_precision())
      return decltype(spell_floats(std::make_integer_sequence<int, value.count>{})){};
    else
      return decltype(spell(std::make_integer_sequence<int, value.count>{})){};
  }
};

/// The sizes of a graph's elements, as a set: the sum of 1, 2, 4 and 8.
constexpr int element_sizes(const graph_view& g) {
  int sizes = 0;
  for (int n = 0; n < g.count; ++n) sizes |= size_of(g[n].type);
  return sizes;
}

constexpr bool has_views(const graph_view& g) {
  for (int n = 0; n < g.count; ++n)
    if (g[n].kind() == op_kind::view) return true;
  return false;
}

/// The kernel that copies elements of these sizes, on every backend.
template <int Sizes, class... B>
constexpr kernel_entry copy_kernel(backend_list<B...>) {
  kernel_entry e;
  ((e.launch[B::slot] = backend_kernels<B>::template copy<Sizes>()), ...);
  return e;
}

/// The operation of a node.
template <class Graph, class Table, int Node>
constexpr auto operation_of() {
  constexpr auto find = [] {
    int k = 0;
    while (Table::hashes[k] != Graph::view[Node].op->hash) ++k;
    return k;
  };
  return type_box<typename Table::template op_at<find()>::type>{};
}

/// How many kernels are one launch with that of this root; at least 1.
template <class Graph, int Root, extent_of_kernel Extent>
constexpr int count_batched() {
  const kernel_partition& kernels = fused<Graph>::value;
  if (Extent != extent_of_kernel::whole || kernels.kernel_of[Root] != Root || kernels.batch_of[Root] < 0) return 1;
  int count = 0;
  for (int n = 0; n < Graph::view.count; ++n)
    count += kernels.kernel_of[n] == n && kernels.batch_of[n] == kernels.batch_of[Root] ? 1 : 0;
  return count;
}

/// An elementwise kernel; where `Batched` of them may be one launch, one that goes over all of them, if the backend has
/// it.
template <class Backend, class Program, extent_of_kernel Extent, int Batched, int Sizes, bool Views>
constexpr backend_kernel map_kernel() {
  if constexpr (Batched > 1)
    if constexpr (constexpr backend_kernel batch = Backend::template map_batch<Program, Batched, Sizes, Views>();
                  batch.known)
      return batch;
    else
      return Backend::template map<Program, Extent, Sizes, Views>();
  else
    return Backend::template map<Program, Extent, Sizes, Views>();
}

template <class Graph, int Root, extent_of_kernel Extent>
constexpr bool runs_code() {
  if (Extent == extent_of_kernel::single && Graph::view[Root].kind() == op_kind::view) return false;
  return has_code(Graph::view, fused<Graph>::value, Root);
}

/// The kernel with this root on every backend.
template <class Graph, class Table, int Root, extent_of_kernel Extent, evaluation How, class... B>
constexpr keyed_kernel kernel_of(backend_list<B...>) {
  constexpr op_kind kind = Graph::view[Root].kind();
  constexpr element type = Graph::view[Root].type;
  constexpr bool gpu = has_kernel(Graph::view, Root, device_kind::gpu);
  kernel_entry e;
  if constexpr (Extent == extent_of_kernel::whole && is_row_kernel(Graph::view, fused<Graph>::value, Root)) {
    using code = row_kernel_program<Graph, Table, Root>;
    ((e.launch[B::slot] =
          kernels_for<gpu, B>::template rows<decltype(code::template make<B::computes_in_floats>()), code::order>()),
     ...);
    return {code::key(), e};
  } else if constexpr (kind == op_kind::reduce) {
    using code = kernel_program<Graph, Table, Root, Extent, How>;
    ((e.launch[B::slot] =
          kernels_for<gpu, B>::template reduce<decltype(code::template make<B::computes_in_floats>()),
                                               fold_of(*Graph::view[Root].op), folds_all(*Graph::view[Root].op), Extent,
                                               element_sizes(Graph::view), has_views(Graph::view)>()),
     ...);
    return {code::key(), e};
  } else if constexpr (runs_code<Graph, Root, Extent>()) {
    using code = kernel_program<Graph, Table, Root, Extent, How>;
    constexpr int batched = count_batched<Graph, Root, Extent>();
    ((e.launch[B::slot] = map_kernel<kernels_for<gpu, B>, decltype(code::template make<B::computes_in_floats>()),
                                     Extent, batched, element_sizes(Graph::view), has_views(Graph::view)>()),
     ...);
    return {code::key(), e};
  } else if constexpr (kind == op_kind::row) {
    ((e.launch[B::slot] = backend_kernels<B>::template softmax<element_t<type>>()), ...);
    return {operation_key(Graph::view, Root), e};
  } else if constexpr (kind == op_kind::matmul) {
    ((e.launch[B::slot] = backend_kernels<B>::template matmul<element_t<type>>()), ...);
    return {operation_key(Graph::view, Root), e};
  } else if constexpr (kind == op_kind::own_kernel) {
    using op = typename decltype(operation_of<Graph, Table, Root>())::type;
    using operand = element_t<seen_by_kernels(Graph::view.kernel_element(Root))>;
    ((e.launch[B::slot] = operation_kernels<op, B>::template kernel<operand>()), ...);
    return {operation_key(Graph::view, Root), e};
  } else {
    return {operation_key(Graph::view, Root), copy_kernel<element_sizes(Graph::view)>(backend_list<B...>{})};
  }
}

}  // namespace ONTO_ABI
}  // namespace onto::detail
