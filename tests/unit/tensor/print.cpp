// SPDX-License-Identifier: BSL-1.0
// Tensors print as NumPy prints arrays: each page of tests/golden/print was written by NumPy from the same values.
#include "../catch.hpp"

#include <onto/tensor/print.hpp>

#include <cmath>
#include <cstdint>
#include <golden.hpp>
#include <iomanip>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

using namespace onto;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A page of tests/golden/print: titles and texts.
struct page {
  std::string text;

  template <class T, int... Dims>
  void add(const std::string& name, const tensor<T, Dims...>& t) {
    constexpr element type = element_of<T>;
    const std::string numpy = type == element::bfloat16 ? "bfloat16"
                              : is_text(type)           ? "str"
                              : is_floating(type)       ? "float" + std::to_string(8 * sizeof(T))
                                                        : std::string(name_of(type));
    text += "# " + name + ", " + numpy + "\n" + to_string(t) + "\n";
  }
};

/// A tensor whose value number k is f(k), computed in double and converted.
template <class T, class F, std::size_t Rank>
auto made(const int (&dims)[Rank], F f) {
  const auto fill = [&](auto t) {
    for (std::size_t k = 0; k < t.size(); ++k) t.data()[k] = static_cast<T>(f(static_cast<double>(k)));
    return t;
  };
  if constexpr (Rank == 1) return fill(tensor<T, dyn>(dims));
  if constexpr (Rank == 2) return fill(tensor<T, dyn, dyn>(dims));
  if constexpr (Rank == 3) return fill(tensor<T, dyn, dyn, dyn>(dims));
  if constexpr (Rank == 4) return fill(tensor<T, dyn, dyn, dyn, dyn>(dims));
}

template <class F, std::size_t Rank>
void both(page& p, const std::string& name, const int (&dims)[Rank], F f) {
  p.add(name, made<float>(dims, f));
  p.add(name, made<double>(dims, f));
}

template <class T>
tensor<T, dyn> row(const std::vector<double>& values) {
  return made<T>({static_cast<int>(values.size())}, [&](double k) { return values[static_cast<std::size_t>(k)]; });
}
void both(page& p, const std::string& name, const std::vector<double>& values) {
  p.add(name, row<float>(values));
  p.add(name, row<double>(values));
}

}  // namespace

TEST_CASE("numbers in fixed notation print as in NumPy", "[tensor][golden]") {
  page p;
  p.add("the guide's product", tensor<float, 2, 2>{{22, 28}, {49, 64}});
  p.add("the guide's product", tensor<double, 2, 2>{{22, 28}, {49, 64}});
  both(p, "eighths", {3, 4}, [](double k) { return k / 8 - 1; });
  both(p, "tenths", {2, 5}, [](double k) { return k * 0.1 - 0.5; });
  both(p, "thirds", {3, 4}, [](double k) { return k / 3; });
  both(p, "zeros", {2, 3}, [](double) { return 0; });
  both(p, "minus zero", {0.0, -0.0, 1.0});
  both(p, "one element", {1, 1}, [](double) { return 2.5; });
  both(p, "three axes", {2, 2, 3}, [](double k) { return k * 0.25; });
  both(p, "four axes", {2, 1, 2, 2}, [](double k) { return k - 3; });
  both(p, "more digits than the precision", {0.123456789, 12.123456789, 123.123456789});
  both(p, "ties at the ninth digit", {0.001953125, 0.005859375, 0.009765625});
  both(p, "rounding up to one more digit", {9.999999999, 0.999999999});
  golden("print/fixed", p.text);
}

TEST_CASE("numbers in scientific notation print as in NumPy", "[tensor][golden]") {
  page p;
  both(p, "large", {1, 1e8});
  both(p, "below a hundred million", {1e5, 99999999});
  both(p, "below a million", {1e5, 999999});
  both(p, "a million", {1e5, 1000000});
  both(p, "small", {0.00009, 0.01});
  both(p, "a ten thousandth", {0.0001, 0.01});
  both(p, "a ratio of 1000", {0.5, 500});
  both(p, "a ratio above 1000", {0.5, 500.5});
  both(p, "zero beside a ratio", {0, 0.5, 1e7});
  const double signs[] = {-1e-10, 1e10, 1, -1};
  both(p, "signs", {2, 2}, [&](double k) { return signs[static_cast<int>(k)]; });
  both(p, "different digits", {1.5, 1.25e10, 1e-20});
  both(p, "column filled with real digits", {1.1724668, 0.10924218, 16957954, 3135852.2, 80812.141});
  both(p, "the edges of float", {1.17549435e-38, 3.4028235e38, 1e-45});
  p.add("the edges of double", row<double>({2.2250738585072014e-308, 1.7976931348623157e308, 5e-324}));
  p.add("three digits of exponent", row<double>({1e100, 1e-5, 1}));
  golden("print/scientific", p.text);
}

TEST_CASE("what is no number prints as in NumPy", "[tensor][golden]") {
  page p;
  both(p, "not a number", {not_a_number, 1, 2.5});
  both(p, "infinities", {inf, -inf, 1});
  both(p, "infinities alone", {inf, -inf, not_a_number});
  both(p, "nan alone", {1, 1}, [](double) { return not_a_number; });
  const double whole[] = {1, not_a_number, 100, -3};
  both(p, "nan beside whole numbers", {2, 2}, [&](double k) { return whole[static_cast<int>(k)]; });
  both(p, "infinity in scientific notation", {inf, 1e-10, not_a_number, -inf});
  both(p, "minus infinity beside digits", {-inf, 0.125});
  golden("print/not_finite", p.text);
}

namespace {
template <class T>
void add_whole(page& p) {
  p.add("whole numbers", tensor<T, 2, 2>{{1, -20}, {300, 4}});
  p.add("one", tensor<T, 1>{7});
  p.add("no signs", tensor<T, 3>{1, 22, 333});
  p.add("three axes", made<T>({2, 3, 4}, [](double k) { return k - 7; }));
}
template <class T>
void add_edges(page& p) {
  p.add("the edges", tensor<T, 2, 2>{{std::numeric_limits<T>::max(), std::numeric_limits<T>::min()}, {0, 65}});
}
}  // namespace

TEST_CASE("integers and truths print as in NumPy", "[tensor][golden]") {
  page p;
  add_whole<std::int32_t>(p);
  add_whole<std::int64_t>(p);
  using edges = std::numeric_limits<std::int64_t>;
  p.add("the edges of int32", tensor<std::int32_t, 3>{2147483647, -2147483647 - 1, 0});
  p.add("the edges of int64", tensor<std::int64_t, 2>{edges::max(), edges::min()});
  add_edges<std::int8_t>(p);
  add_edges<std::uint8_t>(p);
  add_edges<std::int16_t>(p);
  add_edges<std::uint16_t>(p);
  add_edges<std::uint32_t>(p);
  add_edges<std::uint64_t>(p);
  p.add("truth", tensor<bool, 3>{true, false, true});
  p.add("truths", tensor<bool, 2, 2>{{true, false}, {true, true}});
  golden("print/whole", p.text);
}

TEST_CASE("long rows break into lines as in NumPy", "[tensor][golden]") {
  page p;
  both(p, "a long row", {40}, [](double k) { return k * 0.37; });
  both(p, "two long rows", {2, 30}, [](double k) { return k / 8; });
  both(p, "rows in three axes", {2, 2, 20}, [](double k) { return k * 1.5 - 10; });
  both(p, "rows in scientific notation", {1, 13}, [](double k) { return k * 1e7; });
  p.add("whole numbers over several lines", made<std::int32_t>({60}, [](double k) { return k * 37; }));
  p.add("a row of 75 columns", made<std::int32_t>({15}, [](double k) { return k + 1000; }));
  p.add("a row of 73 columns", made<std::int32_t>({14}, [](double k) { return k < 13 ? 1000 : 10000000; }));
  p.add("a row of 74 columns", made<std::int64_t>({10}, [](double k) { return k < 9 ? 1000 : 1; }));
  p.add("truths over several lines", made<bool>({40}, [](double k) { return static_cast<int>(k) % 3 == 0; }));
  golden("print/lines", p.text);
}

TEST_CASE("more than 1000 values are summarized as in NumPy", "[tensor][golden]") {
  page p;
  const auto count = [](double k) { return k; };
  both(p, "1000 values", {1000}, count);
  both(p, "1001 values", {1001}, count);
  both(p, "a matrix", {40, 40}, [](double k) { return k * 0.5; });
  both(p, "few rows", {2, 3, 400}, [](double k) { return k * 0.25; });
  both(p, "a cube", {11, 11, 11}, [](double k) { return k - 665; });
  both(p, "a column", {1001, 1}, count);
  both(p, "edges that are not summarized", {6, 400}, count);
  both(p, "only what is printed counts", {2000}, [](double k) { return static_cast<int>(k) == 1000 ? 1e10 : 1; });
  both(p, "wide and summarized", {1200}, [](double k) { return k * 1e-7; });
  p.add("whole numbers", made<std::int64_t>({100, 100}, count));
  p.add("truths", made<bool>({1500}, [](double k) { return static_cast<int>(k) % 2 == 0; }));
  p.add("four axes", made<std::int32_t>({4, 7, 8, 9}, count));
  golden("print/summary", p.text);
}

TEST_CASE("empty tensors and scalars print as in NumPy", "[tensor][golden]") {
  page p;
  const auto none = [](double) { return 0; };
  both(p, "no values", {0}, none);
  both(p, "no rows", {0, 3}, none);
  both(p, "no columns", {2, 0}, none);
  p.add("no values", tensor<std::int32_t, 0>());
  p.add("no values", tensor<bool, 3, 0, 2>());
  int k = 0;
  for (const double value : {3.5, 1.0, 0.0, -0.0, 0.1, 1e-4, 9.9e-5, 123456.0, 1e6, 12345678.0, 1e15, 1e16, 1.5e300,
                             not_a_number, inf, -inf, 2.0 / 3.0, -1e-30}) {
    const std::string name = "scalar " + std::to_string(k++);
    p.add(name, tensor<float>(value > 1e300 ? std::numeric_limits<float>::infinity() : static_cast<float>(value)));
    p.add(name, tensor<double>(value));
  }
  p.add("scalar", tensor<std::int32_t>(-42));
  p.add("scalar", tensor<std::int64_t>(std::int64_t{1} << 62));
  p.add("scalar", tensor<std::int8_t>(std::int8_t{65}));
  p.add("scalar", tensor<std::uint8_t>(std::uint8_t{200}));
  p.add("scalar", tensor<std::uint64_t>(std::numeric_limits<std::uint64_t>::max()));
  p.add("scalar", tensor<bool>(true));
  p.add("scalar", tensor<bool>(false));
  golden("print/scalars", p.text);
}

TEST_CASE("half prints as NumPy's float16", "[tensor][golden][half]") {
  page p;
  const auto add = [&](const char* name, const std::vector<double>& values) { p.add(name, row<half>(values)); };
  p.add("eighths", made<half>({3, 4}, [](double k) { return k / 8 - 1; }));
  p.add("tenths", made<half>({2, 5}, [](double k) { return k * 0.1 - 0.5; }));
  add("below a thousand", {1, 999.5});
  add("a thousand", {500, 1000});
  add("the edges of half", {65504, 6.1e-5, 6e-8});
  add("a ratio that is rounded to 1000", {0.9995, 999.5});
  add("a ratio above 1000", {0.5, 501});
  p.add("powers of two", made<half>({16}, [](double k) { return std::exp2(k - 12); }));
  add("not finite", {inf, -inf, not_a_number, 0.1});
  p.add("summarized", made<half>({1200}, [](double k) { return k / 2; }));
  int k = 0;
  for (const double value : {3.5, 0.1, 999.5, 1000.0, 65504.0, 1e-4, 9.9e-5, 6e-8, not_a_number, -inf})
    p.add("scalar " + std::to_string(k++), tensor<half>(half(value)));
  golden("print/half", p.text);
}

TEST_CASE("bfloat16 prints the fewest digits that tell it from its neighbours", "[tensor][half]") {
  CHECK(to_string(tensor<bfloat16, 3>{0.1, 256, -3}) == "[ 1.00e-01  2.56e+02 -3.00e+00]");
  CHECK(to_string(tensor<bfloat16, 3>{0.1, 25.5, -3}) == "[ 0.1 25.5 -3. ]");
  CHECK(to_string(tensor<bfloat16>(bfloat16(1e30f))) == "1e+30");
}

TEST_CASE("texts print between quotes, as Python writes them", "[tensor][golden][text]") {
  page p;
  p.add("names", tensor<text, 4>{"a", "bb", "", "ccc"});
  p.add("a table", tensor<text, 2, 2>{{"a", "bb"}, {"ccc", "d"}});
  p.add("quotes", tensor<text, 4>{"it's", "say \"so\"", "'both\"", "back\\slash"});
  p.add("escapes",
        tensor<text, 6>{"line\nbreak", "tab\tand\rreturn", std::string("\0zero", 5), "bell\a", "\x7f", "\xc2\x85next"});
  p.add("letters of other alphabets", tensor<text, 4>{"Grüße", "Ωμέγα", "日本語", "🙂 4 bytes"});
  tensor<text, 17> line, others;
  for (int k = 0; k < 17; ++k) {
    line(k) = "word number " + std::to_string(k);
    for (int n = 0; n < k % 3; ++n) others(k) = others(k).str() + "übergrößenträger ";
  }
  p.add("a long line", line);
  p.add("a long line of others", others);
  p.add("wider than a line", tensor<text, 3>{std::string(80, 'x'), std::string(80, 'y'), "z"});
  tensor<text, dyn> many({1200});
  for (int k = 0; k < 1200; ++k) many(k) = std::to_string(k);
  p.add("summarized", many);
  tensor<text, 2, 2, 2> cubes;
  for (int k = 0; k < 8; ++k) cubes.data()[k] = std::to_string(k);
  p.add("cubes", cubes);
  p.add("no values", tensor<text, dyn>({0}));
  p.add("scalar", tensor<text>("Hello, it's \n me"));
  golden("print/text", p.text);
}

TEST_CASE("bytes that are no UTF-8 print as numbers", "[tensor][text]") {
  const auto shown = [](const char* s) { return to_string(tensor<text, 1>{s}); };
  CHECK(shown("\xff") == "['\\xff']");
  CHECK(shown("a\xc3") == "['a\\xc3']");                           // ends within a character
  CHECK(shown("\xc0\xaf") == "['\\xc0\\xaf']");                    // more bytes than '/' needs
  CHECK(shown("\xed\xa0\x80") == "['\\xed\\xa0\\x80']");           // half a surrogate pair
  CHECK(shown("\xf4\x90\x80\x80") == "['\\xf4\\x90\\x80\\x80']");  // beyond U+10FFFF
  CHECK(shown("\xe2\x82\xac") == "['\xe2\x82\xac']");              // the euro sign
  std::ostringstream out;
  out << tensor<text>(std::string("\xff\0z", 3));
  CHECK(out.str() == std::string("\xff\0z", 3));  // alone: its bytes
}

TEST_CASE("a stream gets what to_string gives", "[tensor]") {
  const tensor<float, 2, 2> t{{22, 28}, {49, 64}};
  std::ostringstream out;
  out << t << '|' << tensor<float>(3.5f) << '|' << tensor_ref<float, dyn, dyn>(t);
  CHECK(out.str() == "[[22. 28.]\n [49. 64.]]|3.5|[[22. 28.]\n [49. 64.]]");
  CHECK(to_string(t) == "[[22. 28.]\n [49. 64.]]");
}

TEST_CASE("what was moved from prints no values", "[tensor]") {
  tensor<int, 2> pair{1, 2};
  const tensor<int, 2> taken = std::move(pair);
  CHECK(to_string(pair) == "[]");
}

TEST_CASE("several results print one after the other", "[print]") {
  const std::tuple<tensor<float, 2>, tensor<int>, tensor<bool, 2>> results{{1, 2.5f}, {7}, {true, false}};
  std::ostringstream out;
  out << results;
  CHECK(out.str() == to_string(std::get<0>(results)) + "\n" + to_string(std::get<1>(results)) + "\n" +
                         to_string(std::get<2>(results)));
}

TEST_CASE("the stream's own settings do not change how numbers print", "[tensor]") {
  std::ostringstream out;
  out << std::setprecision(2) << std::hex << tensor<double, 2>{0.12345, 10} << tensor<int, 1>{255};
  CHECK(out.str() == "[ 0.12345 10.     ][255]");
}
