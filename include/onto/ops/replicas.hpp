// SPDX-License-Identifier: BSL-1.0
// Data-parallel training: each tower has variables of its own, replicas, and all of them take one step, by the mean of
// their gradients. Over tasks of a cluster that mean is an all-reduce.
#pragma once

#include <onto/ops/minimize.hpp>
#include <onto/ops/towers.hpp>

namespace onto {

namespace detail {

// One struct a mistake, as in shape_check.hpp.
template <class W>
struct only_variables_have_replicas : mistake {
  static constexpr bool ok = sizeof(W) == 0;
  static_assert(ok == true,
                "[onto.optimizer] replica(place, w) is of a variable; make one with variable<\"w\", T, ...>");
};
template <class Tower>
struct towers_are_not_alike : mistake {
  static constexpr bool ok = sizeof(Tower) == 0;
  static_assert(ok == true,
                "[onto.optimizer] the towers train variables of different shapes or element types, or not as many; "
                "minimize takes towers(places, f), with one function for all");
};
template <class Tower>
struct towers_share_a_variable : mistake {
  static constexpr bool ok = sizeof(Tower) == 0;
  static_assert(ok == true,
                "[onto.optimizer] towers train a variable that is not theirs alone; write replica(place, w) for it in "
                "the function, or minimize(optimizer, mean(towers)) for variables that all share");
};
template <class Tower>
struct scaled_losses_of_towers : mistake {
  static constexpr bool ok = sizeof(Tower) == 0;
  static_assert(ok == true,
                "[onto.optimizer] loss_scaling is for one loss; leave it out, or write minimize(optimizer, "
                "loss_scaling{}, mean(towers))");
};

/// "w/replica_1".
template <int Number, char... Letters, class Initial, class T, int... Dims>
constexpr auto make_replica(const variable_node<letters<Letters...>, Initial, T, Dims...>& w) {
  static_assert(Number < 1000, "[onto.optimizer] a variable has at most 1000 replicas");
  constexpr auto digit = [](int d) { return static_cast<char>('0' + d); };
  if constexpr (Number == 0)
    return w;
  else if constexpr (Number < 10)
    return variable_node<letters<Letters..., '/', 'r', 'e', 'p', 'l', 'i', 'c', 'a', '_', digit(Number)>, Initial, T,
                         Dims...>{w.state};
  else if constexpr (Number < 100)
    return variable_node<
        letters<Letters..., '/', 'r', 'e', 'p', 'l', 'i', 'c', 'a', '_', digit(Number / 10), digit(Number % 10)>,
        Initial, T, Dims...>{w.state};
  else
    return variable_node<letters<Letters..., '/', 'r', 'e', 'p', 'l', 'i', 'c', 'a', '_', digit(Number / 100),
                                 digit(Number / 10 % 10), digit(Number % 10)>,
                         Initial, T, Dims...>{w.state};
}

/// A tower counts its steps itself, so that it waits for none but the gradients.
template <int Number>
struct writes_in_tower : writes_always {
  template <class Loss>
  static constexpr auto steps_made() {
    return make_replica<Number>(detail::steps_made<Loss>());
  }
};

template <class Loss>
struct tower_of;
template <class Place, class E>
struct tower_of<placed_node<Place, E>> {
  /// By which the tower's part of the mean is derived: computed there.
  template <int Count>
  static constexpr auto part(const placed_node<Place, E>& loss) {
    return on<Place>(loss * rate_in<typename E::element_type>(c<1.0 / Count>));
  }
  template <class Loss, class W>
  static constexpr auto gradient_by(const Loss& loss, const W& w) {
    return on<Place>(gradient(loss, w));
  }
  template <class Step>
  static constexpr auto place(const Step& step) {
    return on<Place>(step);
  }
};

template <class A, class B>
inline constexpr bool are_replicas = (A::facts.type == B::facts.type && A::facts.shape == B::facts.shape);

/// Which mistake there is in the variables of two towers, or void.
template <class Tower, class ANumbers, class... A, class BNumbers, class... B>
constexpr auto replica_mistake(const tuple_places<ANumbers, A...>&, const tuple_places<BNumbers, B...>&) {
  if constexpr (sizeof...(A) != sizeof...(B)) {
    return std::type_identity<towers_are_not_alike<Tower>>{};
  } else {
    constexpr std::uint64_t ids[] = {A::facts.id..., 0};
    constexpr auto is_shared = [](std::uint64_t id) {
      for (std::size_t k = 0; k < sizeof...(A); ++k)
        if (ids[k] == id) return true;
      return false;
    };
    if constexpr ((is_shared(B::facts.id) || ...))
      return std::type_identity<towers_share_a_variable<Tower>>{};
    else if constexpr (!(are_replicas<A, B> && ...))
      return std::type_identity<towers_are_not_alike<Tower>>{};
    else
      return std::type_identity<void>{};
  }
}

template <class Tower, class Own>
constexpr auto first_mistake(const Own&) {
  if constexpr (Own::size == 0)
    return std::type_identity<nothing_to_train<Tower>>{};
  else
    return std::type_identity<void>{};
}
template <class Tower, class Own, class Next, class... More>
constexpr auto first_mistake(const Own& own, const Next& next, const More&... more) {
  if constexpr (std::is_void_v<typename decltype(replica_mistake<Tower>(own, next))::type>)
    return first_mistake<Tower>(own, more...);
  else
    return replica_mistake<Tower>(own, next);
}

/// Not a lambda where it is used, in decltype: clang++ 14 breaks down over one in a precompiled header.
template <class Tower, class Variables>
constexpr auto mistake_of_towers(const Variables& towers) {
  return towers.unpack([](const auto&... variables) { return first_mistake<Tower>(variables...); });
}

/// The sum of the gradients by variable `K` of each tower.
template <std::size_t K, class... Gradients>
constexpr auto sum_of_gradients(const Gradients&... towers) {
  if constexpr (sizeof...(Gradients) == 1)
    return (item<K>(towers), ...);
  else
    return add_n(earlier(item<K>(towers))...);
}
template <std::size_t... K, class... Gradients>
constexpr auto sums_of_gradients(std::index_sequence<K...>, const Gradients&... towers) {
  return plain(sum_of_gradients<K>(towers...)...);
}

template <class Tower, class Loss, class Variables>
constexpr auto gradients_of_tower(const Loss& part, const Variables& variables) {
  return variables.unpack([&](const auto&... w) { return plain(Tower::gradient_by(part, w)...); });
}

template <int Number, class Rule, class Settings, class Loss, class Sums, class Variables>
constexpr auto step_of_tower(const Rule& rule, const Settings& settings, const Loss& loss, const Sums& sums,
                             const Variables& variables) {
  return variables.unpack([&](const auto&... w) {
    return tower_of<Loss>::place(
        clip_and_finish(rule, settings, writes_in_tower<Number>{}, no_factor{}, loss, sums, sums, w...));
  });
}

template <std::size_t... T, class Rule, class Settings, class... Loss, class Variables>
constexpr auto step_of_towers(std::index_sequence<T...>, const Rule& rule, const Settings& settings,
                              const boost::hana::tuple<Loss...>& towers, const Variables& variables) {
  constexpr int count = static_cast<int>(sizeof...(T));
  const auto gradients = plain(gradients_of_tower<tower_of<Loss>>(
      tower_of<Loss>::template part<count>(boost::hana::at_c<T>(towers)), item<T>(variables))...);
  using first = std::remove_cvref_t<decltype(item<0>(variables))>;
  const auto sums = sums_of_gradients(std::make_index_sequence<first::size>{}, item<T>(gradients)...);
  const auto all = gradients.unpack([](const auto&... g) { return (g + ...); });
  return all.unpack([&](const auto&... g) {
    return group(
        mean(towers), g...,
        step_of_tower<static_cast<int>(T)>(rule, settings, boost::hana::at_c<T>(towers), sums, item<T>(variables))...);
  });
}

/// A step of all towers.
template <class Rule, class Settings, class First, class... More>
constexpr auto minimize_by(const Rule& rule, const Settings& settings,
                           const boost::hana::tuple<First, More...>& towers) {
  using scaling = std::remove_cvref_t<decltype(settings.scaling)>;
  if constexpr (any_ill_formed<First, More...>) {
    return ill_formed{};
  } else if constexpr (!std::is_same_v<scaling, no_modifier>) {
    return typename scaled_losses_of_towers<First>::result{};
  } else if constexpr (First::facts.shape.rank != 0) {
    return typename loss_is_not_one_number<shape_of_t<First>>::result{};
  } else if constexpr (!is_floating(First::facts.type)) {
    return typename nothing_to_derive<typename First::element_type>::result{};
  } else {
    const auto variables =
        plain(pick_trainable<First>(typename First::ops{}), pick_trainable<More>(typename More::ops{})...);
    using mistaken = typename decltype(mistake_of_towers<First>(variables))::type;
    if constexpr (!std::is_void_v<mistaken>)
      return typename mistaken::result{};
    else
      return step_of_towers(std::index_sequence_for<First, More...>{}, rule, settings, towers, variables);
  }
}

}  // namespace detail

/// The variable that one tower has in place of `w`, with the same first value: `w` itself in a place of index 0, then
/// "w/replica_1" and so on. `minimize(optimizer, towers(places, f))` keeps replicas the same.
template <class Place, expression W>
  requires(detail::names_place<Place>)
constexpr auto replica(const Place&, const W& w) {
  if constexpr (detail::is_variable<W>)
    return detail::make_replica<detail::place_named<Place>::type::index>(w);
  else
    return typename detail::only_variables_have_replicas<W>::result{};
}

}  // namespace onto
