// SPDX-License-Identifier: BSL-1.0
// Matrices of other libraries are read as they lie, or not at all.
#include <onto/onto.hpp>

#include <numeric>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "matrix.hpp"

using namespace onto;

namespace {
constexpr auto x = placeholder<"x", float, dyn, dyn>;

using matrix_ref = tensor_ref<float, dyn, dyn>;
static_assert(std::is_constructible_v<matrix_ref, const matrix<float, true>&>);
static_assert(!std::is_constructible_v<matrix_ref, const matrix<float, false>&>);    // column by column
static_assert(!std::is_constructible_v<matrix_ref, const matrix<float, true, 2>&>);  // every other element
static_assert(!std::is_constructible_v<matrix_ref, const matrix<double, true>&>);
// Static extents, or one axis, say nothing of the order either.
static_assert(!std::is_constructible_v<tensor_ref<float, 2, 3>, const matrix<float, false>&>);
static_assert(!std::is_constructible_v<tensor_ref<float, dyn>, const matrix<float, true, 2>&>);
static_assert(std::is_constructible_v<tensor_ref<float, dyn>, const std::vector<float>&>);
}  // namespace

TEST_CASE("A row-major matrix is fed without a copy", "[feed]") {
  matrix<float, true> m(2, 3);
  std::iota(m.values.begin(), m.values.end(), 1.0f);
  session sess;
  CHECK((x = m).data == m.data());
  CHECK(sess.run(2 * x, x = m) == tensor<float, dyn, dyn>{{2, 4, 6}, {8, 10, 12}});
  CHECK(sess.run(2 * x, x = matrix<float, true>(1, 2)) == tensor<float, dyn, dyn>{{0, 0}});
}

TEST_CASE("Rows with gaps between them are refused", "[feed]") {
  const matrix<float, true> block(2, 3, 5);
  CHECK_THROWS_WITH((x = block),
                    "[onto.tensor] the rows of the matrix do not follow each other, as those of a block of a larger "
                    "one; copy it into a tensor; it was fed to placeholder 'x'");
  CHECK_NOTHROW((x = matrix<float, true>(1, 3, 5)));
}
