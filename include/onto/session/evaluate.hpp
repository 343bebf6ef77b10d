// SPDX-License-Identifier: BSL-1.0
// A program on this process's CPU, without a session.
#pragma once

#include <onto/expr/not_a_feed.hpp>
#include <onto/session/graph_of_uses.hpp>
#include <onto/session/inline_plan.hpp>
#include <onto/session/run_loop.hpp>

#include <type_traits>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

namespace detail {

template <session_need Need>
struct evaluate_has_no_variables {
  using reported = void;
  static constexpr bool ok = Need == session_need::none;
  static_assert(ok == true,
                "[onto.run] evaluate has no variables, which live in a session; write session sess; sess.run(e)");
};
template <session_need Need>
struct evaluate_is_on_the_cpu {
  using reported = void;
  static constexpr bool ok = Need == session_need::none;
  static_assert(ok == true,
                "[onto.run] evaluate runs on cpu<0>, and the program asks for another device; write session sess; "
                "sess.run(e)");
};

inline namespace ONTO_ABI {

/// Runs a program's requests on this process's CPU: in line, or where shapes or values decide what is run, by what all
/// threads share.
template <class... E>
struct evaluator {
  using typed = typed_run<E...>;
  using uses = graph_of_uses<E...>;
  using graph = typename uses::type;

  static void run(run_request& r) {
    if constexpr (has_inline_plan<graph, typename typed::table, typed::graph::well_formed>()) {
      using plan = inline_plan<graph, typename typed::table>;
      if (run_inline(plan::value, r)) return;
      if constexpr (plan::value.values_decide) start(r);
    } else {
      start(r);
    }
  }

 private:
  static void start(run_request& r) {
    if constexpr (uses::apart)
      r.program = &compiled<graph, typename typed::table>::program;
    else
      r.program = &typed::program();
    host_runtime().run(r);
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
template <session_need Need, class Result, class Run>
ONTO_INLINE Result without_session(const Run& run) {
  if constexpr (Need == session_need::variables)
    static_cast<void>(static_cast<typename evaluate_has_no_variables<Need>::reported*>(nullptr));
  else if constexpr (Need == session_need::devices)
    static_cast<void>(static_cast<typename evaluate_is_on_the_cpu<Need>::reported*>(nullptr));
  if constexpr (Need == session_need::none)
    return run();
  else
    return Result();
}

/// Programs of more than one loop, and operands of other shapes than the loop is for.
template <class E, class... Symbols>
ONTO_NOINLINE result_of<E> evaluate_bound(const E& e, const feed<Symbols>&... feeds) {
  const state* const states[] = {e.state.get()};
  evaluator<E> here;
  return typed_run<E>::template run<true>(here, nullptr, states, feeds...);
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
  return result_of_loop(loop);
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
  run_loop_to(loop, outputs);
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
    return detail::result_of<E>{};
  else
    return detail::without_session<detail::need_of(detail::graph_of<E>::view), detail::result_of<E>>([&] {
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
template <class Several>
  requires(!expression<Several> && !detail::is_no_program<Several>)
auto evaluate(const Several&, const detail::braced_feed&) { return std::tuple<tensor<float>, tensor<float>>(); }
template <expression... E, class... Symbols>
auto evaluate(const fetch_list<E...>& f, const feed<Symbols>&... feeds) {
  return boost::hana::unpack(f.expressions, [&](const E&... e) {
    const detail::state* const states[] = {e.state.get()...};
    return detail::without_session<detail::need_of(detail::graph_of<E...>::view),
                                   typename detail::typed_run<E...>::results>([&] {
      detail::evaluator<E...> here;
      return detail::typed_run<E...>::template run<false>(here, nullptr, states, feeds...);
    });
  });
}

template <expression... E, class... Symbols>
auto evaluate(const std::tuple<E...>& several, const feed<Symbols>&... feeds) {
  return evaluate(fetches(several), feeds...);
}
template <detail::makes_several Several, class... Symbols>
auto evaluate(const Several& several, const feed<Symbols>&... feeds) {
  return evaluate(several.each(), feeds...);
}

/// The same into memory of the caller's: a tensor, which takes the result's shape; or a `tensor_ref` of its shape; or a
/// span, vector or array of as many elements. Several outputs are a tuple of references, `std::tie(a, b)`. An output
/// may be read by the program. *Throws* as `evaluate`, and `invalid_argument_error` for an output of another size.
template <class Outputs, expression E, class... Symbols>
void evaluate_to(Outputs&& outputs, const E& e, const feed<Symbols>&... feeds) {
  if constexpr (!std::same_as<E, ill_formed>)
    detail::without_session<detail::need_of(detail::graph_of<E>::view), void>([&] {
      if constexpr (detail::runs_as_loop_to<E, Outputs, Symbols...>())
        detail::evaluate_loop_to<Outputs>(outputs, e, feeds...);
      else
        detail::evaluate_bound_to<Outputs>(outputs, e, feeds...);
    });
}
template <class Outputs, expression... E, class... Symbols>
void evaluate_to(Outputs&& outputs, const fetch_list<E...>& f, const feed<Symbols>&... feeds) {
  boost::hana::unpack(f.expressions, [&](const E&... e) {
    detail::without_session<detail::need_of(detail::graph_of<E...>::view), void>([&] {
      const detail::state* const states[] = {e.state.get()...};
      auto list = detail::outputs_of<Outputs>(outputs);
      detail::evaluator<E...> here;
      detail::run_into_outputs<E...>::run(here, nullptr, states, list, feeds...);
    });
  });
}

/// The output behind the program.
template <expression E, class Output, class... X>
  requires(!expression<Output>)
void evaluate_to(const E&, Output&&, const X&...) {
  static_cast<void>(static_cast<typename detail::output_is_first<E>::reported*>(nullptr));
}

}  // namespace ONTO_VECTOR_ABI

}  // namespace onto
