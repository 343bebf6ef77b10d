// SPDX-License-Identifier: BSL-1.0
// Which kernels are merged into one with several results: a specification, each line of it proven by the compiler.
#include <onto/ops/all.hpp>
#include <onto/plan/plan.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 64, 64>;
constexpr auto y = placeholder<"y", float, 64, 64>;
constexpr auto z = placeholder<"z", float, 64, 64>;
constexpr auto row = placeholder<"row", float, 64>;
constexpr auto d = placeholder<"d", double, 64, 64>;
constexpr auto large = placeholder<"large", float, 1024, 1024>;
constexpr auto large_too = placeholder<"large_too", float, 1024, 1024>;
constexpr auto open = placeholder<"open", float, dyn, dyn>;
constexpr auto open_too = placeholder<"open_too", float, dyn, dyn>;
constexpr auto held = variable<"held", float, 64, 64>;
constexpr auto n = placeholder<"n", std::int32_t, 64, 64>;
constexpr auto wide = placeholder<"wide", std::int64_t, 64, 64>;

// Scalars are values of the run, so these are no constants; their plans are, for the type is enough.
const auto two_scaled = fetches(x + 1.0f, x * 2.0f);

// ---- several results from what is loaded once -------------------------------------------------------------

// Maps that share an operand are one kernel.
static_assert(plan_of(two_scaled).kernels == 1);
static_assert(plan_of(fetches(x + y, x - y, (x * y))).kernels == 1);
static_assert(plan_of(fetches(large + large_too, exp(large))).kernels == 1);

// So are a chain and what is fetched on the way.
static_assert(plan_of(fetches(exp(large), exp(large) * large_too)).kernels == 1);
static_assert(plan_of(fetches(exp(x), tanh(exp(x)), tanh(exp(x)) + y)).kernels == 1);

// And a map that another kernel needs too.
static_assert(plan_of(fetches(sum(exp(large)), exp(large) * large_too)).kernels == 2);

// What reads several kernels makes them one with itself.
static_assert(plan_of(fetches(exp(large), tanh(large), exp(large) * tanh(large))).kernels == 1);

// Operands that broadcast do not hinder: results have the same extents.
static_assert(plan_of(fetches(x + row, (x * y))).kernels == 1);

// Extents of the run are the same where they are of one operand, and else may differ.
static_assert(plan_of(fetches(exp(open), abs(tanh(open)))).kernels == 1);
static_assert(plan_of(fetches(exp(open), exp(open) * open)).kernels == 1);
static_assert(plan_of(fetches(open + open_too, open)).kernels == 2);
static_assert(plan_of(fetches(exp(open), (open * open_too))).kernels == 2);
static_assert(plan_of(fetches(open + placeholder<"r", float, 64>, exp(open))).kernels == 2);

// Not merged: what has other extents, computes in another type, or would lose the packs of its neighbour.
static_assert(plan_of(fetches(exp(large), exp(slice<0, 512>(large)))).kernels == 2);
static_assert(plan_of(fetches(x + row, row + row)).kernels == 2);
static_assert(plan_of(fetches(x + y, d + d)).kernels == 2);
static_assert(plan_of(fetches(x + y, cast<float>(wide) * x)).kernels == 2);
static_assert(plan_of(fetches(cast<float>(n) * x, cast<float>(wide) * x)).kernels == 2);

// Truth values are masks beside the floats they are made of: a choice that two results share is computed with them.
static_assert(plan_of(fetches(x + y, x < y)).kernels == 1);
static_assert(plan_of(fetches(where(x < y, exp(x), y), where(x < y, y, x + y))).kernels == 1);
static_assert(plan_of(fetches(x + y, d < d)).kernels == 2);

// So are narrow integers, where they are read and where they are made.
static_assert(plan_of(fetches(x + y, cast<float>(n) * x)).kernels == 1);
static_assert(plan_of(fetches(exp(x), cast<std::int8_t>(exp(x)))).kernels == 1);

// What reads another kernel's elements elsewhere is another kernel.
static_assert(plan_of(fetches(exp(x), transpose(exp(x)) * x)).kernels == 2);
static_assert(plan_of(fetches(exp(x), exp(x) * transpose(exp(x)))).kernels == 2);

// No kernel waits for itself: the quotient waits for the sum, which waits for the exponentials.
static_assert(plan_of(exp(x) / sum(exp(x))).kernels == 3);
static_assert(plan_of(fetches(exp(x), exp(x) - max<1>(exp(x), keep_extents))).kernels == 2);

// No kernel waits for more than it did: the first can begin before the maximum.
static_assert(plan_of(fetches(exp(large), large* max(large_too))).kernels == 3);

// A product, a reduction and a softmax stay by themselves.
static_assert(plan_of(fetches(matmul(x, y), x + y)).kernels == 2);
static_assert(plan_of(fetches(sum(x), x + y)).kernels == 2);
static_assert(plan_of(fetches(softmax(x), x + y)).kernels == 2);

// Nor does it cross devices.
static_assert(plan_of(fetches(on<gpu<0>>(exp(x)), on<gpu<1>>(tanh(x)))).kernels == 2);
static_assert(plan_of(fetches(on<gpu<0>>(exp(x)), on<gpu<0>>(tanh(x)))).kernels == 1);
static_assert(plan_of<world<cpu<0>>>(fetches(on<gpu<0>>(exp(x)), on<gpu<1>>(tanh(x)))).kernels == 2);

// On a GPU that the program names, feeds are copied first: the copy of one goes on beside the other's kernel.
static_assert(plan_of(fetches(on<gpu<0>>(exp(x)), on<gpu<0>>((x * y)))).kernels == 2);
static_assert(plan_of(fetches(on<gpu<0>>(exp(x)), on<gpu<0>>(exp(x) * y))).kernels == 2);
static_assert(plan_of(fetches(on<gpu<0>>(x + y), on<gpu<0>>((x * y)))).kernels == 1);
static_assert(plan_of(fetches(on<gpu<0>>(x + y), on<gpu<0>>((x + y) * y))).kernels == 1);

// ---- the same in a plan's numbers -------------------------------------------------------------------------

// Each result has its value, the operation at the end its kernel.
constexpr const auto& two = plan_of(fetches(x + y, (x * y)));
static_assert(two.step_count == 1 && two.steps[0].more == 1 && two.value_count == 2);
static_assert(two.values[0].fetch == 1 && two.values[1].fetch == 0);
static_assert(two.flops == 2 * 64 * 64);

// A copy for every result that is wanted elsewhere, and one for the operand.
static_assert(plan_of(on<gpu<0>>(x + y)).transfers == 3);
static_assert(plan_of(fetches(on<gpu<0>>(x + y), on<gpu<0>>((x * y)))).transfers == 4);

// What reads the first result does not wait for its place in the program's order.
static_assert(plan_of(fetches(matmul(x + y, x), matmul((x * y), x))).kernels == 3);
static_assert(plan_of(fetches(matmul(x + y, x), matmul((x * y), x))).steps[0].more == 1);

// ---- small maps -------------------------------------------------------------------------------------------

// Small maps of the same extents are merged though they share nothing: launching them is what they cost.
static_assert(plan_of(fetches(exp(x), tanh(y), abs(z))).kernels == 1);

// Large ones are not.
static_assert(plan_of(fetches(exp(large), tanh(large_too))).kernels == 2);

// Small ones that nothing waits for may wait for each other's operands.
static_assert(plan_of(fetches(exp(sum<0>(large)), tanh(max<0>(large_too)))).kernels == 3);
static_assert(plan_of(fetches(exp(x), tanh(matmul(y, z)))).kernels == 2);

// Where the program names several devices they may not: a copy to another device may wait for one of them.
static_assert(plan_of(fetches(on<gpu<0>>(exp(held)), on<gpu<0>>(tanh(matmul(y, z))))).kernels == 2);
static_assert(plan_of(fetches(on<gpu<0>>(exp(held)), on<gpu<0>>(tanh(matmul(y, z))), on<gpu<1>>(abs(x)))).kernels == 4);

constexpr auto numbered(int k) {
  fixed_string<4> name("p00");
  name.data[1] = static_cast<char>('0' + k / 10);
  name.data[2] = static_cast<char>('0' + k % 10);
  return name;
}
template <int... K>
constexpr auto many(std::integer_sequence<int, K...>) {
  return fetches(tanh(placeholder<numbered(K), float, 64>)...);
}

// A hundred of them are seven kernels: each has at most sixteen results.
static_assert(plan_of(many(std::make_integer_sequence<int, 16>{})).kernels == 1);
static_assert(plan_of(many(std::make_integer_sequence<int, 17>{})).kernels == 2);
static_assert(plan_of(many(std::make_integer_sequence<int, 100>{})).kernels == 7);

// ---- variables --------------------------------------------------------------------------------------------

template <fixed_string Name>
constexpr auto state = variable<Name, float, 1024, 1024>;

/// A step of Adam for one weight.
template <fixed_string W, fixed_string M, fixed_string V, class G>
auto adam(const G& gradient) {
  const auto m = assign(state<M>, 0.9f * state<M> + 0.1f * gradient);
  const auto v = assign(state<V>, 0.999f * state<V> + 0.001f * square(gradient));
  return assign_sub(state<W>, 0.01f * m / (sqrt(v) + 1e-8f));
}

template <class E>
constexpr int kernel_steps(const E& program) {
  int count = 0;
  const auto& p = plan_of(program);
  for (int k = 0; k < p.step_count; ++k) count += p.steps[k].kind == step_kind::kernel ? 1 : 0;
  return count;
}

// A step of Adam is one kernel, which writes weight and both moments; the new weight is fetched besides.
const auto adam_step = adam<"w", "m", "v">(large);
static_assert(kernel_steps(adam_step) == 1);
static_assert(plan_of(adam_step).steps[0].more == 2);
static_assert(plan_of(adam_step).peak_bytes(cpu<0>{}) == 3 * 4 * 1024 * 1024);

// The gradient is made first, once.
const auto adam_after_product = adam<"w", "m", "v">(matmul(large, large_too));
static_assert(kernel_steps(adam_after_product) == 2);

// Two of large weights are a batch.
const auto adam_twice = fetches(adam<"w", "m", "v">(large), adam<"u", "n", "s">(large_too));
static_assert(kernel_steps(adam_twice) == 1 && plan_of(adam_twice).steps[0].batched == 2);

// Variables on two devices are written by two kernels.
const auto apart = fetches(assign_add(on<gpu<0>>(state<"a">), large), assign_add(on<gpu<1>>(state<"b">), large));
const auto together = fetches(assign_add(on<gpu<0>>(state<"a">), large), assign_add(on<gpu<0>>(state<"b">), large));
static_assert(kernel_steps(apart) == 2);
static_assert(kernel_steps(together) == 1);

}  // namespace
