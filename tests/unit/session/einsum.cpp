// SPDX-License-Identifier: BSL-1.0
// Sums of products by letters: NumPy's results, whatever is known of the extents.
#include <onto/einsum.hpp>

#include <cstdint>

#include "words.hpp"

using namespace onto;
using namespace onto_test;

namespace {

#define WORD(...) words.check(#__VA_ARGS__, sess.run(on<Place>(__VA_ARGS__), x = X, y = Y), tolerance)

template <class T, int Rows, int Columns, class Place>
void check_einsum(session& sess, Place) {
  constexpr double tolerance = sizeof(T) == 8 ? 1e-14 : 1e-5;
  numpy_words words("einsum " + numpy_name(element_of<T>), 21);
  constexpr auto x = placeholder<"x", T, Rows, Columns>;
  constexpr auto y = placeholder<"y", T, Rows, Columns>;
  constexpr auto s = stack(x, y);
  tensor<T, 3, 4> X, Y;
  words.fill("x", X);
  words.fill("y", Y);
  WORD(einsum<"ij->ji">(x));
  WORD(einsum<"ij->j">(x));
  WORD(einsum<"ij->">(x));
  WORD(einsum<"ba">(x));
  WORD(einsum<"ij,kj->ik">(x, y));
  WORD(einsum<"ij,ik">(x, y));
  WORD(einsum<"ij,ij->">(x, y));
  WORD(einsum<"ij,ij->i">(x, y));
  WORD(einsum<"ij,ij->ji">(x, y));
  WORD(einsum<"ij,kl->ljki">(x, y));
  WORD(einsum<"ij,kl->jl">(x, y));
  WORD(einsum<"bij,ij->b">(s, x));
  WORD(einsum<"bij,bik->bjk">(s, s));
  WORD(einsum<"ij,bkj->ibk">(x, s));
  WORD(einsum<"ij,bij->jb">(x, s));
  WORD(einsum<"aij,bij->ab">(s, s));
  WORD(einsum<"aij,bik->jbka">(s, s));
  WORD(einsum<"bij,cij->bci">(s, s));
  WORD(einsum<"ij,kj,kl->il">(x, y, x));
  WORD(einsum<"ij,bij,bkj->ik">(x, s, s));
  WORD(einsum<"i j, k j -> k">(x, y));
}

}  // namespace

TEST_CASE("sums of products by letters compute what NumPy computes", "[session]") {
  session sess{{.simulated_gpus = 1}};
  check_einsum<float, 3, 4>(sess, gpu<0>{});
  check_einsum<double, dyn, dyn>(sess, cpu<0>{});
}

TEST_CASE("integers keep their type in sums by letters", "[session]") {
  session sess;
  constexpr auto n = placeholder<"n", std::int8_t, 2, 2>;
  constexpr auto e = einsum<"ij,ij->i">(n, n);
  CHECK(sess.run(e, n = tensor<std::int8_t, 2, 2>{{1, 2}, {100, 100}}) ==
        tensor<std::int8_t, 2>{5, static_cast<std::int8_t>(20000)});
}
