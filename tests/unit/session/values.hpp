// SPDX-License-Identifier: BSL-1.0
// Random programs that hold values: unnamed scalars and constants, many of them under operations of one type. A program
// is run with all of its values equal, all different, and drawn from two, so that nodes of one type are one, several,
// and one again; each run is compared with the expression as it is written.
#pragma once

#include "properties.hpp"

namespace onto_test {

/// Where a program's values come from.
class value_source {
 public:
  /// Values that are `kinds` different ones, drawn by `seed`; 0: each is another.
  value_source(int kinds, std::uint64_t seed) : kinds_(kinds), seed_(seed) {}

  float next() {
    const std::uint64_t k = kinds_ == 0 ? count_ : mixed(seed_ * 64 + count_) % static_cast<unsigned>(kinds_);
    ++count_;
    return 0.5f + 0.125f * static_cast<float>(k % 16);
  }
  template <int Count>
  auto next_constant() {
    float values[static_cast<std::size_t>(Count)];
    const float first = next();
    for (int k = 0; k < Count; ++k) values[k] = first + 0.25f * static_cast<float>(k);
    return constant(values);
  }
  /// A guard somewhere, where they are asked for.
  const char* place() {
    constexpr const char* names[] = {"/gpu:0", "/gpu:1", "/cpu:0"};
    return names[mixed(seed_ * 64 + count_) % 3];
  }

 private:
  int kinds_;
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

/// One operation that holds a value, or combines what do, chosen by `R`.
template <std::uint64_t R, class A, class B>
auto valued_operation(const A& a, const B& b, value_source& values) {
  constexpr int choice = static_cast<int>(R % 17);
  constexpr extents shape = A::shape;
  constexpr extents other = B::shape;
  constexpr int axis = shape.rank > 0 ? static_cast<int>(R / 17 % static_cast<unsigned>(shape.rank)) : 0;
  constexpr int last = shape.rank > 0 ? shape[shape.rank - 1] : 1;
  if constexpr (choice < 3) {
    return result<shape, extents{}>(a.e * values.next());
  } else if constexpr (choice == 3) {
    return result<shape, extents{}>(values.next() - a.e);
  } else if constexpr (choice == 4) {
    return result<shape>(exp(-abs(a.e * values.next())));
  } else if constexpr (choice == 5) {
    return result<shape, extents{}>(tanh(a.e) * values.next());
  } else if constexpr (choice < 9 && broadcasts<A, B>) {
    if constexpr (choice == 6)
      return result<shape, other>(a.e + b.e);
    else if constexpr (choice == 7)
      return result<shape, other>(a.e * b.e);
    else
      return result<infer<op::mul, shape, other>().shape, shape>(a.e * b.e - a.e);
  } else if constexpr (choice < 9 && multiplies<A, B>) {
    return result<infer<op::matmul, shape, other>().shape, extents{}>(matmul(a.e, b.e) * values.next());
  } else if constexpr (choice == 9 && shape.rank == 2) {
    constexpr extents turned = infer<op::permute<1, 0>, shape>().shape;
    constexpr extents square = infer<op::matmul, shape, turned>().shape;
    return result<square, extents{}>(relu(matmul(a.e, transpose(a.e)) * values.next() + values.next()));
  } else if constexpr (choice == 10 && shape.rank > 0) {
    return result<shape>(sum<axis>(a.e * values.next(), keep_extents));
  } else if constexpr (choice == 11 && shape.rank > 0) {
    return result<shape>(softmax<axis>(a.e * values.next()));
  } else if constexpr (choice == 12 && shape.rank > 0 && last > 0) {
    return result<shape, extents(onto::shape<last>{})>(a.e + values.next_constant<last>());
  } else if constexpr (choice == 13) {
    return result<shape, extents{}>(where(a.e > values.next(), a.e, values.next()));
  } else if constexpr (choice == 14 && infer<op::concat<0>, shape, other>().fault == shape_fault::none &&
                       shape.rank > 0) {
    return result<shape, other>(concat<0>(a.e, b.e));
  } else if constexpr (choice == 15 && shape.rank > 0) {
    const auto centred = a.e - mean<-1>(a.e, keep_extents);
    return result<shape, shape>(centred * rsqrt(mean<-1>(centred * centred, keep_extents) + values.next()));
  } else {
    return result<shape>(transpose(a.e));
  }
}

/// Adds `Steps` operations, and fetches the last `Fetched`. Every third is the one before, written again with values of
/// its own.
template <std::uint64_t Seed, int Steps, int Fetched, bool Guarded, class Terms>
auto grown_with_values(const Terms& terms, value_source& values) {
  constexpr int count = Terms::count;
  if constexpr (Steps == 0) {
    return fetch_terms(terms, std::make_integer_sequence<int, Fetched>{});
  } else {
    constexpr bool again = Steps % 3 == 2;
    constexpr std::uint64_t r = mixed(Seed * 1000 + Steps + (again ? 1 : 0));
    constexpr std::uint64_t q = mixed(r);
    constexpr int there = again ? count - 1 : count;  // when the operation was written first
    constexpr int first = r % 4 != 0 && there > 4 ? there - 1 : static_cast<int>(r / 4 % there);
    constexpr int second = static_cast<int>(q % there);
    const auto next = [&] {
      return scoped<((q >> 40) % 64)>(valued_operation<(q >> 20)>(get<first>(terms), get<second>(terms), values));
    };
    if constexpr (Guarded) {
      device_guard g{values.place()};
      const auto t = next();
      return grown_with_values<Seed, Steps - 1, Fetched, Guarded>(with_term(terms, t), values);
    } else {
      const auto t = next();
      return grown_with_values<Seed, Steps - 1, Fetched, Guarded>(with_term(terms, t), values);
    }
  }
}

template <bool Open>
constexpr auto float_leaves() {
  return std::tuple{leaf<Open, "x", float, 2, 3>(), leaf<Open, "m", float, 3, 3>(), leaf<Open, "r", float, 3>()};
}

/// The program of a seed with these values: eight operations, of which the last two are fetched, and their sum if they
/// have one.
template <unsigned Seed, bool Open, bool Guarded = false>
auto program_with_values(value_source values) {
  constexpr int fetched = 1 + static_cast<int>(Seed % 3);
  constexpr auto of = float_leaves<Open>();
  return std::apply(
      [&](const auto&... leaf) { return grown_with_values<Seed, 8, fetched, Guarded>(list_terms(leaf...), values); },
      of);
}

template <bool Open, class F>
auto with_float_feeds(const program_feeds& f, F use) {
  constexpr auto leaf = float_leaves<Open>();
  return use(std::get<0>(leaf).e = f.x, std::get<1>(leaf).e = f.m, std::get<2>(leaf).e = f.r);
}

template <bool Open>
std::vector<fed> float_values(const program_feeds& f) {
  return with_float_feeds<Open>(f, [&](const auto& x, const auto& m, const auto& r) {
    return std::vector<fed>{{x.id, to_value(f.x)}, {m.id, to_value(f.m)}, {r.id, to_value(f.r)}};
  });
}

template <bool Open, class Run>
std::vector<value> values_of(const program_feeds& f, Run&& run) {
  return with_float_feeds<Open>(f, [&](const auto&... feeds) {
    return std::apply([](const auto&... t) { return std::vector<value>{to_value(t)...}; }, run(feeds...));
  });
}

/// A program with values computes what is written, on this machine, run and prepared.
template <unsigned Seed, bool Open, bool Guarded>
void check_values(int gpus, value_source values, const program_feeds& f) {
  const auto program = program_with_values<Seed, Open, Guarded>(values);
  const reference expected = reference_of(program, float_values<Open>(f));
  session& sess = machine(gpus);
  REQUIRE(sess.devices().size() == static_cast<std::size_t>(gpus) + 1);
  try {
    check_all_close(values_of<Open>(f, [&](const auto&... feeds) { return sess.run(program, feeds...); }), expected);
  } catch (const invalid_argument_error& e) {
    // What holds no value and is written under two guards.
    REQUIRE(Guarded);
    REQUIRE(std::string(e.what()).find("[onto.guard]") != std::string::npos);
    return;
  }
  const auto step = sess.prepare(program);
  for (int run = 0; run < 3; ++run) check_all_close(values_of<Open>(f, step), expected);
}

template <class World, unsigned Seed, bool Open>
void check_values_on(int gpus) {
  const program_feeds f(Seed);
  INFO("seed " << Seed << " on " << gpus << " GPUs");
  for (const int kinds : {1, 0, 2, 1, 2, 3, 2, 2}) {
    for (const std::uint64_t draw : {1u, 2u}) {
      INFO(kinds << " different values, draw " << draw);
      check_values<Seed, Open, false>(gpus, value_source(kinds, Seed * 10 + draw), f);
      check_values<Seed, Open, true>(gpus, value_source(kinds, Seed * 10 + draw), f);
    }
  }

  // Where all are equal, what runs is what the types say.
  const auto equal = program_with_values<Seed, Open>(value_source(1, 0));
  session& sess = machine(gpus);
  const device_statistics before = counted(sess);
  values_of<Open>(f, [&](const auto&... feeds) { return sess.run(equal, feeds...); });
  CHECK(counted(sess).kernels - before.kernels == plan_of<World>(equal).kernels);
}

template <unsigned Seed>
bool check_program_with_values() {
  constexpr bool open = Seed % 4 == 1;
#if !defined(ONTO_CUDA_EMULATION) && !defined(ONTO_TEST_HARDWARE)
  check_values_on<world<cpu<0>>, Seed, open>(0);
#endif
  check_values_on<world<cpu<0>, gpu<0>>, Seed, open>(1);
  check_values_on<world_of_many, Seed, open>(many_gpus);
  return plan_of(program_with_values<Seed, open>(value_source(1, 0))).depends_on_values;
}

/// *Returns* in how many of the programs values decide how many nodes there are.
template <unsigned First, unsigned... K>
int check_programs_with_values(std::integer_sequence<unsigned, K...>) {
  return (int{check_program_with_values<First + K>()} + ... + 0);
}

}  // namespace onto_test
