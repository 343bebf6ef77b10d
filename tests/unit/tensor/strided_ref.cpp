// SPDX-License-Identifier: BSL-1.0
// Values that do not lie row by row: seen where they lie, fed as rows, or refused with a sentence.
#include <onto/strided.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <sstream>
#include <type_traits>
#include <utility>
#include <vector>

#if __has_include(<eigen3/Eigen/Core>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wdeprecated-enum-enum-conversion"
#pragma GCC diagnostic ignored "-Wdeprecated-anon-enum-enum-conversion"
#include <eigen3/Eigen/Core>
#pragma GCC diagnostic pop
#define HAS_EIGEN 1
#else
#define HAS_EIGEN 0
#endif
#if __has_include(<mdspan>)
#include <mdspan>
#endif

#include "../catch.hpp"
#include "matrix.hpp"
#include "strided_arrays.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, dyn, dyn>;
constexpr auto v = placeholder<"v", float, dyn>;
using open_ref = strided_ref<float, dyn, dyn>;

std::vector<float> counted(int n) {
  std::vector<float> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

const tensor<float, 2, 3> rows{{1, 2, 3}, {4, 5, 6}};
const std::vector<float> columns{1, 4, 2, 5, 3, 6};  // the same, column by column

}  // namespace

TEST_CASE("strided values are seen where they lie", "[strided]") {
  const open_ref r(columns.data(), {2, 3}, {1, 2});
  CHECK(r.data() == columns.data());
  CHECK(r.size() == 6);
  CHECK(r.shape() == std::array{2, 3});
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) CHECK(r(i, j) == rows(i, j));
  CHECK_FALSE(r.is_row_major());
  CHECK(tensor<float, dyn, dyn>(r) == rows);
}

TEST_CASE("values lie row-major where strides say so, but for axes that lead nowhere", "[strided]") {
  const std::vector<float> m = counted(6);
  const auto lies = [&](int i, int j, std::int64_t down, std::int64_t across) {
    return strided_ref<float, dyn, dyn>(m.data(), std::array{i, j}, std::array{down, across}).is_row_major();
  };
  CHECK(lies(2, 3, 3, 1));
  CHECK(lies(1, 3, -77, 1));
  CHECK(lies(3, 1, 1, 99));
  CHECK(lies(1, 1, 5, 5));
  CHECK(lies(0, 3, 5, 5));
  CHECK_FALSE(lies(2, 3, 4, 1));  // gaps
  CHECK_FALSE(lies(2, 3, 1, 2));
  CHECK_FALSE(lies(2, 3, 0, 1));  // one row, twice
  CHECK_FALSE(lies(2, 3, 3, -1));
  CHECK_FALSE(lies(1, 3, 3, 2));
}

TEST_CASE("row_major copies only where it must", "[strided]") {
  const std::vector<float> m = counted(6);
  const auto same = row_major(open_ref(m.data(), {2, 3}, {3, 1}));
  CHECK(same.data() == m.data());
  CHECK_FALSE(same.owns());
  const auto copied = row_major(open_ref(columns.data(), {2, 3}, {1, 2}));
  CHECK(copied.owns());
  CHECK(copied == rows);
  const auto backwards = row_major(strided_ref<float, dyn>(m.data() + 5, {3}, {-2}));
  CHECK(backwards == tensor<float, 3>{6, 4, 2});
  const auto twice = row_major(open_ref(m.data(), {2, 3}, {0, 1}));
  CHECK(twice == tensor<float, 2, 3>{{1, 2, 3}, {1, 2, 3}});
  CHECK(row_major(strided_ref<float>(m.data() + 2, extents{}, {})) == tensor<float>(3.0f));
}

TEST_CASE("every order of axes is copied right", "[strided]") {
  // Extents beyond the squares that are copied together, and a multiple of them.
  const int shape[] = {3, 2, 33, 16};
  const std::vector<float> m = counted(3 * 2 * 33 * 16);
  int order[] = {0, 1, 2, 3};
  int orders = 0;
  do {
    std::int64_t stride[4], step = 1;
    for (int k = 3; k >= 0; --k) {
      stride[order[k]] = step;
      step *= shape[order[k]];
    }
    const tensor<float, dyn, dyn, dyn, dyn> t(strided_ref<float, dyn, dyn, dyn, dyn>(
        m.data(), {shape[0], shape[1], shape[2], shape[3]}, {stride[0], stride[1], stride[2], stride[3]}));
    bool right = true;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 2; ++j)
        for (int k = 0; k < 33; ++k)
          for (int l = 0; l < 16; ++l)
            right =
                right && t(i, j, k, l) ==
                             m[static_cast<std::size_t>(i * stride[0] + j * stride[1] + k * stride[2] + l * stride[3])];
    CHECK(right);
    ++orders;
  } while (std::next_permutation(order, order + 4));
  CHECK(orders == 24);
}

TEST_CASE("strided values are fed where they lie row-major, and else refused", "[strided]") {
  session sess;
  const std::vector<float> m = counted(6);
  const open_ref straight(m.data(), {2, 3}, {3, 1}), turned(columns.data(), {2, 3}, {1, 2});
  CHECK((x = straight).data == m.data());
  CHECK(sess.run(x + 0, x = straight) == rows);
  CHECK_THROWS_WITH((x = turned),
                    "[onto.tensor] values of shape [2, 3] with strides (1, 2) do not lie row by row without gaps; copy "
                    "them with row_major(values); it was fed to placeholder 'x'");
  CHECK(sess.run(x + 0, x = row_major(turned)) == rows);
  CHECK(evaluate(x + 0, x = row_major(turned)) == rows);
  CHECK_THROWS_AS((tensor_ref<float, 3, 2>(straight)), invalid_argument_error);
  CHECK_THROWS_AS((strided_ref<float, 3, 2>(m.data(), {2, 3}, {3, 1})), invalid_argument_error);
}

TEST_CASE("matrices that say how they lie are fed as rows, whatever way they lie", "[strided]") {
  session sess;
  matrix<float, false> by_columns(2, 3);
  by_columns.values = columns;
  CHECK(sess.run(x + 0, x = row_major(by_columns)) == rows);
  matrix<float, true> block(2, 3, 5);
  block.values = counted(10);
  CHECK(sess.run(x + 0, x = row_major(block)) == tensor<float, 2, 3>{{1, 2, 3}, {6, 7, 8}});
  matrix<float, false> tall(3, 2, 4);
  tall.values = counted(8);
  CHECK(sess.run(x + 0, x = row_major(tall)) == tensor<float, 3, 2>{{1, 5}, {2, 6}, {3, 7}});
  matrix<float, true, 2> wide(2, 2, 4);
  wide.values = counted(8);
  CHECK(sess.run(x + 0, x = row_major(wide)) == tensor<float, 2, 2>{{1, 3}, {5, 7}});
  const matrix<float, true> lies(2, 3);
  CHECK(row_major(lies).data() == lies.data());
}

TEST_CASE("an mdspan is fed as rows", "[strided]") {
  std::vector<float> m = columns;
  const strided_view<float> turned{m.data(), {2, 3}, {1, 2}};
  CHECK(evaluate(x + 0, x = row_major(turned)) == rows);
  const strided_view<const float> straight{m.data(), {2, 3}, {3, 1}};
  CHECK(row_major(straight).data() == m.data());
  CHECK_THROWS_WITH(row_major(strided_view<float>{m.data(), {2, 3}, {1, 2}, false}),
                    Catch::Contains("the layout of the mdspan has no strides"));
  CHECK_THROWS_WITH(row_major(strided_view<float>{m.data(), {std::size_t{1} << 31, 3}, {1, 2}}),
                    Catch::Contains("an extent is 2147483648; it is to be 0 to 2147483647"));
#if defined(__cpp_lib_mdspan)
  const std::mdspan<float, std::extents<int, 2, std::dynamic_extent>, std::layout_left> left(m.data(), 3);
  static_assert(std::is_same_v<decltype(row_major(left)), shared_tensor<float, 2, dyn>>);
  CHECK(evaluate(x + 0, x = row_major(left)) == rows);
#endif
}

TEST_CASE("what lies by columns is neither a feed nor an output by its size alone", "[strided]") {
  using column = matrix<float, false>;
  static_assert(!std::is_constructible_v<tensor_ref<float, 2, 3>, const column_array<float>&>);
  static_assert(!std::is_constructible_v<tensor_ref<float, dyn>, const column_array<float>&>);
  using result = tensor<float, dyn, dyn>;
  static_assert(!detail::takes_result<result, column>);
  static_assert(!detail::takes_result<result, column_array<float>>);
  static_assert(!detail::takes_result<result, matrix<float, true, 2>>);
  static_assert(detail::takes_result<result, matrix<float, true>>);

  matrix<float, true> out(2, 3), turned(3, 2), block(2, 3, 5);
  evaluate_to(out, x + 1, x = rows);
  CHECK(out.values == std::vector<float>{2, 3, 4, 5, 6, 7});
  CHECK_THROWS_WITH(evaluate_to(turned, x + 1, x = rows),
                    Catch::Contains("an output of shape [3, 2] is given for a result of shape [2, 3]"));
  CHECK_THROWS_WITH(evaluate_to(block, x + 1, x = rows),
                    Catch::Contains("the rows of the matrix do not follow each other"));
}

TEST_CASE("a shared tensor keeps its owner", "[strided]") {
  struct owner {
    std::shared_ptr<int> alive;
  };
  const auto alive = std::make_shared<int>(0);
  std::vector<float> m = counted(6);
  {
    shared_tensor<float, dyn, dyn> first(tensor_ref<float, dyn, dyn>(m, {2, 3}), owner{alive});
    CHECK(alive.use_count() == 2);
    shared_tensor<float, dyn, dyn> second = std::move(first);
    CHECK(first == second);  // a move is a copy
    CHECK(alive.use_count() == 2);
    const auto fed = x = std::move(second);
    CHECK(fed.data == m.data());
    CHECK(evaluate(x + 0, fed) == rows);
  }
  CHECK(alive.use_count() == 1);

  const float* const values = m.data();
  const shared_tensor<float, dyn> kept(tensor_ref<float, dyn>(m), std::move(m));
  CHECK(kept.data() == values);
  tensor<float, 2, 3> t = rows;
  const float* const own = t.data();
  const shared_tensor<float, 2, 3> taken(std::move(t));
  CHECK(taken.data() == own);
  CHECK(taken == rows);
  CHECK(taken(1, 0) == 4.0f);
  const tensor_ref<float, dyn, dyn> open = taken;
  CHECK(open.data() == own);
  CHECK_THROWS_AS((tensor_ref<float, 6>(shared_tensor<float, dyn>(tensor<float, dyn>{1, 2}))), invalid_argument_error);
  std::ostringstream text;
  text << taken;
  CHECK(text.str() == to_string(rows));
}

#if HAS_EIGEN
TEST_CASE("Eigen's matrices, maps and blocks are fed as they are meant", "[strided]") {
  session sess;
  Eigen::MatrixXf m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  CHECK(sess.run(x + 0, x = row_major(m)) == rows);
  static_assert(!std::is_constructible_v<tensor_ref<float, dyn, dyn>, const Eigen::MatrixXf&>);
  static_assert(!std::is_constructible_v<tensor_ref<float, 2, 3>, const Eigen::Matrix<float, 2, 3>&>);

  const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> by_rows = m;
  CHECK((x = by_rows).data == by_rows.data());
  CHECK(row_major(by_rows).data() == by_rows.data());
  CHECK(sess.run(x + 0, x = m.transpose()) == tensor<float, 3, 2>{{1, 4}, {2, 5}, {3, 6}});
  CHECK((x = m.transpose()).data == m.data());

  CHECK(sess.run(x + 0, x = row_major(m.block(0, 1, 2, 2))) == tensor<float, 2, 2>{{2, 3}, {5, 6}});
  CHECK(sess.run(x + 0, x = row_major(by_rows.block(0, 1, 2, 2))) == tensor<float, 2, 2>{{2, 3}, {5, 6}});
  CHECK_THROWS_AS((x = by_rows.block(0, 1, 2, 2)), invalid_argument_error);
  using strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  std::vector<float> flat = counted(12);
  const Eigen::Map<Eigen::MatrixXf, 0, strides> every_other(flat.data(), 2, 3, strides(4, 2));
  CHECK(sess.run(x + 0, x = row_major(every_other)) == tensor<float, 2, 3>{{1, 5, 9}, {3, 7, 11}});

  Eigen::VectorXf u(3);
  u << 1, 2, 3;
  CHECK((v = u).data == u.data());
  CHECK(sess.run(v + 0, v = row_major(m.row(1))) == tensor<float, 3>{4, 5, 6});
  CHECK(sess.run(v + 0, v = row_major(u.reverse().eval())) == tensor<float, 3>{3, 2, 1});
  static_assert(!std::is_constructible_v<tensor_ref<float, dyn>, const decltype(m.row(1))&>);

  // Results: into rows, not into columns.
  static_assert(!detail::takes_result<tensor<float, dyn, dyn>, Eigen::MatrixXf>);
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> out(2, 3);
  evaluate_to(out, 2 * x, x = rows);
  CHECK(out == 2 * m);
  Eigen::Map<Eigen::MatrixXf> turned(out.data(), 3, 2);
  CHECK(turned == (2 * m).transpose());
  Eigen::VectorXf w(3);
  evaluate_to(w, 2 * v, v = u);
  CHECK(w == 2 * u);
}
#endif
