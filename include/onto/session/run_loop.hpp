// SPDX-License-Identifier: BSL-1.0
// Programs of one loop, run where they are called: by `evaluate`, and by what a session prepared of the CPU alone.
#pragma once

#include <onto/core/atomic.hpp>
#include <onto/session/one_loop.hpp>
#include <onto/session/outputs.hpp>

#include <cstring>
#include <type_traits>

namespace onto::detail {

enum class session_need : unsigned char { none, variables, devices };

/// Why a program needs a session.
constexpr session_need need_of(const graph_view& g) {
  for (int n = 0; n < g.count; ++n) {
    if (g[n].kind() == op_kind::variable) return session_need::variables;
    if (g[n].request.is_set() && !(g[n].request == cpu<0>::value)) return session_need::devices;
  }
  return session_need::none;
}

/// Whether a program that is fed so is one loop, and needs no session.
template <class E, class... Symbols>
constexpr bool runs_as_loop() {
  if constexpr (!one_loop_facts<E>::possible)
    return false;
  else if constexpr (need_of(graph_of<E>::view) != session_need::none)
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

// A loop is for the vectors that the file was compiled for, and so is what contains it.
inline namespace ONTO_VECTOR_ABI {

/// *Preconditions* of this and the next: the loop has gathered its operands.
template <class E>
ONTO_INLINE result_of<E> result_of_loop(const one_loop<E>& loop) {
  result_of<E> r(uninitialized, loop.result_shape());
  loop.run(r.data());
  return r;
}

/// A result that lies in what is still to be read goes there at the end.
template <class E>
ONTO_NOINLINE void run_staged(const one_loop<E>& loop, void* out) {
  const result_of<E> r = result_of_loop(loop);
  std::memcpy(out, r.data(), r.size() * sizeof(*r.data()));
}

template <class E, class Output>
ONTO_INLINE void run_loop_to(const one_loop<E>& loop, Output& output) {
  former_outputs former;
  void* const out = memory_for(output, loop.result_shape(), former);
  if (loop.overlaps(out))
    run_staged(loop, out);
  else
    loop.run(out);
}

/// A run of a prepared program, if it is one short loop and the session leaves it to the caller. *Returns* false,
/// having done nothing, where the session has to run it.
template <class E, class... Symbols>
ONTO_NOINLINE bool run_prepared_loop(result_of<E>& result, atomic<std::int64_t>& kernels, const E& e,
                                     const feed<Symbols>&... feeds) {
  one_loop<E> loop;
  if (!loop.gather(e.state.get(), feeds...) || !loop.is_short()) return false;
  result = result_of_loop(loop);
  kernels.fetch_add(1, memory_order_relaxed);
  return true;
}
template <class E, class Output, class... Symbols>
ONTO_NOINLINE bool run_prepared_loop_to(Output& output, atomic<std::int64_t>& kernels, const E& e,
                                        const feed<Symbols>&... feeds) {
  one_loop<E> loop;
  if (!loop.gather(e.state.get(), feeds...) || !loop.is_short()) return false;
  run_loop_to(loop, output);
  kernels.fetch_add(1, memory_order_relaxed);
  return true;
}

}  // namespace ONTO_VECTOR_ABI

}  // namespace onto::detail
