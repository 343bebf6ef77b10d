// SPDX-License-Identifier: BSL-1.0
// References to values of somebody else: what they can be made from, and what they refuse.
#include "../catch.hpp"

#include <onto/tensor/tensor_ref.hpp>

#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace onto;

namespace {
int sum_of(tensor_ref<int, dyn> t) { return std::accumulate(t.begin(), t.end(), 0); }
}  // namespace

TEST_CASE("a reference copies nothing", "[tensor_ref]") {
  std::vector<float> v{1, 2, 3, 4, 5, 6};
  const tensor_ref<float, dyn, dyn> r(v, {2, 3});
  CHECK(r.data() == v.data());
  CHECK(r.size() == 6);
  CHECK(r.shape() == std::array{2, 3});
  CHECK(r.extent_values() == extents(shape<2, 3>{}));
  CHECK(r(1, 0) == 4.0f);
  v[3] = 40;
  CHECK(r(1, 0) == 40.0f);
  CHECK(r.at(1, 2) == 6.0f);
  CHECK(r.values().size() == 6);
  CHECK_THROWS_AS(r.at(2, 0), invalid_argument_error);
  CHECK_THROWS_AS(r.at(0, -1), invalid_argument_error);
}

TEST_CASE("a reference is made from what holds values next to each other", "[tensor_ref]") {
  const std::vector<int> v{1, 2, 3};
  const std::array<int, 3> a{1, 2, 3};
  const int c[] = {1, 2, 3};
  int changing[] = {1, 2, 3};
  const tensor<int, 3> t{1, 2, 3};
  CHECK(sum_of(v) == 6);
  CHECK(sum_of(a) == 6);
  CHECK(sum_of(c) == 6);
  CHECK(sum_of(changing) == 6);
  CHECK(sum_of(t) == 6);
  CHECK(sum_of(std::span<const int>(v)) == 6);
  CHECK(sum_of(std::span<int>(changing)) == 6);
  CHECK(sum_of(std::span<const int, 3>(a)) == 6);
  CHECK(sum_of(std::vector<int>{}) == 0);
}

TEST_CASE("a pointer comes with a shape", "[tensor_ref]") {
  double values[] = {1, 2, 3, 4};
  const double* constant = values;
  const tensor_ref<double, dyn, 2> r(&values[0], {2, 2});
  CHECK(r(1, 1) == 4.0);
  const tensor_ref<double, dyn, dyn> s(constant, r.shape()), u(constant, r.extent_values());
  CHECK(s == r);
  CHECK(u == r);
  CHECK_THROWS_AS((tensor_ref<double, 3, 2>(constant, {2, 2})), invalid_argument_error);
  CHECK_THROWS_AS((tensor_ref<double, dyn>(constant, {-1})), invalid_argument_error);
  // An array knows its size, so its shape is checked against it.
  CHECK_NOTHROW(tensor_ref<double, dyn, dyn>(values, {1, 4}));
  CHECK_THROWS_AS((tensor_ref<double, dyn, dyn>(values, {2, 3})), invalid_argument_error);
}

TEST_CASE("C arrays bring their shape", "[tensor_ref]") {
  float m[2][3] = {{1, 2, 3}, {4, 5, 6}};
  const float cube[2][1][2] = {{{1, 2}}, {{3, 4}}};
  const tensor_ref<float, 2, 3> fixed = m;
  const tensor_ref<float, dyn, dyn> open = m;
  const tensor_ref<float, dyn, 1, 2> three = cube;
  CHECK(fixed(1, 2) == 6.0f);
  CHECK(open.shape() == std::array{2, 3});
  CHECK(static_cast<const void*>(open.data()) == &m);
  CHECK(three(1, 0, 1) == 4.0f);
}

TEST_CASE("so do arrays in arrays", "[tensor_ref]") {
  const std::array<std::array<float, 3>, 2> m{{{1, 2, 3}, {4, 5, 6}}};
  const tensor_ref<float, 2, 3> fixed = m;
  const tensor_ref<float, dyn, dyn> open = m;
  CHECK(fixed(1, 2) == 6.0f);
  CHECK(open.shape() == std::array{2, 3});
  CHECK(static_cast<const void*>(open.data()) == &m);
  const std::array<int[2], 3> mixed{{{1, 2}, {3, 4}, {5, 6}}};
  CHECK(tensor_ref<int, 3, 2>(mixed)(2, 1) == 6);
}

TEST_CASE("a shape that the type knows takes that many values", "[tensor_ref]") {
  const std::vector<float> six{1, 2, 3, 4, 5, 6};
  const std::array<float, 6> array{1, 2, 3, 4, 5, 6};
  const tensor_ref<float, 2, 3> r = six, s = array;
  CHECK(r(1, 0) == 4.0f);
  CHECK(s == r);
  const tensor_ref<float> scalar(array.data(), extents{});
  CHECK(scalar == 1.0f);
  CHECK(scalar() == 1.0f);
  std::string said;
  try {
    static_cast<void>(tensor_ref<float, 2, 2>(six));
    said = "nothing was thrown";
  } catch (const invalid_argument_error& e) {
    said = e.what();
  }
  CHECK(said == "[onto.tensor] 6 values were given for shape [2, 2], which has 4; give exactly one value per element");
  CHECK_THROWS_AS((tensor_ref<float, dyn, dyn>(six, {2, 2})), invalid_argument_error);
  CHECK_THROWS_AS((tensor_ref<float, dyn, dyn>(six, {4, 2})), invalid_argument_error);
  CHECK_THROWS_AS((tensor_ref<float, 5>(six)), invalid_argument_error);
}

TEST_CASE("references and tensors of other extents convert, checked where they must be", "[tensor_ref]") {
  const tensor<float, dyn, dyn> open{{1, 2}, {3, 4}};
  const tensor_ref<float, dyn, dyn> r = open;
  CHECK(r.data() == open.data());
  const tensor_ref<float, 2, 2> fixed(open);
  const tensor_ref<float, 2, dyn> half(r);
  const tensor_ref<float, dyn, dyn> back = fixed;
  CHECK(half == back);
  CHECK_THROWS_AS((tensor_ref<float, 2, 3>(open)), invalid_argument_error);
  CHECK_THROWS_AS((tensor_ref<float, 3, dyn>(r)), invalid_argument_error);
}

TEST_CASE("a reference compares with tensors and becomes one", "[tensor_ref]") {
  const tensor<int, 2, 2> t{{1, 2}, {3, 4}};
  const std::vector<int> same{1, 2, 3, 4}, other{1, 2, 3, 5};
  const tensor_ref<int, 2, 2> a = same, b = other;
  CHECK(a == t);
  CHECK(t == a);
  CHECK(t != b);
  CHECK(a != b);
  const tensor<int, 2, 2> copy(a);
  CHECK(copy == t);
  CHECK(copy.data() != a.data());
}

TEST_CASE("bool is referred to where it is stored in bytes", "[tensor_ref]") {
  const bool values[] = {true, false};
  const tensor_ref<bool, 2> r = values;
  CHECK(r(0));
  CHECK(!r(1));
}
