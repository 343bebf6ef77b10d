// SPDX-License-Identifier: BSL-1.0
// Where operations run: scopes, worlds and soft placement, as the compiler decides them. Each line is proven.
#include <onto/expr/named.hpp>
#include <onto/ops/all.hpp>
#include <onto/plan/placeable.hpp>
#include <onto/plan/plan.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 2, 3>;
constexpr auto y = placeholder<"y", float, 2, 3>;
constexpr auto m = placeholder<"m", float, 3, 3>;
constexpr auto n = placeholder<"n", std::int32_t, 3, 3>;
constexpr auto w = variable<"w", float, 2, 3>;
constexpr auto counter = variable<"counter", std::int32_t, 2>;
const auto increment = assign_add(counter, 1);
const auto increment_on_gpu = on<gpu<0>>(assign_add(counter, 1));
const auto increment_placed = assign_add(on<gpu<0>>(counter), 1);
const auto increment_elsewhere = on<cpu<0>>(assign_add(on<gpu<0>>(w), 1.0f));

using laptop = world<cpu<0>>;
using workstation = world<cpu<0>, gpu<0>>;
using server = world<cpu<0>, gpu<0>, gpu<1>, gpu<2>>;

/// Where the nth operation of this name is, counted in order of the graph.
template <class Plan>
constexpr place where_is(const Plan& p, std::string_view operation, int nth = 0) {
  for (int k = 0; k < p.graph.count; ++k)
    if (p.graph[k].op->name == operation && nth-- == 0) return p.placement[k].where;
  return {};
}
/// And why.
template <class Plan>
constexpr placement_reason why(const Plan& p, std::string_view operation, int nth = 0) {
  for (int k = 0; k < p.graph.count; ++k)
    if (p.graph[k].op->name == operation && nth-- == 0) return p.placement[k].reason;
  return placement_reason::missing_device;
}

constexpr place cpu0 = cpu<0>::value;
constexpr place gpu0 = gpu<0>::value;
constexpr place gpu1 = gpu<1>::value;
constexpr place gpu2 = gpu<2>::value;

// ---- free choice ------------------------------------------------------------------------------------------

// What asks for nothing runs on the first device with a kernel: a GPU before the CPU, the lowest index first.
static_assert(where_is(plan_of<laptop>(x + y), "Add") == cpu0);
static_assert(where_is(plan_of<workstation>(x + y), "Add") == gpu0);
static_assert(where_is(plan_of<server>(x + y), "Add") == gpu0);
static_assert(where_is(plan_of<world<cpu<0>, gpu<10>, gpu<2>>>(x + y), "Add") == gpu2);
static_assert(why(plan_of<server>(x + y), "Add") == placement_reason::free);

// With no kernel there, the next: int32 products have none on GPUs.
static_assert(where_is(plan_of<workstation>(matmul(n, n)), "MatMul") == cpu0);
static_assert(where_is(plan_of<workstation>(n + n), "Add") == gpu0);

// Without a world: the devices the program names, and the CPU.
static_assert(where_is(plan_of(x + y), "Add") == cpu0);
static_assert(where_is(plan_of(on<gpu<2>>(x + y)), "Add") == gpu2);

// ---- scopes -----------------------------------------------------------------------------------------------

// on<D>(e) computes e on D, every operation of it.
static_assert(where_is(plan_of<server>(on<gpu<1>>(tanh(x + y))), "Add") == gpu1);
static_assert(where_is(plan_of<server>(on<gpu<1>>(tanh(x + y))), "Tanh") == gpu1);
static_assert(where_is(plan_of<server>(on<cpu<0>>(x + y)), "Add") == cpu0);
static_assert(why(plan_of<server>(on<cpu<0>>(x + y)), "Add") == placement_reason::requested);

// What was placed before keeps its place: the innermost scope wins.
static_assert(where_is(plan_of<server>(on<gpu<1>>(tanh(on<gpu<2>>(x + y)))), "Add") == gpu2);
static_assert(where_is(plan_of<server>(on<gpu<1>>(tanh(on<gpu<2>>(x + y)))), "Tanh") == gpu1);
static_assert(where_is(plan_of<server>(on<gpu<1>>(on<cpu<0>>(x + y))), "Add") == cpu0);

// A callable is a scope too, with arguments or without, and may return several expressions.
static_assert(where_is(plan_of<server>(on<gpu<1>>([] { return x + y; })), "Add") == gpu1);
static_assert(where_is(plan_of<server>(on<gpu<1>>([](auto e) { return exp(e); }, x)), "Exp") == gpu1);
constexpr auto both = on<gpu<1>>([] { return std::tuple{x + y, tanh(x)}; });
static_assert(where_is(plan_of<server>(std::get<1>(both)), "Tanh") == gpu1);

// Naming an expression does not change its place.
static_assert(where_is(plan_of<server>(on<gpu<1>>(named<"h">(x + y))), "Add") == gpu1);
static_assert(where_is(plan_of<server>(named<"h">(on<gpu<1>>(x + y))), "Add") == gpu1);

// The same operation in two scopes is two, one on each device.
static_assert(where_is(plan_of<server>(on<gpu<1>>(x + y) * on<gpu<2>>(x + y)), "Add") == gpu1);
static_assert(where_is(plan_of<server>(on<gpu<1>>(x + y) * on<gpu<2>>(x + y)), "Add", 1) == gpu2);

// ---- symbols ----------------------------------------------------------------------------------------------

// A symbol is placed by on<D> around it alone; a scope around an operation leaves it free.
static_assert(where_is(plan_of<server>(on<gpu<1>>(x) + y), "Placeholder") == gpu1);
static_assert(why(plan_of<server>(on<gpu<1>>(x) + y), "Placeholder") == placement_reason::requested);
static_assert(why(plan_of<server>(on<gpu<1>>(x + y)), "Placeholder") == placement_reason::consumers);

// A symbol without a device is where its consumers are, if they agree.
static_assert(where_is(plan_of<server>(on<gpu<2>>(exp(x))), "Placeholder") == gpu2);
static_assert(where_is(plan_of<server>(on<cpu<0>>(exp(x))), "Placeholder") == cpu0);

// If they do not, the order of devices says.
static_assert(where_is(plan_of<server>(fetches(on<gpu<2>>(exp(x)), on<cpu<0>>(tanh(x)))), "Placeholder") == gpu0);

// ---- variables --------------------------------------------------------------------------------------------

// Whatever writes a variable runs where the variable is.
static_assert(where_is(plan_of<server>(assign(on<gpu<1>>(w), x)), "Assign") == gpu1);
static_assert(where_is(plan_of<server>(assign(on<cpu<0>>(w), x + y)), "Assign") == cpu0);
static_assert(why(plan_of<server>(assign(on<cpu<0>>(w), x + y)), "Assign") == placement_reason::variable);
static_assert(where_is(plan_of<server>(assign(on<cpu<0>>(w), x + y)), "Add") == gpu0);

// int32 state stays in host memory, and so does what writes it.
static_assert(where_is(plan_of<server>(increment), "Variable") == cpu0);
static_assert(where_is(plan_of<server>(increment), "AssignAdd") == cpu0);
static_assert(placeable<server>(increment));

// ---- soft placement ---------------------------------------------------------------------------------------

// Where a device is missing: another of the same kind, index modulo the number there are, so that towers spread.
static_assert(where_is(plan_of<server>(on<gpu<4>>(x + y)), "Add") == gpu1);
static_assert(where_is(plan_of<server>(on<gpu<5>>(x + y)), "Add") == gpu2);
static_assert(where_is(plan_of<workstation>(on<gpu<3>>(x + y)), "Add") == gpu0);
static_assert(why(plan_of<workstation>(on<gpu<3>>(x + y)), "Add") == placement_reason::moved_no_device);

// With none of that kind: the CPU.
static_assert(where_is(plan_of<laptop>(on<gpu<3>>(x + y)), "Add") == cpu0);
static_assert(where_is(plan_of<server>(on<cpu<1>>(x + y)), "Add") == cpu0);

// Where there is no kernel: the CPU.
static_assert(where_is(plan_of<server>(on<gpu<1>>(matmul(n, n))), "MatMul") == cpu0);
static_assert(why(plan_of<server>(on<gpu<1>>(matmul(n, n))), "MatMul") == placement_reason::moved_no_kernel);

// Where it writes state that lives elsewhere: there.
static_assert(where_is(plan_of<server>(increment_placed), "Variable") == cpu0);
static_assert(where_is(plan_of<server>(increment_placed), "AssignAdd") == cpu0);
static_assert(where_is(plan_of<server>(increment_elsewhere), "AssignAdd") == gpu0);
static_assert(why(plan_of<server>(increment_elsewhere), "AssignAdd") == placement_reason::moved_variable);

// Never: a CPU request to a GPU.
static_assert(!plan_of<world<gpu<0>>>(on<cpu<0>>(x + y)).placeable);

// What needs no move is not moved.
static_assert(why(plan_of<server>(on<gpu<1>>(x + y)), "Add") == placement_reason::requested);

// ---- hard placement ---------------------------------------------------------------------------------------

// A program is placeable in a world if every operation can run where it is put, or anywhere if it asks for nothing.
static_assert(placeable<laptop>(x + y));
static_assert(placeable<laptop>(on<cpu<0>>(x + y)));
static_assert(placeable<workstation>(on<gpu<0>>(x + y)));
static_assert(placeable<world<gpu<0>>>(x + y));
static_assert(placeable<laptop>(fetches(x + y, x - y)));

// No such device.
static_assert(!placeable<laptop>(on<gpu<0>>(x + y)));
static_assert(!placeable<workstation>(on<gpu<1>>(x + y)));
static_assert(!placeable<workstation>(fetches(x + y, on<gpu<1>>(x - y))));
static_assert(!placeable<world<>>(x + y));
static_assert(!placeable<laptop>(on<gpu<0>>(x) + y));

// No kernel there.
static_assert(!placeable<workstation>(on<gpu<0>>(matmul(n, n))));
static_assert(!placeable<world<gpu<0>>>(matmul(n, n)));
static_assert(placeable<workstation>(on<cpu<0>>(matmul(n, n))));
static_assert(!placeable<workstation>(increment_placed));
static_assert(!placeable<workstation>(increment_on_gpu));

// State elsewhere.
static_assert(!placeable<workstation>(increment_elsewhere));

// One operation that cannot be placed is enough.
static_assert(!placeable<workstation>(on<gpu<0>>(cast<float>(matmul(n, n)) + m)));

// A plan says whether it could be placed, softly; without a place nothing is counted.
static_assert(plan_of<laptop>(on<gpu<0>>(x + y)).placeable);
static_assert(!plan_of<world<>>(x + y).placeable);
static_assert(plan_of<world<>>(x + y).kernels == 0);

}  // namespace
