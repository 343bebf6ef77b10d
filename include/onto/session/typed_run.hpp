// SPDX-License-Identifier: BSL-1.0
// A run with its types: the tensors that come out, the feeds that must go in, and the call below that knows neither.
#pragma once

#include <onto/core/plain_tuple.hpp>
#include <onto/session/kernels.hpp>
#include <onto/session/session_runtime.hpp>
#include <onto/tensor/tensor.hpp>

#include <iosfwd>
#include <tuple>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The tensor that an expression gives. A member type: nvcc writes an alias out where the program names the type of a
/// result.
template <class E, class Indices = std::make_index_sequence<static_cast<std::size_t>(E::facts.shape.rank)>>
struct result_type;
template <class E, std::size_t... K>
struct result_type<E, std::index_sequence<K...>> {
  using type = tensor<typename E::element_type, E::facts.shape.dims[K]...>;
};
/// What comes out of a mistake that was reported: it has whatever elements are asked for, and becomes any tensor, so
/// that one mistake is one error.
struct result_of_mistake : tensor<float> {
  using tensor<float>::tensor;
  template <class... Index>
  float& operator()(Index...) const;
  template <class Index>
  float& operator[](Index) const;
  template <class T, int... Dims>
  operator tensor<T, Dims...>() const;
};
template <>
struct result_type<ill_formed, std::index_sequence<>> {
  using type = result_of_mistake;
};
template <class Traits, class... More>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const std::tuple<result_of_mistake, More...>&) {
  return out;
}
/// What prepares it.
struct prepared_mistake {
  template <class... X>
  result_of_mistake operator()(const X&...) const {
    return {};
  }
  template <class... X>
  prepared_mistake to(const X&...) const {
    return {};
  }
  template <class... X>
  prepared_mistake async(const X&...) const {
    return {};
  }
  result_of_mistake get() const { return {}; }
};
template <class E>
using result_of = typename result_type<E>::type;

template <class Name>
struct placeholder_is_not_fed {
  using reported = void;
  static constexpr bool ok = Name::value.size() > 1000000;
  static_assert(ok == true,
                "[onto.feed] a placeholder of the program is not fed; give run a value for it: name = data");
};

/// The first placeholder that no feed is for, or -1.
template <class Graph, class... Symbols>
constexpr int first_unfed() {
  constexpr std::uint64_t ids[] = {Symbols::facts.id..., 0};
  for (int n = 0; n < Graph::view.count; ++n) {
    if (Graph::view[n].kind() != op_kind::placeholder) continue;
    bool fed = false;
    for (int k = 0; k < static_cast<int>(sizeof...(Symbols)); ++k) fed = fed || ids[k] == Graph::view[n].id;
    if (!fed) return n;
  }
  return -1;
}

template <class Name>
struct placeholder_is_fed_twice {
  using reported = void;
  static constexpr bool ok = Name::value.size() > 1000000;
  static_assert(ok == true, "[onto.feed] a placeholder is fed twice in one run; give it one value");
};

/// The first symbol that is fed again after it, or -1.
template <class... Symbols>
constexpr int first_fed_twice() {
  constexpr std::uint64_t ids[] = {Symbols::facts.id..., 0};
  constexpr int count = static_cast<int>(sizeof...(Symbols));
  for (int k = 0; k < count; ++k)
    for (int j = k + 1; j < count; ++j)
      if (ids[j] == ids[k]) return k;
  return -1;
}

template <class Graph, int Node>
struct unfed_name {
  static constexpr std::string_view value = Graph::view[Node].name;
  using type = decltype(spell_name<value>(std::make_index_sequence<value.size()>{}));
};

template <class T, int... Dims>
void* allocate_tensor(tensor<T, Dims...>& t, const extents& shape) {
  if (shape.rank < 0) {  // the result is in another process
    const tensor<T, Dims...> none(static_cast<tensor<T, Dims...>&&>(t));
    return nullptr;
  }
  t = tensor<T, Dims...>(uninitialized, shape);
  return t.data();
}

inline namespace ONTO_ABI {

template <class... E>
struct typed_run {
  using graph = graph_of<E...>;
  using results = std::tuple<result_of<E>...>;

  using table = op_table<typename merge_ops<typename E::ops...>::type>;

  static constexpr const compiled_program& program() {
    if constexpr (!graph::well_formed) report_mistake<graph>();
    return compiled<graph, table>::program;
  }

  /// Runs the program in a session, prepared where `kept` is not null, or by another `Core`, which is given the
  /// request. `states` are of the fetched expressions.
  /// *Returns* the tuple of results, or the only one where it is `Single`.
  template <bool Single, class Core, class... Symbols>
  static auto run(Core& core, repeated_run* kept, const state* const* states, const feed<Symbols>&... feeds) {
    held r{{result_of<E>(no_values)}...};
    if constexpr (!graph::well_formed)  // here: one line less of what compilers say
      report_mistake<graph>();
    else
      issue(core, kept, states, &allocate_result, &r, false, feeds...);
    if constexpr (Single)
      return static_cast<std::remove_reference_t<decltype(item<0>(r))>&&>(item<0>(r));
    else
      return to_results(r, std::index_sequence_for<E...>{});
  }

  /// The same, where results go to memory that `allocate` gives.
  template <class Core, class... Symbols>
  static void issue(Core& core, repeated_run* kept, const state* const* states,
                    void* (*allocate)(void*, int, const extents&), void* context, bool into_outputs,
                    const feed<Symbols>&... feeds) {
    if constexpr (!graph::well_formed) {
      report_mistake<graph>();
    } else if constexpr (constexpr int unfed = first_unfed<graph, Symbols...>(); unfed >= 0) {
      if constexpr (!(std::is_base_of_v<stateful_expression, Symbols> || ...))  // of a variable it was said where fed
        (void)static_cast<typename placeholder_is_not_fed<typename unfed_name<graph, unfed>::type>::reported*>(nullptr);
    } else if constexpr (constexpr int twice = first_fed_twice<Symbols...>(); twice >= 0) {
      using symbol = std::tuple_element_t<static_cast<std::size_t>(twice), std::tuple<Symbols...>>;
      (void)static_cast<typename placeholder_is_fed_twice<typename symbol::name>::reported*>(nullptr);
    } else {
      const feed_ref* const list[] = {&feeds..., nullptr};
      run_request request;
      request.states = states;
      request.feeds = list;
      request.feed_count = static_cast<int>(sizeof...(Symbols));
      request.allocate = allocate;
      request.context = context;
      request.into_outputs = into_outputs;
      start(core, kept, request);
    }
  }

  template <class Core>
  static void start(Core& core, repeated_run* kept, run_request& request) {
    if constexpr (std::is_base_of_v<session_runtime, Core>) {
      session_runtime& session = core;
      request.program = &program();
      if (kept)
        session.run(*kept, request);
      else
        session.run(request);
    } else {
      core.run(request);
    }
  }

 private:
  using held = plain_tuple<result_of<E>...>;

  template <std::size_t... K>
  static ONTO_INLINE results to_results(held& r, std::index_sequence<K...>) {
    return results(static_cast<result_of<E>&&>(item<K>(r))...);
  }

  static void* allocate_result(void* context, int fetch, const extents& shape) {
    return allocate_one(*static_cast<held*>(context), fetch, shape, std::index_sequence_for<E...>{});
  }

  template <std::size_t... K>
  static void* allocate_one(held& r, int fetch, const extents& shape, std::index_sequence<K...>) {
    void* memory = nullptr;
    (void)((static_cast<int>(K) == fetch ? (memory = allocate_tensor(item<K>(r), shape), true) : false) || ...);
    return memory;
  }
};

}  // namespace ONTO_ABI

}  // namespace onto::detail

ONTO_END_RUNS_ONCE

#if ONTO_DEFINITIONS
#include <onto/session/open_session.hpp>
#endif
