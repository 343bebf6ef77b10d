// SPDX-License-Identifier: BSL-1.0
// Towers: the same function for each device of a list, and what joins the results.
#pragma once

#include <onto/core/hana.hpp>
#include <onto/device/world.hpp>
#include <onto/expr/data.hpp>
#include <onto/expr/scope.hpp>
#include <onto/expr/shape_check.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/concat.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace onto {

namespace op {

/// An operand by a number that is known to the compiler, so that it needs no scalar.
template <int Number>
struct divide_by : detail::packed_elementwise<floating_elements> {
  static constexpr std::string_view name = "Div";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    return math::divide(x, math::splat<T>(Number));
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto) {
    return make<divide_by>(g);
  }
};

}  // namespace op

namespace detail {

template <class... D>
struct place_list {};

/// The places that a list names, or void where it is no list of places.
template <class List>
struct places_of {
  using type = void;
};
template <template <class...> class List, class... Item>
  requires(names_place<Item>&&...)
struct places_of<List<Item...>> {
  using type = place_list<typename place_named<Item>::type...>;
};

// One struct a mistake, as in shape_check.hpp.
template <class List>
struct not_a_list_of_places : mistake {
  static constexpr bool ok = sizeof(List) == 0;
  static_assert(ok == true,
                "[onto.towers] the first argument is no list of places; write hana::tuple_t<gpu<0>, gpu<1>>");
};
template <class List>
struct towers_of_no_places : mistake {
  static constexpr bool ok = sizeof(List) == 0;
  static_assert(ok == true, "[onto.towers] the list of places is empty; name one at least: hana::tuple_t<gpu<0>>");
};
template <class F>
struct tower_takes_no_place : mistake {
  static constexpr bool ok = sizeof(F) == 0;
  static_assert(ok == true, "[onto.towers] the function takes no place; write [](auto place) { return ...; }");
};
// Without the place in it, it is told once, not once a place.
template <class Result>
struct tower_is_no_expression : mistake {
  static constexpr bool ok = std::is_same_v<Result, mistake>;
  static_assert(ok == true, "[onto.towers] what the function returns is no expression; return one, for every place");
};

/// Several expressions, as `gradients` gives them.
template <class Result>
concept several = is_tuple_of_expressions<Result>;

/// `(f(), returns_nothing{})` is what `f()` returns, and where that is void, a `returns_nothing`.
struct returns_nothing {
  template <class Result>
  friend constexpr Result&& operator,(Result&& r, returns_nothing) {
    return static_cast<Result&&>(r);
  }
};

template <class Place, class Result>
constexpr auto place_tower(const Result& r) {
  if constexpr (expression<Result> || several<Result>) {
    return on<Place>(r);
  } else {
    return typename tower_is_no_expression<Result>::result{};
  }
}

/// A function whose result is found by compiling its body. It is called without asking first whether it can be: clang
/// (15) would report a mistake in the body a second time to whoever asks.
template <class F>
concept generic_function = std::is_class_v<F> && !expression<F> && !requires {
  &F::operator();
};

template <class F, class Place>
concept takes_place = generic_function<F> || std::invocable<const F&, Place>;

/// One tower. A function that does not look at the place need not take it.
template <class Place, class F>
constexpr auto build_tower(const F& f) {
  if constexpr (takes_place<F, Place>) {
    return place_tower<Place>((f(Place{}), returns_nothing{}));
  } else if constexpr (std::invocable<const F&>) {
    return place_tower<Place>((f(), returns_nothing{}));
  } else {
    return typename tower_takes_no_place<F>::result{};
  }
}

template <class F, class... Place>
constexpr auto build_towers(const F& f, place_list<Place...>) {
  // Braces: the towers are built in the order of the list.
  return boost::hana::tuple<decltype(build_tower<Place>(f))...>{build_tower<Place>(f)...};
}

}  // namespace detail

/// The same computation on each device of a list: `towers(hana::tuple_t<gpu<0>, gpu<1>>, f)` holds
/// `on<gpu<0>>(f(gpu<0>{}))` and `on<gpu<1>>(f(gpu<1>{}))`. The list holds types or objects, as `world_of` takes them.
/// `place.index` is a constant in `f(auto place)`; an `f` without parameters is called as it is. *Mandates* at least
/// one place, and from `f` an expression for each, or a `std::tuple` of them, as `value_and_gradient` gives. *Returns*
/// a `hana::tuple` of expressions, in the order of the list: `add_n`, `mean`, `concat` and `fetches` take it; of tuples
/// `add_n` and `mean`, which join the first of each, the second of each, and so on.
template <class List, class F>
constexpr auto towers(const List&, const F& f) {
  using places = typename detail::places_of<List>::type;
  if constexpr (std::is_void_v<places>) {
    return boost::hana::tuple<typename detail::not_a_list_of_places<List>::result>{};
  } else if constexpr (std::is_same_v<places, detail::place_list<>>) {
    return boost::hana::tuple<typename detail::towers_of_no_places<List>::result>{};
  } else {
    return detail::build_towers(f, places{});
  }
}

namespace detail {
/// `Op` over the towers. Not by `hana::unpack`: a compiler that reports a mistake prints the way through it.
template <class Op, class... E, std::size_t... K>
constexpr auto join_towers(const boost::hana::tuple<E...>& towers, std::index_sequence<K...>) {
  constexpr int count = static_cast<int>(sizeof...(E));
  if constexpr (count <= 64) {
    return make<Op>(boost::hana::at_c<K>(towers)...);
  } else {
    return typename too_many_operands<count>::result{};
  }
}

/// The towers' expressions of one number.
template <std::size_t Number, class... Several, std::size_t... K>
constexpr auto each_of_towers(const boost::hana::tuple<Several...>& towers, std::index_sequence<K...>) {
  return boost::hana::tuple<std::tuple_element_t<Number, Several>...>{
      std::get<Number>(boost::hana::at_c<K>(towers))...};
}
/// A `std::tuple` of what `join` makes of the first of each tower, the second of each, and so on.
template <class... Several, std::size_t... Number, class Join>
constexpr auto join_several(const boost::hana::tuple<Several...>& towers, std::index_sequence<Number...>, Join join) {
  return std::tuple{join(each_of_towers<Number>(towers, std::index_sequence_for<Several...>{}))...};
}
}  // namespace detail

/// The sum of towers: `add_n(towers(devices, f))`. One tower is joined too, here and below.
template <expression First, expression... More>
constexpr auto add_n(const boost::hana::tuple<First, More...>& towers) {
  return detail::join_towers<op::add_n>(towers, std::index_sequence_for<First, More...>{});
}

/// The mean of towers, element by element: the sum divided by their number.
/// *Mandates* 1 to 64 towers of equal extents, as far as they are known, of float or double.
template <expression First, expression... More>
constexpr auto mean(const boost::hana::tuple<First, More...>& towers) {
  return make<op::divide_by<1 + static_cast<int>(sizeof...(More))>>(add_n(towers));
}

template <detail::several First, detail::several... More>
constexpr auto add_n(const boost::hana::tuple<First, More...>& towers) {
  return detail::join_several(towers, std::make_index_sequence<std::tuple_size_v<First>>{},
                              [](const auto& t) { return add_n(t); });
}
/// Of towers that give several, as gradients: the mean of each, a `std::tuple`.
template <detail::several First, detail::several... More>
constexpr auto mean(const boost::hana::tuple<First, More...>& towers) {
  return detail::join_several(towers, std::make_index_sequence<std::tuple_size_v<First>>{},
                              [](const auto& t) { return mean(t); });
}

/// Towers side by side along `Axis`: `concat<0>(towers(devices, f))` puts the shares of a batch together.
template <int Axis, expression First, expression... More>
constexpr auto concat(const boost::hana::tuple<First, More...>& towers) {
  return detail::join_towers<op::concat<detail::axis_in<Axis, First>>>(towers,
                                                                       std::index_sequence_for<First, More...>{});
}

}  // namespace onto
