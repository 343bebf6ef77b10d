// SPDX-License-Identifier: BSL-1.0
// Integers of every width beside NumPy's: each operation runs over the arrays of integers.tsv and gives what NumPy
// gave, and over larger random arrays, where a plain reference does, which is held to the same table. Included after
// Catch2.
#pragma once

#include <onto/onto.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace integers {

using namespace onto;

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 wide_bits;

/// The low bits of a result.
template <class T>
T wrapped(wide_bits x) {
  return static_cast<T>(x);
}
template <class T>
wide_bits bits(T x) {
  return static_cast<wide_bits>(static_cast<wide>(x));
}

// ---- the table --------------------------------------------------------------------------------------------

struct row {
  std::string type;  // of the result
  std::vector<std::string> values;
};
using table = std::map<std::string, row>;

/// What the table has for operands of one type.
inline table read_table(const std::string& operands) {
  std::ifstream file(ONTO_TESTS_DIR "/conformance/integers.tsv");
  table t;
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::string type, name, values;
    std::getline(in, type, '\t');
    if (type != operands) continue;
    std::getline(in, name, '\t');
    row& r = t[name];
    std::getline(in, r.type, '\t');
    for (std::string value; in >> value;) r.values.push_back(value);
  }
  REQUIRE(!t.empty());
  return t;
}

/// NumPy's name of an element type, and one of its values from text.
template <class T>
std::string numpy_name() {
  if constexpr (is_floating(element_of<T>))
    return "float" + std::to_string(8 * sizeof(T));
  else
    return std::string(name_of(element_of<T>));
}
template <class T>
T read(const std::string& word) {
  if constexpr (is_floating(element_of<T>))
    return static_cast<T>(std::strtod(word.c_str(), nullptr));
  else if constexpr (std::is_signed_v<T>)
    return static_cast<T>(std::strtoll(word.c_str(), nullptr, 10));
  else
    return static_cast<T>(std::strtoull(word.c_str(), nullptr, 10));
}

template <class T>
using matrix = tensor<T, dyn, dyn>;

template <class T>
matrix<T> array(const table& t, const std::string& name, int rows = 4, int columns = 6) {
  const row& r = t.at(name);
  REQUIRE(r.type == numpy_name<T>());
  matrix<T> m({rows, columns});
  REQUIRE(r.values.size() == m.size());
  for (std::size_t k = 0; k < m.size(); ++k) m.data()[k] = read<T>(r.values[k]);
  return m;
}

/// Whether a result is a row of the table, type and all.
template <class T, int... Dims>
void is_row(const tensor<T, Dims...>& got, const table& t, const std::string& name) {
  const row& r = t.at(name);
  INFO(name);
  CHECK(r.type == numpy_name<T>());
  REQUIRE(r.values.size() == got.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    INFO("element " << k);
    CHECK(got.data()[k] == read<T>(r.values[k]));
  }
}

/// Whether two results are the same.
template <class T, int... Dims>
void is_same(const tensor<T, Dims...>& got, const std::vector<T>& wanted, const std::string& name) {
  INFO(name << " of " << numpy_name<T>());
  REQUIRE(got.size() == wanted.size());
  std::size_t k = 0;
  while (k < wanted.size() && got.data()[k] == wanted[k]) ++k;
  INFO("element " << k << " of " << wanted.size());
  CHECK(k == wanted.size());
}

/// An array with numbers of all lengths, the edges of the type among them.
template <class T>
matrix<T> random_array(int rows, int columns, unsigned seed) {
  matrix<T> m({rows, columns});
  std::mt19937_64 random(seed);
  for (T& x : m) {
    const std::uint64_t r = random();
    x = static_cast<T>(r >> random() % 64);
    if (r % 16 == 0) x = static_cast<T>(0 - x);
    if (r % 64 == 1) x = std::numeric_limits<T>::lowest();
    if (r % 64 == 2) x = std::numeric_limits<T>::max();
  }
  return m;
}

// ---- operations, each with its plain meaning --------------------------------------------------------------

#define INTEGERS_OPERATION(NAME, EXPRESSION, MEANING) \
  struct NAME##_case {                                \
    static constexpr const char* name = #NAME;        \
    template <class A, class B, class E>              \
    static constexpr auto expression(A a, B b, E e) { \
      (void)b, (void)e;                               \
      return EXPRESSION;                              \
    }                                                 \
    template <class T>                                \
    static auto meaning(T a, T b, T e) {              \
      (void)b, (void)e;                               \
      return MEANING;                                 \
    }                                                 \
  };

template <class T>
T plain_quotient(T a, T b) {
  return b == 0 ? T(0) : wrapped<T>(static_cast<wide_bits>(static_cast<wide>(a) / static_cast<wide>(b)));
}
template <class T>
T plain_remainder(T a, T b) {
  if (b == 0) return 0;
  const wide r = static_cast<wide>(a) % static_cast<wide>(b);
  return static_cast<T>(r != 0 && (r < 0) != (b < T(1) && b != 0) ? r + static_cast<wide>(b) : r);
}
template <class T>
T plain_power(T a, T e) {
  wide_bits r = 1;
  for (T k = 0; k < e; ++k) r *= bits(a);
  return wrapped<T>(r);
}
template <class T>
constexpr bool is_below_zero(T a) {
  return static_cast<wide>(a) < 0;
}

INTEGERS_OPERATION(add, a + b, wrapped<T>(bits(a) + bits(b)))
INTEGERS_OPERATION(sub, a - b, wrapped<T>(bits(a) - bits(b)))
INTEGERS_OPERATION(mul, a* b, wrapped<T>(bits(a) * bits(b)))
INTEGERS_OPERATION(div, a / b, plain_quotient(a, b))
INTEGERS_OPERATION(mod, onto::mod(a, b), plain_remainder(a, b))
INTEGERS_OPERATION(pow, onto::pow(a, e), plain_power(a, e))
INTEGERS_OPERATION(maximum, onto::maximum(a, b), a < b ? b : a)
INTEGERS_OPERATION(minimum, onto::minimum(a, b), b < a ? b : a)
INTEGERS_OPERATION(neg, -a, wrapped<T>(0 - bits(a)))
INTEGERS_OPERATION(abs, onto::abs(a), is_below_zero(a) ? wrapped<T>(0 - bits(a)) : a)
INTEGERS_OPERATION(sign, onto::sign(a), is_below_zero(a) ? static_cast<T>(-1) : static_cast<T>(a != 0))
INTEGERS_OPERATION(square, onto::square(a), wrapped<T>(bits(a) * bits(a)))
INTEGERS_OPERATION(relu, onto::relu(a), is_below_zero(a) ? T(0) : a)
INTEGERS_OPERATION(equal, a == b, a == b)
INTEGERS_OPERATION(not_equal, a != b, a != b)
INTEGERS_OPERATION(less, a < b, a < b)
INTEGERS_OPERATION(less_equal, a <= b, a <= b)
INTEGERS_OPERATION(greater, a > b, a > b)
INTEGERS_OPERATION(greater_equal, a >= b, a >= b)
INTEGERS_OPERATION(where, onto::where(a < b, a, b), a < b ? a : b)

template <class... Case>
struct cases {};
using arithmetic = cases<add_case, sub_case, mul_case, div_case, mod_case, pow_case, maximum_case, minimum_case,
                         neg_case, abs_case, sign_case, square_case, relu_case, where_case>;
using comparisons = cases<equal_case, not_equal_case, less_case, less_equal_case, greater_case, greater_equal_case>;

/// A cast to another type. From integers, plain C++.
template <class To>
struct cast_case {
  static inline const std::string name = "to_" + numpy_name<To>();
  template <class A, class B, class E>
  static constexpr auto expression(A a, B, E) {
    return cast<To>(a);
  }
  template <class T>
  static To meaning(T a, T, T) {
    return static_cast<To>(a);
  }
};
using casts =
    cases<cast_case<std::int8_t>, cast_case<std::uint8_t>, cast_case<std::int16_t>, cast_case<std::uint16_t>,
          cast_case<std::int32_t>, cast_case<std::uint32_t>, cast_case<std::int64_t>, cast_case<std::uint64_t>,
          cast_case<float>, cast_case<double>, cast_case<onto::half>, cast_case<bool>>;

// ---- reductions -------------------------------------------------------------------------------------------

/// The type of sums and products: NumPy's, but int32 stays.
template <class T>
using sum_type = std::conditional_t<std::is_same_v<T, std::int32_t>, T,
                                    std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

/// Folds elements in order by a meaning over the elements' type and what was folded so far.
#define INTEGERS_REDUCTION(NAME, RESULT, FIRST, NEXT)      \
  struct NAME##_case {                                     \
    static constexpr const char* name = #NAME;             \
    template <int... Axes, class A>                        \
    static constexpr auto expression(A a) {                \
      return onto::NAME<Axes...>(a);                       \
    }                                                      \
    template <class T>                                     \
    using result = RESULT;                                 \
    template <class T>                                     \
    static RESULT fold(const std::vector<T>& v) {          \
      RESULT r = FIRST;                                    \
      for (std::size_t k = 0; k < v.size(); ++k) r = NEXT; \
      return r;                                            \
    }                                                      \
  };

INTEGERS_REDUCTION(sum, sum_type<T>, 0, wrapped<sum_type<T>>(bits(r) + bits(v[k])))
INTEGERS_REDUCTION(prod, sum_type<T>, 1, wrapped<sum_type<T>>(bits(r) * bits(v[k])))
INTEGERS_REDUCTION(min, T, v[0], v[k] < r ? v[k] : r)
INTEGERS_REDUCTION(max, T, v[0], r < v[k] ? v[k] : r)
INTEGERS_REDUCTION(argmin, std::int64_t, 0, v[k] < v[static_cast<std::size_t>(r)] ? static_cast<std::int64_t>(k) : r)
INTEGERS_REDUCTION(argmax, std::int64_t, 0, v[static_cast<std::size_t>(r)] < v[k] ? static_cast<std::int64_t>(k) : r)
using reductions = cases<sum_case, prod_case, min_case, max_case, argmin_case, argmax_case>;

/// What a reduction leaves of an array: over everything, its columns (axis 0), its rows (axis 1).
template <class Case, class T>
std::vector<typename Case::template result<T>> reduced(const matrix<T>& m, int axis) {
  const std::size_t rows = static_cast<std::size_t>(m.shape()[0]), columns = static_cast<std::size_t>(m.shape()[1]);
  std::vector<typename Case::template result<T>> r;
  const std::vector<T> all(m.data(), m.data() + m.size());
  if (axis < 0) return {Case::fold(all)};
  for (std::size_t k = 0; k < (axis == 0 ? columns : rows); ++k) {
    std::vector<T> v;
    for (std::size_t j = 0; j < (axis == 0 ? rows : columns); ++j)
      v.push_back(axis == 0 ? all[j * columns + k] : all[k * columns + j]);
    r.push_back(Case::fold(v));
  }
  return r;
}

// ---- what a test does -------------------------------------------------------------------------------------

template <class T>
inline constexpr auto a = placeholder<"a", T, dyn, dyn>;
template <class T>
inline constexpr auto b = placeholder<"b", T, dyn, dyn>;
template <class T>
inline constexpr auto e = placeholder<"e", T, dyn, dyn>;

/// Runs operations on a device, over the table's arrays and over random ones of `rows` x `columns`.
template <class T, class Device>
struct conformance {
  session& sess;
  int rows, columns;
  table numpy = read_table(numpy_name<T>());

  template <class... Case>
  void elementwise(cases<Case...>) {
    auto step = sess.prepare(fetches(on<Device>(Case::expression(a<T>, b<T>, e<T>))...));
    const matrix<T> given_a = array<T>(numpy, "a"), given_b = array<T>(numpy, "b"), given_e = array<T>(numpy, "e");
    std::apply([&](const auto&... got) { (is_row(got, numpy, Case::name), ...); },
               step(a<T> = given_a, b<T> = given_b, e<T> = given_e));
    const matrix<T> x = random_array<T>(rows, columns, 1), y = random_array<T>(rows, columns, 2);
    matrix<T> z({rows, columns});
    for (std::size_t k = 0; k < z.size(); ++k) z.data()[k] = static_cast<T>(k % 12);
    std::apply([&](const auto&... got) { (is_same(got, meant<Case>(x, y, z), Case::name), ...); },
               step(a<T> = x, b<T> = y, e<T> = z));
    // The reference gives what NumPy gives.
    (is_row(as_tensor(meant<Case>(given_a, given_b, given_e)), numpy, Case::name), ...);
  }

  template <class... Case>
  void reduce(cases<Case...>) {
    const matrix<T> x = random_array<T>(rows, columns, 3), given = array<T>(numpy, "a");
    const auto over = [&](auto... axis) {
      const std::string of = sizeof...(axis) == 0 ? "" : ("_" + ... + std::to_string(axis()));
      const int number = sizeof...(axis) == 0 ? -1 : (0 + ... + axis());
      auto step = sess.prepare(fetches(on<Device>(Case::template expression<axis()...>(a<T>))...));
      std::apply([&](const auto&... got) { (is_row(as_tensor(got), numpy, Case::name + of), ...); },
                 step(a<T> = given));
      std::apply([&](const auto&... got) { (is_same(as_tensor(got), reduced<Case>(x, number), Case::name + of), ...); },
                 step(a<T> = x));
      (is_row(as_tensor(reduced<Case>(given, number)), numpy, Case::name + of), ...);
    };
    over();
    over(std::integral_constant<int, 0>{});
    over(std::integral_constant<int, 1>{});
  }

  /// Floating point to integers: within the range, as NumPy. Outside, the nearest there is, and 0 for NaN.
  template <class From>
  void cast_from() {
    constexpr auto x = placeholder<"x", From, dyn, dyn>;
    auto step = sess.prepare(on<Device>(cast<T>(x)));
    const std::string name = numpy_name<From>();
    is_row(step(x = array<From>(numpy, name)), numpy, "from_" + name);
    const From infinity = std::numeric_limits<From>::infinity(), nan = std::numeric_limits<From>::quiet_NaN();
    const matrix<T> edges = step(x = tensor<From, 1, 3>{{infinity, -infinity, nan}});
    CHECK(edges(0, 0) == std::numeric_limits<T>::max());
    CHECK(edges(0, 1) == std::numeric_limits<T>::lowest());
    CHECK(edges(0, 2) == 0);
    // The least number beyond the range, where the type of the numbers has one.
    const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const matrix<T> ends = step(x = tensor<From, 1, 2>{{From(above), From(above / 2)}});
    CHECK(ends(0, 0) == std::numeric_limits<T>::max());
    if (std::isfinite(static_cast<double>(From(above))))
      CHECK(ends(0, 1) == static_cast<T>(std::numeric_limits<T>::max() / 2 + 1));
  }

 private:
  template <class Case>
  auto meant(const matrix<T>& x, const matrix<T>& y, const matrix<T>& z) {
    std::vector<decltype(Case::meaning(T{}, T{}, T{}))> r;
    for (std::size_t k = 0; k < x.size(); ++k) r.push_back(Case::meaning(x.data()[k], y.data()[k], z.data()[k]));
    return r;
  }
  template <class R>
  static tensor<R, dyn> as_tensor(const std::vector<R>& v) {
    tensor<R, dyn> t({static_cast<int>(v.size())});
    for (std::size_t k = 0; k < v.size(); ++k) t.data()[k] = v[k];
    return t;
  }
  template <class R, int... Dims>
  static const tensor<R, Dims...>& as_tensor(const tensor<R, Dims...>& t) {
    return t;
  }
};

}  // namespace integers
