// SPDX-License-Identifier: BSL-1.0
// Symbols: placeholders, fed at `run`, and variables, which live in the session.
#pragma once

#include <onto/expr/constant.hpp>
#include <onto/expr/feed_mistake.hpp>
#include <onto/expr/number.hpp>
#include <onto/expr/shape_check.hpp>
#include <onto/shape/broadcast.hpp>
#include <onto/tensor/tensor_ref.hpp>

#include <initializer_list>
#include <type_traits>

namespace onto {

namespace op {
struct placeholder : leaf {
  static constexpr op_kind kind = op_kind::placeholder;
  static constexpr std::string_view name = "Placeholder";
};
struct variable : leaf {
  static constexpr op_kind kind = op_kind::variable;
  static constexpr std::string_view name = "Variable";
  // As in TensorFlow: int32 state (counters, indices) stays in host memory.
  static constexpr kernel_set kernels{all_elements,
                                      static_cast<element_set>(all_elements & ~element_bit(element::int32))};
};
}  // namespace op

namespace detail {
/// A feed without its type.
struct feed_ref {
  std::uint64_t id;
  const void* data;
  extents shape;

  template <int Rank>
  ONTO_INLINE feed_ref(std::uint64_t symbol, const void* values, const shape_array<Rank>& dims)
      : id(symbol), data(values) {
    shape.rank = Rank;
    for (int k = 0; k < Rank; ++k) shape.dims[k] = dims[static_cast<std::size_t>(k)];
  }
};

/// A number that is fed, kept where no tensor has to be made for it.
template <class T>
struct one_value {
  T value;
  const T* data() const { return &value; }
};

/// Says which placeholder data of a wrong shape was for.
[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_feed(std::string_view name, const invalid_argument_error& e) {
  fail<invalid_argument_error>(message(e.what()) << "; it was fed to placeholder '" << name << "'");
}
}  // namespace detail

/// Data for a symbol: what `x = data` makes. Refers to the caller's memory.
template <class Symbol>
struct [[nodiscard]] feed : detail::feed_ref {};

/// A feed that was given a temporary, and keeps it.
template <class Symbol, class Data = typename Symbol::tensor_type>
struct [[nodiscard]] owning_feed : feed<Symbol> {
  Data owned;

  owning_feed(const detail::feed_ref& f, Data&& d) : feed<Symbol>{f}, owned(static_cast<Data&&>(d)) { refer(); }
  owning_feed(const owning_feed& o) : feed<Symbol>(o), owned(o.owned) { refer(); }
  owning_feed(owning_feed&& o) noexcept : feed<Symbol>(o), owned(static_cast<Data&&>(o.owned)) { refer(); }
  owning_feed& operator=(owning_feed o) noexcept {
    feed<Symbol>::operator=(o);
    owned = static_cast<Data&&>(o.owned);
    refer();
    return *this;
  }
  ~owning_feed() = default;

 private:
  void refer() { this->data = std::data(owned); }
};

namespace detail {
constexpr node_facts symbol_facts(std::string_view name, unsigned salt, element type, const extents& shape) {
  node_facts f;
  f.type = type;
  f.shape = shape;
  f.id = hash_extents(hash_mix(hash_text(name), salt + static_cast<unsigned>(type)), shape);
  f.spelling = f.id;
  return f;
}

/// The facts of a variable: its initial value is part of its type, and not of what it is.
template <class Initial>
constexpr node_facts variable_facts(std::string_view name, element type, const extents& shape) {
  node_facts f = symbol_facts(name, 0xa0, type, shape);
  if constexpr (!std::is_void_v<Initial>) {
    f.spelling = hash_mix(f.id, Initial::facts.spelling);
    f.spelled += Initial::facts.spelled;
  }
  return f;
}

// One struct a mistake, as in feed_mistake.hpp.
template <class Data>
struct variable_is_not_fed {
  using reported = void;
  static constexpr bool ok = sizeof(Data) == 0;
  static_assert(ok == true,
                "[onto.variable] a variable is not fed; write sess.run(assign(w, value)), or a placeholder");
};
template <class T, class Initial>
struct initial_value_is_of_another_type : mistake {
  static constexpr bool ok = sizeof(T) > 99;
  static_assert(ok == true, "[onto.element] a variable and its initial value differ in element type; use cast<T>(e)");
};
template <class Shape, class Initial>
struct initial_value_is_of_another_shape : mistake {
  static constexpr bool ok = sizeof(Shape) > 99;
  static_assert(ok == true,
                "[onto.shape] the initial value does not broadcast to the extents of the variable, which keeps them; "
                "give it these: reshape<8>(e), squeeze<1>(e)");
};
template <class Variable>
struct initial_value_is_of_its_shape : mistake {
  static constexpr bool ok = sizeof(Variable) == 0;
  static_assert(ok == true,
                "[onto.variable] a variable begins with an expression, a tensor, a list nested as its extents or one "
                "number: variable<\"w\", float, 2, 2>({{1, 2}, {3, 4}}), variable<\"w\", float, 3>(0.0f)");
};
}  // namespace detail

/// A symbol: no data, usable in constant expressions; `x = data` feeds it.
template <class Name, tensor_element T, int... Dims>
struct placeholder_node : detail::stateless_expression {
  static_assert(!Name::value.empty(), "[onto.name] a placeholder needs a name of at least one character");
  using node = placeholder_node;
  static_assert(extents(onto::shape<Dims...>{}).fits(sizeof(T)),
                "[onto.shape] a symbol has more than 2^63 - 1 bytes; use smaller extents");
  using element_type = T;
  using name = Name;
  using tensor_type = tensor<T, Dims...>;
  using ops = detail::op_list<>;
  static constexpr element type = element_of<T>;
  static constexpr detail::node_facts facts =
      detail::symbol_facts(Name::value, 0xf0, type, extents(onto::shape<Dims...>{}));

  template <class Builder>
  static constexpr int put(Builder& b, place scope, bool alone, int parent, int child) {
    return b.symbol(parent, child, facts, op_info_of<op::placeholder>, alone ? scope : place{}, Name::value);
  }

  /// Feeds a tensor without copying it. It must live until `run` returns.
  feed<placeholder_node> operator=(const tensor<T, Dims...>& t) const {
    return {detail::feed_ref(facts.id, t.data(), t.shape())};
  }

  /// Feeds a number. *Throws* `invalid_argument_error` where an integer does not fit.
  template <class S>
    requires(sizeof...(Dims) == 0 && detail::is_number<S> && detail::list_value<S, T>)
  owning_feed<placeholder_node, detail::one_value<T>>
  operator=(const S& number) const {
    try {
      return {{facts.id, nullptr, shape_array<0>{}}, {detail::element_from<T>(number)}};
    } catch (const invalid_argument_error& e) {
      detail::throw_feed(Name::value, e);
    }
  }

  /// Feeds a temporary, or a list: `x = {1, 2}`.
  owning_feed<placeholder_node> operator=(tensor<T, Dims...>&& t) const {
    const feed<placeholder_node> f = operator=(t);
    return {f, static_cast<tensor<T, Dims...>&&>(t)};
  }

  /// Feeds a nested list. *Throws* `invalid_argument_error` where it has another shape.
  owning_feed<placeholder_node> operator=(typename detail::values_list<T, static_cast<int>(sizeof...(Dims))>::type list)
      const requires(sizeof...(Dims) > 1) {
    try {
      return operator=(tensor<T, Dims...>(list));
    } catch (const invalid_argument_error& e) {
      detail::throw_feed(Name::value, e);
    }
  }

  /// Feeds a vector, an array, a span with a shape (`tensor_ref`) or a tensor of other static extents, without copying.
  template <class Data>
    requires std::is_constructible_v < tensor_ref<T, Dims...>,
  const Data& > feed<placeholder_node> operator=(const Data& data) const {
    try {
      const tensor_ref<T, Dims...> r(data);
      return {detail::feed_ref(facts.id, r.data(), r.shape())};
    } catch (const invalid_argument_error& e) {
      detail::throw_feed(Name::value, e);
    }
  }

  /// What is none of this.
  template <class Data>
    requires(!std::is_constructible_v<tensor_ref<T, Dims...>, const Data&> &&
             !std::is_convertible_v<const Data&, tensor<T, Dims...>>)
  feed<placeholder_node>
  operator=(const Data& data) const { return refuse(data); }

  /// An expression that a loop would put into a copy of the placeholder.
  template <expression E>
    requires(!std::is_same_v<E, placeholder_node>)
  constexpr ill_formed operator=(const E&) {
    static_cast<void>(static_cast<typename detail::expression_does_not_change<E>::reported*>(nullptr));
    return {};
  }

  /// A list of another nesting than the placeholder's rank, or of texts beside numbers.
  template <class V>
    requires((sizeof...(Dims) != 1 && std::is_arithmetic_v<V>) || (std::is_same_v<V, const char*> && !is_text(type)))
  feed<placeholder_node>
  operator=(std::initializer_list<V> list) const { return refuse(list); }
  template <class V>
    requires(sizeof...(Dims) != 2 && std::is_arithmetic_v<V>)
  feed<placeholder_node>
  operator=(std::initializer_list<std::initializer_list<V>> list) const { return refuse(list); }
  /// A list of rows that are ranges: vectors, no rows in braces.
  template <class Row, std::size_t N>
    requires(std::is_class_v<Row> && !detail::text_like<Row> && !detail::list_value<Row, T>)
  feed<placeholder_node>
  operator=(const Row (&rows)[N]) const { return refuse(rows); }
  /// A pointer in braces.
  feed<placeholder_node> operator=(const detail::pointer_in_braces& p) const { return refuse(p); }

  /// Feeds a temporary of these, and keeps it.
  template <class Data>
    requires(!std::is_reference_v<Data> && !std::is_const_v<Data> && !std::is_array_v<Data> &&
             std::is_constructible_v<tensor_ref<T, Dims...>, const Data&>)
  owning_feed<placeholder_node, Data>
  operator=(Data&& data) const {
    const feed<placeholder_node> f = operator=(data);
    return {f, static_cast<Data&&>(data)};
  }

 private:
  template <class Data>
  static feed<placeholder_node> refuse(const Data&) {
    using mistake = typename decltype(detail::feed_mistake<Data, tensor_type>())::type;
    static_cast<void>(static_cast<typename mistake::reported*>(nullptr));
    return {detail::feed_ref(facts.id, nullptr, shape_array<0>{})};
  }
};

namespace detail {
template <class T, int... Dims, class Name>
constexpr auto make_placeholder(Name) {
  return placeholder_node<Name, T, Dims...>{};
}
// Through a member: nvcc 13.0 repeats a type that names `Name`, where `Name` has no meaning, and stops with an internal
// error where the variable template itself calls a function (tests/unit/session/run.cpp).
template <fixed_string Name, class T, int... Dims>
struct named_placeholder {
  static constexpr auto value = make_placeholder<T, Dims...>(spelled<Name>());
};
}  // namespace detail

/// A symbol fed at `run`: `inline constexpr auto x = placeholder<"x", float, dyn, 3>;`
template <fixed_string Name, tensor_element T, int... Dims>
inline constexpr auto placeholder = detail::named_placeholder<Name, T, Dims...>::value;

/// State that lives in the session. `Initial` is the expression of its first value, or void.
template <class Name, class Initial, tensor_element T, int... Dims>
struct variable_node : detail::stateful_expression {
  static_assert(!Name::value.empty(), "[onto.name] a variable needs a name of at least one character");
  static_assert(!is_text(element_of<T>), "[onto.text] variables hold numbers; feed texts, or keep them in the program");
  using node = variable_node;
  static_assert(extents(onto::shape<Dims...>{}).fits(sizeof(T)),
                "[onto.shape] a symbol has more than 2^63 - 1 bytes; use smaller extents");
  using element_type = T;
  using name = Name;
  using initial = Initial;
  using symbol = variable_node<Name, void, T, Dims...>;
  using ops = detail::op_list<variable_node>;
  static constexpr element type = element_of<T>;
  static constexpr detail::node_facts facts =
      detail::variable_facts<Initial>(Name::value, type, extents(onto::shape<Dims...>{}));

  constexpr variable_node() = default;
  constexpr explicit variable_node(detail::state_ref s)
      : detail::stateful_expression(static_cast<detail::state_ref&&>(s)) {}

  template <class Builder>
  static constexpr int put(Builder& b, place scope, bool alone, int parent, int child) {
    return b.symbol(parent, child, facts, op_info_of<op::variable>, alone ? scope : place{}, Name::value);
  }

  /// What has its place in `assign`.
  template <class Data>
    requires(!std::is_same_v<Data, variable_node>)
  feed<variable_node>
  operator=(const Data&) const {
    static_cast<void>(static_cast<typename detail::variable_is_not_fed<Data>::reported*>(nullptr));
    return {detail::feed_ref(facts.id, nullptr, shape_array<0>{})};
  }

  /// The same of a list.
  feed<variable_node> operator=(const tensor<T, Dims...>&) const {
    static_cast<void>(static_cast<typename detail::variable_is_not_fed<tensor<T, Dims...>>::reported*>(nullptr));
    return {detail::feed_ref(facts.id, nullptr, shape_array<0>{})};
  }

  /// The variable with an initial value: an expression of its shape (or one that broadcasts to it).
  template <expression E>
  constexpr auto operator()(const E& e) const {
    if constexpr (E::facts.type != type)
      return typename detail::initial_value_is_of_another_type<T, typename E::element_type>::result{};
    else if constexpr (!broadcasts_into(extents(onto::shape<Dims...>{}), E::facts.shape))
      return typename detail::initial_value_is_of_another_shape<onto::shape<Dims...>, detail::shape_of_t<E>>::result{};
    else
      return variable_node<Name, E, T, Dims...>{detail::join_states(e.state.get())};
  }
  /// The variable with initial values: a tensor, a nested list, one value for all elements.
  // Compilers show the first line of what no constant expression calls.
  // clang-format off
  auto operator()(const tensor<T, Dims...>& t) const {  // [onto.number] constexpr: 0_c, zeros<...>(); or const auto
    return (*this)(constant(t));
  }
  template <class S>
    requires(sizeof...(Dims) > 0 && detail::is_number<S>)
  auto operator()(S value) const {  // [onto.number] constexpr: 0_c, zeros<...>(); or const auto
    constexpr bool whole = detail::list_value<S, T>;
    static_assert(whole, "[onto.element] a fraction is no integer; round the first value, or choose float");
    return (*this)(constant(detail::element_from<T>(value)));
  }
  // clang-format on
  /// The same with a number in the type: `0_c`.
  template <detail::number_in_type Number>
    requires(!std::is_same_v<T, bool>)
  constexpr auto operator()(Number) const {
    using value = decltype(detail::literal_beside<T, Number>());
    if constexpr (std::is_same_v<value, ill_formed>)
      return *this;
    else
      return variable_node<Name, value, T, Dims...>{};
  }

  /// An element.
  template <class... Index>
    requires(sizeof...(Index) > 1 && (std::is_integral_v<Index> && ...))
  constexpr auto operator()(Index...) const { return typename detail::expression_is_not_called<Index...>::result{}; }
  /// What is none of this.
  template <class Self = variable_node>
  constexpr auto operator()(detail::stray_argument = {}, detail::stray_argument = {}, detail::stray_argument = {},
                            detail::stray_argument = {}) const {
    return typename detail::initial_value_is_of_its_shape<Self>::result{};
  }
};

namespace detail {
template <class T, int... Dims, class Name>
constexpr auto make_variable(Name) {
  return variable_node<Name, void, T, Dims...>{};
}
template <fixed_string Name, class T, int... Dims>
struct named_variable {
  static constexpr auto value = make_variable<T, Dims...>(spelled<Name>());
};
}  // namespace detail

/// A variable: `variable<"w", float, 2, 2>({{1, 2}, {3, 4}})`, `variable<"b", float, 3>(0.0f)`.
template <fixed_string Name, tensor_element T, int... Dims>
inline constexpr auto variable = detail::named_variable<Name, T, Dims...>::value;

}  // namespace onto
