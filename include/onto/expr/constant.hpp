// SPDX-License-Identifier: BSL-1.0
// Constants and scalars: values in the program.
#pragma once

#include <onto/core/message.hpp>
#include <onto/expr/expression.hpp>
#include <onto/tensor/tensor.hpp>

#include <cstddef>
#include <cstdio>

namespace onto {

namespace op {

/// A leaf that holds values. Its element type and shape are the node's own.
struct leaf {
  static constexpr int cost = 0;
  static constexpr kernel_set kernels{all_elements, all_elements};
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents*, int) { return {}; }
  ONTO_END_RUNS_ONCE
};
struct constant : leaf {
  static constexpr op_kind kind = op_kind::constant;
  static constexpr std::string_view name = "Const";
};
struct scalar : leaf {
  static constexpr op_kind kind = op_kind::scalar;
  static constexpr std::string_view name = "Scalar";
};

}  // namespace op

/// A constant: values in the program, with a name (an identity) or without.
template <class Name, tensor_element T, int... Dims>
struct constant_node : detail::stateful_expression {
  using element_type = T;
  using ops = detail::op_list<>;
  static constexpr element type = element_of<T>;

  static constexpr detail::node_facts make_facts() {
    detail::node_facts f;
    f.type = type;
    f.shape = extents(shape<Dims...>{});
    f.id = detail::hash_extents(detail::hash_mix(detail::hash_text(Name::value), 0xc0 + static_cast<unsigned>(type)),
                                f.shape);
    f.stateful = Name::value.empty();
    return f;
  }
  static constexpr detail::node_facts facts = make_facts();

  explicit constant_node(detail::state_ref s) : detail::stateful_expression(static_cast<detail::state_ref&&>(s)) {}

  template <class Builder>
  static constexpr int put(Builder& b, place scope, bool alone, int parent, int child) {
    return b.leaf(parent, child, facts, op_info_of<op::constant>, alone ? scope : place{}, Name::value);
  }
};

/// One value, written beside a tensor: `2.0f * x`.
template <tensor_element T>
struct scalar_node : detail::stateful_expression {
  using element_type = T;
  using ops = detail::op_list<>;
  static constexpr element type = element_of<T>;
  static constexpr detail::node_facts facts{type, extents{}, 0x5ca1a0 + static_cast<unsigned>(type), true, 1};

  /// Kernels are given a scalar in the type they compute in.
  explicit scalar_node(T value)
      : detail::stateful_expression(detail::scalar_state(static_cast<computed_of<T>>(value))) {}

  template <class Builder>
  static constexpr int put(Builder& b, place, bool, int parent, int child) {
    return b.leaf(parent, child, facts, op_info_of<op::scalar>, place{}, std::string_view{});
  }
};

namespace detail {
template <class T, int... Dims, class Name>
auto make_constant(Name, const void* values, std::size_t bytes, const extents& e) {
  return constant_node<Name, T, Dims...>{constant_state(values, static_cast<std::int64_t>(bytes), e)};
}
template <class T, std::size_t... Dims, class Name>
auto make_array_constant(Name name, const void* values) {
  return make_constant<T, static_cast<int>(Dims)...>(name, values, (Dims * ... * sizeof(T)),
                                                     extents(shape<static_cast<int>(Dims)...>{}));
}
}  // namespace detail

/// A constant with the shape of the nested list: `constant<"c">({{1.f, 2.f}, {3.f, 4.f}})`.
template <fixed_string Name, tensor_element T>
auto constant(T value) {
  return detail::make_array_constant<T>(detail::spelled<Name>(), &value);
}
template <fixed_string Name, tensor_element T, std::size_t N>
auto constant(const T (&v)[N]) {
  return detail::make_array_constant<T, N>(detail::spelled<Name>(), v);
}
template <fixed_string Name, tensor_element T, std::size_t N, std::size_t M>
auto constant(const T (&v)[N][M]) {
  return detail::make_array_constant<T, N, M>(detail::spelled<Name>(), v);
}
template <fixed_string Name, tensor_element T, std::size_t N, std::size_t M, std::size_t K>
auto constant(const T (&v)[N][M][K]) {
  return detail::make_array_constant<T, N, M, K>(detail::spelled<Name>(), v);
}
/// A constant with the elements of a tensor.
template <fixed_string Name, tensor_element T, int... Dims>
auto constant(const tensor<T, Dims...>& t) {
  return detail::make_constant<T, Dims...>(detail::spelled<Name>(), detail::expect_values(t).data(),
                                           t.size() * sizeof(T), t.extent_values());
}

/// A constant without a name: a new one each time it is written.
template <tensor_element T>
auto constant(T value) {
  return constant<"">(value);
}
template <tensor_element T, std::size_t N>
auto constant(const T (&v)[N]) {
  return constant<"">(v);
}
template <tensor_element T, std::size_t N, std::size_t M>
auto constant(const T (&v)[N][M]) {
  return constant<"">(v);
}
template <tensor_element T, std::size_t N, std::size_t M, std::size_t K>
auto constant(const T (&v)[N][M][K]) {
  return constant<"">(v);
}
template <tensor_element T, int... Dims>
auto constant(const tensor<T, Dims...>& t) {
  return constant<"">(t);
}

namespace detail {

template <class S>
concept scalar_value = is_number<S>;

// long double holds every number of the types that scalars have; it is spelled with as many digits as they need.
ONTO_BEGIN_RUNS_ONCE
[[noreturn]] ONTO_COLD inline void throw_lossy_scalar(long double value, bool is_integer, element to) {
  char spelled[48];
  std::snprintf(spelled, sizeof spelled, "%.*Lg", is_integer ? 20 : 15, value);
  fail<invalid_argument_error>(message("[onto.element] the scalar ")
                               << spelled << " cannot be converted to " << name_of(to)
                               << " without loss; write it in that type or convert the tensor with cast<T>(x)");
}
ONTO_END_RUNS_ONCE

/// The scalar `value` as a `T`. *Throws* `invalid_argument_error` where that would lose something.
template <tensor_element T, scalar_value S>
scalar_node<T> lossless_scalar(S value) {
  if constexpr (std::is_same_v<S, T>) {
    return scalar_node<T>{value};
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<S, bool>) {
    throw_lossy_scalar(static_cast<long double>(value), std::is_integral_v<S>, element_of<T>);
  } else {
    // Compared in long double, which holds every floating-point number and 64 bit integer; NaN stays NaN.
    const T converted = static_cast<T>(value);
    const bool in_range =
        is_floating(element_of<T>) ||
        (static_cast<long double>(value) >= static_cast<long double>(std::numeric_limits<T>::lowest()) &&
         static_cast<long double>(value) <= static_cast<long double>(std::numeric_limits<T>::max()));
    if (!in_range || (value == value && static_cast<long double>(converted) != static_cast<long double>(value)))
      throw_lossy_scalar(static_cast<long double>(value), std::is_integral_v<S>, element_of<T>);
    return scalar_node<T>{converted};
  }
}

}  // namespace detail

}  // namespace onto
