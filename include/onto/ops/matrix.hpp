// SPDX-License-Identifier: BSL-1.0
// What depends on an element's place: the triangles of matrices, and numbers written as rows with a single 1.
#pragma once

#include <onto/expr/number.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/compare.hpp>
#include <onto/ops/like.hpp>
#include <onto/ops/logic.hpp>
#include <onto/ops/math.hpp>
#include <onto/ops/operation_base.hpp>
#include <onto/ops/view.hpp>

#include <cstdint>
#include <type_traits>

namespace onto {

namespace op {

/// The lower triangle of matrices, or the upper one, with `K` diagonals more. A generator that has an operand: an
/// element's place in a matrix of `N` rows and `M` columns is its index.
template <bool Lower, int K, int N, int M>
struct triangle : detail::keeps_element<all_elements>, detail::integer_packs {
  static constexpr op_kind kind = op_kind::generator;
  static constexpr bool packs = true;
  static constexpr std::string_view name = Lower ? "Tril" : "Triu";
  static constexpr int cost = 2;
  static constexpr int width = M > 0 ? M : 1, height = N > 0 ? N : 1;

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int) {
    return {operands[0], operands[0].rank < 2 ? shape_fault::rank : shape_fault::none};
  }
  ONTO_END_RUNS_ONCE
  template <class T, class Index>
  ONTO_HD ONTO_INLINE static T at(Index index, const T& x) {
    const std::int64_t first = detail::first_element(index), column = first % width, row = first / width % height;
    if constexpr (math::is_pack<T>) {
      constexpr int lanes = static_cast<int>(T::size);
      bool inside[lanes];
      const int begin = static_cast<int>(column), line = static_cast<int>(row), left = width - begin;
      for (int k = 0; k < lanes; ++k) {  // at most one row ends within the pack, where they are as long
        const int rows_on = width >= lanes ? static_cast<int>(k >= left) : (begin + k) / width;
        const int place = width >= lanes ? (rows_on != 0 ? k - left : begin + k) : (begin + k) % width;
        const int below = line + rows_on;
        inside[k] = is_inside(place, height > lanes ? below - (below >= height ? height : 0) : below % height);
      }
      if constexpr (std::is_same_v<typename T::value_type, bool>)
        return x & T::load_unaligned(inside);
      else
        return select(T::mask::load_unaligned(inside), x, T(0));
    } else {
      return is_inside(column, row) ? x : T(0);
    }
  }
  template <class Place>
  ONTO_HD ONTO_INLINE static bool is_inside(Place column, Place row) {
    return Lower ? column - row <= K : column - row >= K;
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto) {
    return make<triangle>(g);
  }
};

/// Rows of `N` elements of type `To`: 1 at the operand's number, else 0. The operand's last extent is 1.
template <class To, int N>
struct one_hot : detail::integer_packs {
  static constexpr op_kind kind = op_kind::generator;
  static constexpr std::string_view name = "OneHot";
  static constexpr int cost = 2;
  static constexpr bool packs = true;
  static constexpr int columns = N > 0 ? N : 1;
  static constexpr kernel_set kernels{integer_elements, integer_elements};

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int) {
    inferred r{operands[0]};
    if (r.shape.rank < 1) return {r.shape, shape_fault::rank};
    r.shape[r.shape.rank - 1] = N;
    return r;
  }
  ONTO_END_RUNS_ONCE
  static constexpr detail::element_check check(element x) { return detail::check_same(integer_elements, x); }
  static constexpr element result(element) { return element_of<To>; }

  template <class T, class Number>
  ONTO_HD ONTO_INLINE static T at(std::int64_t index, Number x) {
    return at_column<T>(static_cast<std::uint32_t>(index % columns), x);
  }
  template <class T, class Column, class Number>
  ONTO_HD ONTO_INLINE static T at_column(Column column, Number x) {
    if constexpr (math::is_pack<T>) {
      return convert<typename T::value_type>(Number(column) == x);
    } else {  // a number below 0 is a large one here, and no column
      using word = std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>;
      return T(static_cast<word>(x) == column ? 1 : 0);
    }
  }
};

}  // namespace op

namespace detail {

template <bool Lower, int K, class E>
constexpr auto triangle_of(const E& x) {
  constexpr extents e = E::facts.shape;
  if constexpr (e.rank < 2) {
    return make<op::triangle<Lower, K, 1, 1>>(x);
  } else if constexpr (e[e.rank - 2] != dyn && e[e.rank - 1] != dyn) {
    return make<op::triangle<Lower, K, e[e.rank - 2], e[e.rank - 1]>>(x);
  } else {
    const auto diagonal = iota_like<-1, int>(x) - iota_like<-2, int>(x);
    if constexpr (Lower)
      return where(diagonal <= c<K>, x, typename E::element_type{});
    else
      return where(diagonal >= c<K>, x, typename E::element_type{});
  }
}

}  // namespace detail

/// The lower triangle of a matrix, or of each of the last two dimensions; 0 above the `K`-th diagonal right of the main
/// one: `tril(x)`, `tril<-1>(x)` without the diagonal. *Mandates* at least 2 dimensions.
template <int K = 0, class E, detail::only_if<expression<E>> = 0>
constexpr auto tril(const E& x) {
  return detail::triangle_of<true, K>(x);
}

/// The upper triangle, 0 below the `K`-th diagonal right of the main one, as `tril`.
template <int K = 0, class E, detail::only_if<expression<E>> = 0>
constexpr auto triu(const E& x) {
  return detail::triangle_of<false, K>(x);
}

/// Each number as a row of `N` elements, 1 at that place and 0 elsewhere; all 0 for a number that is none of 0 to
/// `N - 1`: `one_hot<10>(labels)`, `one_hot<10, double>(labels)`. *Mandates* integers. *Returns* (..., N).
template <int N, tensor_element T = float, class E, detail::only_if<expression<E>> = 0>
constexpr auto one_hot(const E& x) {
  static_assert(N >= 0, "[onto.shape] one_hot: a row has 0 elements or more");
  return make<op::one_hot<T, N>>(expand_dims<-1>(x));
}

}  // namespace onto
