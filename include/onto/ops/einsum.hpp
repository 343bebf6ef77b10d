// SPDX-License-Identifier: BSL-1.0
// Sums of products, said by letters: `einsum<"ij,jk->ik">(a, b)`. The compiler reads the letters, and makes transposed
// views, sums, products element by element and matrix products of them, in the order of least multiplications.
#pragma once

#include <onto/ops/data_word.hpp>
#include <onto/ops/operation_base.hpp>

#include <onto/core/plain_tuple.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/einsum_letters.hpp>
#include <onto/ops/lettered_product.hpp>
#include <onto/ops/logic.hpp>
#include <onto/ops/matmul.hpp>
#include <onto/ops/rearrange.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/ops/view.hpp>

#include <type_traits>
#include <utility>

namespace onto {

namespace detail {

template <class Text, class... Shapes>
struct letters_not_understood : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true,
                "[onto.einsum] letters for axes, commas between operands, '->' and the result's letters, each once in "
                "an operand and in the result: \"ij,jk->ik\"");
};
template <class Text, class... Shapes>
struct operands_and_letters_differ : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true,
                "[onto.einsum] as many operands as groups of letters, 8 at most, with a letter for each axis");
};
template <class Text, class... Shapes>
struct letters_of_two_extents : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] einsum: axes of one letter have different extents");
};

template <class... X>
struct letters_are_in_the_type : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.einsum] the letters are known to the compiler: einsum<\"ij,jk->ik\">(x, y)");
};

/// The axes in another order.
template <letter_list From, letter_list To, class E, int... K>
constexpr auto order_axes(const E& x, std::integer_sequence<int, K...>) {
  return make<op::permute<From.find(To.of[K])...>>(x);
}
template <letter_list From, letter_list To, class E>
constexpr auto order_axes(const E& x) {
  if constexpr (From.is(To))
    return x;
  else
    return order_axes<From, To>(x, std::make_integer_sequence<int, From.count>{});
}

/// An extent of 1 where `To` has a letter that `From` lacks.
template <letter_list From, letter_list To, class E, int... K>
constexpr auto put_in_ones(const E& x, std::integer_sequence<int, K...>) {
  return make<op::reshape<(From.has(To.of[K]) ? same_as_axis(From.find(To.of[K])) : 1)...>>(x);
}
template <letter_list From, letter_list To, class E>
constexpr auto put_in_ones(const E& x) {
  if constexpr (From.count == To.count)
    return x;
  else
    return put_in_ones<From, To>(x, std::make_integer_sequence<int, To.count>{});
}

/// The axes in the order `To`, among them extents of 1 where it has a letter that `From` lacks.
template <letter_list From, letter_list To, class E>
constexpr auto arrange(const E& x) {
  return put_in_ones<To.among(From), To>(order_axes<From, To.among(From)>(x));
}

/// Without the letters that are not kept: summed up, in the operand's element type.
template <letter_list From, letter_list Gone, class E, int... K>
constexpr auto sum_letters(const E& x, std::integer_sequence<int, K...>) {
  const auto total = make<op::reduce<fold::sum, false, From.find(Gone.of[K])...>>(x);
  if constexpr (std::remove_cv_t<decltype(total)>::facts.type == E::facts.type)
    return total;
  else
    return cast<typename E::element_type>(total);
}
template <letter_list From, letter_list Kept, class E>
constexpr auto sum_letters(const E& x) {
  constexpr int gone = From.among(Kept, false).count;
  if constexpr (gone == 0)
    return x;
  else
    return sum_letters<From, From.among(Kept, false)>(x, std::make_integer_sequence<int, gone>{});
}

/// `Count` axes from `First` on as one.
template <int First, int Count, class E, int... K>
constexpr auto merge_axes(const E& x, std::integer_sequence<int, K...>) {
  constexpr int joined = [] {
    int n = 1;
    for (int k = First; k < First + Count; ++k)
      n = n == dyn || E::facts.shape[k] == dyn ? dyn : multiplied_extent(E::facts.shape, k, n);
    return n;
  }();
  return make<op::reshape<(K < First ? same_as_axis(K) : K == First ? joined : same_as_axis(K + Count - 1))...>>(x);
}
template <int First, int Count, class E>
constexpr auto merge_axes(const E& x) {
  if constexpr (Count == 1)
    return x;
  else
    return merge_axes<First, Count>(x, std::make_integer_sequence<int, E::facts.shape.rank - Count + 1>{});
}

template <class S, letter_list A, letter_list B, letter_list Kept>
struct paired {
  static constexpr pairing value{A, B, Kept, S::value.extent};
  static constexpr letter_list letters = value.result.among(letter_list{2, {'<', '>'}}, false);  // of the product
};

/// (..., R) with R taken apart into the extents of letters.
template <class S, letter_list Right, class E, int... K, int... J>
constexpr auto split_last(const E& x, std::integer_sequence<int, K...>, std::integer_sequence<int, J...>) {
  return make<op::reshape<same_as_axis(K)..., S::value.extent[static_cast<int>(Right.of[J])]...>>(x);
}

/// Without the axes of letters that stand for none.
template <letter_list From, letter_list To, class E, int... K>
constexpr auto drop_ones(const E& x, std::integer_sequence<int, K...>) {
  return make<op::reshape<same_as_axis(From.find(To.of[K]))...>>(x);
}
template <letter_list From, letter_list To, class E>
constexpr auto drop_ones(const E& x) {
  if constexpr (From.count == To.count)
    return x;
  else
    return drop_ones<From, To>(x, std::make_integer_sequence<int, To.count>{});
}

/// The product of operands with these letters, or the one that finds out whether their extents are those of the others.
template <class Product, letter_list A, letter_list B, class Pair, class L, class R>
struct product_of_letters {
  static constexpr bool is_open() {
    bool open = false;
    for (int k = 0; k < A.count; ++k)
      open = open || (B.has(A.of[k]) && (L::facts.shape[k] == dyn || R::facts.shape[B.find(A.of[k])] == dyn));
    return open;
  }
  static constexpr letter_list a = Pair::value.a, b = Pair::value.b;
  using type = std::conditional_t<is_open(),
                                  op::of_letters<Product, a.count, packed_letters(a), packed_letters(A), b.count,
                                                 packed_letters(b), packed_letters(B)>,
                                  Product>;
};

template <class S, letter_list A, letter_list B, letter_list Kept, class L, class R>
constexpr auto multiply_letters(const L& l, const R& r) {
  using pair = paired<S, A, B, Kept>;
  constexpr pairing p = pair::value;
  const auto a = arrange<A, p.a>(l);
  const auto b = arrange<B, p.b>(r);
  if constexpr (p.by_element) {
    return sum_letters<p.a, p.result>(make<typename product_of_letters<op::mul, A, B, pair, L, R>::type>(a, b));
  } else {
    constexpr int rows = p.a.count - p.summed.count;
    constexpr int first = p.b.count - p.right.count - p.summed.count;
    const auto left = merge_axes<rows, p.summed.count>(a);
    const auto wide = merge_axes<first + p.summed.count, p.right.count>(b);
    using product_type = typename product_of_letters<op::matmul, A, B, pair, L, R>::type;
    const auto product = make<product_type>(left, merge_axes<first, p.summed.count>(wide));
    if constexpr (p.right.count > 1)
      return drop_ones<p.result, pair::letters>(split_last<S, p.right>(
          product, std::make_integer_sequence<int, rows>{}, std::make_integer_sequence<int, p.right.count>{}));
    else
      return drop_ones<p.result, pair::letters>(product);
  }
}

/// The letters of what a set of operands comes to.
template <class S, int Set>
constexpr letter_list letters_of_set() {
  constexpr summation s = S::value;
  constexpr int first = s.split[Set];
  if constexpr (first == 0) {
    int o = 0;
    while ((Set >> o & 1) == 0) ++o;
    return s.in[o].among(s.kept[Set]);
  } else {
    return paired<S, letters_of_set<S, first>(), letters_of_set<S, Set ^ first>(), s.kept[Set]>::letters;
  }
}
template <class S, int Set, class Operands>
constexpr auto multiply_set(const Operands& x) {
  constexpr int first = S::value.split[Set];
  if constexpr (first == 0) {
    constexpr int o = [] {
      int k = 0;
      while ((Set >> k & 1) == 0) ++k;
      return k;
    }();
    return sum_letters<S::value.in[o], S::value.kept[Set]>(item<o>(x));
  } else {
    return multiply_letters<S, letters_of_set<S, first>(), letters_of_set<S, Set ^ first>(), S::value.kept[Set]>(
        multiply_set<S, first>(x), multiply_set<S, Set ^ first>(x));
  }
}

template <class Text, class... E>
constexpr auto einsum_of(const E&... x) {
  using S = summation_of<Text, shape_of_t<E>...>;
  constexpr einsum_fault fault = S::value.fault;
  if constexpr (any_ill_formed<E...>) {
    return ill_formed{};
  } else if constexpr (fault == einsum_fault::letters) {
    return typename letters_not_understood<Text, shape_of_t<E>...>::result{};
  } else if constexpr (fault == einsum_fault::extents) {
    return typename letters_of_two_extents<Text, shape_of_t<E>...>::result{};
  } else if constexpr (fault != einsum_fault::none) {
    return typename operands_and_letters_differ<Text, shape_of_t<E>...>::result{};
  } else {
    constexpr int all = (1 << sizeof...(E)) - 1;
    return arrange<letters_of_set<S, all>(), S::value.out>(multiply_set<S, all>(plain(x...)));
  }
}

}  // namespace detail

/// The sum of products that letters say, one for each axis: `einsum<"ij,jk->ik">(a, b)` is a matrix product,
/// `einsum<"ii->">` is not understood: a letter is once in an operand. Letters that are not in the result are summed
/// up; without an arrow the result has those that are there once, in the alphabet's order. *Mandates* axes of one
/// letter that have one extent: none is stretched, and what only the run knows is refused when it runs; 1 to 8 operands
/// of one element type; where a letter of two operands is summed up, one that `matmul` takes. *Complexity* of all ways
/// to multiply two at a time the one of least multiplications, in which an extent that is not known counts as 64.
template <fixed_string Text, expression... E>
  requires(sizeof...(E) > 0)
constexpr auto einsum(const E&... x) { return detail::einsum_of<text_of<Text>>(x...); }

template <detail::text_like S, expression... E>
constexpr auto einsum(const S&, const E&...) {
  return typename detail::letters_are_in_the_type<S, E...>::result{};
}

ONTO_TAKES_DATA(fixed_string, einsum)

}  // namespace onto
