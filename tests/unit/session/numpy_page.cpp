// SPDX-License-Identifier: BSL-1.0
// The rows of docs/numpy.md: what NumPy's users write, and what they write here. The text of each row is compiled, run,
// and beside what NumPy made of its own text (tests/conformance/numpy_page.py reads the rows of this file); the
// document takes the rows over from golden files.
#include <onto/einsum.hpp>
#include <onto/indexing.hpp>
#include <onto/scan.hpp>
#include <onto/sort.hpp>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "../../golden.hpp"
#include "numpy_table.hpp"

using namespace onto;
using namespace onto_test;

namespace {

constexpr auto x = placeholder<"x", float, 3, 4>;
constexpr auto y = placeholder<"y", float, 3, 4>;
constexpr auto v = placeholder<"v", float, 4>;
constexpr auto w = placeholder<"w", float, 4, 2>;
constexpr auto s = placeholder<"s", float, 3, 3>;
constexpr auto z = placeholder<"z", float, 4>;
constexpr auto i = placeholder<"i", int, 3>;

/// What the rows are about, and NumPy's results.
struct page {
  numpy_table table = read_numpy("numpy_page.tsv", "page");
  tensor<float, 3, 4> X, Y;
  tensor<float, 4> V, Z;
  tensor<float, 4, 2> W;
  tensor<float, 3, 3> S;
  tensor<int, 3> I;
  std::string rows;

  page() {
    fill_from(table, "x", X);
    fill_from(table, "y", Y);
    fill_from(table, "v", V);
    fill_from(table, "w", W);
    fill_from(table, "s", S);
    fill_from(table, "z", Z);
    fill_from(table, "i", I);
  }

  void say(std::string python, std::string written, std::string beside) {
    for (std::string* text : {&python, &written, &beside})  // a bar would end the table's cell
      for (std::size_t k = 0; (k = text->find('|', k)) != std::string::npos; k += 2) text->insert(k, "\\");
    rows += "| `" + python + "` | `" + written + "` | " + beside + " |\n";
  }
  /// A row of values that are there: tensors, shapes, numbers.
  template <class T, int... Dims>
  void value(const char* python, const char* written, const char* beside, const tensor<T, Dims...>& got) {
    check_numpy(table, python, got);
    say(python, written, beside);
  }
  template <std::size_t N>
  void value(const char* python, const char* written, const char* beside, const std::array<int, N>& got) {
    value(python, written, beside, tensor<std::int64_t, dyn>(std::vector<std::int64_t>(got.begin(), got.end())));
  }
  void value(const char* python, const char* written, const char* beside, std::size_t got) {
    value(python, written, beside, tensor<std::int64_t>(static_cast<std::int64_t>(got)));
  }
  void value(const char* python, const char* written, const char* beside, float got) {
    value(python, written, beside, tensor<float>(got));
  }
  /// A row of an expression.
  template <expression E>
  void computed(const char* python, const char* written, const char* beside, const E& e) {
    check_numpy(table, python, evaluate(e, x = X, y = Y, v = V, w = W, s = S, z = Z, i = I), 1e-6);
    say(python, written, beside);
  }
};

#define ROW(python, beside, ...) p.computed(python, #__VA_ARGS__, beside, __VA_ARGS__)
#define VALUE(python, beside, ...) p.value(python, #__VA_ARGS__, beside, __VA_ARGS__)

}  // namespace

TEST_CASE("the page for NumPy's users: data", "[golden]") {
  page p;
  const std::string path = (std::filesystem::temp_directory_path() / "onto_numpy_page.npy").string();
  const tensor<float, 3, 4>& t = p.X;
  save_npy(path, t);
  VALUE("np.array([[1, 2], [3, 4]], np.float32)", "values in braces; `tensor<float, dyn, dyn>` leaves the extents open",
        tensor<float, 2, 2>{{1, 2}, {3, 4}});
  VALUE("np.zeros((2, 3), np.float32)", "parentheses and extents", tensor<float, dyn, dyn>({2, 3}));
  VALUE("t.shape", "", t.shape());
  VALUE("t.size", "", t.size());
  VALUE("t[1, 2]", "also to write to; `t.at(1, 2)` checks the indices", t(1, 2));
  VALUE("np.load(path)", "`save_npy(path, t)` writes what `np.save` writes", load_npy<float, dyn, dyn>(path));
  std::filesystem::remove(path);
  golden("numpy/data", p.rows);
}

TEST_CASE("the page for NumPy's users: arrays made of nothing", "[golden]") {
  page p;
  ROW("np.zeros((2, 3), np.float32)", "in an expression; also `ones`; nothing is left unset, so no `np.empty`",
      zeros<float, 2, 3>());
  ROW("np.full((2, 3), 7, np.float32)", "", fill<float, 2, 3>(7));
  ROW("np.zeros_like(x)", "also `ones_like`, `full_like(x, 7)`, where only the run knows the shape", zeros_like(x));
  ROW("np.arange(5)", "", iota<std::int64_t, 5>());
  ROW("np.arange(2, 8, 2)", "", iota<std::int64_t, 3>() * 2 + 2);
  ROW("np.linspace(0, 1, 5)", "", linspace<double, 5>(0, 1));
  ROW("np.eye(3)", "`np.identity`", eye<double, 3>());
  ROW("np.tri(3)", "", tril(ones<double, 3, 3>()));
  golden("numpy/made", p.rows);
}

TEST_CASE("the page for NumPy's users: element by element", "[golden]") {
  page p;
  ROW("x + v", "`np.add`, `np.subtract`, `np.multiply`; operands broadcast as in NumPy", x + v);
  ROW("0.1 * x", "a scalar takes the element type of the tensor, as in NumPy 2", 0.1 * x);
  ROW("x / y", "`np.divide`, `np.true_divide`; of integers `/` cuts off, as C++ has it", x / y);
  ROW("x // y",
      "`np.floor_divide`; `floor(x / y)` is another number where `x / y` is rounded up to a whole one, as `1 / 0.1` "
      "is; by 0 it is NaN",
      round((x - x % y) / y));
  ROW("x % y", "`np.mod`, `np.remainder`; with the sign of `y`", x % y);
  ROW("np.fmod(x, y)", "with the sign of `x`", where(x < 0, -(abs(x) % abs(y)), abs(x) % abs(y)));
  ROW("np.negative(x)", "`np.positive(x)` is `x`", -x);
  ROW("x ** 2", "`x ^ 2` is another thing, and refused; also `pow(x, 2)`", square(x));
  ROW("np.power(np.abs(x), y)", "`np.float_power` of doubles", pow(abs(x), y));
  ROW("np.abs(x)", "`np.absolute`, `np.fabs`", abs(x));
  ROW("np.sqrt(np.abs(x))", "one kernel, as everything between two products or reductions", sqrt(abs(x)));
  ROW("np.exp(x)", "also `expm1`, `log`, `log1p`, `sin`, `cos`, `tan`, `sinh`, `cosh`, `tanh`, `sign`", exp(x));
  ROW("np.exp2(x)", "", pow(2, x));
  ROW("np.log2(np.abs(x))", "", log(abs(x)) / 0.6931471805599453);
  ROW("np.log10(np.abs(x))", "", log(abs(x)) / 2.302585092994046);
  ROW("np.logaddexp(x, y)", "", logsumexp<0>(stack(x, y)));
  ROW("np.cbrt(x)", "", sign(x) * pow(abs(x), 1.0 / 3));
  ROW("np.deg2rad(x)", "`np.radians`; the other way `np.rad2deg`, `np.degrees`", x * (3.141592653589793 / 180));
  ROW("np.arctan2(y, x)", "`np.arcsin`, `np.arccos`, `np.arctan` are `asin`, `acos`, `atan`", atan2(y, x));
  ROW("np.hypot(x, y)", "where squares do not overflow", sqrt(x * x + y * y));
  ROW("np.rint(x)", "`np.round`, `np.around`; halves go to the even neighbour; also `floor`, `ceil`", round(x));
  ROW("np.trunc(x)", "`np.fix`", sign(x) * floor(abs(x)));
  ROW("np.copysign(x, y)", "", where((y < 0) | (1 / y < 0), -abs(x), abs(x)));
  ROW("np.maximum(x, y)", "also `minimum`; `max(x)` is the reduction", maximum(x, y));
  ROW("np.clip(x, 0, 1)", "", clip(x, 0, 1));
  ROW("np.where(x > 0, x, 0)", "", where(x > 0, x, 0));
  ROW("x > y",
      "`np.greater`; the others, too: `np.greater_equal`, `np.less`, `np.less_equal`, `np.equal`, `np.not_equal`",
      x > y);
  ROW("(x > 0) & (y > 0)", "`np.logical_and`, `np.logical_or`, `np.logical_xor`: `& | ^`; both sides are computed",
      (x > 0) & (y > 0));
  ROW("~(x > 0)", "`np.logical_not`; also `!`", ~(x > 0));
  ROW("np.isnan(z)", "", z != z);
  ROW("np.isinf(z)", "`np.isposinf`, `np.isneginf` without `abs`", abs(z) == std::numeric_limits<float>::infinity());
  ROW("np.isfinite(z)", "", z - z == 0);
  ROW("np.isclose(v, z)", "", (v == z) | ((abs(v - z) <= 1e-8 + 1e-5 * abs(z)) & (z - z == 0)));
  ROW("np.isclose(x, y)", "of finite numbers", abs(x - y) <= 1e-8 + 1e-5 * abs(y));
  ROW("np.reciprocal(x)", "", 1 / x);
  ROW("x.astype(np.int32)", "nothing converts by itself", cast<int>(x));
  ROW("i << 2",
      "`np.left_shift`, `np.right_shift`, `np.bitwise_and`, `np.bitwise_or`, `np.bitwise_xor`, `np.invert`: `<< >> & | "
      "^ ~` of integers",
      i << 2);
  golden("numpy/elements", p.rows);
}

TEST_CASE("the page for NumPy's users: reductions", "[golden]") {
  page p;
  ROW("np.sum(x)",
      "also `prod`, `mean`, `min`, `max` (`np.amin`, `np.amax`); of rank 0, which converts to a number; int32 stays "
      "int32 "
      "and wraps around: `sum(cast<std::int64_t>(i))`",
      sum(x));
  ROW("np.sum(x, axis=0)", "axes are part of the type; `sum(x, 1)` is refused", sum<0>(x));
  ROW("np.mean(x, axis=(0, 1))", "", mean<0, 1>(x));
  ROW("np.max(x, axis=-1, keepdims=True)", "", max<-1>(x, keep_extents));
  ROW("np.argmax(x, axis=1)", "also `argmin`; int64; without an axis the row-major index", argmax<1>(x));
  ROW("np.any(x > 0)", "also `all`", any(x > 0));
  ROW("np.array_equal(x, y)", "", all(x == y));
  ROW("np.allclose(x, x)", "of finite numbers", all(abs(x - x) <= 1e-8 + 1e-5 * abs(x)));
  ROW("np.count_nonzero(x)", "", sum(cast<std::int64_t>(x != 0)));
  ROW("np.var(x, axis=0)", "", var<0>(x));
  ROW("np.std(x)", "in C++ `std` is a namespace", stddev(x));
  ROW("np.median(x, axis=0)", "with `<onto/sort.hpp>`; without an axis of all elements", median<0>(x));
  ROW("np.quantile(x, 0.9, axis=1)", "also `quantile<1>(x, q)` of a vector `q`; `np.percentile(x, 90, axis=1)`",
      quantile<1>(x, 0.9));
  ROW("np.linalg.norm(x, axis=1)", "", norm<1>(x));
  ROW("np.average(x, axis=1, weights=np.abs(v))", "", sum<1>(x * abs(v)) / sum(abs(v)));
  ROW("np.nansum(z)", "`np.nanprod`, `np.nancumsum`, `np.nancumprod` in the same way", sum(where(z == z, z, 0)));
  ROW("np.nanmax(z)", "`np.nanmin`, `np.nanargmax`, `np.nanargmin` in the same way",
      max(where(z == z, z, -std::numeric_limits<float>::infinity())));
  ROW("np.nanmean(z)", "`np.nanvar`, `np.nanstd` in the same way", sum(where(z == z, z, 0)) / sum(cast<float>(z == z)));
  ROW("np.ptp(x)", "", max(x) - min(x));
  ROW("np.logaddexp.reduce(x, axis=1)", "", logsumexp<1>(x));
  ROW("np.cumsum(x, axis=1)",
      "with `<onto/scan.hpp>`; also `cumprod`, `cummax`, and `reverse`; of the operand's type; `np.cumulative_sum`, "
      "`np.cumulative_prod`",
      cumsum<1>(x));
  ROW("np.diff(x, axis=1)", "", slice<range<>, range<1, to_end>>(x) - slice<range<>, range<0, -1>>(x));
  golden("numpy/reductions", p.rows);
}

TEST_CASE("the page for NumPy's users: shapes", "[golden]") {
  page p;
  ROW("x.T", "`np.transpose`, `np.matrix_transpose`; a view: what reads it reads `x`", transpose(x));
  ROW("np.swapaxes(x, 0, 1)", "`np.moveaxis`, `np.rollaxis`, `np.permute_dims`: every axis once, in its new order",
      permute<1, 0>(x));
  ROW("x.reshape(2, 6)", "", reshape<2, 6>(x));
  ROW("x.reshape(-1)", "`np.ravel`", reshape<dyn>(x));
  ROW("x[:, np.newaxis]",
      "`np.expand_dims(x, 1)`, `np.atleast_2d`; several at once: `expand_dims<0, 2>(v)`, `squeeze<0, 1>(x)`",
      expand_dims<1>(x));
  ROW("x[1:3]", "", slice<1, 3>(x));
  ROW("x[:, ::2]", "an axis without a range is whole", slice<range<>, range<0, to_end, 2>>(x));
  ROW("x[1]", "of `<onto/indexing.hpp>`; without it `squeeze<0>(slice<1, 2>(x))`", take<0>(x, 1_c));
  ROW("x[1, 2]", "one element: a tensor of rank 0", take<0>(take<0>(x, 1_c), 2_c));
  ROW("x[::-1]", "`np.flip`, `np.flipud`; `np.fliplr` is `flip<1>`", flip<0>(x));
  ROW("np.rot90(x)", "", flip<0>(transpose(x)));
  ROW("np.concatenate((x, y), axis=1)",
      "`np.concat`, `np.append`, `np.vstack`, `np.row_stack`, `np.hstack`, `np.block`", concat<1>(x, y));
  ROW("np.stack((x, y))", "along another axis `stack<-1>`: `np.dstack`, `np.column_stack`", stack(x, y));
  ROW("np.split(x, 2, axis=1)[0]",
      "a `std::tuple`; `np.array_split`, `np.vsplit`, `np.hsplit`, `np.dsplit`, `np.unstack`", get<0>(split<2, 1>(x)));
  ROW("np.tile(x, (2, 1))", "`np.resize`", tile<2, 1>(x));
  ROW("np.repeat(x, 2, axis=0)", "", repeat<2, 0>(x));
  ROW("np.roll(x, 1, axis=0)",
      "maps read through it: a stencil whose edges are joined is one kernel; without an axis of all elements in a row",
      roll<1, 0>(x));
  ROW("np.pad(x, 1)", "a padding for each axis", pad<padding<1>, padding<1>>(x));
  ROW("np.broadcast_to(v, (3, 4))", "seldom needed: operands stretch; so `np.broadcast_arrays`, `np.meshgrid`",
      broadcast_to<3, 4>(v));
  golden("numpy/shapes", p.rows);
}

TEST_CASE("the page for NumPy's users: by number", "[golden]") {
  page p;
  ROW("x[i]", "also `gather`, `embedding`; -1 is the last; a number outside reads the nearest element", take<0>(x, i));
  ROW("x[:, i]", "", take<1>(x, i));
  ROW("np.take_along_axis(x, i[:, np.newaxis], axis=1)", "", take_along_axis<1>(x, reshape<3, 1>(i)));
  ROW("np.bincount(i, minlength=5)", "the number of bins is part of the type; other numbers, below 0 too, are left out",
      bincount<5>(i));
  ROW("np.histogram(x, 4, (-2, 2))[0]", "", histogram<4>(x, -2, 2));
  ROW("np.digitize(v, np.array([-1, 0, 1], np.float32))", "", searchsorted(constant({-1.f, 0.f, 1.f}), v, right_side));
  ROW("np.flatnonzero(v < 0)", "the first 3, `np.nonzero`, `np.argwhere`; the length where there are fewer",
      -top_k<3>(where(v < 0, -iota_like<std::int64_t>(v), -extent<0>(v))).values);
  ROW("np.searchsorted(np.array([-1, 0, 1], np.float32), v)", "", searchsorted(constant({-1.f, 0.f, 1.f}), v));
  ROW("np.eye(5)[i]", "", one_hot<5, double>(i));
  golden("numpy/numbers", p.rows);
}

TEST_CASE("the page for NumPy's users: linear algebra", "[golden]") {
  page p;
  ROW("x @ w", "`np.matmul` too; dimensions before the last two broadcast", matmul(x, w));
  ROW("x @ v", "`np.matvec`, `np.vecmat`", matmul(x, v));
  ROW("np.dot(v, v)", "`np.inner`, `np.vdot`; of rows, `np.vecdot`, `sum<-1>(x * y)`", dot(v, v));
  ROW("np.outer(v, v)", "", outer(v, v));
  ROW("np.cross(s, np.flip(s, 0))", "rows of three",
      roll<-1, 1>(s) * roll<-2, 1>(flip<0>(s)) - roll<-2, 1>(s) * roll<-1, 1>(flip<0>(s)));
  ROW("np.trace(s)", "", sum(where(eye<bool, 3>(), s, 0)));
  ROW("np.diagonal(s)", "`np.diag`", sum<1>(where(eye<bool, 3>(), s, 0)));
  ROW("np.diagflat(z)", "`np.diag`", where(eye<bool, 4>(), expand_dims<1>(z), 0));
  ROW("np.tril(s)", "also `triu`", tril(s));
  ROW("np.einsum('ij,kj->ik', x, y)", "with `<onto/einsum.hpp>`; read by the compiler", einsum<"ij,kj->ik">(x, y));
  golden("numpy/algebra", p.rows);
}

TEST_CASE("the page for NumPy's users: how rows are run") {
  const tensor<float, 3, 4> t{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  // [run]
  session sess;
  const tensor<float, 4> means = sess.run(mean<0>(x), x = t);  // np.mean(t, axis=0)
  const float largest = evaluate(max(x), x = t);               // without a session
  // [run]
  CHECK(means == tensor<float, 4>{5, 6, 7, 8});
  CHECK(largest == 12);
}

TEST_CASE("what changes between runs is a placeholder") {
  // [changes]
  constexpr auto price = placeholder<"price", double, dyn>;
  constexpr auto rate = placeholder<"rate", double>;
  double tax = 0.5;
  const auto with_number = price * (1 + tax);  // 1.5, now and for ever
  const auto with_rate = price * (1 + rate);   // whatever is fed
  tax = 1;

  session sess;
  const auto same = sess.run(with_number, price = {2, 4});               // [3. 6.]
  const auto changed = sess.run(with_rate, price = {2, 4}, rate = tax);  // [4. 8.]
  // [changes]
  CHECK(same == tensor<double, dyn>{3, 6});
  CHECK(changed == tensor<double, dyn>{4, 8});
}
