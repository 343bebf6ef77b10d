// SPDX-License-Identifier: BSL-1.0
// Random programs for the property tests: `random_program<Seed, Open>()` is a list of expressions over a few
// placeholders. The same seed gives the same program with extents in the types and with extents known at run time.
#pragma once

#include <onto/convolution.hpp>
#include <onto/indexing.hpp>
#include <onto/scan.hpp>
#include <onto/sort.hpp>

#include <array>
#include <string>
#include <tuple>
#include <vector>

namespace onto_test {

using namespace onto;

/// A small generator of numbers for the compiler (splitmix64).
constexpr std::uint64_t mixed(std::uint64_t seed) {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// An expression and the shape it will really have, which its own type may not know.
template <class E, extents Shape>
struct term {
  static constexpr extents shape = Shape;
  using type = E;
  E e;
};

/// The shape of an operation over operands of these shapes.
template <class Op, extents... Shapes>
constexpr inferred infer() {
  const extents operands[] = {Shapes...};
  return Op::infer(operands, static_cast<int>(sizeof...(Shapes)));
}

/// The result of `e`, an operation over operands of the given shapes, as a term.
template <extents... Shapes, class E>
constexpr auto result(const E& e) {
  return term<E, infer<typename E::operation, Shapes...>().shape>{e};
}

template <class A, class B>
constexpr bool same_element = A::type::facts.type == B::type::facts.type;
template <class A>
constexpr bool floating = is_floating(A::type::facts.type);
template <class A, class B>
constexpr bool broadcasts = infer<op::add, A::shape, B::shape>().fault == shape_fault::none;
template <class A, class B>
constexpr bool multiplies = infer<op::matmul, A::shape, B::shape>().fault == shape_fault::none;

constexpr auto numbered_name(char kind, int number) {
  fixed_string<4> name("k00");
  name.data[0] = kind;
  name.data[1] = static_cast<char>('0' + number / 10);
  name.data[2] = static_cast<char>('0' + number % 10);
  return name;
}

/// One operation over one or two terms, chosen by `R`. What does not fit is something else that does.
template <std::uint64_t R, int Step, class A, class B>
constexpr auto random_operation(const A& a, const B& b) {
  using scalar = typename A::type::element_type;
  constexpr int choice = static_cast<int>(R % 30);
  constexpr int axis = A::shape.rank > 0 ? static_cast<int>(R / 30 % static_cast<unsigned>(A::shape.rank)) : 0;
  constexpr extents shape = A::shape;
  constexpr extents other = B::shape;
  if constexpr (!floating<A>) {  // int32
    return result<shape>(cast<float>(a.e));
  } else if constexpr (choice < 10 && same_element<A, B> && broadcasts<A, B>) {
    if constexpr (choice < 2)
      return result<shape, other>(a.e + b.e);
    else if constexpr (choice < 4)
      return result<shape, other>(a.e * b.e);
    else if constexpr (choice == 4)
      return result<shape, other>(a.e - b.e);
    else if constexpr (choice == 5)
      return result<shape, other>(maximum(a.e, b.e));
    else if constexpr (choice == 6)
      return result<shape, other>(minimum(b.e, a.e));
    else if constexpr (choice == 7)
      return result<infer<op::less, shape, other>().shape, shape, other>(where(a.e < b.e, a.e, b.e));
    else if constexpr (choice == 8)
      return result<shape, extents{}>(where(a.e > scalar(0.25), a.e, scalar(-1)));
    else
      return result<infer<op::mul, shape, other>().shape, shape>(a.e * b.e - a.e);
  } else if constexpr (choice < 14 && same_element<A, B> && multiplies<A, B>) {
    constexpr extents product = infer<op::matmul, shape, other>().shape;
    if constexpr (choice == 10)
      return result<product, extents{}>(matmul(a.e, b.e) * scalar(0.5));
    else if constexpr (choice == 11)
      return result<product, extents{}>(scalar(0.25) - matmul(a.e, b.e));
    else
      return result<shape, other>(matmul(a.e, b.e));
  } else if constexpr (choice < 14 && shape.rank == 2) {
    // alpha * transpose(a) a + beta * b, and a bias with relu, where they fit.
    constexpr extents turned = infer<op::permute<1, 0>, shape>().shape;
    constexpr extents square = infer<op::matmul, turned, shape>().shape;
    const auto product = matmul(transpose(a.e), a.e);
    // A sum that is larger than the product, where only the run knows it, is a kernel more.
    constexpr inferred added = infer<op::add, square, other>();
    if constexpr (same_element<A, B> && added.fault == shape_fault::none &&
                  (added.shape == square || A::type::facts.shape.is_static()))
      return result<infer<op::add, square, other>().shape>(relu(scalar(0.125) * product + scalar(-0.5) * b.e));
    else
      return result<turned, shape>(product);
  } else if constexpr (choice == 14) {
    return result<shape>(tanh(a.e));
  } else if constexpr (choice == 15) {
    return result<shape>(sigmoid(a.e));
  } else if constexpr (choice == 16) {
    return result<shape>(square(sin(a.e)));
  } else if constexpr (choice == 17) {
    return result<shape, extents{}>(a.e * scalar(0.75));
  } else if constexpr (choice == 18 && shape.rank > 0) {
    return result<shape>(sum<axis>(a.e));
  } else if constexpr (choice == 19 && shape.rank > 0) {
    return result<shape>(mean<axis>(a.e, keep_extents));
  } else if constexpr (choice == 20 && shape.rank > 0) {
    return result<shape>(max<axis>(tanh(a.e), keep_extents));
  } else if constexpr (choice == 21 && shape.rank > 0) {
    return result<shape>(softmax<axis>(a.e));
  } else if constexpr (choice == 22) {
    return result<shape>(transpose(a.e));
  } else if constexpr (choice == 23 && shape.rank > 0) {
    return result<shape>(slice<0, 2>(a.e));
  } else if constexpr (choice == 24 && shape.rank > 0 && same_element<A, B> &&
                       infer<op::concat<axis>, shape, other>().fault == shape_fault::none) {
    return result<shape, other>(concat<axis>(a.e, b.e));
  } else if constexpr (choice == 25) {
    if constexpr (std::is_same_v<scalar, float>)
      return result<shape>(cast<double>(a.e));
    else
      return result<shape>(cast<float>(a.e));
  } else if constexpr (choice == 26 && shape.rank > 0) {
    constexpr extents flat = infer<op::reshape<dyn>, shape>().shape;
    return term<decltype(reshape<dyn>(a.e)), flat>{reshape<dyn>(a.e)};
  } else if constexpr (choice == 27) {
    return term<decltype(named<numbered_name('n', Step)>(exp(-abs(a.e)))), shape>{
        named<numbered_name('n', Step)>(exp(-abs(a.e)))};
  } else if constexpr (choice == 28 && shape.rank > 0) {
    return result<extents{}, shape>(sum(a.e) * a.e);
  } else if constexpr (choice == 29 && shape.rank > 0) {
    if constexpr (R / 64 % 2 == 0)
      return result<shape>(cumsum<axis>(a.e));
    else
      return result<shape>(cummax<axis>(a.e, reverse));
  } else {
    return result<infer<op::abs, shape>().shape>(log1p(abs(a.e)));
  }
}

/// A look at a term, chosen by `R`.
template <std::uint64_t R, class A>
constexpr auto random_look(const A& a) {
  constexpr int choice = static_cast<int>(R % 10);
  constexpr extents shape = A::shape;
  if constexpr (shape.rank == 0) {
    return result<shape>(expand_dims<0>(a.e));
  } else if constexpr (choice < 3) {
    return result<shape>(transpose(a.e));
  } else if constexpr (choice == 3 && shape.rank > 1) {
    return result<shape>(slice<range<>, range<1, to_end, 2>>(a.e));
  } else if constexpr (choice == 4) {
    return result<shape>(slice<-2, to_end, 2>(a.e));
  } else if constexpr (choice == 5 && shape.rank < 4) {
    return result<shape>(expand_dims<-1>(a.e));
  } else if constexpr (choice == 6 && shape.size() % 3 == 0) {
    return result<shape>(reshape<dyn, 3>(a.e));
  } else if constexpr (choice == 7 && shape.size() % 2 == 0) {
    return result<shape>(reshape<2, dyn>(a.e));
  } else if constexpr (choice == 8 && shape.rank == 3) {
    return result<shape>(permute<1, 2, 0>(a.e));
  } else {
    return result<shape>(reshape<dyn>(a.e));
  }
}

template <class T, extents Shape, std::size_t... K>
constexpr auto known_leaf(std::index_sequence<K...>) {
  return placeholder<"known", T, Shape.dims[K]...>;
}
/// `f` of a term: what shape that has is asked of a symbol whose extents are known.
template <class A, class F>
constexpr auto result_of(const A& a, F f) {
  using known = decltype(known_leaf<typename A::type::element_type, A::shape>(
      std::make_index_sequence<static_cast<std::size_t>(A::shape.rank)>{}));
  using shaped = decltype(f(std::remove_cv_t<known>{}));
  return term<decltype(f(a.e)), shaped::facts.shape>{f(a.e)};
}

/// Indices on both sides of 0, which clang++ 14 does not take where they are used: in a lambda of a template.
inline constexpr auto from_the_end = linspace<float, 3>(-2_c, 2_c);

/// A word that is made of other operations, over a term, chosen by `R`.
template <std::uint64_t R, class A>
constexpr auto random_word(const A& a) {
  constexpr int choice = static_cast<int>(R % 16);
  constexpr extents shape = A::shape;
  constexpr int axis = shape.rank > 0 ? static_cast<int>(R / 16 % static_cast<unsigned>(shape.rank)) : 0;
  constexpr bool matrix = A::type::facts.shape.is_static() && shape.rank > 1;
  if constexpr (!floating<A>) {
    return result<shape>(cast<float>(a.e));
  } else if constexpr (shape.rank == 0) {
    return result_of(a, [](const auto& x) { return broadcast_to<2, 3>(x); });
  } else if constexpr (choice < 2) {
    return result_of(a, [](const auto& x) { return flip<axis>(x); });
  } else if constexpr (choice == 2) {
    if constexpr (R / 64 % 2 == 0)
      return result_of(a, [](const auto& x) { return sort<axis>(x); });
    else
      return result_of(a, [](const auto& x) { return sort<axis>(x, descending); });
  } else if constexpr (choice == 3) {
    return result_of(a, [](const auto& x) { return slice<to_end, to_begin, -2>(x); });
  } else if constexpr (choice == 4 && shape.size() < 30) {
    return result_of(a, [](const auto& x) { return repeat<2, axis>(x); });
  } else if constexpr (choice == 5 && shape.size() < 20) {
    return result_of(a, [](const auto& x) { return tile<2, 1>(x); });
  } else if constexpr (choice == 6 && shape.size() < 20) {
    return result_of(a, [](const auto& x) { return tile<3>(x); });
  } else if constexpr (choice == 7) {
    return result_of(a, [](const auto& x) { return roll<(R / 32 % 2 ? 1 : -2), axis>(x); });
  } else if constexpr (choice == 8 && shape.rank < 4) {
    return result_of(a, [](const auto& x) { return stack<axis>(x, exp(-abs(x))); });
  } else if constexpr (choice == 9 && shape[axis] % 2 == 0) {
    return result_of(a, [](const auto& x) {
      const auto parts = split<2, axis>(x);
      return std::get<0>(parts) + std::get<1>(parts);
    });
  } else if constexpr (choice == 10 && shape.size() < 30) {
    return result_of(a, [](const auto& x) { return pad<padding<0, 1>>(x, 2); });
  } else if constexpr (choice == 11 && matrix) {
    return result_of(a, [](const auto& x) { return tril<-1>(x) + triu(transpose(transpose(x))) * 0.5_c; });
  } else if constexpr (choice == 12) {
    return result_of(a, [](const auto& x) { return stddev<axis>(x, keep_extents) + clip(x, -1, 0.5); });
  } else if constexpr (choice == 13 && R / 64 % 2 == 0) {
    return result_of(a, [](const auto& x) {
      return reshape<dyn>(max_pool2d<window<1, 3>, strides<1, 2>, same>(reshape<1, 1, dyn, 1>(x)));
    });
  } else if constexpr (choice == 13) {
    return result_of(a, [](const auto& x) { return logsumexp<axis>(x); });
  } else if constexpr (choice == 14 && R / 64 % 2 == 0) {
    return result_of(a, [](const auto& x) { return top_k<1, axis>(x).values; });
  } else if constexpr (choice == 14) {
    return result_of(a, [](const auto& x) { return take<axis>(x, cast<int>(from_the_end)); });
  } else if constexpr (choice == 15 && R / 64 % 2 == 0) {
    return result_of(a, [](const auto& x) {
      const auto row = reshape<dyn>(x);
      return reshape<dyn>(conv1d<same, dilation<2>>(reshape<1, dyn, 1>(row), reshape<dyn, 1, 1>(slice<0, 2>(row))));
    });
  } else if constexpr (shape.rank < 4) {
    return result_of(a, [](const auto& x) { return broadcast_to<2, dyn>(reshape<dyn>(norm<axis>(x))); });
  } else {
    return result_of(a, [](const auto& x) { return norm<axis>(x); });
  }
}

/// `e` in a scope, or not.
template <std::uint64_t R, class E, extents Shape>
constexpr auto scoped(const term<E, Shape>& t) {
  constexpr int choice = static_cast<int>(R % 32);
  if constexpr (choice < 3) {
    return term<decltype(on<gpu<choice>>(t.e)), Shape>{on<gpu<choice>>(t.e)};
  } else if constexpr (choice == 3) {
    return term<decltype(on<cpu<0>>(t.e)), Shape>{on<cpu<0>>(t.e)};
  } else {
    return t;
  }
}

template <bool Open, fixed_string Name, class T, int... Dims>
constexpr auto leaf() {
  constexpr extents known = extents(shape<Dims...>{});
  if constexpr (Open) {
    return term<std::remove_cv_t<decltype(placeholder<Name, T, (static_cast<void>(Dims), dyn)...>)>, known>{};
  } else {
    return term<std::remove_cv_t<decltype(placeholder<Name, T, Dims...>)>, known>{};
  }
}

/// The placeholders all programs are over.
template <bool Open>
constexpr auto leaves() {
  return std::tuple{leaf<Open, "x", float, 2, 3>(),        leaf<Open, "m", float, 3, 3>(),
                    leaf<Open, "r", float, 3>(),           leaf<Open, "c", float, 2, 1>(),
                    leaf<Open, "n", std::int32_t, 2, 3>(), leaf<false, "s", double, 3, 2>()};
}

/// A number that chooses a map mostly, a reduction or a softmax now and then.
constexpr std::uint64_t mostly_maps(std::uint64_t r) {
  constexpr unsigned choices[] = {0, 1, 2, 4, 5, 6, 8, 9, 14, 15, 16, 17, 17, 27, 21, 20};
  return r / 30 * 30 + choices[r % 16];
}
/// From this seed on, every other operation of a program is a look at the one before, and few have a scope.
inline constexpr std::uint64_t looking = 1000;
/// From this one on, it is a word instead.
inline constexpr std::uint64_t wording = 2000;

/// What guards ask for.
inline const char* guard_names[4] = {"/gpu:0", "/gpu:1", "/cpu:0", "/gpu:2"};
template <class F>
auto under_guard(const char* name, F f) {
  device_guard g{name};
  return f();
}

/// Term number `K` of a list.
template <int K, class T>
struct term_of_list {
  const T& t;
};
/// Terms that live where they were made. No std::tuple: of one for each length nearly all that a program of tests is
/// compiled to would be copies.
template <class Numbers, class... T>
struct term_list;
template <int... K, class... T>
struct term_list<std::integer_sequence<int, K...>, T...> : term_of_list<K, T>... {
  static constexpr int count = static_cast<int>(sizeof...(K));
};

template <int K, class T>
constexpr const T& get(const term_of_list<K, T>& of) {
  return of.t;
}

template <class... T>
constexpr auto list_terms(const T&... terms) {
  return term_list<std::make_integer_sequence<int, static_cast<int>(sizeof...(T))>, T...>{{terms}...};
}
template <int... K, class... T, class More>
constexpr auto with_term(const term_list<std::integer_sequence<int, K...>, T...>& terms, const More& more) {
  return list_terms(get<K>(terms)..., more);
}

/// The last terms, the newest first, as what is fetched.
template <int... K, class Terms>
constexpr auto fetch_terms(const Terms& terms, std::integer_sequence<int, K...>) {
  return fetches(get<Terms::count - 1 - K>(terms).e...);
}

/// Adds `Steps` operations, and fetches the last `Fetched`. Where `Guarded`, each is written under a guard of its own.
template <std::uint64_t Seed, int Steps, int Fetched, bool Guarded, bool Maps, class Terms>
constexpr auto grown(const Terms& terms) {
  if constexpr (Steps == 0) {
    return fetch_terms(terms, std::make_integer_sequence<int, Fetched>{});
  } else {
    constexpr std::uint64_t r = mixed(Seed * 1000 + Steps);
    constexpr std::uint64_t q = mixed(r);
    constexpr int count = Terms::count;
    // The first operand is mostly the newest term, so that little is left unused.
    constexpr bool looks = Seed >= looking && Steps % 2 == 0;
    constexpr int newest = (r % 8 != 0 || looks) && count > 6 ? count - 1 : static_cast<int>(r / 8 % count);
    // Of maps some start anew, so that they run beside each other.
    constexpr int first = Maps && r % 3 == 0 ? 0 : newest;
    constexpr int second = static_cast<int>(q % count);
    constexpr std::uint64_t choice = Maps ? mostly_maps(q >> 20) : q >> 20;
    const auto next = [&] {
      if constexpr (looks && Seed >= wording) {
        return random_word<(q >> 20)>(get<first>(terms));
      } else if constexpr (looks) {
        return random_look<(q >> 20)>(get<first>(terms));
      } else {
        const auto t = random_operation<choice, Steps>(get<first>(terms), get<second>(terms));
        return scoped<(Maps && r % 4 != 1 ? 7 : (q >> 40) % (Seed >= looking ? 32 : 8))>(t);
      }
    };
    if constexpr (Guarded) {
      return under_guard(guard_names[(r >> 30) % 4], [&] {
        const auto t = next();
        return grown<Seed, Steps - 1, Fetched, Guarded, Maps>(with_term(terms, t));
      });
    } else {
      const auto t = next();
      return grown<Seed, Steps - 1, Fetched, Guarded, Maps>(with_term(terms, t));
    }
  }
}

/// The program of a seed: seven operations or nine, of which the last `Fetched` are fetched. `Maps`: most of them are
/// maps, and many over the same extents on one device.
template <unsigned Seed, bool Open = Seed % 3 == 1, int Fetched = 1 + Seed % 2, bool Guarded = false, bool Maps = false>
constexpr auto random_program() {
  constexpr int steps = Seed >= looking ? 9 : 7;
  constexpr auto of = leaves<Open>();
  return std::apply([](const auto&... leaf) { return grown<Seed, steps, Fetched, Guarded, Maps>(list_terms(leaf...)); },
                    of);
}

}  // namespace onto_test
