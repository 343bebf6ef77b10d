// SPDX-License-Identifier: BSL-1.0
// Maps that are seen through views in one kernel: each form against what it says, element by element, with extents in
// the types and known at run time, on the CPU and on simulated GPUs.
#include "../catch.hpp"
#include "reference.hpp"

using namespace onto;
using onto_test::reference;
using onto_test::to_value;
using onto_test::value;

namespace {

template <class T, int... Dims>
tensor<T, Dims...> values(unsigned seed) {
  tensor<T, Dims...> t;
  for (T& v : t) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<T>(static_cast<float>(static_cast<int>(seed >> 24) - 128) / 64.0f);
  }
  return t;
}

session& machine(int gpus) {
  const auto make = [](int count) {
    session_options o;
    o.simulated_gpus = count;
    o.allow_soft_placement = true;
    return o;
  };
  static session none(make(0));
  static session two(make(2));
  return gpus == 0 ? none : two;
}

template <class T, int... Dims>
void check_close(const tensor<T, Dims...>& got, const value& expected, double tolerance) {
  REQUIRE(got.extent_values() == expected.shape);
  std::size_t k = 0;
  double worst = 0;
  for (const T e : got) {
    const double x = expected.elements[k++];
    const double error = std::abs(static_cast<double>(e) - x) / (1 + std::abs(x));
    if (!(error <= worst)) worst = error;
  }
  CHECK(worst <= tolerance);
}

template <bool Open, class T, fixed_string Name, int... Dims>
constexpr auto leaf() {
  if constexpr (Open)
    return placeholder<Name, T, (Dims * 0 + dyn)...>;
  else
    return placeholder<Name, T, Dims...>;
}

template <bool Open, class T, int... Dims>
auto as_fed(const tensor<T, Dims...>& t) {
  if constexpr (Open) {
    tensor<T, (Dims * 0 + dyn)...> r({Dims...});
    for (std::size_t k = 0; k < t.size(); ++k) r.data()[k] = t.data()[k];
    return r;
  } else {
    return t;
  }
}

/// Checks `f(x, y, z)` over x (4, 6), y (6, 4) and z (24), which is to be so many kernels.
template <class T, bool Open, class F>
void check_form(int kernels, const F& f) {
  INFO((Open ? "extents at run time" : "extents in the types"));
  constexpr auto x = leaf<Open, T, "x", 4, 6>();
  constexpr auto y = leaf<Open, T, "y", 6, 4>();
  constexpr auto z = leaf<Open, T, "z", 24>();
  const auto first = values<T, 4, 6>(1);
  const auto second = values<T, 6, 4>(2);
  const auto third = values<T, 24>(3);
  const auto e = f(x, y, z);
  CHECK(plan_of(e).kernels == kernels);
  const auto program = fetches(e, sum(x) + sum(y) + sum(z));  // all are fed
  const reference expected(
      onto_test::written_graph::of(e, sum(x) + sum(y) + sum(z)), {e.state.get(), nullptr},
      {{x.facts.id, to_value(first)}, {y.facts.id, to_value(second)}, {z.facts.id, to_value(third)}});
  for (const int gpus : {0, 2}) {
    INFO(gpus << " GPUs");
    const auto results =
        machine(gpus).run(program, x = as_fed<Open>(first), y = as_fed<Open>(second), z = as_fed<Open>(third));
    check_close(std::get<0>(results), expected.fetch(0), element_of<T> == element::float16 ? 1e-2 : 1e-5);
  }
}

template <class T, class F>
void check_forms(int kernels, int open_kernels, const F& f) {
  check_form<T, false>(kernels, f);
  check_form<T, true>(open_kernels, f);
}

}  // namespace

TEMPLATE_TEST_CASE("maps are seen through transposes and slices", "[session]", float, double, half) {
  using T = TestType;
  check_forms<T>(1, 1, [](auto x, auto y, auto) { return transpose(exp(x)) + y; });
  check_forms<T>(1, 1, [](auto x, auto y, auto) { return transpose(x * x + x) * y - y; });
  check_forms<T>(1, 1, [](auto x, auto y, auto) { return transpose(tanh(transpose(exp(x)) * y)) - x; });
  check_forms<T>(1, 1, [](auto x, auto, auto) { return slice<1, 3>(tanh(x)) + slice<0, to_end, 2>(x); });
  check_forms<T>(1, 1, [](auto x, auto, auto z) {
    return slice<range<-4, to_end, 3>, range<1, 6, 2>>(exp(x) * x) + slice<-3>(z);
  });
  check_forms<T>(1, 1, [](auto x, auto y, auto) {
    return transpose(tanh(transpose(slice<0, 2>(exp(x)))) + slice<range<>, range<1, 3>>(y));
  });
  // The row is seen in its own space and in the turned one.
  check_forms<T>(1, 1, [](auto x, auto, auto z) { return transpose(tanh(x + slice<0, 6>(z))) * slice<0, 4>(z); });
  check_forms<T>(1, 1, [](auto x, auto, auto) {
    return slice<range<0, 4>, range<0, 4>>(x) + transpose(abs(slice<range<0, 4>, range<0, 4>>(x)));
  });
}

TEMPLATE_TEST_CASE("what is fetched is made in the order it is fetched in", "[session]", float, half) {
  using T = TestType;
  check_forms<T>(1, 1, [](auto x, auto, auto) { return transpose(exp(x)); });
  check_forms<T>(1, 1, [](auto x, auto, auto) { return transpose(slice<range<1, 3>, range<0, 6, 4>>(x * x)); });
  check_forms<T>(1, 1, [](auto x, auto, auto) { return reshape<dyn>(transpose(exp(x))); });
  check_forms<T>(1, 1, [](auto x, auto y, auto) { return reshape<3, dyn>(transpose(exp(x)) + y); });
  check_forms<T>(1, 1, [](auto, auto, auto z) { return transpose(reshape<6, dyn>(abs(z))); });
  check_forms<T>(1, 1, [](auto x, auto, auto) { return reshape<2, 2, dyn>(reshape<dyn>(transpose(x))); });
}

TEMPLATE_TEST_CASE("reductions fold what is seen", "[session]", float, double, half) {
  using T = TestType;
  check_forms<T>(1, 1, [](auto x, auto, auto) { return sum<0>(transpose(exp(x))); });
  check_forms<T>(1, 1, [](auto x, auto y, auto) { return mean<1>(transpose(tanh(x)) * y, keep_extents); });
  check_forms<T>(1, 1, [](auto x, auto, auto) { return max(slice<range<1, 3>, range<0, 6, 2>>(x * x)); });
  check_forms<T>(1, 1, [](auto x, auto, auto z) { return sum(reshape<dyn>(transpose(x)) * z); });
  check_forms<T>(1, 1, [](auto x, auto, auto) { return sum<0>(reshape<dyn>(transpose(x))); });
  check_forms<T>(1, 2, [](auto x, auto, auto) { return sum<1>(reshape<3, 8>(transpose(tanh(x)))); });
  check_forms<T>(1, 2, [](auto x, auto, auto) { return sum<0>(reshape<2, 12>(transpose(tanh(x))), keep_extents); });
  check_forms<T>(1, 2, [](auto x, auto, auto) { return max<0, 2>(reshape<3, 2, 4>(transpose(x))); });
}

TEMPLATE_TEST_CASE("reshapes of what is turned take a kernel's space apart", "[session]", float, half) {
  using T = TestType;
  check_forms<T>(1, 1, [](auto x, auto, auto z) { return reshape<dyn>(transpose(x)) + z; });
  check_forms<T>(1, 1, [](auto x, auto, auto z) { return reshape<dyn>(transpose(x) + slice<0, 4>(z)) * z; });
  check_forms<T>(2, 2, [](auto x, auto y, auto) { return reshape<dyn>(transpose(x)) * reshape<dyn>(transpose(y)); });
  check_forms<T>(
      1, 2, [](auto x, auto y, auto) { return reshape<dyn>(transpose(x)) * reshape<dyn>(transpose(transpose(y))); });
  check_forms<T>(
      1, 2, [](auto x, auto, auto z) { return reshape<2, 12>(transpose(exp(x)) + slice<4, 8>(z)) + slice<0, 12>(z); });
  check_forms<T>(2, 2, [](auto x, auto, auto) { return reshape<4, 6>(transpose(x)) + x; });
  check_forms<T>(1, 1, [](auto x, auto y, auto) { return squeeze<1>(expand_dims<1>(transpose(exp(x)))) + y; });
  check_forms<T>(1, 1, [](auto, auto y, auto z) { return reshape<6, 4>(slice<0, 24>(exp(z))) + y; });
  // Vectors of any stride take any shape.
  check_forms<T>(1, 1, [](auto, auto, auto z) { return transpose(reshape<3, 4>(tanh(slice<1, 24, 2>(z)))); });
  check_forms<T>(1, 1, [](auto, auto y, auto z) {
    return transpose(reshape<2, 6>(slice<0, 24, 2>(z))) + slice<range<>, range<0, 2>>(y);
  });
}

TEMPLATE_TEST_CASE("rows are whole beside what takes a kernel's space apart", "[session]", float, double) {
  using T = TestType;
  check_forms<T>(2, 2, [](auto x, auto y, auto) {
    return (x - max<1>(x, keep_extents)) + reshape<4, 6>(transpose(reshape<3, 8>(y)));
  });
  check_forms<T>(2, 2, [](auto x, auto y, auto) { return softmax(x) * reshape<4, 6>(transpose(reshape<3, 8>(y))); });
  check_forms<T>(2, 2, [](auto x, auto, auto z) { return (z - sum<0>(z, keep_extents)) + reshape<dyn>(transpose(x)); });
}

TEST_CASE("kernels that take their space apart, or read rolls, are right beside each other", "[session]") {
  constexpr auto x = placeholder<"x", float, 6>;
  constexpr auto y = placeholder<"y", float, 2, 3>;
  constexpr auto z = placeholder<"z", float, 3, 2>;
  constexpr auto w = variable<"w", float, 6>(zeros<float, 6>());
  constexpr auto v = variable<"v", float, 6>(zeros<float, 6>());
  const tensor<float, 6> a{1, 2, 3, 4, 5, 6};
  const tensor<float, 2, 3> b{{1, 2, 3}, {4, 5, 6}};
  const tensor<float, 3, 2> c{{1, 2}, {3, 4}, {5, 6}};
  const auto rolled = roll<1, 0>(x) + 1;
  const auto of_y = reshape<6>(transpose(y)) * 2;
  const auto of_z = reshape<6>(transpose(z)) * x;
  const tensor<float, 6> first{7, 2, 3, 4, 5, 6}, second{2, 8, 4, 10, 6, 12}, third{1, 6, 15, 8, 20, 36};
  for (const int gpus : {0, 1}) {
    session& s = machine(gpus);
    const auto run = [&](const auto& e) { return s.run(e, x = a, y = b, z = c); };
    CHECK(run(fetches(rolled, of_y, sum(z))) == std::tuple(first, second, tensor<float>(21)));
    CHECK(run(fetches(of_y, of_z)) == std::tuple(second, third));
    CHECK(run(fetches(of_z, of_y, rolled)) == std::tuple(third, second, first));
    const auto [below, above] = run(fetches(of_y, of_y + of_z + sum(z)));
    CHECK(below == second);
    CHECK(above == tensor<float, 6>{24, 35, 40, 39, 47, 69});
    s.run(initialize(w, v));
    const auto [new_w, new_v] = run(fetches(assign_add(w, rolled + sum(z)), assign_add(v, of_y * x)));
    CHECK(new_w == tensor<float, 6>{28, 23, 24, 25, 26, 27});
    CHECK(new_v == tensor<float, 6>{2, 16, 12, 40, 30, 72});
  }
  CHECK(evaluate(fetches(of_y, of_z), x = a, y = b, z = c) == std::tuple(second, third));
}

TEST_CASE("a position that is looked for is one of what is seen", "[session]") {
  constexpr auto x = placeholder<"x", float, 4, 6>;
  const auto X = values<float, 4, 6>(5);
  session sess;
  const auto expected = sess.run(transpose(x), x = X);
  constexpr auto flat = placeholder<"flat", float, 2, 12>;
  tensor<float, 2, 12> F;
  for (std::size_t k = 0; k < 24; ++k) F.data()[k] = expected.data()[k];
  const auto e = argmax<1>(reshape<2, 12>(transpose(x * 1.0f)));
  CHECK(plan_of(e).kernels == 1);
  const auto got = sess.run(e, x = X), right = sess.run(argmax<1>(flat), flat = F);
  CHECK(got(0) == right(0));
  CHECK(got(1) == right(1));
  CHECK(static_cast<int>(sess.run(argmax(reshape<24>(transpose(x * 1.0f))), x = X)) ==
        static_cast<int>(sess.run(argmax(flat), flat = F)));
}

TEST_CASE("nothing is read of what is empty, and one element stretches", "[session]") {
  constexpr auto x = placeholder<"x", float, dyn, dyn>;
  constexpr auto z = placeholder<"z", float, dyn>;
  session sess;
  const auto e = reshape<dyn>(transpose(exp(x))) + z;
  CHECK(plan_of(e).kernels == 1);
  CHECK(sess.run(e, x = tensor<float, dyn, dyn>({0, 3}), z = tensor<float, dyn>({0})).size() == 0);
  const auto one = sess.run(e, x = tensor<float, dyn, dyn>({1, 1}), z = tensor<float, dyn>({5}));
  REQUIRE(one.size() == 5);
  for (const float v : one) CHECK(v == 1.0f);
  const auto s = sess.run(sum<0>(transpose(exp(x))), x = tensor<float, dyn, dyn>({3, 0}));
  REQUIRE(s.size() == 3);
  CHECK(s(2) == 0.0f);
}

TEST_CASE("a variable's new value may be made of its old one, turned", "[session]") {
  constexpr int n = 3;
  session sess;
  tensor<float, n, n> start;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) start(i, j) = static_cast<float>(10 * i + j);
  const auto w = variable<"w", float, n, n>(start);
  sess.initialize(w);
  const auto got = sess.run(assign(w, transpose(abs(w)) * 2.0f + w));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) CHECK(got(i, j) == start(j, i) * 2 + start(i, j));
}

TEST_CASE("several axes of extent 1 are put in and left out at once", "[session]") {
  constexpr auto v = placeholder<"v", float, dyn>;
  constexpr auto m = placeholder<"m", float, 1, dyn, 1>;
  session sess;
  const tensor<float, dyn> values{1, 2, 3};
  const tensor<float, 1, dyn, 1> between = sess.run(expand_dims<0, 2>(v), v = values);
  CHECK(between == sess.run(expand_dims<-1, 0>(v), v = values));
  const tensor<float, dyn, 1, 1> behind = sess.run(expand_dims<2, 1>(v), v = values);
  CHECK(behind(2, 0, 0) == 3);
  CHECK(sess.run(squeeze<2, 0>(m), m = between) == values);
  CHECK(sess.run(squeeze<0, -1>(m) + squeeze<0>(squeeze<2>(m)), m = between)(1) == 4);
  CHECK(evaluate(squeeze<0, 1, 2>(tensor<float, 1, 1, 1>{{{7}}})) == 7);
  static_assert(plan_of(squeeze<0, 2>(expand_dims<0, 2>(v)) * 2_c).kernels == 1);
}

TEST_CASE("the place of an extreme of all elements keeps their axes", "[session]") {
  constexpr auto m = placeholder<"m", float, dyn, dyn>;
  session sess;
  const tensor<std::int64_t, 1, 1> greatest = sess.run(argmax(m, keep_extents), m = {{1, 2}, {4, 3}});
  CHECK(greatest(0, 0) == 2);
  CHECK(sess.run(argmin(m, keep_extents), m = {{1, 2}, {0, 3}})(0, 0) == 2);
}
