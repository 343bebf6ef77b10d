// SPDX-License-Identifier: BSL-1.0
// From graph to kernels: each fused group becomes a program type, and that an entry point on every backend.
#pragma once

#include <onto/backend/cpu/copy.hpp>
#include <onto/backend/cpu/map.hpp>
#include <onto/backend/cpu/matmul.hpp>
#include <onto/backend/cpu/narrow.hpp>
#include <onto/backend/cpu/reduce.hpp>
#include <onto/backend/cpu/row.hpp>
#include <onto/backend/cpu/softmax.hpp>
#include <onto/expr/named.hpp>
#include <onto/graph/builder.hpp>
#include <onto/graph/code.hpp>
#include <onto/graph/placer.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/plan/plan.hpp>
#include <onto/runtime/compiled_program.hpp>
#include <onto/runtime/program.hpp>
#include <onto/session/refined_program.hpp>
#include <onto/session/row_kernels.hpp>
#if ONTO_CUDA
#include <onto/backend/cuda/kernels.hpp>
#endif

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

template <class Table, int K>
struct op_or_load {
  using type = typename Table::template op_at<K>::type;
};
template <class Table>
struct op_or_load<Table, code_line::input> {
  using type = load_input;
};
template <class Table>
struct op_or_load<Table, code_line::scalar> {
  using type = load_scalar;
};
template <class Table>
struct op_or_load<Table, code_line::store> {
  using type = store_result;
};

/// An operation as the CPU runs it. What only rounds, and is `Stored` next, leaves that to the store.
template <class Op, bool Stored>
struct op_in_floats {
  using type = Op;
};
template <>
struct op_in_floats<op::cast<half>, true> {
  using type = op::cast<float>;
};
template <>
struct op_in_floats<op::cast<bfloat16>, true> {
  using type = op::cast<float>;
};

/// What a kernel is made of: all of a group, what a group was before kernels were merged, or one operation.
enum class extent_of_kernel { whole, part, single };

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
    code_line lines[Whole ? 2 * nodes + loads + 2 : 2 * Graph::view[Root].count + 2]{};
  };

  static constexpr code collect() {
    code c;
    int unit[nodes]{};
    int registers[nodes]{};
    int inputs[loads]{};
    int frames[loads]{};
    int scalars[loads]{};
    int via[nodes]{};
    bool result[nodes]{};
    for (int n = 0; n < nodes; ++n) {
      registers[n] = -1;
      via[n] = Whole ? fused<Graph>::parts.via[n] : -1;
      result[n] = Whole && !Part && fused<Graph>::value.result[n];
      unit[n] = Part ? fused<Graph>::parts.root[n] : Whole ? fused<Graph>::value.root[n] : n == Root ? Root : -1;
    }
    kernel_operands o{inputs, frames, 0, scalars, 0};
    c.count =
        code_collector(Graph::view, unit, via, Root, Table::hashes, Table::count, {c.lines, registers}, o, result, How)
            .run();
    return c;
  }
  static constexpr code value = collect();

  static constexpr kernel_key key() {
    const bool folds = Graph::view[Root].kind() == op_kind::reduce;
    return {value.lines, value.count, folds ? static_cast<int>(Graph::view[Root].op->attribute[0]) : -1, false};
  }

  static constexpr bool has_narrow() {
    for (int k = 0; k < value.count; ++k)
      if (is_narrow(value.lines[k].type)) return true;
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
    if constexpr (Floats && has_narrow())
      return spell_floats(std::make_integer_sequence<int, value.count>{});
    else
      return spell(std::make_integer_sequence<int, value.count>{});
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

/// What brings the operands of a graph's kernels together on the CPU.
template <class Graph>
using copies_for = copies<element_sizes(Graph::view), has_views(Graph::view)>;

/// Operations and parts of a split kernel are evaluated without packs: they run where guards have pulled a kernel apart,
/// which is rare, and every program compiles them. `Gpu`: whether the operations are for GPUs at all; one of the user's
/// may be for the host alone.
template <class Floats, class Program, class Copies, extent_of_kernel Extent, bool Gpu>
constexpr kernel_entry map_entry() {
  kernel_entry e;
  constexpr bool packs = Extent == extent_of_kernel::whole && has_packs && Floats::packable;
  e.on_cpu = &cpu_map<Floats, packs, Copies>;
#if ONTO_CUDA
  if constexpr (Gpu) e.on_gpu = &cuda_map<Program, Extent != extent_of_kernel::single>;
#endif
  return e;
}

template <class Floats, class Program, class Copies, fold F, bool Gpu>
constexpr kernel_entry reduce_entry() {
  kernel_entry e;
  e.on_cpu = &cpu_reduce<Floats, F, Copies>;
#if ONTO_CUDA
  if constexpr (Gpu) {
    e.on_gpu = &cuda_reduce<Program, F>;
    e.gpu_workspace = &cuda_reduce_workspace<Program, F>;
  }
#endif
  return e;
}

template <class T>
constexpr kernel_entry matmul_entry() {
  kernel_entry e;
  e.on_cpu = &cpu_matmul<computed_of<T>>;
#if ONTO_CUDA
  if constexpr (is_floating(element_of<T>)) {
    e.on_gpu = &cuda_matmul<T>;
    e.gpu_workspace = &cuda_matmul_workspace<T>;
    e.gpu_least_workspace = &cuda_matmul_least_workspace<T>;
  }
#endif
  return e;
}

template <class Floats, class Program, bool Gpu>
constexpr kernel_entry row_entry() {
  kernel_entry e;
  e.on_cpu = &cpu_row<Floats>;
#if ONTO_CUDA
  if constexpr (Gpu) {
    e.on_gpu = &cuda_row<Program>;
    e.gpu_workspace = &cuda_row_workspace<Program>;
  }
#endif
  return e;
}

template <class T>
constexpr kernel_entry softmax_entry() {
  kernel_entry e;
  e.on_cpu = &cpu_softmax<computed_of<T>>;
#if ONTO_CUDA
  e.on_gpu = &cuda_softmax<T>;
  e.gpu_workspace = &cuda_softmax_workspace<T>;
#endif
  return e;
}

constexpr kernel_entry copy_entry() {
  kernel_entry e;
  e.on_cpu = &cpu_copy;
#if ONTO_CUDA
  e.on_gpu = &cuda_copy;
#endif
  return e;
}

template <class Graph, int Root, extent_of_kernel Extent>
constexpr bool runs_code() {
  if (Extent == extent_of_kernel::single && Graph::view[Root].kind() == op_kind::view) return false;
  return has_code(Graph::view, fused<Graph>::value.root, Root);
}

template <class Graph, class Table, int Root, extent_of_kernel Extent, evaluation How>
constexpr keyed_kernel kernel_of() {
  constexpr op_kind kind = Graph::view[Root].kind();
  constexpr element type = Graph::view[Root].type;
  constexpr bool gpu = has_kernel(Graph::view, Root, device_kind::gpu);
  constexpr bool floats = !ONTO_CUDA;  // without a GPU there is one program, the CPU's
  if constexpr (Extent == extent_of_kernel::whole && is_row_kernel(Graph::view, fused<Graph>::value.root, Root)) {
    using code = row_kernel_program<Graph, Table, Root>;
    return {code::key(),
            row_entry<decltype(code::template make<true>()), decltype(code::template make<floats>()), gpu>()};
  } else if constexpr (kind == op_kind::reduce) {
    using code = kernel_program<Graph, Table, Root, Extent, How>;
    return {code::key(),
            reduce_entry<decltype(code::template make<true>()), decltype(code::template make<floats>()),
                         copies_for<Graph>, static_cast<fold>(Graph::view[Root].op->attribute[0]), gpu>()};
  } else if constexpr (runs_code<Graph, Root, Extent>()) {
    using code = kernel_program<Graph, Table, Root, Extent, How>;
    return {code::key(), map_entry<decltype(code::template make<true>()), decltype(code::template make<floats>()),
                                   copies_for<Graph>, Extent, gpu>()};
  } else if constexpr (kind == op_kind::row) {
    return {{kind, type}, softmax_entry<element_t<type>>()};
  } else if constexpr (kind == op_kind::matmul) {
    return {{kind, type}, matmul_entry<element_t<type>>()};
  } else {
    return {{op_kind::view, element::boolean}, copy_entry()};
  }
}

/// How the kernels of a graph evaluate what may be several nodes.
template <class Graph>
struct evaluations {
  static constexpr int nodes = Graph::view.count;
  struct data {
    evaluation whole[nodes]{};
    evaluation part[nodes]{};
    bool both[nodes]{};  // the kernel is compiled in both ways
  };
  static constexpr data find() {
    data d;
    if constexpr (Graph::lowered::sizes.values_decide) {
      const auto& fusion = fused<Graph>::value;
      for (int n = 0; n < nodes; ++n) {
        if (fusion.root[n] == n) {
          int times[nodes]{};
          const repeated_evaluations r = count_repeated(Graph::view, fusion.root, n, fusion.result, times);
          d.whole[n] = r.preferred();
          d.both[n] = r.both();
        }
        if (fused<Graph>::parts.root[n] == n) {
          int times[nodes]{};
          d.part[n] = count_repeated(Graph::view, fused<Graph>::parts.root, n, nullptr, times).preferred();
        }
      }
    }
    return d;
  }
  static constexpr data value = find();
};

/// All kernels of a graph.
template <class Graph, class Table>
struct compiled {
  static constexpr int nodes = Graph::view.count;
  static constexpr bool values_decide = Graph::lowered::sizes.values_decide;
  static constexpr const auto& root = fused<Graph>::value.root;
  static constexpr const auto& part = fused<Graph>::parts.root;
  static constexpr const auto& how = evaluations<Graph>::value;

  struct plan_of_kernels {
    int whole[nodes]{};
    int whole_count = 0;
    int both[nodes]{};  // those that are compiled in both ways
    int both_count = 0;
    int part[nodes]{};  // roots before merging of what became part of another kernel
    int part_count = 0;
    int single[nodes]{};  // one node for each distinct operation and operand types
    int single_count = 0;
    int single_of[nodes]{};
  };

  /// Whether two operations alone are one kernel. Operands that may be several nodes are always loaded apart.
  static constexpr bool alike(int a, int b) {
    const graph_node& x = Graph::view[a];
    const graph_node& y = Graph::view[b];
    if (x.op->hash != y.op->hash || x.type != y.type || x.count != y.count) return false;
    for (int k = 0; k < x.count; ++k) {
      const graph_node& p = Graph::view[Graph::view.operand(a, k)];
      const graph_node& q = Graph::view[Graph::view.operand(b, k)];
      if (p.type != q.type || (p.kind() == op_kind::scalar) != (q.kind() == op_kind::scalar)) return false;
      if ((p.is_literal() || q.is_literal()) && p.op->hash != q.op->hash) return false;
      for (int j = 0; j < k; ++j)
        if (is_repeated(a, j, k) != is_repeated(b, j, k)) return false;
    }
    return true;
  }
  static constexpr bool is_repeated(int n, int j, int k) {
    const int o = Graph::view.operand(n, k);
    return Graph::view.operand(n, j) == o && !Graph::view[o].holds_values;
  }

  /// Whether an operation reads a node twice that may be two.
  static constexpr bool may_come_apart(int n) {
    for (int k = 0; k < Graph::view[n].count; ++k) {
      const int o = Graph::view.operand(n, k);
      for (int j = 0; j < k && Graph::view[o].holds_values; ++j)
        if (Graph::view.operand(n, j) == o) return true;
    }
    return false;
  }

  static constexpr plan_of_kernels plan_kernels() {
    plan_of_kernels p;
    int members[nodes]{};
    int part_members[nodes]{};
    for (int n = 0; n < nodes; ++n) {
      if (root[n] < 0) continue;
      ++members[root[n]];
      ++part_members[part[n]];
    }
    for (int n = 0; n < nodes; ++n) {
      p.single_of[n] = -1;
      if (root[n] < 0) continue;
      if (root[n] == n) p.whole[p.whole_count++] = n;
      if (how.both[n]) p.both[p.both_count++] = n;
      if (members[root[n]] < 2 && !may_come_apart(n)) continue;
      if (part[n] == n && part_members[n] > 1 && part_members[n] < members[root[n]]) p.part[p.part_count++] = n;
      int k = 0;
      while (k < p.single_count && !alike(p.single[k], n)) ++k;
      if (k == p.single_count) p.single[p.single_count++] = n;
      p.single_of[n] = k;
    }
    return p;
  }
  static constexpr plan_of_kernels kernels = plan_kernels();

  struct tables {
    kernel_entry whole[nodes]{};
    kernel_entry parts[nodes]{};
    kernel_entry single[nodes]{};
  };

  template <int Root>
  static constexpr keyed_kernel whole_kernel() {
    constexpr int node = kernel_node(Graph::view, root, Root);
    constexpr auto extent = node == Root ? extent_of_kernel::whole : extent_of_kernel::single;
    return kernel_of<Graph, Table, node, extent, how.whole[Root]>();
  }
  static constexpr int kernel_count =
      kernels.whole_count + kernels.both_count + kernels.part_count + kernels.single_count;

  /// Every kernel once, in order of preference.
  struct kernel_list {
    keyed_kernel kernels[kernel_count + 1];
  };
  /// What only types leave as a view may be copied.
  static constexpr kernel_entry copy_if_refined() {
    if constexpr (values_decide)
      return copy_entry();
    else
      return {};
  }
  template <int... W, int... B, int... P, int... S>
  static constexpr kernel_list list_kernels(std::integer_sequence<int, W...>, std::integer_sequence<int, B...>,
                                            std::integer_sequence<int, P...>, std::integer_sequence<int, S...>) {
    return {{whole_kernel<kernels.whole[W]>()...,
             kernel_of<Graph, Table, kernels.both[B], extent_of_kernel::whole, evaluation::per_use>()...,
             kernel_of<Graph, Table, kernels.part[P], extent_of_kernel::part, how.part[kernels.part[P]]>()...,
             kernel_of<Graph, Table, kernels.single[S], extent_of_kernel::single, evaluation::per_use>()...,
             {{op_kind::view, element::boolean}, copy_if_refined()}}};
  }
  static constexpr kernel_list all = list_kernels(std::make_integer_sequence<int, kernels.whole_count>{},
                                                  std::make_integer_sequence<int, kernels.both_count>{},
                                                  std::make_integer_sequence<int, kernels.part_count>{},
                                                  std::make_integer_sequence<int, kernels.single_count>{});

  static constexpr tables build() {
    tables t;
    const keyed_kernel* k = all.kernels;
    for (int w = 0; w < kernels.whole_count; ++w) t.whole[kernels.whole[w]] = k++->entry;
    k += kernels.both_count;
    for (int p = 0; p < kernels.part_count; ++p) t.parts[kernels.part[p]] = k++->entry;
    for (int n = 0; n < nodes; ++n)
      if (kernels.single_of[n] >= 0) t.single[n] = k[kernels.single_of[n]].entry;
    return t;
  }
  static constexpr tables entries = build();
  static constexpr const narrow_kernels* narrow() {
    constexpr bool any = has_narrow_node();
    if constexpr (any)
      return &cpu_narrow_kernels;
    else
      return nullptr;
  }
  static constexpr bool has_narrow_node() {
    for (int n = 0; n < nodes; ++n)
      if (is_narrow(Graph::view[n].type)) return true;
    return false;
  }
  static constexpr value_dependence dependence{all.kernels, kernel_count + 1, &refined_program::rewrite};
  static constexpr const value_dependence* dependence_if_any() {
    if constexpr (values_decide)
      return &dependence;
    else
      return nullptr;
  }
  static constexpr compiled_program program{Graph::view,   root,          part,           fused<Graph>::parts.via,
                                            entries.whole, entries.parts, entries.single, how.whole,
                                            how.part,      nullptr,       narrow(),       dependence_if_any()};
};

}  // namespace ONTO_ABI
}  // namespace onto::detail
