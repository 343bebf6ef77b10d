// SPDX-License-Identifier: BSL-1.0
// What of a gradient the compiler knows: its shape, its kernels, and that what the loss has computed is not computed
// again. Each line is proven by the compiler.
#include <onto/graph/reverse_mode.hpp>
#include <onto/ops/all.hpp>
#include <onto/plan/plan.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 128, 20>;
constexpr auto open = placeholder<"open", float, dyn, 20>;
constexpr auto labels = placeholder<"labels", float, 128, 10>;
constexpr auto w = variable<"w", float, 20, 10>;
constexpr auto b = variable<"b", float, 10>;
constexpr auto w2 = variable<"w2", float, 10, 10>;

// One number, by things of any shape.
static_assert(gradient(sum(x), x).facts.shape == x.facts.shape &&
              gradient(mean(open), open).facts.shape == open.facts.shape);
static_assert(gradient(sum(x), x).facts.type == element::float32);

// An elementwise gradient is one kernel, with what the loss has in common with it.
constexpr auto curve = gradient(sum(exp(x) * sin(x)), x);
static_assert(plan_of(curve).kernels == 1);

// A loss that nothing fetches does not run: of a linear layer's gradient by its input there is one product.
static_assert(plan_of(gradient(sum(matmul(x, w)), x)).kernels == 2);  // a 1, and the product

// A layer: the product and its miss, then one product for the weights; the bias is a sum over rows.
constexpr auto layer = mean(square(matmul(x, w) + b - labels));
static_assert(plan_of(layer).kernels == 2);
static_assert(plan_of(gradient(layer, w)).kernels == 3);
static_assert(plan_of(gradient(layer, b)).kernels == 2);

// softmax and its cross entropy are rows forward and backward: no kernel more than products and sums.
constexpr auto logits = matmul(relu(matmul(x, w) + b), w2);
constexpr auto loss = -mean(sum<1>(labels * log_softmax(logits)));
static_assert(plan_of(gradient(loss, w2)).kernels == 4);
static_assert(plan_of(gradient(loss, w)).kernels == 6);  // relu's result is its mask

// The same operations, and so the same nodes: a gradient by another name is found again.
static_assert(plan_of(gradient(loss, w) + gradient(loss, w)).nodes == plan_of(gradient(loss, w)).nodes + 1);

// By several: what their ways have in common runs once. Of the gradients of w and b all but the last step is.
static_assert(plan_of(fetches(gradient(loss, w), gradient(loss, b))).kernels == plan_of(gradient(loss, w)).kernels + 1);
constexpr auto sharp = mean(square(sigmoid(matmul(tanh(matmul(x, w) + b), w2))));
static_assert(plan_of(fetches(gradient(sharp, w), gradient(sharp, b))).kernels ==
              plan_of(gradient(sharp, w)).kernels + 1);

// Layer normalization: its gradient by what is normalized is one kernel over rows, forward pass included; by all three
// the parts that they share are kept, and gain and bias are sums over rows.
constexpr auto normalized = [](const auto& e) {
  const auto centred = e - mean<-1>(e, keep_extents);
  return centred / sqrt(mean<-1>(square(centred), keep_extents) + 1e-5_c);
};
constexpr auto gain = variable<"gain", float, 20>;
constexpr auto shift = variable<"shift", float, 20>;
constexpr auto norm = mean(square(normalized(x) * gain + shift));
static_assert(plan_of(gradient(norm, x)).kernels == 1);
static_assert(plan_of(fetches(gradient(norm, x), gradient(norm, gain), gradient(norm, shift))).kernels <= 7);

// Attention: 7 kernels forward; backward 6 products and 2 kernels between them, softmax's with all its neighbours.
constexpr auto query = variable<"query", float, 20, 20>;
constexpr auto key = variable<"key", float, 20, 20>;
constexpr auto value = variable<"value", float, 20, 20>;
constexpr auto scores = matmul(matmul(x, query), transpose(matmul(x, key))) * 0.25_c;
constexpr auto attention = mean(square(matmul(softmax(scores), matmul(x, value)) - x));
static_assert(plan_of(attention).kernels == 7);
static_assert(
    plan_of(fetches(gradient(attention, query), gradient(attention, key), gradient(attention, value))).kernels == 15);

// What is computed again is not kept: less memory for more kernels.
constexpr auto block = [](const auto& e) { return tanh(matmul(relu(matmul(tanh(matmul(e, w2)), w2)), w2)); };
constexpr auto deep = mean(square(block(block(block(block(labels))))));
constexpr auto again = mean(square(recompute(block(recompute(block(recompute(block(recompute(block(labels))))))))));
static_assert(plan_of(gradient(again, w2)).kernels > plan_of(gradient(deep, w2)).kernels);
static_assert(4 * plan_of(gradient(again, w2)).peak_bytes(cpu<0>{}) <
              3 * plan_of(gradient(deep, w2)).peak_bytes(cpu<0>{}));
static_assert(plan_of(again).kernels == plan_of(deep).kernels);

// An extent that a gradient was summed to is the one that it was summed to: further down nothing is summed again.
constexpr auto rows = placeholder<"rows", float, dyn, 20>;
constexpr auto wanted = placeholder<"wanted", float, dyn, 10>;
constexpr auto below = matmul(tanh(matmul(rows, w)), w2);
static_assert(plan_of(gradient(sum(below * wanted), w)).kernels == 5);

// Where only the run knows whether operands are stretched, what is elementwise stays one kernel, and one sum for each
// operand or product ends it: of a logistic regression as many kernels as with extents.
template <int Rows>
constexpr int logistic_kernels() {
  constexpr auto features = placeholder<"features", float, Rows, 20>;
  constexpr auto is_one = placeholder<"is_one", float, Rows>;
  constexpr auto weights = placeholder<"weights", float, 20>;
  constexpr auto p = sigmoid(matmul(features, weights) + placeholder<"bias", float>);
  constexpr auto entropy = -mean(is_one * log(p) + (1.0_c - is_one) * log(1.0_c - p));
  return plan_of(fetches(entropy, gradient(entropy, weights))).kernels;
}
static_assert(logistic_kernels<dyn>() == logistic_kernels<128>());
constexpr auto open_a = placeholder<"open_a", float, dyn>;
constexpr auto open_b = placeholder<"open_b", float, dyn>;
constexpr auto fitted = sum(square(open_a * exp(open_b) - open_b));
static_assert(plan_of(fetches(gradient(fitted, open_a), gradient(fitted, open_b))).kernels <= 4);

// Where the loss runs, its gradient does.
constexpr auto placed = on<gpu<0>>(layer);
static_assert(plan_of<world<cpu<0>, gpu<0>>>(gradient(placed, x)).kernels ==
              plan_of<world<cpu<0>>>(gradient(layer, x)).kernels);

}  // namespace
