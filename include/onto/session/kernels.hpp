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

/// The program of the kernel with this root: all of its group (`Part`: as it was before kernels were merged), or the
/// one operation. The CPU's is made with `Floats`: half and bfloat16 are float there, and so a program over them is the
/// one over float.
template <class Graph, class Table, int Root, bool Whole, bool Part = false>
struct kernel_program {
  static constexpr int nodes = Graph::view.count;

  /// A node may be loaded once for each operand that it is.
  static constexpr int loads = nodes + (Whole ? Graph::lowered::sizes.operands : 0);

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
    int scalars[nodes]{};
    int via[nodes]{};
    bool result[nodes]{};
    for (int n = 0; n < nodes; ++n) {
      registers[n] = -1;
      via[n] = Whole ? fused<Graph>::parts.via[n] : -1;
      result[n] = Whole && !Part && fused<Graph>::value.result[n];
      unit[n] = Part ? fused<Graph>::parts.root[n] : Whole ? fused<Graph>::value.root[n] : n == Root ? Root : -1;
    }
    kernel_operands o{inputs, frames, 0, scalars, 0};
    c.count = code_collector(Graph::view, unit, via, Root, Table::hashes, Table::count, {c.lines, registers}, o, result)
                  .run();
    return c;
  }
  static constexpr code value = collect();

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

/// `Whole`: not one operation of a kernel. Operations and parts of a split kernel are evaluated without packs: they run
/// where guards have pulled a kernel apart, which is rare, and every program compiles them. `Gpu`: whether the
/// operations are for GPUs at all; one of the user's may be for the host alone.
template <class Floats, class Program, class Copies, bool Whole, bool Part, bool Gpu>
constexpr kernel_entry map_entry() {
  kernel_entry e;
  constexpr bool packs = Whole && !Part && has_packs && Floats::packable;
  e.on_cpu = &cpu_map<Floats, packs, Copies>;
#if ONTO_CUDA
  if constexpr (Gpu) e.on_gpu = &cuda_map<Program, Whole>;
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

template <class Graph, int Root, bool Whole>
constexpr bool runs_code() {
  if (!Whole && Graph::view[Root].kind() == op_kind::view) return false;
  return has_code(Graph::view, fused<Graph>::value.root, Root);
}

template <class Graph, class Table, int Root, bool Whole, bool Part = false>
constexpr kernel_entry entry_of() {
  constexpr op_kind kind = Graph::view[Root].kind();
  constexpr element type = Graph::view[Root].type;
  constexpr bool gpu = has_kernel(Graph::view, Root, device_kind::gpu);
  constexpr bool floats = !ONTO_CUDA;  // without a GPU there is one program, the CPU's
  if constexpr (Whole && is_row_kernel(Graph::view, fused<Graph>::value.root, Root))
    return row_entry<decltype(row_kernel_program<Graph, Table, Root>::template make<true>()),
                     decltype(row_kernel_program<Graph, Table, Root>::template make<floats>()), gpu>();
  else if constexpr (kind == op_kind::reduce)
    return reduce_entry<decltype(kernel_program<Graph, Table, Root, Whole, Part>::template make<true>()),
                        decltype(kernel_program<Graph, Table, Root, Whole, Part>::template make<floats>()),
                        copies_for<Graph>, static_cast<fold>(Graph::view[Root].op->attribute[0]), gpu>();
  else if constexpr (runs_code<Graph, Root, Whole>())
    return map_entry<decltype(kernel_program<Graph, Table, Root, Whole, Part>::template make<true>()),
                     decltype(kernel_program<Graph, Table, Root, Whole, Part>::template make<floats>()),
                     copies_for<Graph>, Whole, Part, gpu>();
  else if constexpr (kind == op_kind::row)
    return softmax_entry<element_t<type>>();
  else if constexpr (kind == op_kind::matmul)
    return matmul_entry<element_t<type>>();
  else
    return copy_entry();
}

/// The node whose kernel a group is: of a matrix product with an epilogue, the product.
constexpr int kernel_node(const graph_view& g, const int* root, int r) {
  if (g[r].is_map())
    for (int n = 0; n < r; ++n)
      if (root[n] == r && g[n].kind() == op_kind::matmul) return n;
  return r;
}

/// All kernels of a graph.
template <class Graph, class Table>
struct compiled {
  static constexpr int nodes = Graph::view.count;
  static constexpr const auto& root = fused<Graph>::value.root;
  static constexpr const auto& part = fused<Graph>::parts.root;

  struct plan_of_kernels {
    int whole[nodes]{};
    int whole_count = 0;
    int part[nodes]{};  // roots before merging of what became part of another kernel
    int part_count = 0;
    int single[nodes]{};  // one node for each distinct operation and operand types
    int single_count = 0;
    int single_of[nodes]{};
  };

  static constexpr bool alike(int a, int b) {
    const graph_node& x = Graph::view[a];
    const graph_node& y = Graph::view[b];
    if (x.op->hash != y.op->hash || x.type != y.type || x.count != y.count) return false;
    for (int k = 0; k < x.count; ++k) {
      const int p = Graph::view.operand(a, k);
      const int q = Graph::view.operand(b, k);
      if (Graph::view[p].type != Graph::view[q].type) return false;
      if ((Graph::view[p].kind() == op_kind::scalar) != (Graph::view[q].kind() == op_kind::scalar)) return false;
      for (int j = 0; j < k; ++j)
        if ((Graph::view.operand(a, j) == p) != (Graph::view.operand(b, j) == q)) return false;
    }
    return true;
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
      if (members[root[n]] < 2) continue;
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

  template <int... W, int... P, int... S>
  static constexpr tables build(std::integer_sequence<int, W...>, std::integer_sequence<int, P...>,
                                std::integer_sequence<int, S...>) {
    const kernel_entry whole[] = {entry_of<Graph, Table, kernel_node(Graph::view, root, kernels.whole[W]),
                                           kernel_node(Graph::view, root, kernels.whole[W]) == kernels.whole[W]>()...,
                                  kernel_entry{}};
    const kernel_entry parts[] = {entry_of<Graph, Table, kernels.part[P], true, true>()..., kernel_entry{}};
    const kernel_entry single[] = {entry_of<Graph, Table, kernels.single[S], false>()..., kernel_entry{}};
    tables t;
    for (int k = 0; k < kernels.whole_count; ++k) t.whole[kernels.whole[k]] = whole[k];
    for (int k = 0; k < kernels.part_count; ++k) t.parts[kernels.part[k]] = parts[k];
    for (int n = 0; n < nodes; ++n)
      if (kernels.single_of[n] >= 0) t.single[n] = single[kernels.single_of[n]];
    return t;
  }
  static constexpr tables entries = build(std::make_integer_sequence<int, kernels.whole_count>{},
                                          std::make_integer_sequence<int, kernels.part_count>{},
                                          std::make_integer_sequence<int, kernels.single_count>{});
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
  static constexpr compiled_program program{Graph::view,   root,          part,           fused<Graph>::parts.via,
                                            entries.whole, entries.parts, entries.single, narrow()};
};

}  // namespace ONTO_ABI
}  // namespace onto::detail
