// SPDX-License-Identifier: BSL-1.0
// Programs that are evaluated in line give to the bit what a session gives, whatever their operands are.
#include <onto/onto.hpp>
#include <onto/scan.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "properties.hpp"

using namespace onto;
using onto_test::generic_values;

namespace {

session& reference_session() {
  static session sess;
  return sess;
}

template <class T, int... Dims>
bool same_bits(const tensor<T, Dims...>& a, const tensor<T, Dims...>& b) {
  return a.shape() == b.shape() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Whether a program is evaluated without a session where its operands are of one shape.
template <class E>
constexpr bool is_loop(const E&) {
  if constexpr (detail::one_loop_facts<E>::possible)
    return detail::one_loop<E>::supported;
  else
    return false;
}

/// Evaluated, evaluated into memory, and run: all the same.
template <class E, class... Symbols>
void check(const E& e, const feed<Symbols>&... feeds) {
  const auto expected = reference_session().run(e, feeds...);
  CHECK(same_bits(evaluate(e, feeds...), expected));
  auto out = expected;
  if (out.size() > 0) std::memset(static_cast<void*>(out.data()), 0x5a, out.size() * sizeof(*out.data()));
  evaluate_to(out, e, feeds...);
  CHECK(same_bits(out, expected));
}

template <class T>
tensor<T, dyn> values(int n, unsigned seed) {
  tensor<T, dyn> t({n});
  for (int k = 0; k < n; ++k)
    t(k) = static_cast<T>(static_cast<int>(onto_test::mixed(seed + static_cast<unsigned>(k)) % 199) - 99) / T{8};
  return t;
}

/// The elements of a vector, row by row.
template <class T>
tensor<T, dyn, dyn> as_rows(int rows, int columns, const tensor<T, dyn>& v) {
  return tensor<T, dyn, dyn>(tensor_ref<T, dyn, dyn>(v.data(), {rows, columns}));
}

constexpr auto x = placeholder<"x", float, dyn>;
constexpr auto y = placeholder<"y", float, dyn>;
constexpr auto d = placeholder<"d", double, dyn>;
constexpr auto n = placeholder<"n", std::int32_t, dyn>;
constexpr auto p = placeholder<"p", float, 3, 5>;
constexpr auto q = placeholder<"q", float, 3, 5>;
constexpr auto r = placeholder<"r", float, 5>;

/// An operation over packs that chooses.
struct folded_at_zero : elementwise<floating_elements> {
  static constexpr std::string_view name = "FoldedAtZero";
  static constexpr bool packs = true;
  template <class T>
  static T apply(T a) {
    return math::select(a > T(0), a, -a);
  }
};

}  // namespace

TEST_CASE("Which programs are one loop", "[evaluate]") {
  const tensor<float, 8> t, u;
  CHECK(is_loop(p * q + p));
  CHECK(is_loop(2.f * x));
  CHECK(is_loop(sum(square(x - y))));
  CHECK(is_loop(argmax(x)));
  CHECK(is_loop(t * u + t));
  CHECK(is_loop(x + iota<float, 8>()));
  CHECK(!is_loop(p + r));               // broadcast
  CHECK(!is_loop(sum<0>(p)));           // more than one result
  CHECK(!is_loop(transpose(p) * 2.f));  // seen through a view
  CHECK(!is_loop(matmul(p, transpose(q))));
  CHECK(!is_loop(x / sum(x)));
  CHECK(!is_loop(softmax(p)));
}

namespace {
template <class E>
constexpr bool is_in_line(const E&) {
  return detail::has_inline_plan<detail::graph_of<E>, detail::op_table<typename E::ops>>();
}
}  // namespace

TEST_CASE("Which programs have a plan that is a constant", "[evaluate]") {
#if !defined(__CUDACC__)
  CHECK(is_in_line(matmul(p, transpose(q))));
  CHECK(is_in_line(softmax(p) + r));
#endif
  CHECK(!is_in_line(x / sum(x)));
}

TEST_CASE("Programs of several kernels give a session's bits", "[evaluate]") {
  const auto a = generic_values<float, 3, 5>(1), b = generic_values<float, 3, 5>(2);
  const auto c = generic_values<float, 5>(3);
  const auto w = generic_values<float, 5, 4>(4);
  check(relu(matmul(a, w) * 0.5f + matmul(b, w)));
  check(matmul(a, w) + matmul(a, w));
  check(concat<0>(p, q * 2.f), p = a, q = b);
  check(p / sum<1>(p, keep_extents) + r, p = a, r = c);
  check(transpose(p), p = a);
  check(slice<range<0, 2>, range<1, 4>>(p), p = a);
  check(cumsum<1>(p) * 2.f, p = a);
  check(softmax<0>(cast<half>(p)), p = a);
  check(max<1>(matmul(p, transpose(q))), p = a, q = b);
  const auto large = generic_values<float, 90, 80>(5);  // more in between than the stack holds
  check(matmul(softmax(large * 2.f), transpose(large)) / sum(large));

  tensor<float, 3, 5> first = a, second = b;
  evaluate_to(std::tie(first, second), fetches(p - q, p + q / sum(q)), p = first, q = second);
  const auto [difference, sum_of_both] = reference_session().run(fetches(p - q, p + q / sum(q)), p = a, q = b);
  CHECK(same_bits(first, difference));
  CHECK(same_bits(second, sum_of_both));
  CHECK_THROWS_AS(evaluate_to(std::tie(first, first), fetches(p - q, p + q), p = a, q = b), invalid_argument_error);
  tensor<float, 3, 5> moved;
  const tensor<float, 3, 5> taken = std::move(moved);
  CHECK_THROWS_AS(evaluate(softmax(p) + q, p = moved, q = b), invalid_argument_error);
  CHECK_THROWS_AS(evaluate(softmax(moved)), failed_precondition_error);
  const device_guard on_gpu{gpu<0>{}};
  CHECK_THROWS_AS(evaluate(softmax(p) + q, p = a, q = b), invalid_argument_error);
}

TEST_CASE("Maps and folds of every length give a session's bits", "[evaluate]") {
  for (const int size : {0, 1, 3, 8, 16, 31, 64, 65, 1000, 1024, 5000, 70001, 400000}) {
    INFO(size << " elements");
    const auto a = values<float>(size, 1), b = values<float>(size, 2);
    const auto e = values<double>(size, 3);
    const auto i = values<std::int32_t>(size, 4);
    check(x * y + x, x = a, y = b);
    check(2.f * x + 1.5f * y, x = a, y = b);
    check(tanh(x) + exp(y), x = a, y = b);
    check(where(x < y, x, -y), x = a, y = b);
    check(x < y, x = a, y = b);
    check(sqrt(abs(d)), d = e);
    check(cast<float>(d) * x, d = e, x = a);
    check(n * 3 + n, n = i);
    check(sum(square(x - y)), x = a, y = b);
    check(mean(x), x = a);
    check(sum(d), d = e);
    check(sum(n), n = i);
    if (size == 0) continue;
    check(max(x * y), x = a, y = b);
    check(argmax(x), x = a);
  }
}

TEST_CASE("Static extents give a session's bits", "[evaluate]") {
  const auto a = generic_values<float, 3, 5>(1), b = generic_values<float, 3, 5>(2);
  const auto c = generic_values<float, 5>(3);
  check(p * q + p, p = a, q = b);
  check(tanh(p) / (1.f + exp(-q)), p = a, q = b);
  check(sum(p * q), p = a, q = b);
  check(min(p), p = a);
  check(p + r, p = a, r = c);
  check(softmax(matmul(p, transpose(q))), p = a, q = b);
  const auto long_a = generic_values<float, 300, 401>(4), long_b = generic_values<float, 300, 401>(5);
  check(long_a * long_b + long_a);
  check(sum(long_a * long_b));
  const tensor<float, 0> none;
  check(none + none);
  CHECK(same_bits(evaluate(sum(none)), reference_session().run(sum(none))));
}

TEST_CASE("Data in expressions is told apart", "[evaluate]") {
  const tensor<float, 8> a = generic_values<float, 8>(1), b = generic_values<float, 8>(2),
                         c = generic_values<float, 8>(3);
  check(a * b + c);
  check(a * b + a);
  check(a * a + a);
  check(2.f * a + 3.f * b);
  check(2.f * a + 2.f * a);
  check(exp(a) * exp(b) + exp(a));  // what is dear, of the same and of other data
  check(exp(a) * exp(a) + exp(a));
  const auto shared = exp(2.f * a);
  check(shared * shared + shared);
  check(sum(a * b));
  check(a + constant({1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f}));
  check(named<"sum">(a + b) * (a + b));
  const std::vector<float> v{1, 2, 3}, w{4, 5, 6};
  check(x * v + w, x = v);
  const tensor<float, dyn> wide{1, 2, 3};
  check(wide * v);
}

TEST_CASE("Tensors of one type are told apart in programs of several kernels, too", "[evaluate]") {
  tensor<float, 4, 4> a = generic_values<float, 4, 4>(1);
  const tensor<float, 4, 4> b = generic_values<float, 4, 4>(2), same = a;
  CHECK(detail::graph_of_uses<decltype(matmul(a, b))>::apart);
  CHECK(!detail::graph_of_uses<decltype(matmul(a + b, a + b))>::apart);  // would add twice
  CHECK(!detail::graph_of_uses<decltype(matmul(p, transpose(q)))>::apart);
  CHECK(!detail::graph_of_uses<decltype(a - mean<1>(a, keep_extents))>::apart);  // would fold in another order
  const tensor<float, dyn, dyn> open(a);
  CHECK(!detail::graph_of_uses<decltype(open - mean<1>(open, keep_extents))>::apart);  // and of two be two kernels
  check(matmul(a, b));
  check(matmul(b, a));
  check(matmul(a, a));
  check(matmul(a, same));
  check(matmul(a, transpose(a)));
  check(softmax(matmul(a, b) + b));
  check(matmul(a + b, a + b));
  check(matmul(a + b, b + a));
  check(a - mean<1>(a, keep_extents));
  check(a - mean<1>(b, keep_extents));
  check(open - mean<1>(open, keep_extents));
  check(sum<1>(a * 2.f + b) + a);
  const auto product = matmul(a, b);
  a(0, 0) = -a(0, 0);
  check(product);

  const auto u = as_rows(3, 5, values<float>(15, 1)), v = as_rows(5, 2, values<float>(10, 2)),
             w = as_rows(5, 3, values<float>(15, 3));
  check(matmul(u, v));
  check(matmul(u, w));
  check(matmul(u, transpose(u)) + matmul(u, w));
  check(sum<0>(u * 2.f + as_rows(3, 5, values<float>(15, 4))));
  CHECK_THROWS_AS(evaluate(matmul(v, v)), invalid_argument_error);
  const std::vector<float> one{1, 2, 3}, two{4, 5, 6};
  check(cumsum<0>(x * one + two), x = one);
  const auto [there, back] = evaluate(fetches(matmul(a, b), matmul(b, a)));
  CHECK(same_bits(there, evaluate(matmul(a, b))));
  CHECK(same_bits(back, evaluate(matmul(b, a))));
}

TEST_CASE("Operands of other shapes are broadcast, or refused", "[evaluate]") {
  const tensor<float, dyn> a{1, 2, 3}, one{2}, two{1, 2};
  check(x + y, x = a, y = one);
  check(x + y, x = one, y = a);
  check(a * one);
  CHECK_THROWS_AS(evaluate(x + y, x = a, y = two), invalid_argument_error);
  CHECK_THROWS_AS(evaluate(a * two), invalid_argument_error);
  constexpr auto eight = placeholder<"eight", float, 8>;
  const auto t = generic_values<float, 8>(1);
  check(x + eight, x = one, eight = t);
  check(x + eight, x = tensor<float, dyn>(t), eight = t);
  CHECK_THROWS_AS(evaluate(x + eight, x = a, eight = t), invalid_argument_error);
}

TEST_CASE("Rows beside what is mapped give a session's bits", "[evaluate]") {
  constexpr auto m = placeholder<"m", float, dyn, dyn>;
  constexpr auto other = placeholder<"other", float, dyn, dyn>;
  constexpr auto images = placeholder<"images", double, dyn, dyn, dyn>;
  constexpr auto scale = placeholder<"scale", double, dyn>;
  constexpr auto plane = placeholder<"plane", double, dyn, dyn>;
  constexpr auto wide = placeholder<"wide", float, 4, 40>;
  constexpr auto row = placeholder<"row", float, 40>;
  constexpr auto with_row = relu(m + x);
  CHECK(is_loop(with_row));
  CHECK(is_loop(x * y - m));
  CHECK(is_loop(images * scale));
  CHECK(is_loop(plane - images));
  CHECK(is_loop(wide + row));
  CHECK(!is_loop(images * scale + plane));  // rows of two ranks
  CHECK(!is_loop(sum(m * x)));

  const auto of = [](int rows, int columns, unsigned seed) {
    return as_rows(rows, columns, values<float>(rows * columns, seed));
  };
  for (const int columns : {1, 3, 15, 16, 17, 40, 63, 64, 100, 511})
    for (const int rows : {1, 2, 7, 64, 200}) {  // up to many more than one thread's share
      INFO(rows << " x " << columns);
      const auto all = of(rows, columns, 3), more = of(rows, columns, 5);
      const auto a = values<float>(columns, 1), b = values<float>(columns, 2);
      check(with_row, m = all, x = a);
      check(x * m + other / (square(y) + 1), m = all, other = more, x = a, y = b);
      check(abs(x) * y - m, m = all, x = a, y = b);
      check(all * a + 2.f);
    }
  for (const int columns : {5, 32}) {
    const auto flat = values<double>(12 * columns, 3);
    const tensor<double, dyn, dyn, dyn> cube(tensor_ref<double, dyn, dyn, dyn>(flat.data(), {3, 4, columns}));
    check(images * scale, images = cube, scale = values<double>(columns, 4));
    check(plane - images, images = cube, plane = as_rows(4, columns, values<double>(4 * columns, 4)));
  }
  check(wide + row, wide = generic_values<float, 4, 40>(1), row = generic_values<float, 40>(2));

  // Shapes that only the run knows: what is no row for each of the whole is broadcast as ever, or refused.
  check(with_row, m = of(1, 40, 1), x = values<float>(1, 2));
  check(with_row, m = of(40, 1, 1), x = values<float>(40, 2));
  check(m + other, m = of(3, 40, 1), other = of(1, 40, 2));
  check(m + other + x, m = of(3, 40, 1), other = of(3, 1, 2), x = values<float>(40, 2));
  check(with_row, m = of(0, 40, 1), x = values<float>(40, 2));
  check(with_row, m = of(40, 0, 1), x = values<float>(0, 2));
  CHECK_THROWS_AS(evaluate(with_row, m = of(3, 40, 1), x = values<float>(41, 2)), invalid_argument_error);
  CHECK_THROWS_AS(evaluate(x + y + m, m = of(3, 40, 1), x = values<float>(40, 2), y = values<float>(20, 2)),
                  invalid_argument_error);

  // An output may be the whole, whose elements are read before they are written, or lie over a row.
  auto all = of(6, 100, 3);
  auto a = values<float>(700, 1);
  const tensor_ref<float, dyn> head(a.data(), {100});
  const auto expected = reference_session().run(with_row, m = all, x = head);
  evaluate_to(tensor_ref<float, dyn, dyn>(a.data(), {6, 100}), with_row, m = all, x = head);
  CHECK(std::memcmp(a.data(), expected.data(), 600 * sizeof(float)) == 0);
  a = values<float>(700, 1);
  const tensor_ref<float, dyn> again(a.data(), {100});
  evaluate_to(tensor_ref<float, dyn, dyn>(a.data() + 50, {6, 100}), with_row, m = all, x = again);
  CHECK(std::memcmp(a.data() + 50, expected.data(), 600 * sizeof(float)) == 0);
  const auto row_of = values<float>(100, 1);
  evaluate_to(all, with_row, m = all, x = row_of);
  CHECK(same_bits(all, expected));

  // Prepared, too.
  const auto step = reference_session().prepare(with_row);
  const auto u = of(7, 40, 8);
  const auto v = values<float>(40, 9);
  CHECK(same_bits(step(m = u, x = v), reference_session().run(with_row, m = u, x = v)));
  tensor<float, dyn, dyn> out;
  step.to(out)(m = u, x = v);
  CHECK(same_bits(out, evaluate(with_row, m = u, x = v)));
}

TEST_CASE("One value beside what is mapped gives a session's bits", "[evaluate]") {
  constexpr auto rate = placeholder<"rate", float>;
  constexpr auto second = placeholder<"second", double>;
  constexpr auto count = placeholder<"count", std::int32_t>;
  constexpr auto flag = placeholder<"flag", bool>;
  constexpr auto m = placeholder<"m", float, dyn, dyn>;
  constexpr auto bytes = placeholder<"bytes", std::uint8_t, dyn>;
  constexpr auto byte = placeholder<"byte", std::uint8_t>;
  CHECK(is_loop(x + rate * (y - x)));
  CHECK(is_loop(d * second));
  CHECK(is_loop(where(x > rate, x, 0)));
  CHECK(is_loop(relu(m * rate + x)));
  CHECK(is_loop(p * rate));
  CHECK(!is_loop(sum(x * rate)));
  CHECK(!is_loop(x * sum(x)));  // what is computed is no operand

  for (const int size : {0, 1, 2, 7, 16, 33, 511, 512, 513, 1024, 1300, 40000}) {
    CAPTURE(size);
    const auto a = values<float>(size, 1), b = values<float>(size, 2);
    const auto c = values<double>(size, 3);
    const auto k = values<std::int32_t>(size, 4);
    check(x + rate * (y - x), x = a, y = b, rate = 0.3f);
    check(d * second - second, d = c, second = -1.75);
    check(where(x > rate, x, rate) + where(flag, x, y), x = a, y = b, rate = -0.25f, flag = true);
    check(n * count + 2, n = k, count = 1 << 30);
    check(exp(x * rate) * tanh(rate), x = a, rate = 0.1f);
    check(cast<double>(x) * second, x = a, second = 0.1);
    check(a * b + a * evaluate(sum(b)));  // a result of rank 0 is data
    tensor<std::uint8_t, dyn> small({size});
    for (int i = 0; i < size; ++i) small(i) = static_cast<std::uint8_t>(7 * i);
    check(bytes + byte, bytes = small, byte = 250);
  }
  for (const int columns : {3, 15, 16, 40, 512, 513}) {
    CAPTURE(columns);
    const auto of_rows = as_rows(7, columns, values<float>(7 * columns, 5));
    check(relu(m * rate + x), m = of_rows, x = values<float>(columns, 6), rate = 1.5f);
    check(m * rate, m = of_rows, rate = 1.5f);
  }
  check(p * rate + q, p = generic_values<float, 3, 5>(1), q = generic_values<float, 3, 5>(2), rate = 2.5f);
  const auto wide = generic_values<float, 30, 50>(3);
  check(wide * rate - wide, rate = 0.7f);
  check(x * evaluate(max(x), x = values<float>(9, 1)), x = values<float>(9, 1));

  // The value may lie in what is written.
  for (const int size : {700, 300000})
    for (const int at : {0, size / 2, size - 1}) {
      auto written = values<float>(size, 7);
      const auto expected = evaluate(x * rate + 1, x = written, rate = written(at));
      evaluate_to(written, x * rate + 1, x = written, rate = tensor_ref<float>(written.data() + at, extents{}));
      CHECK(same_bits(written, expected));
    }

  session sess;
  auto step = sess.prepare(x + rate * (y - x));
  const auto a = values<float>(600, 8), b = values<float>(600, 9);
  const auto moved = step(x = a, y = b, rate = 0.5f);
  CHECK(same_bits(moved, evaluate(x + 0.5f * (y - x), x = a, y = b)));
  auto out = a;
  step.to(out)(x = out, y = b, rate = 0.5f);
  CHECK(same_bits(out, moved));
}

TEST_CASE("An output may be read by the program that writes it", "[evaluate]") {
  tensor<float, 3, 5> a = generic_values<float, 3, 5>(1);
  const tensor<float, 3, 5> b = generic_values<float, 3, 5>(2);
  const auto expected = reference_session().run(p * q + p, p = a, q = b);
  evaluate_to(a, p * q + p, p = a, q = b);
  CHECK(same_bits(a, expected));

  std::vector<float> v(101), w(101);
  for (std::size_t k = 0; k < v.size(); ++k) v[k] = w[k] = static_cast<float>(k);
  const std::span<float> behind(v.data() + 1, 100);
  evaluate_to(behind, x * 2.f, x = tensor_ref<float, dyn>(v.data(), {100}));
  for (std::size_t k = 0; k < 100; ++k) REQUIRE(v[k + 1] == 2 * w[k]);

  std::vector<double> wide(8, 1.5);
  const tensor_ref<float, dyn> halves(reinterpret_cast<const float*>(wide.data()), {8});
  const auto before = reference_session().run(cast<double>(x) + 1., x = halves);
  evaluate_to(wide, cast<double>(x) + 1., x = halves);
  CHECK(std::memcmp(wide.data(), before.data(), 64) == 0);

  float total = 0;
  evaluate_to(std::span<float>(&total, 1), sum(x), x = values<float>(100, 1));
  CHECK(total == static_cast<float>(reference_session().run(sum(x), x = values<float>(100, 1))));
  CHECK_THROWS_AS(evaluate_to(v, p * q, p = b, q = b), invalid_argument_error);  // 101 elements for 15
}

TEST_CASE("What was moved from is refused", "[evaluate]") {
  tensor<float, 3, 5> a, b, moved;
  const tensor<float, 3, 5> taken = std::move(moved);
  CHECK_THROWS_AS(evaluate(p + q, p = a, q = moved), invalid_argument_error);
  CHECK_THROWS_AS(evaluate(a + moved), failed_precondition_error);
  CHECK_THROWS_AS(evaluate_to(a, p + q, p = b, q = moved), invalid_argument_error);
  constexpr auto wide = placeholder<"wide", float, 2, 40>;
  constexpr auto row = placeholder<"row", float, 40>;
  tensor<float, 2, 40> gone;
  tensor<float, 40> gone_row;
  const auto kept = std::move(gone);
  const auto kept_row = std::move(gone_row);
  CHECK_THROWS_WITH(evaluate(wide + row, wide = gone, row = kept_row),
                    Catch::Contains("placeholder 'wide' was fed no"));
  CHECK_THROWS_WITH(evaluate(wide + row, wide = kept, row = gone_row), Catch::Contains("placeholder 'row' was fed no"));
  evaluate_to(moved, p + q, p = a, q = b);  // takes the shape again
  CHECK(moved.size() == 15);
}

TEST_CASE("A guard may ask for the CPU alone", "[evaluate]") {
  const tensor<float, 8> t = generic_values<float, 8>(1);
  {
    const device_guard on_cpu{cpu<0>{}};
    check(2.f * t + t);
    const auto a = generic_values<float, 3, 5>(1);
    CHECK(same_bits(evaluate(p * p, p = a), reference_session().run(p * p, p = a)));
  }
  {
    const device_guard on_gpu{"/gpu:1"};
    CHECK_THROWS_AS(evaluate(2.f * t + t), invalid_argument_error);
    CHECK_THROWS_AS(evaluate(p * p, p = generic_values<float, 3, 5>(1)), invalid_argument_error);
  }
  {
    const device_guard elsewhere{"/job:other"};
    CHECK_THROWS_AS(evaluate(2.f * t), invalid_argument_error);
  }
}

namespace {

/// A random program, where it asks for no GPU. *Returns* whether it ran.
template <unsigned Seed, bool Maps = false, bool Open = Seed % 3 == 1>
int check_random() {
  constexpr int fetched = 1 + static_cast<int>(Seed % 2);
  const auto program = onto_test::random_program<Seed, Open, fetched, false, Maps>();
  return boost::hana::unpack(program.expressions, [&](const auto&... e) {
    if constexpr (detail::need_of(detail::graph_of<std::remove_cvref_t<decltype(e)>...>::view) !=
                  detail::session_need::none) {
      return 0;
    } else {
      INFO("seed " << Seed);
      const onto_test::program_feeds f(Seed);
      return onto_test::with_feeds<Open>(f, [&](const auto&... feeds) {
        const auto expected = reference_session().run(program, feeds...);
        const auto got = evaluate(program, feeds...);
        [&]<std::size_t... K>(std::index_sequence<K...>) {
          CHECK((same_bits(std::get<K>(got), std::get<K>(expected)) && ...));
        }
        (std::make_index_sequence<fetched>{});
        if constexpr (fetched == 1) check(e..., feeds...);
        return 1;
      });
    }
  });
}

template <unsigned First, unsigned... K>
int check_randoms(std::integer_sequence<unsigned, K...>) {
  return (check_random<First + K>() + ... + 0);
}

}  // namespace

TEST_CASE("Random programs give a session's bits", "[evaluate]") {
  const int ran = check_randoms<1000>(std::make_integer_sequence<unsigned, 12>{}) +
                  check_randoms<2000>(std::make_integer_sequence<unsigned, 4>{}) + check_random<1, true>() +
                  check_random<2, true>() + check_random<3, true>() + check_random<4, true>();
  CHECK(ran >= 6);
}

TEST_CASE("An operation over packs chooses by math::select", "[session]") {
  constexpr auto v = placeholder<"v", float, dyn>;
  tensor<float, dyn> t({100});
  for (int k = 0; k < 100; ++k) t(k) = static_cast<float>(k % 2 == 0 ? k : -k);
  const tensor<float, dyn> folded = evaluate(call<folded_at_zero>(v), v = t);
  for (int k = 0; k < 100; ++k) CHECK(folded(k) == static_cast<float>(k));
}

TEST_CASE("the child of a fork evaluates, whatever another thread was in the middle of", "[evaluate]") {
  const auto right = [] {
    const tensor<float, dyn> t({10000});
    return evaluate(t * 2 + 1)(3) == 1;
  };
  std::atomic<bool> over{false};
  const auto keep_busy = [&] {
    while (!over) const tensor<float, dyn> taken({10000});  // memory that is taken and given back
  };
  std::thread busy(keep_busy), other(keep_busy);
  const int children = 500;
  int good = 0;
  for (int k = 0; k == good && k < children; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      _exit(right() && right() && right() ? 0 : 1);
    }
    int status = 0;
    if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0) ++good;
  }
  over = true;
  busy.join();
  other.join();
  CHECK(good == children);
}
