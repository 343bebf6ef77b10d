// SPDX-License-Identifier: BSL-1.0
// Which values are copied between devices: a specification, each line of it proven by the compiler.
#include <onto/ops/all.hpp>
#include <onto/plan/plan.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 2, 3>;
constexpr auto y = placeholder<"y", float, 2, 3>;
constexpr auto wide = placeholder<"wide", double, 2, 3>;
constexpr auto flags = placeholder<"flags", bool, 2, 3>;
constexpr auto open = placeholder<"open", float, dyn, 3>;
constexpr auto w = variable<"w", float, 2, 3>;

constexpr auto on_cpu = x + y;
constexpr auto on_gpu = on<gpu<0>>(x + y);
constexpr auto shared = on<gpu<0>>(tanh(x));

const auto two_constants = on<gpu<0>>(x + constant<"c">({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}));
const auto scaled = on<gpu<0>>(2.0f * x);

template <int N, class M>
constexpr auto matpow(M m) {
  if constexpr (N == 1) {
    return m;
  } else {
    return matmul(m, matpow<N - 1>(m));
  }
}

constexpr auto a = placeholder<"a", float, dyn, dyn>;
constexpr auto b = placeholder<"b", float, dyn, dyn>;
constexpr auto c1 = on<gpu<0>>(matpow<10>(a));
constexpr auto c2 = on<gpu<0>>([] { return matpow<10>(b); });
constexpr auto powers = on<cpu<0>>(add_n(c1, c2));

constexpr auto two_towers = on<cpu<0>>(add_n(on<gpu<2>>(matmul(a, b)), on<gpu<3>>(matmul(a, b))));

// ---- the CPU ----------------------------------------------------------------------------------------------

// On the CPU nothing is copied: feeds are read where they are and results written where they belong.
static_assert(plan_of(on_cpu).transfers == 0);
static_assert(plan_of(on_cpu).transfer_bytes == 0);
static_assert(plan_of(fetches(x, x + y, sum(x))).transfers == 0);

// ---- one GPU ----------------------------------------------------------------------------------------------

// On a GPU each feed is one copy there, and each result one copy back.
static_assert(plan_of(on_gpu).transfers == 3);
static_assert(plan_of(on_gpu).transfer_bytes == 3 * 24);
static_assert(plan_of(fetches(on<gpu<0>>(x + y), on<gpu<0>>(x - y))).transfers == 4);

// A feed that is used twice, or by several operations, is copied once.
static_assert(plan_of(on<gpu<0>>(x * x)).transfers == 2);
static_assert(plan_of(fetches(on<gpu<0>>(sum(x)), on<gpu<0>>(max(x)), on<gpu<0>>(softmax(x)))).transfers == 1 + 3);

// A result that is fetched twice is copied once.
static_assert(plan_of(fetches(shared, shared)).transfers == 2);

// What both a GPU and the CPU use is copied for the GPU alone.
static_assert(plan_of(fetches(on<gpu<0>>(exp(x)), on<cpu<0>>(sum(x)))).transfers == 2);

// Between operations on one GPU nothing is copied.
static_assert(plan_of(on<gpu<0>>(softmax(matmul(x, transpose(y))))).transfers == 3);

// A constant is copied like a feed; a scalar travels with its kernel.
static_assert(plan_of(two_constants).transfers == 3);
static_assert(plan_of(scaled).transfers == 2);

// A variable is where it is used: nothing is copied but the result.
static_assert(plan_of(on<gpu<0>>(exp(w))).transfers == 1);
static_assert(plan_of(on<gpu<0>>(assign_add(w, x))).transfers == 2);

// Bytes are counted by element: 4 for float, 8 for double, 1 for bool.
static_assert(plan_of(on<gpu<0>>(sum(x))).transfer_bytes == 24 + 4);
static_assert(plan_of(on<gpu<0>>(sum(wide))).transfer_bytes == 48 + 8);
static_assert(plan_of(on<gpu<0>>(any(flags))).transfer_bytes == 6 + 1);

// Of a feed whose first row is read, the first row is copied.
static_assert(plan_of(on<gpu<0>>(sum(slice<0, 1>(x)))).transfer_bytes == 12 + 4);
static_assert(plan_of(on<gpu<0>>(sum(slice<range<-1>, range<>>(x)))).transfer_bytes == 12 + 4);

// Rows that a GPU reads apart are copied apart; rows that it reads twice, or with other parts, are copied with all.
static_assert(plan_of(on<gpu<0>>(slice<0, 1>(x) + slice<1, 2>(x))).transfers == 2 + 1);
static_assert(plan_of(on<gpu<0>>(slice<0, 1>(x) + slice<1, 2>(x))).transfer_bytes == 12 + 12 + 12);
static_assert(plan_of(on<gpu<0>>(slice<0, 1>(x) + slice<0, 2>(x))).transfer_bytes == 24 + 24);
static_assert(plan_of(on<gpu<0>>(slice<0, 1>(x) + x)).transfer_bytes == 24 + 24);

// Columns do not lie together, nor does every other row: all is copied.
static_assert(plan_of(on<gpu<0>>(sum(slice<range<>, range<0, 1>>(x)))).transfer_bytes == 24 + 4);
static_assert(plan_of(on<gpu<0>>(sum(slice<range<0, 2, 2>>(x)))).transfer_bytes == 24 + 4);

// A view of rows is a view of what was copied.
static_assert(plan_of(on<gpu<0>>(sum(transpose(slice<1, 2>(x))))).transfer_bytes == 12 + 4);

// Each GPU gets its rows of a batch, whatever it was made by and however many rows there are.
template <class E>
constexpr auto halves(const E& e) {
  return on<cpu<0>>(on<gpu<0>>(sum(slice<0, 1>(e))) + on<gpu<1>>(sum(slice<1, 2>(e))));
}
static_assert(plan_of(halves(x)).transfer_bytes == 12 + 12 + 4 + 4);
static_assert(plan_of(halves(on<cpu<0>>(x + y))).transfer_bytes == 12 + 12 + 4 + 4);
static_assert(plan_of(halves(on<gpu<2>>(x + y))).transfer_bytes == 24 + 24 + 12 + 12 + 4 + 4);
static_assert(plan_of(halves(on<gpu<0>>(w))).transfer_bytes == 12 + 4 + 4);
static_assert(plan_of(halves(open)).transfers == 4);

// On one GPU the rows are apart, and nothing is copied twice.
static_assert(plan_of<world<cpu<0>, gpu<0>>>(halves(x)).transfer_bytes == 12 + 12 + 4 + 4);

// Bytes that depend on an extent of the run are -1; the number of copies is known all the same.
static_assert(plan_of(on<gpu<0>>(open + x)).transfers == 3);
static_assert(plan_of(on<gpu<0>>(tanh(open))).transfer_bytes == -1);
static_assert(plan_of(tanh(open)).transfer_bytes == 0);

// ---- several GPUs -----------------------------------------------------------------------------------------

// A value that crosses from one GPU to another is one copy.
static_assert(plan_of(on<gpu<1>>(exp(on<gpu<0>>(tanh(x))))).transfers == 3);

// What one GPU reads of another is copied once it is there, and other kernels of the reader's GPU go first: so many.
template <class Plan>
constexpr int kernel_number(const Plan& p, std::string_view op) {
  for (int k = 0; k < p.step_count; ++k)
    if (p.steps[k].kind == step_kind::kernel && p.graph[p.steps[k].node].op->name == op) return k;
  return -1;
}
template <class Plan>
constexpr int products_before(const Plan& p, int step) {
  int count = 0;
  for (int k = 0; k < step; ++k)
    count += p.steps[k].kind == step_kind::kernel && p.graph[p.steps[k].node].op->name == "MatMul" ? 1 : 0;
  return count;
}
template <class Plan>
constexpr int copy_between_gpus(const Plan& p) {
  for (int k = 0; k < p.step_count; ++k)
    if (p.steps[k].kind == step_kind::transfer && p.steps[k].from == gpu<1>::value && p.steps[k].at == gpu<0>::value)
      return k;
  return -1;
}
constexpr auto square_x = placeholder<"square_x", float, 8, 8>;
constexpr auto of_the_other = on<gpu<0>>(exp(on<gpu<1>>(softmax(square_x))));
constexpr auto beside_one = plan_of(fetches(of_the_other, on<gpu<0>>(sum(square_x))));
static_assert(copy_between_gpus(beside_one) >= 0);
static_assert(copy_between_gpus(beside_one) < kernel_number(beside_one, "Exp"));
static_assert(kernel_number(beside_one, "Sum") < kernel_number(beside_one, "Exp"));
constexpr auto beside_many = plan_of(fetches(of_the_other, on<gpu<0>>(matpow<9>(square_x))));
static_assert(products_before(beside_many, copy_between_gpus(beside_many)) == 0);
static_assert(products_before(beside_many, kernel_number(beside_many, "Exp")) == detail::ready_units::turns_of_a_copy);

// One copy per destination, however many operations there use it.
static_assert(plan_of(fetches(on<gpu<1>>(exp(shared)), on<gpu<1>>(sum(shared)), on<gpu<2>>(max(shared)))).transfers ==
              1 + 2 + 3);

// A feed goes to every GPU that uses it.
static_assert(plan_of(fetches(on<gpu<0>>(exp(x)), on<gpu<1>>(tanh(x)))).transfers == 4);

// What a GPU made and the CPU uses twice comes back once.
static_assert(plan_of(fetches(on<cpu<0>>(exp(shared)), on<cpu<0>>(sum(shared)), shared)).transfers == 2);

// Towers on two GPUs and the sum on the CPU: two feeds to each, one result from each.
static_assert(plan_of(two_towers).transfers == 6);
static_assert(plan_of(two_towers).kernels == 3);

// ---- the headline program ---------------------------------------------------------------------------------

// A^10 + B^10: nine products each and the sum; two feeds to the GPU, two powers back.
static_assert(plan_of(powers).kernels == 19 && plan_of(powers).transfers == 4);

// Where there is no GPU: the same kernels and no copy.
static_assert(plan_of<world<cpu<0>>>(powers).kernels == 19);
static_assert(plan_of<world<cpu<0>>>(powers).transfers == 0);
static_assert(plan_of<world<cpu<0>>>(powers).transfer_bytes == 0);

// More GPUs change nothing: the program asks for one.
static_assert(plan_of<world<cpu<0>, gpu<0>, gpu<1>>>(powers).transfers == 4);

// Each world has its own copies: two_towers for GPU 2 and 3 share what GPUs there are.
static_assert(plan_of<world<cpu<0>>>(two_towers).transfers == 0);
static_assert(plan_of<world<cpu<0>, gpu<0>>>(two_towers).transfers == 2 + 2);
static_assert(plan_of<world<cpu<0>, gpu<0>, gpu<1>>>(two_towers).transfers == 6);

// Without `on`, a world with a GPU uses it.
static_assert(plan_of<world<cpu<0>, gpu<0>>>(on_cpu).transfers == 3);

}  // namespace
