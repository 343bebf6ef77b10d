// SPDX-License-Identifier: BSL-1.0
// Memory and work of a plan: which intermediate values share memory, and how much is computed. Proven by the compiler.
#include <onto/ops/all.hpp>
#include <onto/plan/plan.hpp>

using namespace onto;
using onto::detail::rounded;

namespace {

constexpr auto x = placeholder<"x", float, 64, 64>;  // 16384 bytes
constexpr auto y = placeholder<"y", float, 64, 64>;
constexpr auto small = placeholder<"small", float, 3>;
constexpr auto open = placeholder<"open", float, dyn, 64>;
constexpr auto w = variable<"w", float, 64, 64>;
constexpr std::int64_t whole = 64 * 64 * 4;

struct mine : elementwise<> {
  static constexpr std::string_view name = "Mine";
  template <class T>
  ONTO_HD static T apply(T t) {
    return t;
  }
};

template <int N, class E>
constexpr auto products(const E& e) {
  if constexpr (N == 0) {
    return e;
  } else {
    return products<N - 1>(matmul(e, x));
  }
}

// ---- memory -----------------------------------------------------------------------------------------------

// A program of one kernel on the CPU needs no memory of its own: it reads the feeds and writes the result.
static_assert(plan_of(x + y).peak_bytes(cpu<0>{}) == 0);

// What is between two kernels has a buffer.
static_assert(plan_of(matmul(x + y, x)).peak_bytes(cpu<0>{}) == whole);

// A chain of any length needs two: each step reads one and writes the other.
static_assert(plan_of(products<3>(x)).peak_bytes(cpu<0>{}) == 2 * whole);
static_assert(plan_of(products<20>(x)).peak_bytes(cpu<0>{}) == 2 * whole);

// A value that is used late keeps its buffer till then.
static_assert(plan_of(matmul(products<5>(tanh(y)), tanh(y))).peak_bytes(cpu<0>{}) == 3 * whole);

// Reductions leave little behind; memory is handed out in pieces of 256 bytes.
static_assert(plan_of(softmax(sum<0>(x))).peak_bytes(cpu<0>{}) == 256);
static_assert(plan_of(exp(sum<0>(small + small))).peak_bytes(cpu<0>{}) == 256);

// A variable's new value is made beside the old one.
static_assert(plan_of(assign(w, x + y)).peak_bytes(cpu<0>{}) == whole);

// An update writes over the old value where it is the last that a run does, each element follows from the variable's
// own, and it cannot fail.
constexpr auto other = variable<"v", float, 64, 64>;
template <class... E>
constexpr std::int64_t taken(const E&... updates) {
  return plan_of(group(sum(y), updates...)).peak_bytes(cpu<0>{});
}
static_assert(taken(assign_add(w, x)) == 0);
static_assert(taken(assign(w, 2_c * w + x)) == 0);
static_assert(taken(assign_add(w, tanh(matmul(x, y)))) == whole);                 // the product
static_assert(taken(assign_add(w, x), assign(other, other + w)) == 0);            // one kernel reads before it writes
static_assert(taken(assign(w, x + y)) == whole);                                  // w may have no value yet
static_assert(taken(assign(w, w + transpose(w))) == whole);                       // reads another element
static_assert(taken(assign_add(w, sum<1>(w))) > whole);                           // a row's elements
static_assert(taken(assign_add(w, call<mine>(w))) == whole);                      // may throw
static_assert(plan_of(fetches(assign_add(w, x))).peak_bytes(cpu<0>{}) == whole);  // fetched: copied when it is made
static_assert(plan_of(on<gpu<0>>(group(sum(y), assign_add(on<gpu<0>>(w), x)))).peak_bytes(gpu<0>{}) >= whole);

// Several results are written where they are wanted.
static_assert(plan_of(fetches(x + y, x - y, (x * y))).peak_bytes(cpu<0>{}) == 0);

// A device the program does not use needs nothing.
static_assert(plan_of(softmax(x + y)).peak_bytes(gpu<0>{}) == 0);

// On a GPU feeds and results are there too; the result takes over the memory of a feed.
static_assert(plan_of(on<gpu<0>>(x + y)).peak_bytes(gpu<0>{}) == 2 * whole);
static_assert(plan_of(on<gpu<0>>(matmul(x, y))).peak_bytes(gpu<0>{}) == 3 * whole);
static_assert(plan_of(on<gpu<0>>(x + y)).peak_bytes(cpu<0>{}) == 0);

// What kernels on a GPU need to work in is part of it: two partial results for each block that a long row is shared by,
// of 256 elements or more, and three numbers of the row; a partial result for each block of a reduction; a copy of an
// operand that has gaps in both directions. Kernels elsewhere, and those that nobody shares, need nothing.
constexpr auto line = placeholder<"line", float, 1, 70000>;
constexpr auto gaps = slice<range<0, 64>, range<0, 64, 2>>(x);
static_assert(plan_of(on<gpu<0>>(softmax(line))).workspace_bytes(gpu<0>{}) == rounded(274 * 32 + 3 * 8));
static_assert(plan_of(on<gpu<0>>(softmax(line))).peak_bytes(gpu<0>{}) ==
              rounded(4 * 70000) + rounded(274 * 32 + 3 * 8));
static_assert(plan_of(on<gpu<0>>(sum(line))).workspace_bytes(gpu<0>{}) == rounded(528 * 8));
static_assert(plan_of(on<gpu<0>>(argmax(line))).workspace_bytes(gpu<0>{}) == rounded(528 * 16));
static_assert(plan_of(on<gpu<0>>(matmul(gaps, slice<range<0, 32>>(y)))).workspace_bytes(gpu<0>{}) == 64 * 32 * 4);
static_assert(plan_of(on<gpu<0>>(matmul(transpose(x), y))).workspace_bytes(gpu<0>{}) == 0);
static_assert(plan_of(on<gpu<0>>(softmax(x) + sum<0>(y))).workspace_bytes(gpu<0>{}) == 0);
static_assert(plan_of(softmax(line)).workspace_bytes(cpu<0>{}) == 0);
static_assert(plan_of<world<cpu<0>>>(on<gpu<0>>(softmax(line))).peak_bytes(cpu<0>{}) == 0);

// Kernels of a device share one piece, as large as the largest needs.
static_assert(plan_of(on<gpu<0>>(sum(softmax(line)))).workspace_bytes(gpu<0>{}) == rounded(274 * 32 + 3 * 8));

// The memory of a feed is used again when the feed has been read for the last time.
static_assert(plan_of(on<gpu<0>>(softmax<0>(softmax(x)))).peak_bytes(gpu<0>{}) == whole);
static_assert(plan_of(on<gpu<0>>(products<20>(x))).peak_bytes(gpu<0>{}) == 3 * whole);

// Each device is counted by itself.
static_assert(plan_of(on<gpu<1>>(exp(on<gpu<0>>(tanh(x))))).peak_bytes(gpu<0>{}) == whole);
static_assert(plan_of(on<gpu<1>>(exp(on<gpu<0>>(tanh(x))))).peak_bytes(gpu<1>{}) == whole);

// ---- an operand's memory ----------------------------------------------------------------------------------

// Elementwise kernels and softmax write where an operand lies that nobody reads after them: a chain needs one buffer.
static_assert(plan_of(softmax<0>(softmax(x + y))).peak_bytes(cpu<0>{}) == whole);
static_assert(plan_of(softmax<0>(softmax(softmax<0>(softmax(x))))).peak_bytes(cpu<0>{}) == whole);
static_assert(plan_of(softmax<0>(softmax(x) * softmax(y))).peak_bytes(cpu<0>{}) == 2 * whole);

// So does a product, over its addend; not over what it multiplies.
static_assert(plan_of(softmax<0>(matmul(x, y) + softmax<0>(x))).peak_bytes(cpu<0>{}) == whole);
static_assert(plan_of(softmax<0>(matmul(softmax<0>(x), y))).peak_bytes(cpu<0>{}) == 2 * whole);
static_assert(plan_of(softmax<0>(matmul(x, softmax<0>(y)) + softmax<0>(y))).peak_bytes(cpu<0>{}) == 2 * whole);

// Not where the operand is needed later, or is read at another place than is written.
static_assert(plan_of(softmax<0>(tanh(softmax(x)) * max(softmax(x)))).peak_bytes(cpu<0>{}) == whole + 256);
static_assert(plan_of(matmul(softmax<0>(tanh(softmax<0>(x))), softmax<0>(x))).peak_bytes(cpu<0>{}) == 2 * whole);
static_assert(plan_of(matmul(transpose(softmax<0>(x)) * softmax<0>(x), y)).peak_bytes(cpu<0>{}) == 2 * whole);

// Nor is what a reduction folds for each element of its result, though it may have the result's shape: it is read
// again.
constexpr auto column = placeholder<"column", float, 64, 1>;
constexpr auto rows = placeholder<"rows", float, 64, 1, 1>;
static_assert(plan_of(on<gpu<0>>(max<1>(column + rows))).peak_bytes(gpu<0>{}) == 3 * 256);
static_assert(plan_of(max<1>(tanh(column) + rows) * 2_c).peak_bytes(cpu<0>{}) == 2 * 256);

// Each result of a merged kernel takes over an operand of its own.
static_assert(plan_of(matmul(tanh(softmax<0>(x)) + softmax<0>(y), tanh(softmax<0>(x)) * softmax<0>(y)))
                  .peak_bytes(cpu<0>{}) == 2 * whole);

// Bytes count: a conversion to a wider element has memory of its own.
static_assert(plan_of(softmax<0>(softmax(cast<double>(softmax<0>(x))))).peak_bytes(cpu<0>{}) == 3 * whole);

// In another world the memory is elsewhere.
static_assert(plan_of<world<cpu<0>>>(on<gpu<0>>(softmax<0>(softmax(tanh(x))))).peak_bytes(cpu<0>{}) == whole);
static_assert(plan_of<world<cpu<0>>>(on<gpu<0>>(softmax<0>(softmax(tanh(x))))).peak_bytes(gpu<0>{}) == 0);

// An extent of the run: -1, where it matters.
static_assert(plan_of(softmax<0>(softmax(open * open))).peak_bytes(cpu<0>{}) == -1);
static_assert(plan_of(open * open).peak_bytes(cpu<0>{}) == 0);

// No two values that are alive at the same time overlap; a result may lie where an operand ends.
template <class Plan>
constexpr bool no_overlap(const Plan& p) {
  for (int u = 0; u < p.value_count; ++u) {
    for (int v = 0; v < u; ++v) {
      const plan_value& a = p.values[u];
      const plan_value& b = p.values[v];
      if (!(a.at == b.at) || a.fetch >= 0 || b.fetch >= 0 || a.variable || b.variable) continue;
      if (a.death < b.birth || b.death < a.birth) continue;
      if (a.reuses == v && b.death == a.birth) continue;
      if (a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes) return false;
    }
  }
  return true;
}
static_assert(no_overlap(plan_of(products<20>(x))));
static_assert(no_overlap(plan_of(matmul(products<5>(tanh(y)), tanh(y)))));
static_assert(no_overlap(plan_of(on<gpu<1>>(products<3>(on<gpu<0>>(products<3>(x)))))));
static_assert(no_overlap(plan_of(softmax(max<0>(x) + softmax(sum<1>(y)) * softmax(max<0>(x))))));

// ---- work -------------------------------------------------------------------------------------------------

// An elementwise operation costs its price for each element of its result.
static_assert(plan_of(x + y).flops == 64 * 64);
static_assert(plan_of((x + y) * x).flops == 2 * 64 * 64);
static_assert(plan_of(tanh(x)).flops == op::tanh::cost * 64 * 64);
static_assert(plan_of(x + slice<0, 1>(y)).flops == 64 * 64);

// A reduction costs one operation for each element of its operand.
static_assert(plan_of(sum(x)).flops == 64 * 64);
static_assert(plan_of(sum<0>(x * y)).flops == 2 * 64 * 64);

// A product of (M, K) and (K, N) costs 2 M K N.
static_assert(plan_of(matmul(x, y)).flops == 2 * 64 * 64 * 64);
static_assert(plan_of(matmul(slice<0, 8>(x), slice<range<>, range<0, 2>>(y))).flops == 2 * 8 * 64 * 2);

// Looking, joining and copying cost none.
static_assert(plan_of(transpose(x)).flops == 0);
static_assert(plan_of(concat<0>(x, y)).flops == 0);
static_assert(plan_of(x).flops == 0);

// What is computed once is counted once.
static_assert(plan_of(fetches(matmul(x, y), exp(matmul(x, y)))).flops == 2 * 64 * 64 * 64 + op::exp::cost * 64 * 64);

// An extent of the run: -1.
static_assert(plan_of(open + open).flops == -1);
static_assert(plan_of(matmul(open, x)).flops == -1);

}  // namespace
