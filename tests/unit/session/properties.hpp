// SPDX-License-Identifier: BSL-1.0
// What is asked of every random program: it computes what the reference computes, on every machine, fused and split,
// prepared and not, however late its copies and kernels are; and the devices count what the plan says.
#pragma once

#include "../catch.hpp"
#include "random_program.hpp"
#include "reference.hpp"
#include "saboteur.hpp"

namespace onto_test {

/// A machine with so many GPUs: simulated ones, or in the tests of the CUDA backend the first of the emulated ones, or
/// parts of the first real one.
inline session_options machine_options(int gpus) {
  session_options o;
  o.allow_soft_placement = true;
#if defined(ONTO_TEST_HARDWARE)
  o.gpu.visible_device_list = "0";
  o.gpu.allow_growth = true;
  o.gpu.logical_devices.assign(static_cast<std::size_t>(gpus), {.gpu = 0, .memory_limit = 1 << 28});
#elif defined(ONTO_CUDA_EMULATION)
  o.gpu.visible_device_list = "0";
  for (int k = 1; k < gpus; ++k) o.gpu.visible_device_list += "," + std::to_string(k);
#else
  o.simulated_gpus = gpus;
#endif
  return o;
}

#if defined(ONTO_CUDA_EMULATION) || defined(ONTO_TEST_HARDWARE)
inline constexpr int many_gpus = 2;
using world_of_many = world<cpu<0>, gpu<0>, gpu<1>>;
#else
inline constexpr int many_gpus = 3;
using world_of_many = world<cpu<0>, gpu<0>, gpu<1>, gpu<2>>;
#endif

/// A session, made once: its GPUs are the machine that programs are asked to run on.
inline session& machine(int gpus) {
  static session none{machine_options(0)};
  static session one{machine_options(1)};
  static session several{machine_options(many_gpus)};
  return gpus == 0 ? none : gpus == 1 ? one : several;
}

inline device_statistics counted(session& sess) {
  device_statistics total;
  for (const device_info& d : sess.devices()) {
    const device_statistics s = sess.statistics(d.name);
    total.kernels += s.kernels;
    total.transfers += s.transfers;
    total.transfer_bytes += s.transfer_bytes;
  }
  return total;
}

/// Values that are nothing special: no two of them equal, none near an integer.
template <class T, int... Dims>
tensor<T, Dims...> generic_values(unsigned seed) {
  tensor<T, Dims...> t;
  std::uint64_t k = seed;
  for (T& v : t) {
    const double uniform = static_cast<double>(mixed(++k) >> 11) / static_cast<double>(std::uint64_t{1} << 53);
    v = std::is_integral_v<T> ? static_cast<T>(uniform * 7 - 3) : static_cast<T>(uniform * 4 - 2);
  }
  return t;
}

struct program_feeds {
  tensor<float, 2, 3> x;
  tensor<float, 3, 3> m;
  tensor<float, 3> r;
  tensor<float, 2, 1> c;
  tensor<std::int32_t, 2, 3> n;
  tensor<double, 3, 2> s;

  explicit program_feeds(unsigned seed)
      : x(generic_values<float, 2, 3>(seed)),
        m(generic_values<float, 3, 3>(seed + 100)),
        r(generic_values<float, 3>(seed + 200)),
        c(generic_values<float, 2, 1>(seed + 300)),
        n(generic_values<std::int32_t, 2, 3>(seed + 400)),
        s(generic_values<double, 3, 2>(seed + 500)) {}
};

template <bool Open, class F>
auto with_feeds(const program_feeds& f, F use) {
  constexpr auto leaf = leaves<Open>();
  return use(std::get<0>(leaf).e = f.x, std::get<1>(leaf).e = f.m, std::get<2>(leaf).e = f.r, std::get<3>(leaf).e = f.c,
             std::get<4>(leaf).e = f.n, std::get<5>(leaf).e = f.s);
}

template <bool Open>
std::vector<fed> fed_values(const program_feeds& f) {
  return with_feeds<Open>(
      f, [&](const auto& x, const auto& m, const auto& r, const auto& c, const auto& n, const auto& s) {
        return std::vector<fed>{{x.id, to_value(f.x)}, {m.id, to_value(f.m)}, {r.id, to_value(f.r)},
                                {c.id, to_value(f.c)}, {n.id, to_value(f.n)}, {s.id, to_value(f.s)}};
      });
}

inline void check_close(const value& got, const value& expected) {
  REQUIRE(got.shape == expected.shape);
  const double tolerance = got.type == element::float64 ? 1e-4 : 2e-4;  // a double may come from floats
  double scale = 1;
  for (const double v : expected.elements) scale = std::fmax(scale, std::abs(v));
  for (std::size_t k = 0; k < expected.elements.size(); ++k) {
    INFO("element " << k << ": " << got.elements[k] << " where the reference has " << expected.elements[k]);
    REQUIRE(std::abs(got.elements[k] - expected.elements[k]) <= tolerance * scale);
  }
}

template <bool Open, class... E>
std::vector<value> run_on(session& sess, const fetch_list<E...>& program, const program_feeds& f) {
  return with_feeds<Open>(f, [&](const auto&... feeds) {
    return std::apply([](const auto&... t) { return std::vector<value>{to_value(t)...}; }, sess.run(program, feeds...));
  });
}

template <class... E>
reference reference_of(const fetch_list<E...>& program, const std::vector<fed>& feeds) {
  return boost::hana::unpack(program.expressions, [&](const E&... e) {
    return reference(written_graph::of(e...), {e.state.get()...}, feeds);
  });
}

inline void check_all_close(const std::vector<value>& got, const reference& expected) {
  for (std::size_t k = 0; k < got.size(); ++k) check_close(got[k], expected.fetch(static_cast<int>(k)));
}

/// Values for a program, and what it makes of them.
struct example {
  program_feeds feeds;
  reference expected;
};

/// A prepared program, its runs recorded and replayed, gives for each example what the reference does.
template <bool Open, class... E>
void check_prepared(session& sess, const fetch_list<E...>& program, const example (&examples)[2]) {
  const auto step = sess.prepare(program);
  static dawdler late;
  for (int run = 0; run < 5; ++run) {
    INFO("prepared, run " << run);
    const example& x = examples[run % 2];
    const injected now(sess, late);
    check_all_close(with_feeds<Open>(x.feeds,
                                     [&](const auto&... feeds) {
                                       return std::apply(
                                           [](const auto&... t) { return std::vector<value>{to_value(t)...}; },
                                           step(feeds...));
                                     }),
                    x.expected);
  }
}

/// A run takes the memory that the plan says, and a prepared program no more.
template <bool Open, class Plan, class... E>
void check_peaks(int gpus, const fetch_list<E...>& program, const Plan& p, const program_feeds& f) {
  session sess{machine_options(gpus)};
  run_on<Open>(sess, program, f);
  const auto step = sess.prepare(program);
  for (int d = -1; d < gpus; ++d) {
    const place at = d < 0 ? detail::host : place{device_kind::gpu, d};
    const memory_info m = sess.memory(device_name::local(at));
    INFO("peak on " << device_name::local(at).to_string());
    CHECK(m.peak == p.peak_bytes(at));
    CHECK(m.in_use == p.peak_bytes(at));
  }
}

template <class World, bool Open, class... E>
void check_machine(int gpus, const fetch_list<E...>& program, const fetch_list<E...>* guarded,
                   const example (&examples)[2]) {
  INFO("on " << gpus << " GPUs\n" << machine(gpus).placement(program).to_string());
  session& sess = machine(gpus);
  // Where there is a real GPU too, it is another world.
  const bool alone = sess.devices().size() == static_cast<std::size_t>(gpus) + 1;
#if !defined(__CUDACC__)
  REQUIRE(alone);
#endif
  const device_statistics before = counted(sess);
  const std::vector<value> got = run_on<Open>(sess, program, examples[0].feeds);
  const device_statistics after = counted(sess);
  check_all_close(got, examples[0].expected);

  const auto& p = plan_of<World>(program);
  if (alone) {
    CHECK(after.kernels - before.kernels == p.kernels);
    CHECK(after.transfers - before.transfers == p.transfers);
    if (p.transfer_bytes >= 0) CHECK(after.transfer_bytes - before.transfer_bytes == p.transfer_bytes);
    if constexpr (!Open) check_peaks<Open>(gpus, program, p, examples[0].feeds);
  }
  check_prepared<Open>(sess, program, examples);

  // The same, its kernels split by guards.
  if (!guarded) return;
  check_all_close(run_on<Open>(sess, *guarded, examples[0].feeds), examples[0].expected);
  check_prepared<Open>(sess, *guarded, examples);
}

/// Whether one operation of the program happens to be written twice, under different guards: that is refused.
template <class... E>
bool clashes(const fetch_list<E...>& guarded) {
  try {
    machine(0).placement(guarded);
    return false;
  } catch (const invalid_argument_error& e) {
    if (std::string(e.what()).find("[onto.guard]") == std::string::npos) throw;
    return true;
  }
}

/// All of it for one seed. *Returns* whether it ran under guards too.
template <unsigned Seed, bool Open = Seed % 3 == 1, int Fetched = 1 + static_cast<int>(Seed % 2), bool Maps = false>
bool check_program() {
  INFO("seed " << Seed);
  const program_feeds f(Seed), g(Seed + 1000);
  const auto program = random_program<Seed, Open, Fetched, false, Maps>();
  const auto under_guards = random_program<Seed, Open, Fetched, true, Maps>();
  const auto* guarded = clashes(under_guards) ? nullptr : &under_guards;
  const example examples[] = {{f, reference_of(program, fed_values<Open>(f))},
                              {g, reference_of(program, fed_values<Open>(g))}};
#if !defined(ONTO_CUDA_EMULATION) && !defined(ONTO_TEST_HARDWARE)  // which always have a GPU
  check_machine<world<cpu<0>>, Open>(0, program, guarded, examples);
#endif
  check_machine<world<cpu<0>, gpu<0>>, Open>(1, program, guarded, examples);
  check_machine<world_of_many, Open>(many_gpus, program, guarded, examples);
  return guarded != nullptr;
}

template <unsigned First, unsigned... K>
void check_programs(std::integer_sequence<unsigned, K...>) {
  const int guarded = (int{check_program<First + K>()} + ... + 0);
  CHECK(guarded >= static_cast<int>(sizeof...(K)) - 2);
}

}  // namespace onto_test
