// SPDX-License-Identifier: BSL-1.0
// Which operations run together as one kernel: a specification, each line of it proven by the compiler.
#include <onto/ops/all.hpp>
#include <onto/plan/plan.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 2, 3>;
constexpr auto y = placeholder<"y", float, 2, 3>;
constexpr auto row = placeholder<"row", float, 3>;
constexpr auto column = placeholder<"column", float, 2, 1>;
constexpr auto mask = placeholder<"mask", bool, 2, 3>;
constexpr auto a = placeholder<"a", float, 3, 2>;
constexpr auto b = placeholder<"b", float, 3, 4>;
constexpr auto c = placeholder<"c", float, 2, 4>;
constexpr auto bias = placeholder<"bias", float, 4>;
constexpr auto open = placeholder<"open", float, dyn, dyn>;
constexpr auto open_row = placeholder<"open_row", float, dyn>;
constexpr auto n = placeholder<"n", std::int32_t, 2, 3>;
constexpr auto batch = placeholder<"batch", float, 5, 2, 3>;
constexpr auto batch_2 = placeholder<"batch_2", float, 2, 5, 3>;
constexpr auto three = placeholder<"three", float, 3, 3>;
constexpr auto x3 = placeholder<"x3", float, 3, 3>;
constexpr auto y3 = placeholder<"y3", float, 3, 3>;
constexpr auto batch_2b = placeholder<"batch_2b", float, 2, 5, 3>;
constexpr auto c_rows = placeholder<"c_rows", float, 3, 4>;
constexpr auto twelve = placeholder<"twelve", float, 3, 4>;
constexpr auto cubes = placeholder<"cubes", float, 2, 2, 3>;
constexpr auto dozen = placeholder<"dozen", float, 3, 4>;
constexpr auto w = variable<"w", float, 2, 3>;

// Scalars are values of the run, so these are no constants; their plans are, for the type is enough.
const auto scaled = 2.0f * x + 1.0f;
const auto gemm = 2.0f * matmul(transpose(a), b) + 3.0f * c;
const auto gemm_left = matmul(transpose(a), b) * 2.0f - c * 3.0f;
const auto gemm_right = 3.0f * c - 2.0f * matmul(transpose(a), b);
const auto gemm_relu = relu(2.0f * matmul(transpose(a), b) + 3.0f * c);
const auto shifted_product = matmul(x, b) + 1.0f;
const auto noisy = x + random_uniform<float, 2, 3>(7);
const auto twice_scaled = 2.0f * (3.0f * matmul(x, b));

template <int N, class E>
constexpr auto chain(const E& e) {
  if constexpr (N == 0) {
    return e;
  } else {
    return chain<N - 1>(tanh(e + y));
  }
}

// ---- elementwise ------------------------------------------------------------------------------------------

// One elementwise operation is one kernel.
static_assert(plan_of(x + y).kernels == 1);

// A chain of elementwise operations is one kernel.
static_assert(plan_of(tanh(exp(x + y))).kernels == 1);

// However long the chain is.
static_assert(plan_of(chain<60>(x)).kernels == 1);

// A tree of elementwise operations is one kernel.
static_assert(plan_of((x + y) * (x - y) / (x * y)).kernels == 1);

// Operands that broadcast stay in the same kernel.
static_assert(plan_of((x + row) * column).kernels == 1);

// So do cheap operations on a smaller operand, before it is stretched.
static_assert(plan_of(x * (row + row) - abs(column)).kernels == 1);

// A dear operation on a smaller operand is not repeated for each element of the larger: it is a kernel of its own.
static_assert(plan_of(x * exp(row)).kernels == 2);

// Where nothing is stretched a dear operation joins.
static_assert(plan_of(x * exp(y)).kernels == 1);

// Scalars travel with the kernel.
static_assert(plan_of(scaled).kernels == 1);

// Comparisons, logic, the choice between two tensors and conversions are elementwise too.
static_assert(plan_of(where(x < y && mask, x, y)).kernels == 1);
static_assert(plan_of(cast<float>(n) * x).kernels == 1);
static_assert(plan_of(cast<std::int64_t>(cast<double>(x) > cast<double>(y))).kernels == 1);

// A sum of many operands is one kernel, and so are the operations that make them.
static_assert(plan_of(add_n(x + y, x - y, (x * y), x, y)).kernels == 1);

// Tensors that are made from their index are made inside the kernel that uses them.
static_assert(plan_of(x + ones<float, 2, 3>()).kernels == 1);
static_assert(plan_of(x * eye<float, 2, 3>()).kernels == 1);
static_assert(plan_of(noisy).kernels == 1);

// Unless they have another shape there: an index means a place in the whole.
static_assert(plan_of(x + iota<float, 3>()).kernels == 2);

// A value that two operations of one kernel use is computed once, in that kernel.
static_assert(plan_of(exp(x + y) * (x + y)).kernels == 1);

// Extents that are not known yet do not hinder.
static_assert(plan_of(tanh(open + open_row) * open).kernels == 1);

// ---- reductions -------------------------------------------------------------------------------------------

// A reduction is one kernel.
static_assert(plan_of(sum(x)).kernels == 1);

// Elementwise operations go into the reduction that follows.
static_assert(plan_of(sum<0>(square(x - y) * row)).kernels == 1);
static_assert(plan_of(max<1>(tanh(open))).kernels == 1);
static_assert(plan_of(any(x < y)).kernels == 1);
static_assert(plan_of(argmax<0>(x * y)).kernels == 1);

// What follows a reduction is another kernel: its elements are many for one result.
static_assert(plan_of(exp(sum<0>(x))).kernels == 2);

// A reduction's result used elementwise is made once, not for each element. (Of rows and columns it is: see
// row_fusion.cpp.)
static_assert(plan_of(x - mean(x, keep_extents)).kernels == 2);
static_assert(plan_of((x - mean(x)) / sum(x * x)).kernels == 3);

// What a reduction and something else both need is made once.
static_assert(plan_of(exp(x) / sum(exp(x))).kernels == 3);

// One reduction after another: two kernels.
static_assert(plan_of(sum(max<0>(x))).kernels == 2);

// A softmax is one kernel, with what comes before and after it (see row_fusion.cpp).
static_assert(plan_of(softmax(x)).kernels == 1);
static_assert(plan_of(softmax<0>(x + y)).kernels == 1);
static_assert(plan_of(log_softmax<0>(x) * y).kernels == 1);

// ---- matrix products --------------------------------------------------------------------------------------

// A product is one kernel.
static_assert(plan_of(matmul(x, b)).kernels == 1);

// Transposing an operand is part of it.
static_assert(plan_of(matmul(transpose(a), b)).kernels == 1);
static_assert(plan_of(matmul(transpose(a), transpose(transpose(b)))).kernels == 1);

// alpha * transpose(a) b + beta * c is one kernel, whichever way round it is written.
static_assert(plan_of(gemm).kernels == 1);
static_assert(plan_of(gemm_left).kernels == 1);
static_assert(plan_of(gemm_right).kernels == 1);

// So it is with a bias, which broadcasts, and a relu.
static_assert(plan_of(matmul(x, b) + bias).kernels == 1);
static_assert(plan_of(relu(matmul(x, b) + bias)).kernels == 1);
static_assert(plan_of(relu(matmul(x, b))).kernels == 1);
static_assert(plan_of(gemm_relu).kernels == 1);

// A layer of a network is a kernel.
static_assert(plan_of(softmax(matmul(relu(matmul(x, b) + bias), transpose(b)))).kernels == 3);

// What does not fit the pattern is a kernel after the product.
static_assert(plan_of(tanh(matmul(x, b))).kernels == 2);
static_assert(plan_of(shifted_product).kernels == 2);
static_assert(plan_of(twice_scaled).kernels == 2);
static_assert(plan_of(matmul(x, b) + matmul(x, b)).kernels == 2);

// An addend that stretches the product is added after it.
static_assert(plan_of(matmul(x, b) + placeholder<"stack", float, 5, 2, 4>).kernels == 2);

// What makes an operand is a kernel before the product; a product takes no elementwise operation in.
static_assert(plan_of(matmul(x + y, b)).kernels == 2);

// A product whose plain result is needed elsewhere keeps it: the bias is added in a kernel of its own.
static_assert(plan_of(fetches(matmul(x, b), matmul(x, b) + bias)).kernels == 2);

// A batch of products is one kernel.
static_assert(plan_of(matmul(batch, b)).kernels == 1);

// So is one with a vector, and one that is fetched in another shape, which it writes.
static_assert(plan_of(matmul(x, row)).kernels == 1);
static_assert(plan_of(matmul(batch, row)).kernels == 1);
static_assert(plan_of(dot(row, row)).kernels == 1);
static_assert(plan_of(dot(open_row, open_row)).kernels == 1);
static_assert(plan_of(reshape<8>(matmul(x, b))).kernels == 1);
static_assert(plan_of(matmul(x, row)).value_count == 1);
static_assert(plan_of(fetches(matmul(x, row), exp(matmul(x, row)))).kernels == 2);

// What is added to it there is in its kernel: of the result's shape, one for all, one number, before or after; relu
// too, and where only the run knows the extents.
constexpr auto two = placeholder<"two", float, 2>;
constexpr auto open_two = placeholder<"open_two", float, dyn>;
constexpr auto to_row = matmul(x, row);
static_assert(plan_of(to_row + two).kernels == 1);
static_assert(plan_of(two - to_row).kernels == 1);
static_assert(plan_of(relu(0.5_c * to_row + 2_c * two)).kernels == 1);
static_assert(plan_of(matmul(two, x) - row).kernels == 1);
static_assert(plan_of(matmul(batch, row) + two).kernels == 1);
static_assert(plan_of(matmul(batch, row) + placeholder<"five", float, 5, 1>).kernels == 1);
static_assert(plan_of(matmul(batch, row) + open_two).kernels == 1);
static_assert(plan_of(matmul(open, open_row) + open_two).kernels == 1);
static_assert(plan_of(matmul(open_row, transpose(open)) - open_two).kernels == 1);
static_assert(plan_of(assign_sub(variable<"moved", float, 2>, to_row)).kernels == 2);  // and the result
static_assert(plan_of(to_row + matmul(x, row + 1_c)).kernels == 3);

// In an order that the product has not, it is added by another.
static_assert(plan_of(reshape<4, 2>(matmul(x, b)) + placeholder<"tall", float, 4, 2>).kernels == 2);

// What reads the product in another shape reads it where it is.
static_assert(plan_of(exp(matmul(x, row))).kernels == 2);
static_assert(plan_of(softmax(reshape<4, 2>(matmul(x, b)))).kernels == 2);

// A product that is fetched as it is, and in another shape, is copied to that.
static_assert(plan_of(fetches(matmul(x, b), reshape<8>(matmul(x, b)))).kernels == 2);

// Products of integers have no such pattern.
static_assert(plan_of(matmul(transpose(n), n) + placeholder<"k", std::int32_t, 3, 3>).kernels == 2);

// ---- views ------------------------------------------------------------------------------------------------

// Looking at the elements in another way runs nothing.
static_assert(plan_of(x + transpose(a)).kernels == 1);
static_assert(plan_of(sum(slice<0, 1>(x))).kernels == 1);
static_assert(plan_of(reshape<6>(x) * reshape<6>(y)).kernels == 1);
static_assert(plan_of(permute<1, 0>(x) + a).kernels == 1);
static_assert(plan_of(expand_dims<0>(x) + batch).kernels == 1);
static_assert(plan_of(matmul(slice<0, 2>(b), placeholder<"square", float, 4, 4>)).kernels == 1);

// Several looks, one after the other, run nothing either.
static_assert(plan_of(slice<1, 3>(transpose(x)) * transpose(slice<range<>, range<0, 2>>(y))).kernels == 1);

// What is looked at is made in the kernel that looks, at the places it looks at.
static_assert(plan_of(transpose(exp(x)) * a).kernels == 1);
static_assert(plan_of(transpose((x + row) * column) * a).kernels == 1);
static_assert(plan_of(transpose(exp(slice<0, 1>(x * y))) + placeholder<"up", float, 3, 1>).kernels == 1);
static_assert(
    plan_of(slice<range<0, to_end, 2>, range<1, 3>>(tanh(b) * c_rows) + placeholder<"few", float, 2, 2>).kernels == 1);
static_assert(plan_of(expand_dims<1>(x * y) * batch_2).kernels == 1);
static_assert(plan_of(transpose(exp(open)) + open).kernels == 1);
static_assert(plan_of(slice<1, 3>(exp(open)) + open_row).kernels == 1);

// Whatever is between the looks.
static_assert(plan_of(transpose(tanh(transpose(exp(x)) + a)) * y).kernels == 1);
static_assert(plan_of(transpose(exp(x)) * transpose(exp(x))).kernels == 1);

// An operand may be seen in two ways.
static_assert(plan_of(transpose(exp(three)) + three).kernels == 1);

// What is fetched turned is made turned.
static_assert(plan_of(transpose(exp(x))).kernels == 1);
static_assert(plan_of(slice<0, 1>(exp(x))).kernels == 1);
static_assert(plan_of(reshape<6>(exp(x))).kernels == 1);
static_assert(plan_of(reshape<6>(transpose(exp(x)))).kernels == 1);
static_assert(plan_of(reshape<2, dyn>(transpose(exp(open)))).kernels == 1);

// A reduction folds what is seen.
static_assert(plan_of(sum(transpose(exp(x)))).kernels == 1);
static_assert(plan_of(sum<0>(transpose(x * x) + a)).kernels == 1);
static_assert(plan_of(max<1>(slice<range<>, range<0, 2>>(x * y))).kernels == 1);
static_assert(plan_of(sum(reshape<6>(transpose(x)) * reshape<6>(y))).kernels == 1);
static_assert(plan_of(sum<0>(reshape<2, 3>(transpose(exp(a))))).kernels == 1);

// So it is with the elements in another shape: where they are no strides the kernel's own space is taken apart.
static_assert(plan_of(reshape<6>(transpose(x)) * reshape<6>(y)).kernels == 1);
static_assert(plan_of(reshape<6>(exp(x) + row)).kernels == 1);
static_assert(plan_of(tanh(reshape<6>(transpose(x) + a)) * reshape<6>(y)).kernels == 1);
static_assert(plan_of(reshape<3, 4>(transpose(cubes)) + twelve).kernels == 1);
static_assert(plan_of(tanh(reshape<dyn>(transpose(open)))).kernels == 1);
static_assert(plan_of(reshape<dyn>(transpose(open)) + open_row).kernels == 1);
static_assert(plan_of(reshape<6>(iota<float, 6>() + reshape<6>(y)) + reshape<6>(x)).kernels == 1);
static_assert(plan_of(reshape<2, 3>(iota<float, 6>()) + x).kernels == 1);

// Axes of extent 1 come and go with any strides.
static_assert(plan_of(expand_dims<0>(transpose(a)) + batch).kernels == 1);
static_assert(plan_of(matmul(squeeze<0>(permute<0, 2, 1>(expand_dims<0>(a))), b)).kernels == 1);

// What must not: what several kernels need, or one kernel in two ways, is made once.
static_assert(plan_of(fetches(transpose(exp(x)) * a, exp(x))).kernels == 2);
static_assert(plan_of(transpose(exp(three)) + exp(three)).kernels == 2);
static_assert(plan_of(slice<0, 1>(exp(x)) + slice<1, 2>(exp(x))).kernels == 2);

// What would read two operands across memory is made first, and then one is read so.
static_assert(plan_of(transpose(x + y) * a).kernels == 2);
static_assert(plan_of(sum<0>(transpose(x * y) + a)).kernels == 2);
static_assert(plan_of(transpose(x + y)).kernels == 2);

// Turned twice is not turned, and rows that lie apart are read along memory.
static_assert(plan_of(transpose(tanh(transpose(x + y)))).kernels == 1);
static_assert(plan_of(permute<1, 0, 2>(batch_2 * batch_2b) + placeholder<"rows_apart", float, 5, 2, 3>).kernels == 1);

// From three kernels on that read it, what is turned is turned once. Products take it as it is.
constexpr auto turned = transpose(three);
static_assert(plan_of(fetches(sum<0>(turned), max<1>(turned))).kernels == 2);
static_assert(plan_of(fetches(sum<0>(turned), max<1>(turned), min<0>(turned))).kernels == 4);
static_assert(plan_of(fetches(matmul(turned, x3), matmul(y3, turned), matmul(turned, turned))).kernels == 3);

// A softmax along it reads it that often alone.
static_assert(plan_of(softmax(turned)).kernels == 2);
static_assert(plan_of(softmax<0>(turned)).kernels == 1);

// What only a view shows to several kernels is made as the view: as few elements as it has, or turned.
static_assert(plan_of(matmul(slice<0, 2>(exp(b)), placeholder<"to_right", float, 4, 4>)).values[0].bytes == 4 * 2 * 4);
static_assert(plan_of(fetches(sum<0>(transpose(exp(x))), max<1>(transpose(exp(x))))).kernels == 3);

// A dear operation on what is stretched, below a view or above it.
static_assert(plan_of(transpose(exp(column)) + a).kernels == 2);
static_assert(plan_of(transpose(x * exp(row)) + a).kernels == 2);

// An index means a place in the whole; what is the same everywhere is made where it is read, a fold and a broadcast
// too.
static_assert(plan_of(transpose(x + reshape<2, 3>(iota<float, 6>())) + a).kernels == 2);
static_assert(plan_of(transpose(x + ones<float, 2, 3>()) + a).kernels == 1);
static_assert(plan_of(sum(x * fill<float, 3>(2_c))).kernels == 1);
static_assert(plan_of(softmax(x + ones<float, 2, 1>())).kernels == 1);

// An operand of a product is a value of its own, turned or not.
static_assert(plan_of(matmul(transpose(exp(a)), b)).kernels == 2);

// What is to run elsewhere.
static_assert(plan_of(on<gpu<1>>(transpose(on<gpu<0>>(x + y)) * a)).kernels == 2);

// A shape whose parts fit into no other is laid out anew.
static_assert(plan_of(reshape<3, 4>(transpose(dozen)) + twelve).kernels == 2);
static_assert(plan_of(reshape<2, dyn>(transpose(open)) + open).kernels == 2);

// Something to look at that is fetched is copied to the result: one kernel.
static_assert(plan_of(transpose(x)).kernels == 1);
static_assert(plan_of(x).kernels == 1);

// ---- concat -----------------------------------------------------------------------------------------------

// Tensors side by side are one kernel, with what makes its operands before it.
static_assert(plan_of(concat<0>(x, y)).kernels == 1);
static_assert(plan_of(concat<1>(x + y, x, y)).kernels == 2);
static_assert(plan_of(sum(concat<0>(x, y))).kernels == 2);

// What is a part of another one copies its own parts to where they end up, along whatever axes.
static_assert(plan_of(concat<0>(x, concat<0>(y, x))).kernels == 1);
static_assert(plan_of(concat<1>(concat<0>(x, concat<0>(y, y)), concat<0>(x, x, y))).kernels == 1);
static_assert(plan_of(concat<0>(concat<1>(x + y, x), concat<1>(y, y))).kernels == 2);
// Not where anything else needs it, or it is somewhere else, or is seen through a view that turns it.
static_assert(plan_of(stack<-2>(stack<-1>(x, y), stack<-1>(y, x))).kernels == 1);
static_assert(plan_of(stack<0>(concat<0>(x, y), concat<0>(y, y))).kernels == 1);
// A vector in several axes has no place of its own in one: it is a kernel.
constexpr auto v4 = placeholder<"v4", float, 4>;
static_assert(plan_of(concat<0>(reshape<2, 4>(concat<0>(v4, v4)), reshape<2, 4>(concat<0>(v4, v4)))).kernels == 2);
static_assert(plan_of(stack<-1>(concat<0>(v4, v4), concat<0>(v4, v4 + v4))).kernels == 2);
// Products read no rolls: each is a copy.
constexpr auto square4 = placeholder<"square4", float, 4, 4>;
static_assert(plan_of(relu(matmul(roll<1, 0>(square4), square4) + v4)).kernels == 2);
static_assert(plan_of(matmul(square4, square4) + roll<1>(v4)).kernels == 2);
static_assert(plan_of(stack<1>(stack<-1>(open_row, open_row), stack<1>(open_row, open_row))).kernels == 2);
static_assert(plan_of(concat<0>(transpose(concat<1>(x, x)), a)).kernels == 2);
static_assert(plan_of(concat<0>(reshape<3, 4>(concat<1>(x, y)), twelve)).kernels == 2);
static_assert(plan_of(fetches(concat<0>(x, y), concat<0>(concat<0>(x, y), x))).kernels == 2);
static_assert(plan_of(fetches(stack<0>(x, y), stack<0>(stack<0>(x, y), stack<0>(y, x)))).kernels == 2);
static_assert(plan_of(concat<0>(exp(concat<0>(x, y)), concat<0>(x, y))).kernels == 3);
static_assert(plan_of(on<cpu<0>>(concat<0>(x, on<gpu<0>>(concat<0>(x, y))))).kernels == 2);
static_assert(plan_of(concat<0>(transpose(concat<1>(transpose(x), transpose(y))), x)).kernels == 2);
// A value around a tensor is one element, which its copy reads again and again.
static_assert(plan_of(pad<padding<1, 2>, padding<3>>(x)).kernels == 2);
// Of extents that the run knows a line for each axis is made, and the operand is copied once.
constexpr auto image = pad<padding<1, 2>, padding<3>>(placeholder<"image", float, dyn, dyn>);
static_assert(plan_of(image).kernels == 5);

// ---- variables --------------------------------------------------------------------------------------------

// The new value of a variable is computed in the kernel that writes it; a second one copies it to the result of the
// fetch.
static_assert(plan_of(assign(w, tanh(x) * y)).kernels == 2);
static_assert(plan_of(assign_add(w, (x * row))).kernels == 2);

// A product writes the variable itself, where it has the variable's shape.
inline constexpr auto turn = placeholder<"turn", float, 3, 3>;
static_assert(plan_of(assign(w, matmul(x, turn))).kernels == 2);
static_assert(plan_of(assign_add(w, matmul(x, turn))).kernels == 2);
static_assert(plan_of(assign_sub(w, 0.5_c * matmul(x, turn))).kernels == 2);
static_assert(plan_of(assign_sub(w, matmul(slice<0, 1>(x), turn))).kernels == 3);
static_assert(plan_of(fetches(assign_sub(w, matmul(x, turn)), matmul(x, turn))).kernels == 3);
static_assert(plan_of(assign_sub(w, matmul(x, turn) + x)).kernels == 3);

// Of two products that are added, the sum belongs to one and the other is its addend.
static_assert(plan_of(matmul(three, transpose(three)) + matmul(transpose(three), three)).kernels == 2);

// ---- places -----------------------------------------------------------------------------------------------

// Operations that are to run on different devices are different kernels.
static_assert(plan_of(on<gpu<1>>(tanh(on<gpu<0>>(x + y)))).kernels == 2);

// In one scope they are one, and fusion does not depend on what the machine has.
static_assert(plan_of(on<gpu<1>>(tanh(x + y))).kernels == 1);
static_assert(plan_of<world<cpu<0>>>(on<gpu<1>>(tanh(on<gpu<0>>(x + y)))).kernels == 2);

}  // namespace
