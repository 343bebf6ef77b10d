// SPDX-License-Identifier: BSL-1.0
// A program on this process's CPU, without a session.
#pragma once

#include <onto/expr/not_a_feed.hpp>
#include <onto/session/inline_plan.hpp>
#include <onto/session/one_loop.hpp>
#include <onto/session/outputs.hpp>

#include <cstring>
#include <type_traits>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

namespace detail {

template <class E>
struct evaluate_has_no_variables {
  using reported = void;
  static constexpr bool ok = sizeof(E) == 0;
  static_assert(ok, "[onto.run] evaluate has no variables, which live in a session; write session sess; sess.run(e)");
};
template <class E>
struct evaluate_is_on_the_cpu {
  using reported = void;
  static constexpr bool ok = sizeof(E) == 0;
  static_assert(ok,
                "[onto.run] evaluate runs on cpu<0>, and the program asks for another device; write session sess; "
                "sess.run(e)");
};

enum class session_need : unsigned char { none, variables, devices };

/// Why a program needs a session.
constexpr session_need need_of(const graph_view& g) {
  for (int n = 0; n < g.count; ++n) {
    if (g[n].kind() == op_kind::variable) return session_need::variables;
    if (g[n].request.is_set() && !(g[n].request == cpu<0>::value)) return session_need::devices;
  }
  return session_need::none;
}

inline namespace ONTO_ABI {

/// Runs a program's requests on this process's CPU: in line, or where shapes or values decide what is run, by what all
/// threads share.
template <class... E>
struct evaluator {
  using typed = typed_run<E...>;

  static void run(run_request& r) {
    if constexpr (has_inline_plan<typename typed::graph, typename typed::table>()) {
      using plan = inline_plan<typename typed::graph, typename typed::table>;
      if (run_inline(plan::value, r)) return;
      if constexpr (plan::value.values_decide) typed::start(host_runtime(), nullptr, r);
    } else {
      typed::start(host_runtime(), nullptr, r);
    }
  }
};

}  // namespace ONTO_ABI

}  // namespace detail
}  // namespace onto
ONTO_END_RUNS_ONCE

// What every run passes through, so optimized.
namespace onto {
namespace detail {

/// Reports a program that needs a session, and otherwise calls `run`. *Returns* a `Result` in any case.
template <class Graph, class Result, class Run>
ONTO_INLINE Result without_session(const Run& run) {
  constexpr session_need need = need_of(Graph::view);
  if constexpr (need == session_need::variables)
    static_cast<void>(static_cast<typename evaluate_has_no_variables<Graph>::reported*>(nullptr));
  else if constexpr (need == session_need::devices)
    static_cast<void>(static_cast<typename evaluate_is_on_the_cpu<Graph>::reported*>(nullptr));
  if constexpr (need == session_need::none)
    return run();
  else
    return Result();
}

/// Whether a program that is fed so is one loop.
template <class E, class... Symbols>
constexpr bool runs_as_loop() {
  if constexpr (!one_loop_facts<E>::possible)
    return false;
  else if constexpr (first_unfed<graph_of<E>, Symbols...>() >= 0 || first_fed_twice<Symbols...>() >= 0)
    return false;
  else
    return one_loop<E>::supported;
}

/// The same, into such an output.
template <class E, class Outputs, class... Symbols>
constexpr bool runs_as_loop_to() {
  using out = std::remove_reference_t<Outputs>;
  if constexpr (is_tuple<std::remove_cvref_t<Outputs>> || !takes_result<result_of<E>, out> ||
                !(std::is_lvalue_reference_v<Outputs> || is_view<out>))
    return false;
  else
    return runs_as_loop<E, Symbols...>();
}

/// Programs of more than one loop, and operands of other shapes than the loop is for.
template <class E, class... Symbols>
ONTO_NOINLINE result_of<E> evaluate_bound(const E& e, const feed<Symbols>&... feeds) {
  const state* const states[] = {e.state.get()};
  evaluator<E> here;
  return std::get<0>(typed_run<E>::run(here, nullptr, states, feeds...));
}
template <class Outputs, class E, class... Symbols>
ONTO_NOINLINE void evaluate_bound_to(std::remove_reference_t<Outputs>& outputs, const E& e,
                                     const feed<Symbols>&... feeds) {
  const state* const states[] = {e.state.get()};
  auto list = outputs_of<Outputs>(outputs);
  evaluator<E> here;
  run_into_outputs<E>::run(here, nullptr, states, list, feeds...);
}

// A loop is for the vectors that the file was compiled for, and so is what contains it.
inline namespace ONTO_VECTOR_ABI {

template <class E, class... Symbols>
ONTO_INLINE result_of<E> evaluate_loop(const E& e, const feed<Symbols>&... feeds) {
  one_loop<E> loop;
  if (!loop.gather(e.state.get(), feeds...)) {
    if constexpr (one_loop<E>::is_certain)
      loop.throw_missing();
    else
      return evaluate_bound(e, feeds...);
  }
  result_of<E> r(uninitialized, loop.result_shape());
  loop.run(r.data());
  return r;
}

/// A result that lies in what is still to be read goes there at the end.
template <class E>
ONTO_NOINLINE void run_staged(const one_loop<E>& loop, void* out) {
  result_of<E> r(uninitialized, loop.result_shape());
  loop.run(r.data());
  std::memcpy(out, r.data(), r.size() * sizeof(*r.data()));
}

template <class Outputs, class E, class... Symbols>
ONTO_INLINE void evaluate_loop_to(std::remove_reference_t<Outputs>& outputs, const E& e,
                                  const feed<Symbols>&... feeds) {
  one_loop<E> loop;
  if (!loop.gather(e.state.get(), feeds...)) {
    if constexpr (one_loop<E>::is_certain)
      loop.throw_missing();
    else
      return evaluate_bound_to<Outputs>(outputs, e, feeds...);
  }
  former_outputs former;
  void* const out = memory_for(outputs, loop.result_shape(), former);
  if (loop.overlaps(out))
    run_staged(loop, out);
  else
    loop.run(out);
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace detail

inline namespace ONTO_VECTOR_ABI {

/// Computes `e` on this process's CPU and returns its tensor; several as `evaluate(fetches(x, y), feeds...)`, a
/// `std::tuple`. *Mandates* every placeholder under `e` is fed, no variables, no device but `cpu<0>`.
/// *Throws* `invalid_argument_error` for shapes that do not fit; `resource_exhausted_error`.
template <expression E, class... Symbols>
auto evaluate(const E& e, const feed<Symbols>&... feeds) {
  if constexpr (std::same_as<E, ill_formed>)
    return tensor<float>{};
  else
    return detail::without_session<detail::graph_of<E>, detail::result_of<E>>([&] {
      if constexpr (detail::runs_as_loop<E, Symbols...>())
        return detail::evaluate_loop(e, feeds...);
      else
        return detail::evaluate_bound(e, feeds...);
    });
}
template <class E, class... X>
  requires(detail::any_is_no_feed<X...> || detail::is_no_program<E>)
auto evaluate(const E&, const X&...) { return detail::report_no_feed<E, X...>(); }
/// Lists in braces, whose types are not known.
template <class... X>
auto evaluate(const detail::braced_fetches&, const X&...) {
  return std::tuple<tensor<float>, tensor<float>>();
}
template <expression E>
auto evaluate(const E&, const detail::braced_feed&) {
  return tensor<float>();
}
template <expression E>
auto evaluate(const E&, const detail::braced_feed&, const detail::braced_feed&) {
  return tensor<float>();
}
template <expression... E, class... Symbols>
auto evaluate(const fetch_list<E...>& f, const feed<Symbols>&... feeds) {
  return boost::hana::unpack(f.expressions, [&](const E&... e) {
    const detail::state* const states[] = {e.state.get()...};
    return detail::without_session<detail::graph_of<E...>, typename detail::typed_run<E...>::results>([&] {
      detail::evaluator<E...> here;
      return detail::typed_run<E...>::run(here, nullptr, states, feeds...);
    });
  });
}

template <expression... E, class... Symbols>
auto evaluate(const std::tuple<E...>& several, const feed<Symbols>&... feeds) {
  return evaluate(fetches(several), feeds...);
}

/// The same into memory of the caller's: a tensor, which takes the result's shape; or a `tensor_ref` of its shape; or a
/// span, vector or array of as many elements. Several outputs are a tuple of references, `std::tie(a, b)`. An output
/// may be read by the program. *Throws* as `evaluate`, and `invalid_argument_error` for an output of another size.
template <class Outputs, expression E, class... Symbols>
void evaluate_to(Outputs&& outputs, const E& e, const feed<Symbols>&... feeds) {
  if constexpr (!std::same_as<E, ill_formed>)
    detail::without_session<detail::graph_of<E>, void>([&] {
      if constexpr (detail::runs_as_loop_to<E, Outputs, Symbols...>())
        detail::evaluate_loop_to<Outputs>(outputs, e, feeds...);
      else
        detail::evaluate_bound_to<Outputs>(outputs, e, feeds...);
    });
}
template <class Outputs, expression... E, class... Symbols>
void evaluate_to(Outputs&& outputs, const fetch_list<E...>& f, const feed<Symbols>&... feeds) {
  boost::hana::unpack(f.expressions, [&](const E&... e) {
    detail::without_session<detail::graph_of<E...>, void>([&] {
      const detail::state* const states[] = {e.state.get()...};
      auto list = detail::outputs_of<Outputs>(outputs);
      detail::evaluator<E...> here;
      detail::run_into_outputs<E...>::run(here, nullptr, states, list, feeds...);
    });
  });
}

}  // namespace ONTO_VECTOR_ABI

}  // namespace onto
