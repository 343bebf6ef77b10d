// SPDX-License-Identifier: BSL-1.0
// Tensors: how they are made, read, copied, moved and compared, and what they refuse.
#include "../catch.hpp"
#include "../words_of.hpp"

#include <onto/tensor/npy.hpp>
#include <onto/tensor/print.hpp>
#include <onto/tensor/tensor.hpp>
#include <onto/tensor/tensor_ref.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <numeric>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace onto;
using onto_test::words_of;

namespace {

template <class T>
bool all_zero(const T& t) {
  for (auto v : t)
    if (v != 0) return false;
  return true;
}

TEST_CASE("A tensor that waits for its values has none", "[tensor]") {
  const onto::tensor<float, 64, 1024> t(onto::detail::no_values);
  CHECK(t.size() == 0);
  CHECK(t.data() == nullptr);
  CHECK(t.shape() == onto::shape_array<2>());
}

}  // namespace

TEMPLATE_TEST_CASE("parentheses with integers are a shape, braces are values", "[tensor]", float, double, std::int32_t,
                   std::int64_t) {
  using T = TestType;
  SECTION("rank 1") {
    tensor<T, dyn> zeros({5});
    CHECK(zeros.shape() == std::array{5});
    CHECK(all_zero(zeros));
    tensor<T, dyn> one{5};
    CHECK(one.shape() == std::array{1});
    CHECK(one(0) == T(5));
    tensor<T, dyn> three{1, 2, 3};
    CHECK(three.shape() == std::array{3});
    CHECK(three(2) == T(3));
    tensor<T, 3> assigned = {4, 5, 6};
    CHECK(assigned(0) == T(4));
  }
  SECTION("rank 2") {
    tensor<T, dyn, dyn> zeros({2, 3});
    CHECK(zeros.shape() == std::array{2, 3});
    CHECK(all_zero(zeros));
    tensor<T, dyn, dyn> flat{{2, 3}};
    CHECK(flat.shape() == std::array{1, 2});
    CHECK(flat(0, 1) == T(3));
    tensor<T, 2, 2> values{{1, 2}, {3, 4}};
    CHECK(values(1, 0) == T(3));
    tensor<T, dyn, dyn> column{{1}, {2}};
    CHECK(column.shape() == std::array{2, 1});
  }
  SECTION("rank 3") {
    tensor<T, dyn, 2, dyn> zeros({4, 2, 3});
    CHECK(zeros.size() == 24);
    CHECK(all_zero(zeros));
    tensor<T, dyn, dyn, dyn> values{{{1, 2}}, {{3, 4}}, {{5, 6}}};
    CHECK(values.shape() == std::array{3, 1, 2});
    CHECK(values(2, 0, 1) == T(6));
  }
}

TEST_CASE("a shape prints, and is an array", "[tensor]") {
  const auto printed = [](const auto& t) {
    std::ostringstream out;
    out << t.shape();
    return out.str();
  };
  const tensor<float, 2, dyn> t({2, 3});
  CHECK(printed(t) == "(2, 3)");
  CHECK(printed(tensor<float, dyn>({5})) == "(5,)");
  CHECK(printed(tensor<float>(1.0f)) == "()");
  CHECK(printed(tensor_ref<float, dyn, dyn>(t)) == "(2, 3)");
  const auto [rows, columns] = t.shape();
  CHECK(rows == 2);
  CHECK(columns == 3);
  const std::array<int, 2> copy = t.shape();
  CHECK(copy == t.shape());
  CHECK(tensor<float, dyn, dyn>(t.shape()).shape() == copy);
}

TEST_CASE("a tensor of rank 1 has a subscript", "[tensor]") {
  tensor<float, dyn> t({3});
  for (std::size_t k = 0; k < t.size(); ++k) t[k] = static_cast<float>(k) + 0.5f;
  const tensor<float, dyn>& constant = t;
  const tensor_ref<float, dyn> ref(t);
  for (int k = 0; k < 3; ++k) {
    CHECK(constant[k] == t(k));
    CHECK(&ref[k] == t.data() + k);
  }
  const tensor<std::int32_t> one(2);
  const float values[] = {1, 2, 3};
  CHECK(values[one] == 3);  // which a number of rank 0 still is
}

TEST_CASE("a list of one value is a list", "[tensor]") {
  const tensor<float, dyn> t = {1};
  CHECK(t == tensor<float, dyn>{1});
  CHECK(t.shape() == std::array{1});
  const auto first = [](const tensor<double, dyn>& x) { return x.size() == 1 ? x(0) : -1; };
  CHECK(first({2.5}) == 2.5);
  CHECK(first({3}) == 3);
  const tensor<std::int32_t, 1> i = {7};
  CHECK(i(0) == 7);
  const tensor<bool, dyn> b = {true};
  CHECK(b(0));
  tensor<float, dyn> assigned = {1, 2};
  assigned = {4.f};
  CHECK(assigned == tensor<float, dyn>{4});
  CHECK(tensor<float, dyn>({5}).size() == 5);  // in parentheses it is a shape
  CHECK(tensor<float, dyn>{5}.size() == 1);
  CHECK_FALSE(std::is_convertible_v<int, tensor<float, dyn>>);
  CHECK_FALSE(std::is_convertible_v<float, tensor<float, dyn>>);
  CHECK(words_of<invalid_argument_error>([] { tensor<float, 3> three = {1}; }) != "nothing was thrown");
  CHECK(words_of<invalid_argument_error>([] { tensor<std::int32_t, dyn> large = {std::int64_t{1} << 40}; }) !=
        "nothing was thrown");
}

TEST_CASE("bool takes one byte each and has both forms", "[tensor]") {
  tensor<bool, dyn> zeros({2});
  CHECK(zeros.size() == 2);
  CHECK(!zeros(0));
  tensor<bool, dyn> values{true, false, true};
  CHECK(values.size() == 3);
  CHECK(values(2));
  bool* bytes = values.data();
  CHECK(bytes[0]);
  tensor<bool, 2, 2> square{{true, false}, {false, true}};
  CHECK(square(1, 1));
  CHECK(!square(1, 0));
}

TEST_CASE("without values a tensor is zeros, and dyn extents are 0", "[tensor]") {
  const tensor<float, 2, 2> zeros;
  CHECK(zeros.size() == 4);
  CHECK(all_zero(zeros));
  const tensor<float, dyn, 3> empty;
  CHECK(empty.shape() == std::array{0, 3});
  CHECK(empty.size() == 0);
  CHECK(empty.begin() == empty.end());
  const tensor<float> scalar;
  CHECK(scalar == 0.0f);
  const tensor<float, dyn> braces{};
  CHECK(braces.size() == 0);
}

TEST_CASE("shapes come as values too", "[tensor]") {
  const tensor<int, dyn, dyn> a({2, 3});
  const tensor<float, dyn, dyn> b(a.shape()), c(a.extent_values());
  CHECK(b.shape() == a.shape());
  CHECK(c.shape() == a.shape());
  CHECK(a.extent_values() == extents(shape<2, 3>{}));
  const tensor<float, dyn, dyn> d(detail::uninitialized, a.shape());
  CHECK(d.size() == 6);
}

TEST_CASE("vectors and spans are copied", "[tensor]") {
  const std::vector<float> six{1, 2, 3, 4, 5, 6};
  const tensor<float, dyn> row(six);
  CHECK(row.shape() == std::array{6});
  CHECK(row.data() != six.data());
  const tensor<float, dyn> braces{six};
  CHECK(braces == row);
  const tensor<float, 2, 3> square(six);
  CHECK(square(1, 0) == 4.0f);
  const tensor<float, dyn, dyn> shaped(six, {3, 2});
  CHECK(shaped(2, 1) == 6.0f);
  const tensor<float, dyn, dyn> spanned(std::span<const float>(six).subspan(2), {2, 2});
  CHECK(spanned(0, 0) == 3.0f);
  CHECK(tensor<bool, dyn>(std::vector<bool>{true, false}) == tensor<bool, 2>{true, false});

  CHECK(words_of<invalid_argument_error>([&] { tensor<float, 2, 2> t(six); }) ==
        "[onto.tensor] 6 values were given for shape [2, 2], which has 4; give exactly one value per element");
  CHECK_THROWS_AS((tensor<float, dyn, dyn>(six, {2, 2})), invalid_argument_error);
  CHECK_THROWS_AS((tensor<float, 5>(six)), invalid_argument_error);
}

TEST_CASE("values that are written out say their type and number", "[tensor]") {
  const tensor three{1, 2, 3};
  static_assert(std::is_same_v<decltype(three), const tensor<int, 3>>);
  CHECK(three(2) == 3);
  const tensor two{1, 2.5};
  static_assert(std::is_same_v<decltype(two), const tensor<double, 2>>);
  CHECK(two(1) == 2.5);
  const tensor rows{{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}};
  static_assert(std::is_same_v<decltype(rows), const tensor<float, dyn, dyn>>);
  CHECK(rows.shape() == std::array{3, 2});
  const double step = 0.1;
  const tensor mixed{{1, step}, {0, 1}};
  static_assert(std::is_same_v<decltype(mixed), const tensor<double, dyn, dyn>>);
  CHECK(mixed == tensor<double, 2, 2>{{1, 0.1}, {0, 1}});
  static_assert(std::is_same_v<decltype(tensor{{1, 2}, {0, 1}}), tensor<int, dyn, dyn>>);
  const tensor one{2.5f};
  static_assert(std::is_same_v<decltype(one), const tensor<float>>);
  const tensor copy{rows};
  CHECK(copy == rows);
}

TEST_CASE("ragged lists are refused", "[tensor]") {
  using matrix = tensor<float, dyn, dyn>;
  CHECK(words_of<invalid_argument_error>([] {
          matrix t{{1, 2}, {3}};
        }) ==
        "[onto.tensor] the nested lists are ragged: on axis 1 one list has 2 entries and another has 1; give all lists "
        "of an axis the same length");
  CHECK_THROWS_AS((tensor<int, dyn, dyn, dyn>{{{1}, {2}}, {{3}}}), invalid_argument_error);
  CHECK_THROWS_AS((tensor<int, dyn, dyn, dyn>{{{1}, {2}}, {{3}, {4, 5}}}), invalid_argument_error);
  CHECK(matrix{{}, {}}.shape() == std::array{2, 0});
}

TEST_CASE("extents that the type fixes must agree", "[tensor]") {
  CHECK(
      words_of<invalid_argument_error>([] {
        tensor<float, 2, 2> t{{1, 2, 3}, {4, 5, 6}};
      }) ==
      "[onto.tensor] shape [2, 3] does not fit a tensor of type shape [2, 2]; change the shape, or make the extent dyn "
      "in the type");
  CHECK(words_of<invalid_argument_error>([] { tensor<float, dyn, 4> t({2, 3}); }).find("[2, 3]") != std::string::npos);
  CHECK(words_of<invalid_argument_error>([] { tensor<float, dyn, 4> t({2, 3}); }).find("[?, 4]") != std::string::npos);
  CHECK_THROWS_AS((tensor<float, 4>{1, 2, 3}), invalid_argument_error);
  CHECK_NOTHROW(tensor<float, 2, 3>({2, 3}));
}

TEST_CASE("shapes that cannot be are refused", "[tensor]") {
  CHECK(words_of<invalid_argument_error>([] {
          tensor<float, dyn, dyn> t({2, -1});
        }) == "[onto.tensor] axis 1 was given extent -1; an extent is 0 or positive");
  constexpr int most = std::numeric_limits<int>::max();
  CHECK(words_of<invalid_argument_error>([] {
          tensor<double, dyn, dyn, dyn> t({most, most, most});
        }).find("[2147483647, 2147483647, 2147483647]") != std::string::npos);
  CHECK_NOTHROW(tensor<double, dyn, dyn, dyn>({most, most, 0}));
  extents three;
  for (int k = 0; k < 3; ++k) three.push_back(1);
  CHECK_THROWS_AS((tensor<float, dyn, dyn>(three)), invalid_argument_error);
}

TEST_CASE("extents are integers of any type", "[tensor]") {
  const std::vector<float> v{1, 2, 3, 4, 5, 6};
  CHECK(tensor<float, dyn>({v.size()}).shape() == shape_array<1>({6}));
  const std::int64_t two = 2;
  const short three = 3;
  CHECK(tensor<float, dyn, dyn>({two, v.size()}).shape() == shape_array<2>({2, 6}));
  CHECK(tensor<float, dyn, dyn>(v, {two, three})(1, 0) == 4);
  CHECK(tensor_ref<float, dyn, dyn>(v, {v.size() / 3, 3})(1, 0) == 4);
  CHECK(tensor_ref<float, dyn, dyn>(v.data(), {3u, two})(1, 0) == 3);
  const int dims[] = {2, 3};
  const std::int64_t wide[] = {2, 3};
  CHECK(tensor<float, dyn, dyn>(dims).size() == 6);
  CHECK(tensor<float, dyn, dyn>(v, wide)(1, 0) == 4);
  const float array[] = {1, 2, 3, 4, 5, 6};
  CHECK(tensor<float, dyn, dyn>(array, {2, 3})(1, 0) == 4);

  const std::int64_t large = std::int64_t{3} << 32, below = -large;
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK(words_of<invalid_argument_error>([&] { tensor<float, dyn> t({large}); }) ==
        "[onto.tensor] axis 0 was given extent 12884901888; an extent is at most 2147483647");
  CHECK(words_of<invalid_argument_error>([&] {
          tensor<float, dyn, dyn> t({2, most});
        }) == "[onto.tensor] axis 1 was given extent above 9223372036854775807; an extent is at most 2147483647");
  CHECK(words_of<invalid_argument_error>([&] {
          tensor_ref<float, dyn, dyn> t(v.data(), {2, below});
        }) == "[onto.tensor] axis 1 was given extent -12884901888; an extent is 0 or positive");
}

TEST_CASE("the type of a tensor is that of its values, with an open extent for each that is given", "[tensor]") {
  const std::vector<double> v{1, 2, 3, 4, 5, 6};
  tensor matrix(v, {2, 3});
  STATIC_REQUIRE(std::is_same_v<decltype(matrix), tensor<double, dyn, dyn>>);
  CHECK(matrix(1, 0) == 4);
  STATIC_REQUIRE(std::is_same_v<decltype(tensor(v, {1, v.size(), 1, 1})), tensor<double, dyn, dyn, dyn, dyn>>);
  STATIC_REQUIRE(std::is_same_v<decltype(tensor(v, {1, v.size(), 1})), tensor<double, dyn, dyn, dyn>>);
}

TEST_CASE("values that the element type cannot hold are refused", "[tensor]") {
  const std::int64_t large = std::int64_t{1} << 40;
  const unsigned half = 0x80000000u;
  CHECK_THROWS_AS((tensor<std::int32_t, 1>{large}), invalid_argument_error);
  CHECK_THROWS_AS((tensor<std::int32_t, 1>{half}), invalid_argument_error);
  CHECK_THROWS_AS((tensor<bool, 2>{1, 2}), invalid_argument_error);
  CHECK(tensor<std::int64_t, 1>{half}(0) == 2147483648);
  CHECK(tensor<float, 2>{1.5, large}(1) == 1099511627776.0f);
}

TEST_CASE("elements are found by their indices", "[tensor]") {
  tensor<int, dyn, dyn, dyn> t({2, 3, 4});
  std::iota(t.begin(), t.end(), 0);
  CHECK(t(0, 0, 0) == 0);
  CHECK(t(1, 2, 3) == 23);
  CHECK(t.at(1, 0, 2) == 14);
  CHECK(t(1u, std::size_t{0}, 2L) == 14);
  t(0, 1, 1) = 50;
  t.at(0, 1, 2) = 60;
  CHECK(std::as_const(t)(0, 1, 1) == 50);
  CHECK(std::as_const(t).at(0, 1, 2) == 60);
  CHECK(t.values()[5] == 50);
  CHECK(std::accumulate(t.begin(), t.end(), 0) == 23 * 12 + 45 + 54);

  CHECK(words_of<invalid_argument_error>([&] { t.at(0, 3, 0); }) ==
        "[onto.tensor] index (0, 3, 0) is outside a tensor of shape [2, 3, 4]; an index goes from 0 to its extent less "
        "one");
  CHECK_THROWS_AS(t.at(0, 0, -1), invalid_argument_error);
  CHECK_THROWS_AS(t.at(2, 0, 0), invalid_argument_error);
  CHECK_THROWS_AS(t.at(std::int64_t{1} << 32, 0, 0), invalid_argument_error);
}

TEST_CASE("elements are found by results that are an integer", "[tensor]") {
  tensor<float, 4> t{1, 5, 3, 2};
  const tensor<float, dyn, dyn> m{{1, 2}, {3, 4}};
  const tensor<std::int64_t> k(1);
  const tensor<int> outside(4);
  CHECK(t[k] == 5);
  CHECK((t(k) == 5 && t.at(k) == 5 && m(k, 0) == 3 && m(0, k) == 2));
  CHECK(tensor_ref<float, 4>(t)[k] == 5);
  t[k] = 7;
  CHECK(std::as_const(t)[k] == 7);
  CHECK_THROWS_AS(t.at(outside), invalid_argument_error);
}

TEST_CASE("a tensor of rank 1 becomes a vector", "[tensor]") {
  const tensor<float, 3> t{1, 2, 3};
  std::vector<float> v = t;
  CHECK(v == std::vector<float>{1, 2, 3});
  v = tensor<float, dyn>{2, 4, 6};
  CHECK(v == std::vector<float>{2, 4, 6});
  const std::vector<bool> truths = tensor<bool, 3>{false, true, true};
  CHECK(truths == std::vector<bool>{false, true, true});
  const std::vector<float> none = tensor<float, dyn>();
  CHECK(none.empty());
  static_assert(!std::is_convertible_v<tensor<float, 3>, std::vector<double>>);
  static_assert(!std::is_convertible_v<tensor<float, 3, 1>, std::vector<float>>);
  static_assert(!std::is_convertible_v<tensor<float>, std::vector<float>>);
}

TEST_CASE("rank 0 is a value", "[tensor]") {
  const tensor<float> t(3.5f);
  const float value = t;
  CHECK(value == 3.5f);
  CHECK(t() == 3.5f);
  CHECK(t.at() == 3.5f);
  CHECK(t.size() == 1);
  CHECK(t * 2 == 7.0f);
  CHECK(t == tensor<float>{3.5f});
  const tensor<bool> truth = true;
  CHECK((truth ? 1 : 0) == 1);
}

TEST_CASE("copies are deep", "[tensor]") {
  tensor<float, dyn> a{1, 2, 3};
  tensor<float, dyn> b = a;
  b(0) = 9;
  CHECK(a(0) == 1.0f);
  const float* before = b.data();
  b = a;
  CHECK(b == a);
  CHECK(b.data() == before);  // the same size: the memory is used again
  b = tensor<float, dyn>{4};
  CHECK(b.shape() == std::array{1});
  const auto& self = b;
  b = self;
  CHECK(b == tensor<float, 1>{4});
}

TEST_CASE("moves take the memory", "[tensor]") {
  tensor<float, dyn> a{1, 2, 3};
  const float* data = a.data();
  tensor<float, dyn> b = std::move(a);
  CHECK(b.data() == data);
  CHECK(a.size() == 0);
  CHECK(a.shape() == std::array{0});
  a = std::move(b);
  CHECK(a.data() == data);
  a = tensor<float, dyn>({7});
  CHECK(a.size() == 7);
  tensor<float, 2, 2> c{{1, 2}, {3, 4}};
  const tensor<float, 2, 2> d = std::move(c);
  c = d;
  CHECK(c == d);
}

TEST_CASE("a tensor that was moved from has no values, and its shape says so", "[tensor]") {
  tensor<float, 2, 3> a{{1, 2, 3}, {4, 5, 6}};
  const tensor<float, 2, 3> b = std::move(a);
  CHECK(b.size() == 6);
  CHECK(a.size() == 0);
  CHECK(a.data() == nullptr);
  CHECK(a.shape() == std::array{0, 0});
  CHECK(words_of<invalid_argument_error>([&] { a.at(0, 0); }).find("[onto.tensor] index (0, 0) is outside") == 0);
  CHECK_FALSE(a == b);
  const tensor<float, 2, 3> copy = a;
  CHECK(copy == a);
  CHECK(copy.size() == 0);
  CHECK_THROWS_AS((tensor_ref<float, 2, 3>(a)), invalid_argument_error);
  CHECK(tensor<float, dyn, dyn>(a).size() == 0);
  tensor<float, 2, 3> c{{0, 0, 0}, {0, 0, 0}};
  c = std::move(a);
  CHECK(c.size() == 0);
  CHECK(c.shape() == std::array{0, 0});
  CHECK(a.size() == 6);  // what was in c
  c = b;
  CHECK(c == b);
  tensor<float, dyn, 3> d(std::move(c));
  CHECK(d.size() == 6);
  CHECK(c.shape() == std::array{0, 0});
}

TEST_CASE("a number that was moved from is not read", "[tensor]") {
  const std::string sentence =
      "[onto.tensor] a tensor holds no values: it was moved from, or an expression outlived it; assign to it, or take "
      "data by const auto&";
  const auto refused = [](auto f) { return words_of<failed_precondition_error>(f); };
  tensor<float> a = 2.0f;
  tensor<float> b = std::move(a);
  CHECK(b == tensor<float>(2.0f));
  CHECK(a.size() == 0);
  CHECK(refused([&] { static_cast<void>(static_cast<float>(a)); }) == sentence);
  CHECK(refused([&] { static_cast<void>(a.at()); }) == sentence);
  CHECK(refused([&] { static_cast<void>(a.extent_values()); }) == sentence);
  CHECK(refused([&] { static_cast<void>(to_string(a)); }) == sentence);
  CHECK(refused([&] { static_cast<void>(save_npy("moved.npy", a)); }) == sentence);
  CHECK(refused([&] { static_cast<void>((tensor_ref<float>(a))); }) == sentence);
  CHECK_FALSE(a == b);
  a = b;
  CHECK(static_cast<float>(a) == 2.0f);
}

TEST_CASE("tensors that know their extents become dyn without a check, and back with one", "[tensor]") {
  tensor<float, 2, 2> fixed{{1, 2}, {3, 4}};
  const tensor<float, dyn, dyn> open = fixed;
  CHECK(open == fixed);
  const tensor<float, 2, 2> again(open);
  CHECK(again == fixed);
  const tensor<float, dyn, 2> half(open);
  CHECK(half == fixed);
  CHECK(
      words_of<invalid_argument_error>([&] { tensor<float, 3, 2> t(open); }) ==
      "[onto.tensor] shape [2, 2] does not fit a tensor of type shape [3, 2]; change the shape, or make the extent dyn "
      "in the type");
  const float* data = fixed.data();
  const tensor<float, dyn, dyn> moved = std::move(fixed);
  CHECK(moved.data() == data);
}

TEST_CASE("a conversion that is refused leaves its tensor whole", "[tensor]") {
  tensor<float, dyn> open{1, 2, 3};
  CHECK_THROWS_AS((tensor<float, 2>(std::move(open))), invalid_argument_error);
  CHECK(open == tensor<float, 3>{1, 2, 3});
}

TEST_CASE("equal means the same shape and values", "[tensor]") {
  CHECK(tensor<int, 2>{1, 2} == tensor<int, dyn>{1, 2});
  CHECK(tensor<int, 2>{1, 2} != tensor<int, 2>{1, 3});
  CHECK(tensor<int, dyn>{1, 2} != tensor<int, dyn>{1, 2, 3});
  CHECK(tensor<int, dyn, dyn>({2, 3}) != tensor<int, dyn, dyn>({3, 2}));
  CHECK(tensor<int, dyn, dyn>({0, 3}) != tensor<int, dyn, dyn>({0, 2}));
  CHECK(tensor<float, 1>{0.0f} == tensor<float, 1>{-0.0f});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(tensor<float, 1>{nan} != tensor<float, 1>{nan});
}

TEST_CASE("memory is aligned, also in large blocks", "[tensor]") {
  for (const int n : {1, 3, 17, 1000, 524287, 524288, 1000000}) {
    tensor<float, dyn> t({n});
    CHECK(reinterpret_cast<std::uintptr_t>(t.data()) % 64 == 0);
    CHECK(all_zero(t));
    t(n - 1) = 1;
    const tensor<float, dyn> copy = t;
    CHECK(copy(n - 1) == 1.0f);
  }
  CHECK(reinterpret_cast<std::uintptr_t>(tensor<double, dyn>({262144}).data()) % (2 << 20) == 0);
}

TEST_CASE("a tensor of a vector has one axis, whose extent the run knows", "[tensor]") {
  const std::vector<double> values{1.5, 2, 3};
  const tensor t = values;
  STATIC_REQUIRE(std::is_same_v<std::remove_const_t<decltype(t)>, tensor<double, dyn>>);
  CHECK(t == tensor<double, dyn>{1.5, 2, 3});
  const tensor copy = t;
  STATIC_REQUIRE(std::is_same_v<decltype(copy), decltype(t)>);
  CHECK(copy == t);
}

TEST_CASE("values that do not lie in one piece are copied", "[tensor]") {
  const std::deque<double> d{1, 2, 3};
  const std::list<float> l{4, 5, 6};
  CHECK(tensor<float, dyn>(d) == tensor<float, dyn>{1, 2, 3});
  CHECK(tensor<float, 3>(l) == tensor<float, 3>{4, 5, 6});
  CHECK(tensor<std::int64_t, dyn>(std::set<int>{3, 1, 2}) == tensor<std::int64_t, dyn>{1, 2, 3});
  CHECK_THROWS_AS((tensor<float, 2>(l)), invalid_argument_error);
  CHECK_THROWS_AS((tensor<std::int8_t, dyn>(std::deque<int>{1, 300})), invalid_argument_error);
}
