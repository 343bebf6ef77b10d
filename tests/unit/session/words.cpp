// SPDX-License-Identifier: BSL-1.0
// Words that put elements in other places compute what NumPy computes: of every kind of element, with extents in the
// types and with extents that only the run knows, on the CPU and on simulated GPUs.
#include "words.hpp"

#include <cstdint>

using namespace onto;
using namespace onto_test;

namespace {

#define WORD(...) words.check(#__VA_ARGS__, sess.run(on<Place>(__VA_ARGS__), a = X, b = Y))

/// Words for operands whose extents are in their types.
template <class T, class Place>
void check_with_extents(session& sess, numpy_words& words, const tensor<T, 3, 4>& X, const tensor<T, 3, 4>& Y) {
  constexpr auto a = placeholder<"a", T, 3, 4>;
  constexpr auto b = placeholder<"b", T, 3, 4>;
  constexpr auto x = a;
  constexpr auto y = b;
  WORD(roll<-6, 1>(x));
  WORD(roll<5>(x));
  WORD(tril(x));
  WORD(tril<-1>(stack(x, y)));
  WORD(triu<1>(x));
  WORD(triu(x));
  words.check("eye<T, 3, 4, -1>()", sess.run(on<Place>(eye<T, 3, 4, -1>())));
}

/// `a` and `b`: placeholders of the feeds; the words say `x` and `y`.
template <class T, class Place, class A, class B>
void check_moved(session& sess, const A& a, const B& b, Place) {
  constexpr bool numbers = !std::is_same_v<T, bool>, integers = numbers && std::is_integral_v<T>;
  const std::string name = numpy_name(element_of<T>);
  numpy_words words(name, 29 + (numbers ? 3 : 0) + (integers ? 1 : 0));
  tensor<T, 3, 4> X, Y;
  words.fill("x", X);
  words.fill("y", Y);
  const auto& x = a;
  const auto& y = b;
  const auto one = T(1);
  WORD(flip(x));
  WORD(flip<0>(x));
  WORD(flip<-1>(x));
  WORD(slice<range<to_end, to_begin, -2>, range<1, 3>>(x));
  WORD(slice<range<>, range<-2, 0, -2>>(x));
  WORD(broadcast_to<2, dyn, dyn>(x));
  WORD(repeat<2, 0>(x));
  WORD(repeat<3, -1>(x));
  WORD(repeat<2>(x));
  WORD(tile<2>(x));
  WORD(tile<2, 3>(x));
  WORD(tile<2, 1, 2>(x));
  WORD(roll<1, 0>(x));
  WORD(stack(x, y));
  WORD(stack<-1>(x, y));
  WORD(get<1>(split<2, 1>(x)));
  WORD(get<2>(split<3>(x)));
  WORD(pad<padding<1>>(x));
  WORD(pad<padding<1, 2>, padding<0, 1>>(x, one));
  WORD(pad<padding<2, 0>, padding<1>>(x));
  WORD(pad<padding<1>, padding<0, 2>, padding<2>>(stack(x, y), one));
  WORD(full_like(x, one));
  check_with_extents<T, Place>(sess, words, X, Y);
  if constexpr (numbers) {
    WORD(clip(x, one, 100));
    WORD(clip(x, minimum(x, y), y));
    WORD(outer(x, slice<0, 1>(y)));
  }
  if constexpr (integers) WORD(one_hot<5, double>(mod(x, 7)));
}

template <class T, class Place>
void check_known(session& sess, Place where) {
  check_moved<T>(sess, placeholder<"a", T, 3, 4>, placeholder<"b", T, 3, 4>, where);
}
template <class T, class Place>
void check_open(session& sess, Place where) {
  check_moved<T>(sess, placeholder<"a", T, dyn, dyn>, placeholder<"b", T, dyn, dyn>, where);
}

}  // namespace

TEST_CASE("words that move elements compute what NumPy computes", "[session]") {
  session sess{{.simulated_gpus = 1}};
  check_known<bool>(sess, gpu<0>{});
  check_known<std::uint8_t>(sess, cpu<0>{});
  check_known<half>(sess, gpu<0>{});
  check_known<float>(sess, cpu<0>{});
}

TEST_CASE("they do where only the run knows the extents", "[session]") {
  session sess{{.simulated_gpus = 1}};
  check_open<std::int64_t>(sess, gpu<0>{});
  check_open<double>(sess, cpu<0>{});
}
