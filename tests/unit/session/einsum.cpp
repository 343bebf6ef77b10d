// SPDX-License-Identifier: BSL-1.0
// Sums of products by letters: NumPy's results, whatever is known of the extents.
#include <onto/einsum.hpp>

#include <cstdint>

#include "../words_of.hpp"
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
  check_einsum<float, dyn, 4>(sess, gpu<0>{});
  check_einsum<double, dyn, dyn>(sess, cpu<0>{});
}

TEST_CASE("integers keep their type in sums by letters", "[session]") {
  session sess;
  constexpr auto n = placeholder<"n", std::int8_t, 2, 2>;
  constexpr auto e = einsum<"ij,ij->i">(n, n);
  CHECK(sess.run(e, n = tensor<std::int8_t, 2, 2>{{1, 2}, {100, 100}}) ==
        tensor<std::int8_t, 2>{5, static_cast<std::int8_t>(20000)});
}

TEST_CASE("axes of one letter have one extent, known to the compiler or not: none is stretched", "[session]") {
  session sess;
  constexpr auto a = placeholder<"a", float, dyn, dyn>;
  constexpr auto b = placeholder<"b", float, dyn, dyn>;
  constexpr auto c = placeholder<"c", float, dyn, dyn, dyn>;
  constexpr auto d = placeholder<"d", float, dyn, dyn, dyn>;
  constexpr auto k = placeholder<"k", float, 3, 4>;
  using matrix = tensor<float, dyn, dyn>;
  using matrices = tensor<float, dyn, dyn, dyn>;
  const matrix A({3, 4}), row({1, 4}), column({3, 1});
  const matrices C({2, 2, 6}), D({2, 3, 4}), E({1, 2, 6});
  const auto refused = [](const auto& run, const std::string& what) {
    CHECK(words_of<invalid_argument_error>(run) ==
          "[onto.shape] einsum: axes of one letter have different extents, " + what);
  };
  refused([&] { (void)sess.run(einsum<"ij,ij->i">(a, b), a = A, b = row); },
          "3 and 1 of i; operands: ij [3, 4], ij [1, 4]");
  refused([&] { (void)sess.run(einsum<"ij,ij->i">(k, b), k = A, b = row); },
          "3 and 1 of i; operands: ij [3, 4], ij [1, 4]");
  refused([&] { (void)sess.run(einsum<"ij,kj->ik">(a, b), a = A, b = column); },
          "4 and 1 of j; operands: ij [3, 4], kj [3, 1]");
  refused([&] { (void)sess.run(einsum<"ij,jk->ki">(a, b), a = A, b = column); },
          "3 and 4 of j; operands: jk [3, 1], ij [3, 4]");
  // Joined they would be 12 and 12.
  refused([&] { (void)sess.run(einsum<"aij,bij->ab">(c, d), c = C, d = D); },
          "2 and 3 of i; operands: aij [2, 2, 6], bij [2, 3, 4]");
  // Of a batch.
  refused([&] { (void)sess.run(einsum<"bij,bkj->bik">(c, d), c = C, d = E); },
          "2 and 1 of b; operands: bij [2, 2, 6], bkj [1, 2, 6]");
  // What is summed up first is no axis of the product.
  refused([&] { (void)sess.run(einsum<"zij,kj,k->i">(c, a, slice<0, 1>(reshape<dyn>(b))), c = D, a = A, b = A); },
          "3 and 1 of k; operands: kj [3, 4], k [1]");
  refused([&] { (void)evaluate(einsum<"ij,ij->i">(A, row)); }, "3 and 1 of i; operands: ij [3, 4], ij [1, 4]");
  CHECK(sess.run(einsum<"ij,kj->ik">(a, b), a = row, b = row) == matrix{{0}});
  CHECK(sess.run(einsum<"ij,kl->ik">(a, b), a = column, b = row).shape() == std::array<int, 2>{3, 1});
  CHECK(sess.run(gradient(sum(einsum<"ij,ij->i">(a, b)), a), a = column, b = column) == column);
}
