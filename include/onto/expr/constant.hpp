// SPDX-License-Identifier: BSL-1.0
// Constants and scalars: values in the program.
#pragma once

#include <onto/core/message.hpp>
#include <onto/expr/expression.hpp>
#include <onto/tensor/tensor.hpp>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace onto {

namespace detail {
/// No constant expression calls this: the compiler shows the line where one does, and on it the sentence.
inline void must_not_be_constexpr(const char* /*sentence*/) {}
}  // namespace detail

namespace op {

/// A leaf that holds values. Its element type and shape are the node's own.
struct leaf {
  static constexpr int cost = 0;
  static constexpr kernel_set kernels = kernel_set::of(elements_and_text);
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
  using node = constant_node;
  using element_type = T;
  using ops = detail::op_list<>;
  static constexpr element type = element_of<T>;

  static constexpr detail::node_facts make_facts() {
    detail::node_facts f;
    f.type = type;
    f.shape = extents(onto::shape<Dims...>{});
    f.id = detail::hash_extents(detail::hash_mix(detail::hash_text(Name::value), 0xc0 + static_cast<unsigned>(type)),
                                f.shape);
    f.spelling = f.id;
    f.holds_values = Name::value.empty();
    return f;
  }
  static constexpr detail::node_facts facts = make_facts();

  explicit constant_node(detail::state_ref s) : detail::stateful_expression(static_cast<detail::state_ref&&>(s)) {}

  template <class Builder>
  static constexpr int put(Builder& b, place scope, bool alone, int parent, int child) {
    return b.leaf(parent, child, facts, op_info_of<op::constant>, alone ? scope : place{}, Name::value, scope);
  }
};

/// One value, written beside a tensor: `2.0f * x`.
template <tensor_element T>
struct scalar_node : detail::stateful_expression {
  using node = scalar_node;
  using element_type = T;
  using ops = detail::op_list<>;
  static constexpr element type = element_of<T>;
  static constexpr std::uint64_t id = 0x5ca1a0 + static_cast<unsigned>(type);
  static constexpr detail::node_facts facts{type, extents{}, id, id, true};

  /// Kernels are given a scalar in the type they compute in.
  constexpr explicit scalar_node(T value)
      : detail::stateful_expression(__builtin_is_constant_evaluated()
                                        ? detail::state_ref{}
                                        : detail::scalar_state(static_cast<computed_of<T>>(value))) {}

  template <class Builder>
  static constexpr int put(Builder& b, place, bool, int parent, int child) {
    return b.leaf(parent, child, facts, op_info_of<op::scalar>, place{}, std::string_view{});
  }
};

namespace detail {
/// What is in a constant: a number, or what a text is made of.
template <class T>
concept constant_value = tensor_element<T> || text_like<T>;

template <class T, int... Dims, class Name>
auto make_constant(Name, const void* values, std::size_t bytes, const extents& e) {
  return constant_node<Name, T, Dims...>{constant_state(values, static_cast<std::int64_t>(bytes), e)};
}

/// What a constant of texts holds: a tensor of them, as data that is kept.
template <class Texts>
struct constant_texts {
  static const Texts& at(const void* object) { return *static_cast<const Texts*>(object); }
  static const void* values(const void* object) { return at(object).data(); }
  static extents shape(const void* object) { return at(object).extent_values(); }
  static void destroy(const void* object) { at(object).~Texts(); }
  static bool same(const void* object, const void* other) { return same_values(at(object), at(other)); }
  static constexpr data_object kept{&values, &shape, &destroy, &same};
};
template <int... Dims, class Name>
auto text_constant(Name, tensor<text, Dims...>&& values) {
  using texts = tensor<text, Dims...>;
  state* s = new_state(0, sizeof(texts), true);
  s->object = ::new (const_cast<void*>(s->values)) texts(static_cast<texts&&>(values));
  s->refers_to = &constant_texts<texts>::kept;
  return constant_node<Name, text, Dims...>{state_ref(s)};
}

template <class T, std::size_t... Dims, class Name>
auto make_array_constant(Name name, const T* values) {
  if constexpr (text_like<T>) {
    tensor<text, static_cast<int>(Dims)...> t;
    for (text& each : t) each = text(*values++);
    return text_constant(name, static_cast<decltype(t)&&>(t));
  } else {
    return make_constant<T, static_cast<int>(Dims)...>(name, values, (Dims * ... * sizeof(T)),
                                                       extents(shape<static_cast<int>(Dims)...>{}));
  }
}
}  // namespace detail

/// A constant with the shape of the nested list: `constant<"c">({{1.f, 2.f}, {3.f, 4.f}})`, `constant<"s">("text")`,
/// `constant<"names">({"a", "b"})`.
template <fixed_string Name, detail::constant_value T>
auto constant(const T& value) {
  return detail::make_array_constant<T>(detail::spelled<Name>(), &value);
}
template <fixed_string Name, detail::constant_value T, std::size_t N>
auto constant(const T (&v)[N]) {
  return detail::make_array_constant<T, N>(detail::spelled<Name>(), v);
}
template <fixed_string Name, detail::constant_value T, std::size_t N, std::size_t M>
auto constant(const T (&v)[N][M]) {
  return detail::make_array_constant<T, N, M>(detail::spelled<Name>(), v[0]);
}
template <fixed_string Name, detail::constant_value T, std::size_t N, std::size_t M, std::size_t K>
auto constant(const T (&v)[N][M][K]) {
  return detail::make_array_constant<T, N, M, K>(detail::spelled<Name>(), v[0][0]);
}
/// A constant with the elements of a tensor.
template <fixed_string Name, tensor_element T, int... Dims>
auto constant(const tensor<T, Dims...>& t) {
  if constexpr (is_text(element_of<T>))
    return detail::text_constant(detail::spelled<Name>(), tensor<T, Dims...>(detail::expect_values(t)));
  else
    return detail::make_constant<T, Dims...>(detail::spelled<Name>(), detail::expect_values(t).data(),
                                             t.size() * sizeof(T), t.extent_values());
}

/// A constant without a name: a new one each time it is written.
template <detail::constant_value T>
auto constant(const T& value) {
  return constant<"">(value);
}
template <detail::constant_value T, std::size_t N>
auto constant(const T (&v)[N]) {
  return constant<"">(v);
}
template <detail::constant_value T, std::size_t N, std::size_t M>
auto constant(const T (&v)[N][M]) {
  return constant<"">(v);
}
template <detail::constant_value T, std::size_t N, std::size_t M, std::size_t K>
auto constant(const T (&v)[N][M][K]) {
  return constant<"">(v);
}
template <tensor_element T, int... Dims>
auto constant(const tensor<T, Dims...>& t) {
  return constant<"">(t);
}

namespace detail {

/// What is written in braces beside elements of `T`, with as many axes, and the constant that it is.
template <class T, int Rank>
struct braces {
  using list = typename values_list<T, Rank>::type;
};
template <class T>
struct braces<T, 1> {
  using list = std::initializer_list<listed_value<T>>;
};
template <class T, int... Dims>
auto constant_in_braces(shape<Dims...>, std::initializer_list<listed_value<T>> values) {
  tensor<T, Dims...> t(uninitialized, std::array<int, 1>{static_cast<int>(values.size())});
  T* to = t.data();
  for (const listed_value<T>& each : values) *to++ = each.value;
  return constant(t);
}
template <class T, int... Dims>
  requires(sizeof...(Dims) > 1)
auto constant_in_braces(shape<Dims...>, typename braces<T, static_cast<int>(sizeof...(Dims))>::list values) {
  return constant(tensor<T, Dims...>(values));
}

template <class S>
concept scalar_value = is_number<S>;

ONTO_BEGIN_RUNS_ONCE
[[noreturn]] ONTO_COLD inline void throw_scalar_out_of_range(const std::string& value, element to,
                                                             std::string_view op) {
  fail<invalid_argument_error>(message("[onto.element] ")
                               << op << (op.empty() ? "" : ": ") << "the scalar " << value << " is no " << name_of(to)
                               << "; write one that fits, or convert the tensor with cast<T>(x)");
}
ONTO_END_RUNS_ONCE

/// The scalar `value` as a `T`: beside floating-point elements it is rounded. *Throws* `invalid_argument_error` where
/// an integer does not fit, which names the operation `op`.
template <tensor_element T, scalar_value S>
constexpr scalar_node<T> scalar_beside(S value, std::string_view op = {}) {
  if (__builtin_is_constant_evaluated()) {
    if constexpr (std::is_same_v<T, bool>)
      must_not_be_constexpr("[onto.number] a bool in a constexpr expression: zeros<bool>(); or write const auto");
    else
      must_not_be_constexpr("[onto.number] a number in a constexpr expression: 2.0_c, c<1.0 / 3>; or write const auto");
  }
  if constexpr (!std::is_same_v<S, T> && std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (!holds<T>(value)) throw_scalar_out_of_range(std::to_string(value), element_of<T>, op);
  }
  return scalar_node<T>{static_cast<T>(value)};
}

/// Refuses a number in a constexpr expression before it is deep in one.
template <class S>
constexpr void expect_no_constant(const S& value) {
  if constexpr (scalar_value<S>) static_cast<void>(scalar_beside<double>(value));
}

}  // namespace detail

}  // namespace onto
