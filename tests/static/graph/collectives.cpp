// SPDX-License-Identifier: BSL-1.0
// Which sums over tasks are all-reduces, and what the other collectives are: a specification, each line of it proven by
// the compiler.
#include <onto/onto.hpp>

using namespace onto;

namespace {

using first = task<"worker", 0>;
using second = task<"worker", 1>;
using third = task<"worker", 2>;
using store = task<"ps", 0>;

constexpr auto x = placeholder<"x", float, 4, 2>;
constexpr auto y = placeholder<"y", float, 4, 2>;
constexpr auto z = placeholder<"z", float, 4, 2>;
constexpr auto open = placeholder<"open", float, dyn>;
constexpr auto a = on<first>(tanh(x));
constexpr auto b = on<second>(exp(y));
constexpr auto c = on<third>(sqrt(z));

/// All-reduces and messages of a plan.
struct crossings {
  int all_reduces = 0, messages = 0;
  constexpr bool operator==(const crossings&) const = default;
};
constexpr auto of(const auto&... e) {
  constexpr const auto& p = plan_of(fetches(std::remove_cvref_t<decltype(e)>{detail::state_ref{}}...));
  return crossings{p.all_reduces, p.messages};
}

// ---- what is one ------------------------------------------------------------------------------------------

// A sum of one value from each of several tasks that arrives everywhere.
static_assert(of(a + b) == crossings{1, 0});
static_assert(of(add_n(a, b, c)) == crossings{1, 0});
static_assert(of((a + b) + c) == crossings{1, 0});
static_assert(plan_of(a + b).transfers == 0);
static_assert(plan_of(a + b).all_reduce_bytes == 32);

// What follows from it alone is computed on each task, and is no message either: a mean, a scale.
static_assert(of((a + b) * 0.5_c) == crossings{1, 0});
static_assert(plan_of((a + b) * 0.5_c).kernels == 4);
static_assert(of(mean(towers(boost::hana::tuple_t<first, second>, [](auto) { return cos(x); }))) == crossings{1, 1});

// Written once and used under two scopes it is two sums of the same, and one all-reduce.
static_assert(of(on<first>(exp(a + b)), on<second>(cos(a + b))) == crossings{1, 0});

// Small ones are one call; a large one, or one of another type, is a call of its own.
constexpr auto big = placeholder<"big", float, 512, 512>;
constexpr auto other_big = placeholder<"other_big", float, 512, 512>;
static_assert(of(a + b, on<first>(cos(x)) + on<second>(cos(y))) == crossings{1, 0});
static_assert(of(a + b, on<first>(cos(big)) + on<second>(cos(other_big))) == crossings{2, 0});
static_assert(of(a + b, on<first>(cast<double>(x)) + on<second>(cast<double>(y))) == crossings{2, 0});

// Of extents that only the run knows, too.
static_assert(of(on<first>(tanh(open)) + on<second>(exp(on<second>(open)))).all_reduces == 1);

// On GPUs of the tasks: through the memory of their hosts.
constexpr auto gpus = on<task<"worker", 0, gpu<0>>>(tanh(x)) + on<task<"worker", 1, gpu<0>>>(exp(y));
static_assert(of(gpus) == crossings{1, 0});

// ---- what is none -----------------------------------------------------------------------------------------

// A sum that one task wants: the others send it their values, and it is fused with what follows.
static_assert(of(on<store>((a + b) * 0.5_c)) == crossings{0, 2});
static_assert(plan_of(on<store>((a + b) * 0.5_c)).kernels == 3);
static_assert(of(on<first>(exp(a + b))) == crossings{0, 1});

// Two values of one task, other operations, elements that are no numbers, one process.
static_assert(of(a + on<first>(cos(x))).all_reduces == 0);
static_assert(of(a * b).all_reduces == 0 && of(a - b).all_reduces == 0);
static_assert(plan_of(on<gpu<0>>(tanh(x)) + on<gpu<1>>(exp(y))).all_reduces == 0);

// Nobody sums what the types cannot promise to be of one shape.
static_assert(of(a + on<second>(sum<0, 1>(y, keep_extents))).all_reduces == 0);

// A task that has no part in it, and to which the result is to come, gets a message.
static_assert(of(a + b, on<store>(cos(z))) == crossings{1, 1});

// ---- all-gathers ------------------------------------------------------------------------------------------

struct calls {
  int all_reduces = 0, reduce_scatters = 0, all_gathers = 0, broadcasts = 0, messages = 0;
  constexpr bool operator==(const calls&) const = default;
};
constexpr auto calls_of(const auto&... e) {
  constexpr const auto& p = plan_of(fetches(std::remove_cvref_t<decltype(e)>{detail::state_ref{}}...));
  return calls{p.all_reduces, p.reduce_scatters, p.all_gathers, p.broadcasts, p.messages};
}

// Values of several tasks side by side, along any axis, that arrive everywhere, or are used on each of these tasks.
static_assert(calls_of(concat<0>(a, b)) == calls{.all_gathers = 1});
static_assert(calls_of(concat<1>(a, b, c)) == calls{.all_gathers = 1});
static_assert(plan_of(concat<0>(a, b)).all_gather_bytes == 64 && plan_of(concat<0>(a, b)).kernels == 2);
static_assert(calls_of(on<first>(exp(concat<0>(a, b))), on<second>(cos(concat<0>(a, b)))) == calls{.all_gathers = 1});
static_assert(calls_of(tanh(concat<0>(a, b))) == calls{.all_gathers = 1});
static_assert(calls_of(concat<0>(reshape<8>(a), on<second>(reshape<8>(b)))) == calls{.all_gathers = 1});

// Small ones are one call, and truth values go too.
static_assert(calls_of(concat<0>(a, b), concat<1>(on<first>(cos(x)), on<second>(cos(y)))) == calls{.all_gathers = 1});
static_assert(calls_of(concat<0>(a, b), concat<0>(on<first>(x > 0_c), on<second>(y > 0_c))) == calls{.all_gathers = 2});

// None: used on one task, two values of one task, a term that is on none.
static_assert(calls_of(on<first>(exp(concat<0>(a, b)))) == calls{.messages = 1});
static_assert(calls_of(concat<0>(a, b, on<first>(cos(x)))).all_gathers == 0);
static_assert(plan_of(concat<0>(on<gpu<0>>(tanh(x)), on<gpu<1>>(exp(y)))).all_gathers == 0);

// ---- reduce-scatters --------------------------------------------------------------------------------------

constexpr auto upper = slice<0, 2>(a + b);
constexpr auto lower = slice<2, 4>(a + b);

// A sum of which each task uses rows of its own, and nobody the rest.
static_assert(calls_of(on<first>(exp(upper)), on<second>(cos(lower))) == calls{.reduce_scatters = 1});
static_assert(calls_of(on<first>(exp(slice<0, 1>(a + b))), on<second>(cos(lower))) == calls{.reduce_scatters = 1});
static_assert(plan_of(fetches(on<first>(exp(upper)), on<second>(cos(lower)))).reduce_scatter_bytes == 32);

// Where rows are used twice, or a task uses more, it is an all-reduce. Who wants it all has one beside.
static_assert(calls_of(on<first>(exp(slice<0, 3>(a + b))), on<second>(cos(lower))) == calls{.all_reduces = 1});
static_assert(calls_of(on<first>(exp(upper) * slice<2, 3>(a + b)), on<second>(cos(slice<3, 4>(a + b)))) ==
              calls{.all_reduces = 1});
static_assert(calls_of(on<first>(exp(upper)), on<second>(cos(lower)), a + b) ==
              calls{.all_reduces = 1, .reduce_scatters = 1});

// A variable in parts, one on each task: the gradient's rows go to their owner, and the parts to all.
constexpr auto part_0 = variable<"part_0", float, 2, 2>(zeros<float, 2, 2>());
constexpr auto part_1 = variable<"part_1", float, 2, 2>(zeros<float, 2, 2>());
static_assert(calls_of(on<first>(assign_sub(part_0, upper * 0.1_c)), on<second>(assign_sub(part_1, lower * 0.1_c)),
                       on<first>(tanh(concat<0>(on<first>(part_0), on<second>(part_1)))),
                       on<second>(exp(concat<0>(on<first>(part_0), on<second>(part_1))))) ==
              calls{.reduce_scatters = 1, .all_gathers = 1});

// ---- broadcasts -------------------------------------------------------------------------------------------

using fourth = task<"worker", 3>;
constexpr auto shared = on<first>(tanh(x) * 2_c);

// What goes to three other tasks or more: used there, or a result. To fewer its owner sends it.
static_assert(calls_of(on<second>(exp(shared)), on<third>(cos(shared)), on<fourth>(sin(shared))) ==
              calls{.broadcasts = 1});
static_assert(calls_of(on<second>(exp(shared)), on<third>(cos(shared))) == calls{.messages = 2});
static_assert(calls_of(shared * 2_c, on<second>(cos(b)), on<third>(cos(c)), on<fourth>(sin(c))) ==
              calls{.broadcasts = 1, .messages = 1});  // c goes to the fourth
static_assert(
    plan_of(fetches(on<second>(exp(shared)), on<third>(cos(shared)), on<fourth>(sin(shared)))).broadcast_bytes == 32);

}  // namespace
