// SPDX-License-Identifier: BSL-1.0
// A program that is one kernel over operands that lie next to each other: its loop, called where the program stands.
// What the operands are is found while compiling.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/session/feeds.hpp>
#include <onto/session/inline_states.hpp>
#include <onto/session/loop_facts.hpp>
#include <onto/session/one_meaning.hpp>
#include <onto/session/typed_run.hpp>

#include <cstdint>
#include <cstring>
#include <utility>

namespace onto::detail {

// For the vectors that the file was compiled for.
inline namespace ONTO_VECTOR_ABI {

/// The loop itself, and one run of it.
template <class E>
struct one_loop : one_loop_facts<E> {
  using facts = one_loop_facts<E>;
  using typed = typename facts::typed;
  using graph = typename facts::graph;
  static constexpr int nodes = graph::view.count;
  static constexpr int visits = graph::view.visit_count;
  static constexpr int root = graph::view.fetches[0];
  static constexpr bool folds = graph::view[root].kind() == op_kind::reduce;
  static constexpr extents space = graph::view[looped_node(graph::view, root)].shape;
  static constexpr bool merges =  // right where states that meet are the same
      (facts::values_decide && !facts::apart) || meets_names(graph::view);

  using table = op_table<typename E::ops>;
  using code = kernel_program<typed, table, facts::root, extent_of_kernel::whole, facts::how>;
  using program = decltype(code::template make<true>());
  using value = element_t<program::result>;
  using copied = kernel_copies<facts::sizes, false>;  // as the session's kernel
  static constexpr bool packs = has_packs && program::packs.possible();
  static constexpr int cost = program_cost(program{}) + (folds ? 1 : 0);

  // ---- what is loaded -------------------------------------------------------------------------------------

  struct operand_list {
    int inputs[nodes + 1]{};
    int scalars[nodes + 1]{};
    int input_count = 0;
    int scalar_count = 0;
    bool same_code = false;
  };
  static constexpr int most_loads = nodes + graph::lowered::sizes.operands + 1;
  static constexpr operand_list find_operands() {
    kernel_instruction lines[2 * nodes + most_loads + 2]{};
    int registers[nodes]{}, loaded[most_loads]{}, paths[most_loads]{}, given[most_loads]{};
    for (int n = 0; n < nodes; ++n) registers[n] = -1;
    kernel_operands o{loaded, paths, 0, given, 0};
    const int count = kernel_codegen(graph::view, fused<graph>::value, root, table::hashes, table::count,
                                     {lines, registers}, o, evaluation::once)
                          .run();
    operand_list l;
    l.input_count = o.input_count;
    l.scalar_count = o.scalar_count;
    for (int k = 0; k < o.input_count; ++k) l.inputs[k] = loaded[k];
    for (int k = 0; k < o.scalar_count; ++k) l.scalars[k] = given[k];
    l.same_code = kernel_key(lines, count, -1, row_order::none) ==
                  kernel_key(code::value.lines, code::value.count, -1, row_order::none);
    return l;
  }
  static constexpr operand_list operands = find_operands();
  static constexpr int inputs = operands.input_count;
  static constexpr int scalars = operands.scalar_count;

  static constexpr int rank_of(int k) { return graph::view[operands.inputs[k]].shape.rank; }
  /// Whether an operand is one value, for each element of what is mapped.
  static constexpr bool is_value(int k) { return rank_of(k) == 0 && space.rank > 0; }
  /// Whether it is a row, read again for each row of what is mapped.
  static constexpr bool is_row(int k) { return rank_of(k) > 0 && space.rank > rank_of(k); }
  static constexpr int values = [] {
    int count = 0;
    for (int k = 0; k < inputs; ++k) count += is_value(k) ? 1 : 0;
    return count;
  }();
  static constexpr std::int64_t value_repeats = 512;  // times a value is written down: what is mapped beside it at once
  static constexpr int find_rank_of_rows() {
    int rank = 0;
    for (int k = 0; k < inputs; ++k)
      if (is_row(k)) rank = rank_of(k);
    return rank;
  }
  static constexpr int rank_of_rows = find_rank_of_rows();
  static constexpr bool has_rows = rank_of_rows > 0;

  /// Whether all shapes are in the types.
  static constexpr bool find_static() {
    bool all = space.is_static();
    for (int k = 0; k < inputs; ++k) all = all && graph::view[operands.inputs[k]].shape.is_static();
    return all;
  }
  static constexpr bool is_static = find_static();

  /// The elements of a row of a shape.
  static constexpr ONTO_INLINE std::int64_t row_size(const extents& of) {
    std::int64_t n = 1;
    for (int k = space.rank - rank_of_rows; k < space.rank; ++k) n *= of.dims[k];
    return n;
  }

  /// Whether rows of so many elements are mapped in place.
  static constexpr ONTO_INLINE bool is_row_size(std::int64_t n) {
    return n >= least_row_in_place && (values == 0 || n <= value_repeats);
  }

  static constexpr bool in_registers() {
    if constexpr (!folds)
      return true;
    else
      return packs && program::packs.plain && folds_in_registers<fold_of(*graph::view[root].op), value>;
  }
  /// Whether values that the program holds are looked for.
  static constexpr bool find_states() {
    bool any = scalars > 0 || merges;
    for (int k = 0; k < inputs; ++k) any = any || graph::view[operands.inputs[k]].kind() == op_kind::constant;
    return any;
  }
  static constexpr bool has_states = find_states();
  static constexpr bool supported = operands.same_code && in_registers() && !(is_static && space.size() == 0) &&
                                    !(is_static && has_rows && !is_row_size(row_size(space)));
  /// Whether nothing but missing values keeps it from running.
  static constexpr bool is_certain = is_static && !merges;

  // ---- one run --------------------------------------------------------------------------------------------

  const void* in[inputs + 1];
  std::uint64_t bits[scalars + 1];
  std::int64_t total;
  std::conditional_t<is_static, const extents*, extents> shape;  // where it is not static

  template <class... Symbols>
  static constexpr int feed_of(int node) {
    constexpr std::uint64_t ids[] = {Symbols::facts.id..., 0};
    int f = 0;
    while (f < static_cast<int>(sizeof...(Symbols)) && ids[f] != graph::view[node].id) ++f;
    return f;
  }

  /// Finds the operands. *Returns* whether they are what the loop is for: there, of one shape, or one value, or rows of
  /// it that are not short.
  template <class... Symbols>
  ONTO_INLINE bool gather(const state* fetched, const feed<Symbols>&... feeds) {
    const feed_ref* const list[] = {&feeds..., nullptr};
    const state* at[visits];
    if constexpr (has_states) {
      if (!find_states_at(at, fetched, std::make_integer_sequence<int, visits>{})) return false;
    } else if (fetched) {
      expect_host_guards(graph::view, &fetched);
    }
    if constexpr (is_static) {
      shape = &space;
      total = space.size();
    }
    using all = std::make_integer_sequence<int, inputs>;
    const bool whole = take_inputs<false, Symbols...>(list, at, all{});
    return take_inputs<true, Symbols...>(list, at, all{}) && whole &&
           take_scalars(at, std::make_integer_sequence<int, scalars>{});
  }

  /// Says which operand has no values, where gathering all of them failed.
  [[noreturn]] ONTO_COLD ONTO_NOINLINE void throw_missing() const {
    for (int k = 0; k < inputs; ++k)
      if (!in[k] && graph::view[operands.inputs[k]].kind() == op_kind::placeholder)
        throw_fed_nothing(graph::view[operands.inputs[k]]);
    throw_moved_from();
  }

  ONTO_INLINE const extents& result_shape() const {
    if constexpr (folds || is_static)
      return graph::view[root].shape;
    else
      return shape;
  }

  /// Whether a result at `out` would lie in what is still to be read.
  ONTO_INLINE bool overlaps(const void* out) const {
    if constexpr (folds) return false;
    const auto begin = reinterpret_cast<std::uintptr_t>(out);
    bool any = false;
    for (int k = 0; k < inputs; ++k) {
      const auto from = reinterpret_cast<std::uintptr_t>(in[k]);
      const auto size = static_cast<std::uintptr_t>(size_of(graph::view[operands.inputs[k]].type));
      const auto n = static_cast<std::uintptr_t>(total), read = static_cast<std::uintptr_t>(elements_of(k));
      if (is_value(k) && is_short()) continue;  // read before anything is written
      if (!is_row(k) && !is_value(k) && begin == from && size == sizeof(value)) continue;  // so is each element
      any = any || (begin < from + read * size && from < begin + n * sizeof(value));
    }
    return any;
  }

  /// Whether one thread does it, here. A long one is the kernel's, on all threads.
  ONTO_INLINE bool is_short() const {
    if constexpr (is_static)
      return space.size() <= short_size;
    else
      return total <= short_size;
  }
  /// *Throws* what an operation of the program's own throws, with its name.
  ONTO_INLINE void run(void* out) const {
    try {
      if constexpr (!is_static || space.size() > short_size) {
        if (!is_short()) return run_kernel(out);
      }
      if constexpr (!is_static || space.size() <= short_size) run_here(out);
    } catch (...) {
      rethrow_named(graph::view, fused<graph>::value, root);
    }
  }

 private:
  template <int... V>
  static ONTO_INLINE bool find_states_at(const state** at, const state* fetched, std::integer_sequence<int, V...>) {
    bool plain = true;
    ((at[V] = state_at<V>(at, fetched)), ...);
    if constexpr (merges) ((plain = plain && (graph::view.visits[V].same_as < 0 || at[V] == at[same_as<V>()])), ...);
    if (fetched && fetched->guards) expect_host_guards(graph::view, &fetched);
    return plain;
  }
  template <int V>
  static constexpr int same_as() {
    return graph::view.visits[V].same_as < 0 ? V : graph::view.visits[V].same_as;
  }
  /// Whether there is a state wherever there are values.
  template <int V>
  static constexpr bool has_state() {
    return graph::view.visits[V].node >= 0 && graph::view[graph::view.visits[V].node].holds_values;
  }
  template <int V>
  static ONTO_INLINE const state* state_at(const state* const* at, const state* fetched) {
    constexpr int parent = graph::view.visits[V].parent, child = graph::view.visits[V].child;
    if constexpr (parent < 0)
      return fetched;
    else if constexpr (has_state<V>())
      return at[parent]->children[child];
    else
      return at[parent] && child < at[parent]->child_count ? at[parent]->children[child] : nullptr;
  }

  /// Those that are rows, or those that are not.
  template <bool Rows, class... Symbols, int... K>
  ONTO_INLINE bool take_inputs([[maybe_unused]] const feed_ref* const* list, [[maybe_unused]] const state* const* at,
                               std::integer_sequence<int, K...>) {
    bool all = true;
    ((all = take_input<K, Rows, Symbols...>(list, at) && all), ...);
    if constexpr (Rows && has_rows && !is_static) all = all && is_row_size(row_size(shape));
    return all;
  }
  template <int K, bool Rows, class... Symbols>
  ONTO_INLINE bool take_input([[maybe_unused]] const feed_ref* const* list, [[maybe_unused]] const state* const* at) {
    constexpr int node = operands.inputs[K];
    if constexpr (is_row(K) != Rows)
      return true;
    else if constexpr (graph::view[node].kind() == op_kind::placeholder) {
      const feed_ref& f = *list[feed_of<Symbols...>(node)];
      in[K] = f.data;
      if constexpr (!is_static) return f.data && takes<K>(f.shape);
    } else {
      const state& s = *at[graph::view[node].visit];
      in[K] = values_of(s);
      if constexpr (!is_static) return in[K] && takes<K>(shape_of(s));
    }
    return in[K] != nullptr;
  }
  /// The first operand that is no row, whose shape is then that of the loop.
  static constexpr int find_first_whole() {
    int k = 0;
    while (k < inputs && (is_row(k) || is_value(k))) ++k;
    return k;
  }
  /// Whether an operand's shape, or that of rows, is that of those before it, and of the types.
  template <int K>
  ONTO_INLINE bool takes(const extents& given) {
    constexpr const extents& declared = graph::view[operands.inputs[K]].shape;
    constexpr int outside = space.rank - declared.rank;  // of a value all
    constexpr bool is_first = K == find_first_whole();
    bool same = given.rank == declared.rank;
    for (int k = 0; k < declared.rank; ++k) {
      if (declared.dims[k] != dyn) same = same && given.dims[k] == declared.dims[k];
      if (space.dims[outside + k] != dyn) same = same && given.dims[k] == space.dims[outside + k];
      if (!is_first) same = same && given.dims[k] == shape.dims[outside + k];
    }
    if (!is_first) return same;
    shape = given;
    total = 1;
    for (int k = 0; k < declared.rank; ++k) total *= given.dims[k];  // of what is in memory
    return same;
  }

  ONTO_INLINE std::int64_t elements_of_row() const {
    if constexpr (is_static)
      return row_size(space);
    else
      return row_size(shape);
  }
  ONTO_INLINE std::int64_t elements_of(int k) const { return is_value(k) ? 1 : is_row(k) ? elements_of_row() : total; }

  template <int... K>
  ONTO_INLINE bool take_scalars([[maybe_unused]] const state* const* at, std::integer_sequence<int, K...>) {
    ((bits[K] = at[graph::view[operands.scalars[K]].visit]->scalar), ...);
    return !folds || total > 0;
  }

  static constexpr std::int64_t short_size = folds ? 2 * map_grain(cost) - 1 : map_grain(cost);

  ONTO_INLINE void run_here(void* out) const {
    if constexpr (folds) {
      constexpr fold f = fold_of(*graph::view[root].op);
      using rule = accumulator<f, value>;
      typename rule::state folded = rule::empty();
      fold_body<program, f, false>::variants::chosen()({in, 1, total, bits, 0, &folded});
      *static_cast<typename rule::result*>(out) = rule::finish(folded, total);
    } else if constexpr (is_static && space.size() == 0) {
      return;
    } else if constexpr (values > 0) {
      alignas(64) char room[values][8 * value_repeats];
      const void* at[inputs + 1];
      const std::int64_t most = piece_size();
      for (int k = 0, n = 0; k < inputs; ++k)
        if (at[k] = in[k]; is_value(k)) {
          const int size = size_of(graph::view[operands.inputs[k]].type);
          copy_rows(room[n], size, static_cast<const char*>(in[k]), 0, most < total ? most : total, size);
          at[k] = room[n++];
        }
      map_from(at, out);
    } else {
      map_from(in, out);
    }
  }
  ONTO_INLINE void map_from(const void* const* from, void* out) const {
    if constexpr (!has_rows && is_static && space.size() <= 64)
      run_unrolled(from, out);
    else if constexpr (has_rows || values > 0)
      run_in_pieces(from, out);
    else if (total > 0)
      chosen_span<program, packs>()({from, out, 0, total, bits});
  }
  /// What is mapped at once where not everything is: a row.
  ONTO_INLINE std::int64_t piece_size() const { return has_rows ? elements_of_row() : value_repeats; }
  ONTO_INLINE void run_in_pieces(const void* const* from, void* out) const {
    const std::int64_t size = piece_size();
    const span_function span = chosen_span<program, packs>();
    const void* at[inputs + 1];
    for (int k = 0; k < inputs; ++k) at[k] = from[k];
    for (std::int64_t first = 0; first < total; first += size) {
      const std::int64_t count = has_rows || size < total - first ? size : total - first;
      span({at, static_cast<value*>(out) + first, first, count, bits});
      for (int k = 0; k < inputs; ++k)
        if (!is_row(k) && !is_value(k)) at[k] = advance(at[k], count, graph::view[operands.inputs[k]].type);
    }
  }
  ONTO_INLINE void run_unrolled(const void* const* from, void* out) const {
    using body = short_span_body<program, packs, space.size()>;
    if constexpr (vector_sets == vector_bytes)
      body::template run<vector_bytes>(from, out, bits);
    else
      body::variants::chosen()(from, out, bits);
  }

  /// The kernel as a session calls it.
  ONTO_NOINLINE void run_kernel(void* out) const {
    operand_view views[inputs + 1];
    kernel_call c;
    if constexpr (is_static)
      c.space = space;
    else
      c.space = shape;
    for (int k = 0; k < inputs; ++k) {
      views[k].data = const_cast<void*>(in[k]);
      views[k].type = graph::view[operands.inputs[k]].type;
      contiguous_strides(c.space, views[k].stride);
      for (int d = 0; d < space.rank - rank_of(k); ++d) views[k].stride[d] = 0;
    }
    c.inputs = inputs;
    c.in = views;
    c.out.data = out;
    c.out.type = graph::view[root].type;
    if (!folds) contiguous_strides(c.space, c.out.stride);
    c.scalars = bits;
    c.op = graph::view[root].op;
    if constexpr (folds)
      cpu_reduce<program, fold_of(*graph::view[root].op), copied, packs, true, true>(host_threads(), c);
    else
      cpu_map<program, packs, copied, true>(host_threads(), c);
  }
};

}  // namespace ONTO_VECTOR_ABI

}  // namespace onto::detail
