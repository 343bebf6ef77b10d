// SPDX-License-Identifier: BSL-1.0
// Results in memory of the caller's: a tensor, a tensor_ref, or elements without a shape, a span or a vector.
#pragma once

#include <onto/session/output_errors.hpp>
#include <onto/session/typed_run.hpp>
#include <onto/tensor/tensor_ref.hpp>

#include <span>
#include <tuple>
#include <type_traits>

namespace onto {
namespace detail {

/// What tensors held that take a result of another shape. It may be a feed of the run, so it lives as long.
class former_outputs {
 public:
  former_outputs() = default;
  former_outputs(const former_outputs&) = delete;
  former_outputs& operator=(const former_outputs&) = delete;
  ONTO_INLINE ~former_outputs() {
    if (first_) delete first_;
  }

  template <class Tensor>
  void keep(Tensor& of) {
    first_ = new kept<Tensor>(first_, of);
  }

 private:
  struct link {
    link* next;
    explicit link(link* n) : next(n) {}
    virtual ~link() { delete next; }
  };
  template <class Tensor>
  struct kept : link {
    Tensor former;
    kept(link* n, Tensor& of) : link(n), former(static_cast<Tensor&&>(of)) {}
  };
  link* first_ = nullptr;
};

template <class T, int... Dims>
ONTO_NOINLINE void take_shape(tensor<T, Dims...>& out, const extents& result, former_outputs& former) {
  if (!may_agree(result, tensor<T, Dims...>::declared)) throw_output(tensor<T, Dims...>::declared, result);
  tensor<T, Dims...> made(uninitialized, result);
  former.keep(out);
  out = static_cast<tensor<T, Dims...>&&>(made);
}

/// A tensor takes the result's shape; it keeps its memory where it has it.
template <class T, int... Dims>
ONTO_INLINE void* memory_for(tensor<T, Dims...>& out, const extents& result, former_outputs& former) {
  bool same = out.size() == static_cast<std::size_t>(result.size());
  const int* extent = result.dims;
  for (const int mine : out.shape()) same = same && mine == *extent++;
  if (!same) take_shape(out, result, former);
  return out.data();
}
template <class T, int... Dims>
ONTO_INLINE void* memory_for(const tensor_ref<T, Dims...>& out, const extents& result, former_outputs&) {
  if (!(out.extent_values() == result)) throw_output(out.extent_values(), result);
  return const_cast<T*>(out.data());
}
/// One element is a variable of its type.
template <tensor_element T>
ONTO_INLINE void* memory_for(T& out, const extents&, former_outputs&) {
  return &out;
}
template <class Range>
  requires(!is_tensor<Range> && !tensor_element<Range>)
ONTO_INLINE void* memory_for(Range& out, const extents& result, former_outputs&) {
  if constexpr (laid_out<Range> && !has_no_gaps<Range>) {
    const tensor_ref<std::remove_pointer_t<decltype(out.data())>, dyn, dyn> rows(out);
    if (!(rows.extent_values() == result)) throw_output(rows.extent_values(), result);
  } else if (static_cast<std::size_t>(std::size(out)) != static_cast<std::size_t>(result.size())) {
    extents given;
    given.push_back(static_cast<int>(std::size(out)));
    throw_output(given, result);
  }
  return std::data(out);
}

}  // namespace detail
}  // namespace onto

ONTO_BEGIN_RUNS_ONCE
namespace onto {
namespace detail {

template <class Result, class Out>
inline constexpr bool takes_result = requires(Out& out) {
  requires std::is_same_v<decltype(std::data(out)), typename Result::element_type*>;
  std::size(out);
  requires has_no_gaps<Out> || row_major_matrix<Out, typename Result::element_type>;
};
template <class T, int... Result, int... Dims>
inline constexpr bool takes_result<tensor<T, Result...>, tensor<T, Dims...>> = may_agree(shape<Result...>{},
                                                                                         shape<Dims...>{});
template <class T, int... Result, int... Dims>
inline constexpr bool takes_result<tensor<T, Result...>, tensor_ref<T, Dims...>> = may_agree(shape<Result...>{},
                                                                                             shape<Dims...>{});
template <class T>
inline constexpr bool takes_result<tensor<T>, T> = true;

template <class Result, class Out>
struct output_takes_no_result {
  using reported = void;
  static constexpr bool ok = sizeof(Out) == 0;
  static_assert(
      ok == true,
      "[onto.run] the output has another element type or shape than the result, is constant, or does not lie row by "
      "row; give a tensor of the result's type, a span of its elements, or of a single one a variable of its type");
};

/// Outputs, one for each fetch: pointers to what has a name, copies of views.
template <class... Out>
struct output_list {
  plain_tuple<Out...> of;
};

template <class Out>
inline constexpr bool is_view = false;
template <class T, int... Dims>
inline constexpr bool is_view<tensor_ref<T, Dims...>> = true;
template <class T, std::size_t N>
inline constexpr bool is_view<std::span<T, N>> = true;

/// How an output is kept until the run.
template <class Out>
using kept_output = std::conditional_t<is_view<std::remove_cvref_t<Out>>, std::remove_cvref_t<Out>, Out&>;

template <class>
inline constexpr bool is_tuple = false;
template <class... Out>
inline constexpr bool is_tuple<std::tuple<Out...>> = true;

/// The outputs that were given as `Outputs`: one, or a tuple of them.
template <class Outputs>
auto outputs_of(std::remove_reference_t<Outputs>& outputs) {
  using given = std::remove_cvref_t<Outputs>;
  static_assert(std::is_lvalue_reference_v<Outputs> || is_view<given> || is_tuple<given>,
                "[onto.run] the output is a temporary, and the result would be lost; give it a name");
  if constexpr (is_tuple<given>)
    return std::apply(
        [](auto&... each) {
          const void* const places[] = {&each...};
          throw_if_repeated(places, static_cast<int>(sizeof...(each)));
          return output_list<kept_output<std::remove_reference_t<decltype(each)>>...>{{{each}...}};
        },
        outputs);
  else
    return output_list<kept_output<std::remove_reference_t<Outputs>>>{{{outputs}}};
}

inline namespace ONTO_ABI {

/// A run whose results go into outputs.
template <class... E>
struct run_into_outputs {
  using typed = typed_run<E...>;

  /// Whether results go into such outputs.
  template <class... Out>
  static constexpr bool accepts(const output_list<Out...>*) {
    if constexpr (sizeof...(Out) == sizeof...(E))
      return first_misfit<Out...>() < 0;
    else
      return false;
  }
  /// Says why they do not.
  template <class... Out>
  static void refuse(const output_list<Out...>*) {
    constexpr bool one_each = sizeof...(Out) == sizeof...(E);
    static_assert(one_each, "[onto.run] there is one output for each fetch; give several as std::tie(a, b)");
    if constexpr (one_each) {
      constexpr auto misfit = static_cast<std::size_t>(first_misfit<Out...>());
      using result = std::tuple_element_t<misfit, typename typed::results>;
      using out = std::remove_reference_t<std::tuple_element_t<misfit, std::tuple<Out...>>>;
      static_cast<void>(static_cast<typename output_takes_no_result<result, out>::reported*>(nullptr));
    }
  }

  template <class Core, class Outputs, class... Symbols>
  static void run(Core& core, repeated_run* kept, const state* const* states, const Outputs& outputs,
                  const feed<Symbols>&... feeds) {
    if constexpr (accepts(static_cast<const Outputs*>(nullptr))) {
      given_memory<Outputs> given{outputs, {}};
      typed::issue(core, kept, states, &memory<given_memory<Outputs>>, &given, true, feeds...);
    } else {
      refuse(&outputs);
    }
  }

 private:
  /// The first output that does not take its result, or -1.
  template <class... Out>
  static constexpr int first_misfit() {
    int k = 0;
    const bool all = ((takes_result<result_of<E>, std::remove_reference_t<Out>> && (++k, true)) && ...);
    return all ? -1 : k;
  }

  template <class Outputs>
  struct given_memory {
    const Outputs& outputs;
    former_outputs former;
  };

  template <class Given>
  static void* memory(void* context, int fetch, const extents& shape) {
    Given& given = *static_cast<Given*>(context);
    void* found = nullptr;
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (void)((static_cast<int>(K) == fetch ? (found = memory_for(item<K>(given.outputs.of), shape, given.former), true)
                                           : false) ||
             ...);
    }
    (std::index_sequence_for<E...>{});
    return found;
  }
};

}  // namespace ONTO_ABI

}  // namespace detail

}  // namespace onto

ONTO_END_RUNS_ONCE
