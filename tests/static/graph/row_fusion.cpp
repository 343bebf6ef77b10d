// SPDX-License-Identifier: BSL-1.0
// Which folds over rows run in the kernel of what uses them: a specification, each line of it proven by the compiler.
#include <onto/ops/all.hpp>
#include <onto/plan/plan.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 8, 16>;
constexpr auto y = placeholder<"y", float, 8, 16>;
constexpr auto turned = placeholder<"turned", float, 16, 8>;
constexpr auto row = placeholder<"row", float, 16>;
constexpr auto open = placeholder<"open", float, dyn, dyn>;
constexpr auto other = placeholder<"other", float, dyn, dyn>;
constexpr auto open_row = placeholder<"open_row", float, dyn>;
constexpr auto n = placeholder<"n", std::int32_t, 8, 16>;
constexpr auto batch = placeholder<"batch", float, 2, 3, 8, 16>;
constexpr auto thin = placeholder<"thin", float, 8, 1>;
constexpr auto w = variable<"w", float, 8, 16>;

template <class E, class Scale, class Shift>
auto normalization(const E& e, const Scale& scale, const Shift& shift) {
  const auto centred = e - mean<-1>(e, keep_extents);
  return centred * rsqrt(mean<-1>(square(centred), keep_extents) + 1e-5f) * scale + shift;
}

template <class E>
auto normalization_of_columns(const E& e) {
  const auto centred = e - mean<0>(e);
  return centred * rsqrt(mean<0>(square(centred)) + 1e-5f) * row + thin;
}

// Scalars are values of the run, so these are no constants; their plans are, for the type is enough.
const auto normal = normalization(x, row, row);
const auto normal_of_columns = normalization_of_columns(x);
const auto open_normal = normalization(open, open_row, open_row);
const auto normal_of_sum = normalization(x + y, row, row);
const auto attention = softmax(x * 0.125f + y);

// ---- one kernel -------------------------------------------------------------------------------------------

// A fold of each row and what uses its result in the same rows.
static_assert(plan_of(x - mean<1>(x, keep_extents)).kernels == 1);
static_assert(plan_of(x / sum<-1>(abs(x), keep_extents)).kernels == 1);

// Layer normalization as one writes it, extents known or not.
static_assert(plan_of(normal).kernels == 1);
static_assert(plan_of(open_normal).kernels == 1);
static_assert(plan_of(normal_of_sum).kernels == 1);

// Softmax written out.
static_assert(
    plan_of(exp(x - max<1>(x, keep_extents)) / sum<1>(exp(x - max<1>(x, keep_extents)), keep_extents)).kernels == 1);

// What comes before softmax and after it.
static_assert(plan_of(softmax(x + y)).kernels == 1);
static_assert(plan_of(attention).kernels == 1);
static_assert(plan_of(log_softmax(open + open_row) * open).kernels == 1);
static_assert(plan_of(softmax(softmax(x) * y) + x).kernels == 1);
static_assert(plan_of(softmax(batch * row)).kernels == 1);

// Dear functions of what was folded are computed once a row.
static_assert(plan_of(x - log(sum<1>(exp(x), keep_extents))).kernels == 1);

// Along another axis than the last: rows are columns of memory, or lie in the middle. The first axis need not be kept.
static_assert(plan_of(x - mean<0>(x, keep_extents)).kernels == 1);
static_assert(plan_of((x - mean<0>(x)) / sum<0>(x * x)).kernels == 1);
static_assert(plan_of(softmax<0>(x + y)).kernels == 1);
static_assert(plan_of(log_softmax<-2>(open + open_row) * open).kernels == 1);
static_assert(plan_of(batch / sum<1>(batch, keep_extents)).kernels == 1);
static_assert(plan_of(softmax<2>(batch * row)).kernels == 1);
static_assert(plan_of(batch - mean<2>(x + batch, keep_extents)).kernels == 1);
static_assert(plan_of(normal_of_columns).kernels == 1);
static_assert(plan_of(sum<0>(log_softmax<0>(x) * y)).kernels == 1);
static_assert(plan_of(on<gpu<0>>(x / sum<0>(x))).kernels == 1);
static_assert(plan_of(normal_of_columns).peak_bytes(cpu<0>{}) == 0);

// Folds of rows end in a fold of rows: a cross-entropy.
static_assert(plan_of(sum<-1>(log_softmax(x) * y)).kernels == 1);

// Into a variable (the fetched value is a copy); from integers; of truth values.
static_assert(plan_of(assign(w, x - mean<1>(x, keep_extents))).kernels == plan_of(assign(w, x)).kernels);
static_assert(plan_of(where(n == max<1>(n, keep_extents), n, n - sum<1>(n, keep_extents))).kernels == 1);
static_assert(plan_of(where(any<1>(x > y, keep_extents), x, y)).kernels == 1);

// On a device, as anywhere.
static_assert(plan_of(on<gpu<0>>(x - mean<1>(x, keep_extents))).kernels == 1);

// Nothing is counted less: each operation for each of its elements.
static_assert(plan_of(x - mean<1>(x, keep_extents)).flops == 8 * 16 + 8 * 16);
// What is between the operations is nowhere in memory.
static_assert(plan_of(normal).peak_bytes(cpu<0>{}) == 0);
static_assert(plan_of(on<gpu<0>>(softmax(x + y))).peak_bytes(gpu<0>{}) == 3 * 8 * 16 * 4);

// ---- more than one ----------------------------------------------------------------------------------------

// Over more than one axis.
static_assert(plan_of(x - mean(x)).kernels == 2);
static_assert(plan_of(x - mean<0, 1>(x, keep_extents)).kernels == 2);

// Over one axis and another: the kernel of what is last goes over rows along memory, where it has to choose.
static_assert(plan_of(softmax<0>(softmax(x))).kernels == 2);
static_assert(plan_of(x - mean<0>(x) - mean<1>(x, keep_extents)).kernels == 2);
static_assert(plan_of(x - mean<1>(x, keep_extents) - mean<0>(x)).kernels == 2);

// The fold's result used elsewhere.
static_assert(plan_of(fetches(x - mean<1>(x, keep_extents), mean<1>(x, keep_extents))).kernels == 2);
static_assert(plan_of((x - mean<1>(x, keep_extents)) * sum<0>(mean<1>(x, keep_extents))).kernels == 3);

// Rows of something else: smaller, broadcast, transposed, or of unknown extents that nothing makes the same.
static_assert(plan_of(x - mean<0>(row, keep_extents)).kernels == 2);
static_assert(plan_of(transpose(turned - mean<1>(turned, keep_extents)) + x).kernels == 2);
static_assert(plan_of(open / sum<1>(other, keep_extents)).kernels == 2);

// Where the index of an element is folded.
static_assert(plan_of(cast<float>(argmax<1>(x, keep_extents)) * x).kernels == 2);

// Members on different devices.
static_assert(plan_of(on<cpu<0>>(x - on<gpu<0>>(mean<1>(x, keep_extents)))).kernels == 2);
static_assert(plan_of(on<cpu<0>>(on<gpu<0>>(softmax(x)) * y)).kernels == 2);

// Rows of one element are no rows.
static_assert(plan_of(thin - mean<1>(thin, keep_extents)).kernels == 2);

}  // namespace
