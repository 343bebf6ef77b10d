// SPDX-License-Identifier: BSL-1.0
// What makes tensors of no operand, and files of tensors, given what they take in the wrong place: each is one
// sentence.
#pragma once
#pragma GCC system_header  // so that messages leave out how its macros expand

#include <onto/expr/data.hpp>
#include <onto/expr/shape_check.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace onto {

namespace detail {

// One struct a mistake, as in shape_check.hpp.
template <class... T>
struct extents_are_arguments : mistake {
  static constexpr bool ok = sizeof...(T) > 99;
  static_assert(ok == true,
                "[onto.shape] extents are known to the compiler: zeros<float, 2, 3>(), ones<float, 2, 3>(), "
                "eye<float, 3>(), linspace<float, 5>(0, 1), iota<float, 5>(), fill<float, 2, 3>(7), "
                "random_normal<float, 2, 3>(seed); those of x are known to a run, too: zeros_like(x), iota_like(x)");
};
template <class... T>
struct iota_has_one_axis : mistake {
  static constexpr bool ok = sizeof...(T) > 99;
  static_assert(ok == true,
                "[onto.shape] iota has one axis, and numbers: iota<float, 15>(); of two axes reshape<3, 5>(iota<float, "
                "15>()), of those of x iota_like(x)");
};
template <class... T>
struct seed_is_an_argument : mistake {
  static constexpr bool ok = sizeof...(T) > 99;
  static_assert(ok == true,
                "[onto.operands] random numbers have a seed, an integer or an expression of one: "
                "random_normal<float, 2, 3>(seed), random_uniform<float, 5>(42)");
};
template <class... T>
struct numbers_are_standard : mistake {
  static constexpr bool ok = sizeof...(T) > 99;
  static_assert(
      ok == true,
      "[onto.operands] the one argument is the seed: random_normal<float, 3>(seed) has mean 0 and deviation 1, "
      "random_uniform<float, 3>(seed) is from 0 to 1; others are m + s * random_normal<float, 3>(seed)");
};
/// What numbers become that are expected nowhere, and expressions of them.
struct stray_number {
  template <class... X>
    requires((scalar_value<X> || number_in_type<X> || expression<X>)&&...)
  constexpr stray_number(const X&...) {}
};
template <class... X>
struct path_is_first : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.npy] the path is first: save_npy(\"a.npy\", t), or save_npy(\"a.npy\", evaluate(e))");
};
template <class... X>
struct elements_are_saved : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.npy] what is saved is a tensor, or a vector, an array or a span of its elements; make a tensor "
                "of it, or save_npy(\"a.npy\", evaluate(e))");
};
template <class Shape>
struct file_has_a_type : mistake {
  static constexpr bool ok = sizeof(Shape) == 0;
  static_assert(ok == true,
                "[onto.npy] element type and extents of a file are known to the compiler: load_npy<float, dyn, "
                "dyn>(\"a.npy\"), and with <onto/npz.hpp> load_npz<float, dyn>(\"a.npz\", \"w\")");
};

}  // namespace detail

// What is made of nothing, in extents that stand behind an element type.
#define ONTO_HAS_EXTENTS_IN_ITS_TYPE(word, mistake_of)                                                   \
  template <int... Dims>                                                                                 \
  constexpr auto word(detail::stray_number = {}, detail::stray_number = {}, detail::stray_number = {}) { \
    return typename detail::extents_are_arguments<shape<Dims...>>::result{};                             \
  }                                                                                                      \
  template <class T, int... Dims>                                                                        \
  constexpr auto word(detail::stray_number, detail::stray_number = {}, detail::stray_number = {}) {      \
    return typename mistake_of::result{};                                                                \
  }
ONTO_HAS_EXTENTS_IN_ITS_TYPE(zeros, detail::extents_are_arguments<T>)
ONTO_HAS_EXTENTS_IN_ITS_TYPE(ones, detail::extents_are_arguments<T>)
ONTO_HAS_EXTENTS_IN_ITS_TYPE(eye, detail::extents_are_arguments<T>)
ONTO_HAS_EXTENTS_IN_ITS_TYPE(iota, detail::extents_are_arguments<T>)
ONTO_HAS_EXTENTS_IN_ITS_TYPE(linspace, detail::extents_are_arguments<T>)
ONTO_HAS_EXTENTS_IN_ITS_TYPE(fill, detail::extents_are_arguments<T>)
// A mean and a deviation beside extents in the type, or extents.
#define ONTO_RANDOM_MISTAKE \
  std::conditional_t<(sizeof...(Dims) > 0), detail::numbers_are_standard<T>, detail::extents_are_arguments<T>>
ONTO_HAS_EXTENTS_IN_ITS_TYPE(random_uniform, ONTO_RANDOM_MISTAKE)
ONTO_HAS_EXTENTS_IN_ITS_TYPE(random_normal, ONTO_RANDOM_MISTAKE)
#undef ONTO_RANDOM_MISTAKE
#undef ONTO_HAS_EXTENTS_IN_ITS_TYPE
template <class T, int... Dims>
  requires(sizeof...(Dims) != 1 || std::is_same_v<T, bool>)
constexpr auto iota() { return typename detail::iota_has_one_axis<T>::result{}; }
template <tensor_element T, int... Dims>
constexpr auto linspace() {
  return typename detail::extents_are_arguments<T>::result{};
}
template <tensor_element T, int... Dims>
constexpr auto fill() {
  return typename detail::extents_are_arguments<T>::result{};
}
template <tensor_element T, int... Dims>
constexpr auto random_uniform() {
  return typename detail::seed_is_an_argument<T>::result{};
}
template <tensor_element T, int... Dims>
constexpr auto random_normal() {
  return typename detail::seed_is_an_argument<T>::result{};
}

template <class Path, class Data>
  requires(!std::is_convertible_v<const Path&, std::string>)
auto save_npy(const Path&, const Data&) { return typename detail::path_is_first<Path, Data>::result{}; }
template <class Data>
  requires(!detail::contiguous_elements<Data> && !(detail::is_tensor<Data> && requires(const Data& d) { d.values(); }))
auto save_npy(const std::string&, const Data&) { return typename detail::elements_are_saved<Data>::result{}; }
template <int... Dims>
auto load_npy(const std::string&) {
  return typename detail::file_has_a_type<shape<Dims...>>::result{};
}
template <int... Dims>
auto load_npz(const std::string&, std::string_view = {}) {
  return typename detail::file_has_a_type<shape<Dims...>>::result{};
}

}  // namespace onto
