// SPDX-License-Identifier: BSL-1.0
// What converts to what among tensors, and what does not, as assertions the compiler checks.
#include <onto/tensor/npy.hpp>
#include <onto/tensor/print.hpp>
#include <onto/tensor/tensor.hpp>
#include <onto/tensor/tensor_ref.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

using namespace onto;

using matrix = tensor<float, dyn, dyn>;
using square = tensor<float, 2, 2>;
using row = tensor<float, dyn>;
using scalar = tensor<float>;

template <class From, class To>
inline constexpr bool converts = std::is_convertible_v<From, To>;
template <class From, class To>
inline constexpr bool makes = std::is_constructible_v<To, From>;

// The type says the element type, the rank and the extents.
static_assert(std::is_same_v<matrix::element_type, float>);
static_assert(matrix::rank == 2 && row::rank == 1 && scalar::rank == 0);
static_assert(square::declared == extents(shape<2, 2>{}));
static_assert(std::is_same_v<matrix::shape_type, shape<dyn, dyn>>);
static_assert(std::is_same_v<decltype(matrix{}.shape()), const shape_array<2>&>);
static_assert(std::is_convertible_v<decltype(matrix{}.shape()), const std::array<int, 2>&>);

// A tensor is a regular type, and moving it does not throw.
static_assert(std::is_default_constructible_v<square> && std::is_default_constructible_v<scalar>);
static_assert(std::is_copy_constructible_v<matrix> && std::is_copy_assignable_v<matrix>);
static_assert(std::is_nothrow_move_constructible_v<matrix> && std::is_nothrow_move_assignable_v<matrix>);

// Forgetting extents is implicit; learning them is explicit, because it is checked.
static_assert(converts<square, matrix>);
static_assert(converts<square, tensor<float, dyn, 2>>);
static_assert(!converts<matrix, square> && makes<matrix, square>);
static_assert(!converts<tensor<float, 2, dyn>, tensor<float, dyn, 2>>);

static_assert(std::is_assignable_v<matrix&, square> && !std::is_assignable_v<square&, matrix>);
static_assert(!std::is_assignable_v<square&, float> && std::is_assignable_v<scalar&, int>);

// Nothing converts between element types or ranks.
static_assert(!makes<matrix, tensor<double, dyn, dyn>>);
static_assert(!makes<tensor<std::int32_t, dyn>, tensor<std::int64_t, dyn>>);
static_assert(!makes<row, matrix> && !makes<matrix, row>);

// A tensor of rank 0 is a value both ways; no other tensor is.
static_assert(converts<scalar, float> && converts<float, scalar>);
static_assert(!makes<row, float> && !makes<square, float>);
static_assert(!converts<float, row>);
static_assert(!makes<float, matrix>);

// A vector makes a tensor of rank 1, or of a shape the type knows.
static_assert(converts<std::vector<float>, row> && converts<std::vector<float>, square>);
static_assert(!makes<std::vector<float>, matrix>);
static_assert(!makes<std::vector<double>, row>);

// A fraction is no value of an integer tensor.
static_assert(std::is_constructible_v<tensor<int, 2>, int, int>);
static_assert(!std::is_constructible_v<tensor<int, 2>, int, double>);
static_assert(std::is_constructible_v<tensor<float, 2>, int, double>);

// Elements are const where the tensor is, and there is one index per axis.
static_assert(std::is_same_v<decltype(std::declval<matrix&>()(0, 0)), float&>);
static_assert(std::is_same_v<decltype(std::declval<const matrix&>()(0, 0)), const float&>);
static_assert(std::is_invocable_v<matrix, int, std::size_t>);
static_assert(!std::is_invocable_v<matrix, int> && !std::is_invocable_v<matrix, int, int, int>);
static_assert(!std::is_invocable_v<matrix, int, float>);

// A reference is small and comes from whatever holds values next to each other.
static_assert(std::is_trivially_copyable_v<tensor_ref<float, dyn, dyn>>);
static_assert(converts<matrix, tensor_ref<float, dyn, dyn>> && converts<square, tensor_ref<float, 2, 2>>);
static_assert(converts<std::vector<float>, tensor_ref<float, dyn>>);
static_assert(converts<std::array<float, 4>, tensor_ref<float, 2, 2>>);
static_assert(converts<std::span<float>, tensor_ref<float, dyn>>);
static_assert(converts<const float (&)[2][2], tensor_ref<float, 2, 2>>);
static_assert(converts<float (&)[4], tensor_ref<float, 2, 2>>);
static_assert(!converts<matrix, tensor_ref<float, 2, 2>> && makes<matrix, tensor_ref<float, 2, 2>>);

// It is refused where the shape would be a guess, or the values are others.
static_assert(!makes<std::vector<float>, tensor_ref<float, dyn, dyn>>);
static_assert(!makes<std::vector<bool>, tensor_ref<bool, dyn>>);
static_assert(!makes<std::vector<double>, tensor_ref<float, dyn>>);
static_assert(!makes<float (&)[2][2], tensor_ref<double, 2, 2>>);
static_assert(!makes<matrix, tensor_ref<float, dyn>>);
static_assert(!makes<float*, tensor_ref<float, dyn>>);

// A reference becomes a tensor only when asked to: that copies.
static_assert(!converts<tensor_ref<float, 2, 2>, square> && makes<tensor_ref<float, 2, 2>, square>);

// Text and files.
static_assert(std::is_same_v<decltype(to_string(std::declval<const matrix&>())), std::string>);
static_assert(std::is_same_v<decltype(load_npy<float, 2, dyn>("")), tensor<float, 2, dyn>>);
