// SPDX-License-Identifier: BSL-1.0
// Matrix products on the CPU: by the built-in product, or by the library that a program is configured with. Transposes
// are a matter of strides.
#pragma once

#include <onto/backend/cpu/blas.hpp>
#include <onto/backend/cpu/copy.hpp>
#include <onto/backend/cpu/gemm.hpp>
#include <onto/backend/cpu/gemm_batch.hpp>
#include <onto/backend/cpu/onednn.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/kernel/layout.hpp>
#include <onto/kernel/workspace.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace onto::detail {

// Integers are multiplied unsigned, so that they wrap around.
template <class T, bool Integer = std::is_integral_v<T>>
struct wrapping {
  using type = T;
};
template <class T>
struct wrapping<T, true> {
  using type = std::make_unsigned_t<T>;
};

/// Who multiplies.
enum class matmul_library { builtin, cblas, onednn };

#if defined(ONTO_HAS_CBLAS)
inline constexpr bool has_cblas = true;
#else
inline constexpr bool has_cblas = false;
#endif
#if defined(ONTO_HAS_ONEDNN)
inline constexpr bool has_onednn = true;
#else
inline constexpr bool has_onednn = false;
#endif

template <class T>
inline constexpr matmul_library chosen_library = (std::is_same_v<T, float> && has_onednn)    ? matmul_library::onednn
                                                 : (std::is_floating_point_v<T>&& has_cblas) ? matmul_library::cblas
                                                                                             : matmul_library::builtin;

#if defined(ONTO_HAS_CBLAS) || defined(ONTO_HAS_ONEDNN)
/// Whether the addend is what is in the result's memory.
template <class T>
bool adds_in_place(std::int64_t m, std::int64_t n, const gemm_target<T>& to) {
  const matrix_view<T>& from = to.addend;
  return from.data == to.data && (m == 1 || from.row == to.row) && (n == 1 || from.column == 1);
}

/// to = relu(alpha * a × b + beta * addend) by a library, with every extent at least 1.
template <class T, matmul_library Library>
void multiply_with_library(thread_pool& pool, std::int64_t m, std::int64_t n, std::int64_t k, const matrix_view<T>& a,
                           const matrix_view<T>& b, const gemm_target<T>& to) {
  // The library adds what is in the result's memory; an addend elsewhere, or a bias, is added with relu in one pass.
  const auto multiply = [](std::int64_t rows, std::int64_t columns, std::int64_t depth, const matrix_view<T>& left,
                           const matrix_view<T>& right, gemm_target<T> part) {
    const bool in_place = part.addend.data != nullptr && adds_in_place(rows, columns, part);
    const T beta = in_place ? part.beta : T{0};
#if defined(ONTO_HAS_ONEDNN)
    if constexpr (Library == matmul_library::onednn)
      multiply_with_onednn(rows, columns, depth, part.alpha, left, right, beta, part.data, part.row);
#endif
#if defined(ONTO_HAS_CBLAS)
    if constexpr (Library == matmul_library::cblas)
      multiply_with_blas<T>(static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(depth), part.alpha,
                            left, right, beta, part.data);
#endif
    if (in_place) part.addend.data = nullptr;
    part.alpha = 1;
    if (part.addend.data != nullptr || part.relu) best_gemm_epilogue<T>()(part, rows, columns, part.data, part.row);
  };
  if constexpr (Library == matmul_library::onednn)
    run_partitioned(pool, pool.size(), m, n, k, a, b, to, {5, 12},
                    multiply);  // measured: it likes few rows better than few columns
  else
    multiply(m, n, k, a, b, to);  // on its own threads
}
#endif

/// The products, in multiplications, up to which the built-in is as fast: 512 x 512 x 512 beside oneDNN, which takes
/// 7 MB for its code besides. Measured in docs/measurements/matmul.md.
template <matmul_library Library>
inline constexpr std::int64_t library_pays = Library == matmul_library::onednn ? std::int64_t{1} << 27 : 4096;

/// An addend of several products is repeated up to so many elements, which a cache holds.
inline constexpr std::int64_t repeated_addend = 2048;

/// The kernel of matrix products: `relu(alpha * a × b + beta * addend)`. That of float takes half and bfloat16 too.
/// `Library` is an argument so that files with different libraries have two functions, not two definitions of one.
template <class T, matmul_library Library = chosen_library<T>>
void cpu_matmul(thread_pool& pool, const kernel_call& call) {
  using U = typename wrapping<T>::type;
  const extents& space = call.space;
  if (space.size() <= 0) return;
  if constexpr (std::is_same_v<T, float>)
    if (is_half_precision(call.out.type)) return call.half_precision->matmul(pool, call, &cpu_matmul<T, Library>);
  const int row = space.rank - 2, column = space.rank - 1;
  std::int64_t m = space.dims[row];
  const std::int64_t n = space.dims[column], k = call.inner, total = space.size();
  const bool adds = call.form.beta != 0;
  const auto matrix = [&](const operand_view& v) {
    if (!v.data) return matrix_view<U>{nullptr, 0, 0};  // of no elements
    return matrix_view<U>{static_cast<const U*>(v.data), v.stride[row], v.stride[column]};
  };
  const matrix_view<U> a = matrix(call.in[0]), b = matrix(call.in[1]);
  gemm_target<U> to{static_cast<U*>(call.out.data),
                    n,
                    static_cast<U>(static_cast<T>(call.form.alpha)),
                    static_cast<U>(static_cast<T>(call.form.beta)),
                    {nullptr, 0, 0},
                    call.form.relu};
  if (adds) to.addend = matrix(call.in[2]);
  if (row == 0 && total * k <= tiny_product) return gemm(pool, m, n, k, a, b, to);

  // Matrices of a that lie below each other and meet the same b are one higher matrix.
  extents batches_of = space;
  batches_of.rank = row;
  const operand_view& addend = call.in[adds ? 2 : 0];
  strided_layout<3> l;
  l.rank = 0;
  if (row > 0) l = coalesce<3>(batches_of, {call.in[0].stride, call.in[1].stride, addend.stride});
  for (; l.rank > 0; --l.rank) {
    const int d = l.rank - 1;
    if (l.extent[d] != 1 &&
        (l.stride[1][d] != 0 || l.stride[0][d] != m * a.row || (adds && l.stride[2][d] != m * to.addend.row) ||
         m * l.extent[d] > std::numeric_limits<int>::max()))
      break;
    m *= l.extent[d];
  }
  // So are some of those that only their addend keeps apart, one for all: it is repeated for as many.
  alignas(64) U addends[repeated_addend];
  const std::int64_t products = total / (m * n);
  std::int64_t together = 1;
  if (adds && l.rank == 1 && l.stride[0][0] == m * a.row && l.stride[1][0] == 0 && l.stride[2][0] == 0)
    together = least(greatest(repeated_addend / (m * n), 1), products);
  if (together > 1) {
    for (std::int64_t i = 0; i < m * together; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        addends[i * n + j] =
            i < m ? to.addend.data[i * to.addend.row + j * to.addend.column] : addends[(i - m) * n + j];
    to.addend = {addends, n, 1};
    l.extent[0] = divide_up(products, together);
    l.stride[0][0] *= together;
  }

  const bool side_by_side = l.rank == 1 && together == 1 && products >= least_side_by_side && k > 0 &&
                            greatest(m * k, greatest(k * n, m * n)) <= side_by_side_matrix;
  auto multiply = [&](std::int64_t lo, std::int64_t hi) {
    if (side_by_side)
      return gemm_batch<U>{m, n, k, a, b, to, {l.stride[0][0], l.stride[1][0], l.stride[2][0]}}.run(lo, hi);
    for (; lo < hi; ++lo) {
      const auto at = [&](int operand) { return offset_of(l.rank, l.extent, l.stride[operand], lo); };
      matrix_view<U> left = a, right = b;
      gemm_target<U> c = to;
      c.data += lo * together * m * n;
      const std::int64_t rows = m * least(together, products - lo * together);
      if (k > 0) {  // else they have no elements, and no address
        left.data += at(0);
        right.data += at(1);
      }
      if (adds) c.addend.data += at(2);
#if defined(ONTO_HAS_CBLAS) || defined(ONTO_HAS_ONEDNN)
      if constexpr (Library != matmul_library::builtin) {
        if (k > 0 && rows * n * k > library_pays<Library>) {
          multiply_with_library<U, Library>(pool, rows, n, k, left, right, c);
          continue;
        }
      }
#endif
      gemm(pool, rows, n, k, left, right, c);
    }
  };
  // Small products are shared out whole; a large one has all threads to itself.
  const std::int64_t batches = divide_up(products, together), work = together * m * n * (k > 0 ? k : 1);
  if (batches > 1 && (work <= (std::int64_t{1} << 18) ||
                      (Library != matmul_library::cblas && batches >= 2 * std::int64_t{pool.size()})))
    split(pool, batches, (std::int64_t{1} << 17) / work + 1, multiply);
  else
    multiply(0, batches);
}

}  // namespace onto::detail
