// SPDX-License-Identifier: BSL-1.0
// The rows of docs/reference/operations.md for words that are made of other operations: what is written is compiled,
// and the operations and element types are those of its graph. The document takes the rows over from the golden file.
#include <onto/einsum.hpp>
#include <onto/indexing.hpp>
#include <onto/sort.hpp>

#include <string>

#include "../../golden.hpp"
#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 4, 6>;
constexpr auto y = placeholder<"y", float, 4, 6>;
constexpr auto v = placeholder<"v", float, 6>;
constexpr auto i = placeholder<"i", int, 5>;
constexpr auto u = placeholder<"u", float, 5, 6>;
constexpr auto start = placeholder<"start", int, 2>;

/// The operations of a graph that are none of symbols and scalars, each once, and the element types that those of
/// elements of type `of` take, all of them.
struct row_facts {
  std::string operations;
  element_set types = all_elements;

  row_facts(const graph_view& g, element of) {
    for (int n = 0; n < g.count; ++n) {
      const graph_node& node = g[n];
      if (node.is_leaf()) continue;
      const std::string name(node.op->name);
      if ((", " + operations + ",").find(", " + name + ",") == std::string::npos)
        operations += (operations.empty() ? "" : ", ") + name;
      // What makes its result of nothing has the type that the program says.
      const bool says = node.kind() == op_kind::generator && node.op->kernels.cpu == element_bit(node.type);
      if (!says && g.kernel_element(n) == of) types &= node.op->kernels.cpu;
      if (node.op->name == "LinSpace") types &= floating_elements;
      const bool by_number =
          node.kind() == op_kind::own_kernel && node.count > 1 && !is_floating(g[g.operand(n, 0)].type);
      if (by_number && g[g.operand(n, 0)].type == of) types &= integer_elements;
    }
  }
  std::string type_names() const {
    std::string s;
    const auto add = [&](element_set set, const char* name) {
      if ((types & set) == set) s += (s.empty() ? "" : " ") + std::string(name);
    };
    if (types == all_elements) return "all";
    add(floating_elements, "F");
    add(integer_elements, "I");
    add(boolean_elements, "B");
    if ((types & integer_elements) != integer_elements)
      for (const detail::element_row& r : detail::element_table::rows)
        if ((types & integer_elements & element_bit(r.type)) != 0) s += ", " + std::string(name_of(r.type));
    return s;
  }
};

template <class E>
void add_row(std::string& table, std::string written, const E&, element of, const char* meaning,
             element_set taken = all_elements) {
  row_facts facts(detail::graph_of<E>::view, of);
  facts.types &= taken;
  table += "| `" + written + "` | " + facts.operations + " | " + facts.type_names() + " | " + meaning + " |\n";
}
#define ROW(meaning, ...) add_row(table, #__VA_ARGS__, __VA_ARGS__, element::float32, meaning)
// Of words that refuse what their operations take.
#define ROW_OF_FLOATS(meaning, ...) \
  add_row(table, #__VA_ARGS__, __VA_ARGS__, element::float32, meaning, floating_elements)
#define ROW_OF_INTEGERS(meaning, ...) add_row(table, #__VA_ARGS__, __VA_ARGS__, element::int32, meaning)

}  // namespace

TEST_CASE("the rows of words in the table of operations", "[golden]") {
  std::string table;
  ROW("each element at least the one and at most the other", clip(x, 0, 1));
  ROW("stretched as an operation beside a tensor of this shape stretches it; `dyn` is its own extent",
      broadcast_to<2, dyn, dyn>(x));
  ROW("backwards along the named axes, or all", flip<0>(x));
  ROW("each element twice along axis 0; `repeat<2>(x)` of all elements in a row", repeat<2, 0>(x));
  ROW("twice along the last axis but one, three times along the last", tile<2, 3>(x));
  ROW("each element 1 further along axis 0, the last one first; `roll<2>(x)`, of all elements in a row, where extents "
      "are in the type",
      roll<1, 0>(x));
  ROW("side by side along a new axis, the first unless another is named", stack(x, y));
  ROW("a `std::tuple` of parts of equal extents, along axis 0 unless another is named: here the second of three",
      get<1>(split<3, 1>(x)));
  ROW("with a value around it, 0 unless another is named; a padding an axis, those after them as they are",
      pad<padding<1, 2>, padding<3>>(x, 1));
  ROW("the triangle below the diagonal, it included; `tril<1>` one diagonal more; of the last two axes", tril(x));
  ROW("the triangle above, as `tril`", triu(x));
  ROW_OF_INTEGERS("a row of 10 with a 1 at each number, 0 where it has none; float, or `one_hot<10, double>`",
                  one_hot<10>(i));
  ROW("the mean square of the distance from the mean", var<0>(x));
  ROW("its root: NumPy's `std`, which in C++ is a namespace", stddev<0>(x));
  ROW("the root of the sum of squares", norm(x));
  ROW("`log(sum(exp(x)))`, which overflows nowhere", logsumexp<1>(x));
  ROW("the inner product of vectors; of matrices `matmul`; beside one value `*`", dot(v, v));
  ROW("each element of the one times each of the other", outer(v, v));
  golden("operations/words", table);
}

TEST_CASE("the rows of operations by number in the table of operations", "[golden]") {
  std::string table;
  ROW("(a..., i..., b...) of an operand (a..., n, b...); without an axis, of all elements in a row", take<0>(x, i));
  ROW("`take<0>`: TensorFlow's word; `gather<1>` along another axis", gather(x, i));
  ROW("`take<0>`: the rows of a table", embedding(x, i));
  ROW("each number takes from its own row: `x(r, i(r, c))` at (r, c); PyTorch's `gather`",
      take_along_axis<1>(x, reshape<1, 5>(i)));
  ROW("a part of these extents that begins at `start`, a number an axis; moved inside where it would reach beyond the "
      "end",
      dynamic_slice<2, 3>(x, start));
  ROW("`x` with an update in it, which begins at `start`, as `dynamic_slice`", update_slice(x, slice<0, 2>(y), start));
  ROW("`x` with rows of those numbers replaced, by the last of equal numbers; a number, or a tensor of rank 0, is for "
      "all of them, `scatter(x, "
      "i, 0)`",
      scatter(x, i, u));
  ROW("`x` with rows added to those of those numbers, all of equal ones", scatter_add(x, i, u));
  ROW("the sums of rows with one number, of 0 to 9; of the type of `sum`", segment_sum<10>(u, i));
  ROW("the greatest elements of rows with one number, of 0 to 9; where none is, the least there are",
      segment_max<10>(u, i));
  ROW("the least elements of rows with one number, of 0 to 9; where none is, the greatest there are",
      segment_min<10>(u, i));
  ROW_OF_INTEGERS("how often each of 0 to 9 is there, int64; with weights, `bincount<10>(i, w)`, their sums",
                  bincount<10>(i));
  ROW("how many elements are in each of 10 bins of equal width, int64; a bin has its lower edge, the last one both",
      histogram<10>(x, 0, 1));
  ROW("how many elements of a sorted vector are less, int64; with `right_side`, less or equal; NaN is the greatest",
      searchsorted(v, x));
  ROW("an extent as a value, int64; where it is in the type, a constant, and `x` need not run",
      extent<0>(placeholder<"open", float, dyn>));
  golden("operations/indexing", table);
}

TEST_CASE("the rows of sorts in the table of operations", "[golden]") {
  std::string table;
  ROW("in ascending order along the last axis, or the named one; with `descending` the greatest first", sort(x));
  ROW("the numbers of the elements in that order, int64; those of equal elements keep their order", argsort(x));
  ROW("the 3 greatest along the last axis, `top_k<3, 0>` along axis 0; of equal ones the first", top_k<3>(x).values);
  ROW("their numbers, int64", top_k<3>(x).indices);
  ROW_OF_FLOATS("the element in the middle, the mean of two where there are two; of all, or along the named axis",
                median(x));
  ROW_OF_FLOATS(
      "what a part of the elements lies below, between two of them a part of the way, as NumPy has it (but between two "
      "equal infinities that infinity, not NaN); the part is a "
      "number, or an expression: of a vector of them the first axis is theirs",
      quantile<0>(x, 0.9));
  ROW("the first 10 distinct values in ascending order; where there are fewer, the least fills the rest",
      unique<10>(x).values);
  ROW("how often each is there, int64; of what fills the rest, 0", unique<10>(x).counts);
  ROW("how many distinct values there are in all, int64", unique<10>(x).found);
  golden("operations/sort", table);
}

TEST_CASE("the rows of sums of products by letters in the table of operations", "[golden]") {
  std::string table;
  constexpr auto w = placeholder<"w", float, 6, 2>;
  ROW("a matrix product", einsum<"ij,jk->ik">(x, w));
  ROW("a vector for each row: without letters of their own, multiplied and summed in one kernel",
      einsum<"ij,ij->i">(x, y));
  ROW("the axes in another order", einsum<"ij->ji">(x));
  ROW("the best order of several", einsum<"ij,jk,lk->il">(x, w, w));
  golden("operations/einsum", table);
}
