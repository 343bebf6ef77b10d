// SPDX-License-Identifier: BSL-1.0
// Memory as sessions account for it: what the plan says is what is taken, limits hold, and everything is given back.
#include <onto/onto.hpp>

#include "../../golden.hpp"
#include "../catch.hpp"
#include "saboteur.hpp"

#include <array>
#include <string>
#include <vector>

using namespace onto;
using onto_test::injected;
using onto_test::saboteur;
using onto_test::words_of;
namespace hana = boost::hana;

namespace {

constexpr auto x = placeholder<"x", float, 64, 64>;  // 16384 bytes
constexpr auto y = placeholder<"y", float, 64, 64>;
constexpr auto small = placeholder<"small", float, 3>;
constexpr auto flags = placeholder<"flags", bool, 64, 1>;
constexpr auto open = placeholder<"open", float, dyn, dyn>;
constexpr auto w = variable<"w", float, 64, 64>;
constexpr auto v = variable<"v", float, 64, 64>;
constexpr auto kept = variable<"kept", float, dyn, dyn>;
constexpr auto tall = variable<"tall", float, 200, 64>;
constexpr std::int64_t whole = 64 * 64 * 4;

using matrix = tensor<float, 64, 64>;

matrix filled(float value) {
  matrix t;
  for (float& e : t) e = value;
  return t;
}

tensor<float, dyn, dyn> sized(int rows, int columns, float value = 1) {
  tensor<float, dyn, dyn> t({rows, columns});
  for (float& e : t) e = value;
  return t;
}

template <int N, class E>
constexpr auto products(const E& e) {
  if constexpr (N == 0) {
    return e;
  } else {
    return products<N - 1>(matmul(e, x));
  }
}

session_options soft(int gpus) {
  session_options o;
  o.allow_soft_placement = true;
  o.simulated_gpus = gpus;
  return o;
}

/// Runs a program in a session of its own, twice, and prepared. The variable `w` is on the first GPU, `v` on the
/// second.
template <class World, class... E>
void check_peaks(int gpus, const fetch_list<E...>& program) {
  INFO("with " << gpus << " GPUs");
  for (const bool prepared : {false, true}) {
    session sess{soft(gpus)};
    REQUIRE(sess.devices().size() == static_cast<std::size_t>(gpus) + 1);
    sess.run(fetches(assign(on<gpu<0>>(w), 1), assign(on<gpu<1>>(v), 2)));  // takes nothing but what they hold
    const auto places = std::array{place{device_kind::cpu, 0}, place{device_kind::gpu, 0}, place{device_kind::gpu, 1},
                                   place{device_kind::gpu, 2}};
    std::int64_t before[4] = {};
    for (int k = 0; k <= gpus; ++k) before[k] = sess.memory(device_name::local(places[k])).in_use;
    const matrix a = filled(0.01f), b = filled(0.5f);
    const tensor<float, 3> few{1, 2, 3};
    const tensor<bool, 64, 1> which{};
    for (int run = 0; run < 2; ++run) {
      if (prepared)
        sess.prepare(program)(x = a, y = b, small = few, flags = which);
      else
        sess.run(program, x = a, y = b, small = few, flags = which);
    }
    for (int k = 0; k <= gpus; ++k) {
      const memory_info now = sess.memory(device_name::local(places[k]));
      INFO("on " << device_name::local(places[k]).to_string() << (prepared ? ", prepared" : ""));
      CHECK(now.peak == before[k] + plan_of<World>(program).peak_bytes(places[k]));
      CHECK(now.in_use == before[k]);
    }
  }
}

template <class... E>
void check_peaks_everywhere(const E&... e) {
  const auto program = fetches(e...);
  const std::string steps = plan_of<world<cpu<0>, gpu<0>, gpu<1>, gpu<2>>>(program).text();
  INFO(steps);
  check_peaks<world<cpu<0>>>(0, program);
  check_peaks<world<cpu<0>, gpu<0>>>(1, program);
  check_peaks<world<cpu<0>, gpu<0>, gpu<1>, gpu<2>>>(3, program);
}

constexpr place first_gpu{device_kind::gpu, 0};

}  // namespace

TEST_CASE("the plan's peak is the measured peak: values between kernels", "[session][memory]") {
  check_peaks_everywhere(x + y);
  check_peaks_everywhere(softmax(x + y));
  check_peaks_everywhere(products<20>(x));
  check_peaks_everywhere(matmul(products<5>(tanh(y)), tanh(y)));
  check_peaks_everywhere(softmax(sum<0>(x)), softmax(small + small));
  check_peaks_everywhere(x + y, x - y, x * y);
  check_peaks_everywhere(concat<0>(x, softmax(y), x), transpose(x), slice<0, 2>(x));
  check_peaks_everywhere(relu(2.0f * matmul(x, y) - x), where(flags, x, y));
  check_peaks_everywhere(softmax(max<0>(x) + softmax(sum<1>(y)) * softmax(max<0>(x))));
}

TEST_CASE("the plan's peak is the measured peak: copies between devices", "[session][memory]") {
  check_peaks_everywhere(on<gpu<0>>(softmax(transpose(tanh(x)))));
  check_peaks_everywhere(on<gpu<1>>(exp(on<gpu<0>>(tanh(x)))));
  check_peaks_everywhere(on<gpu<1>>(products<3>(on<gpu<0>>(products<3>(x)))), on<cpu<0>>(softmax(y)));
  check_peaks_everywhere(on<cpu<0>>(add_n(on<gpu<0>>(products<9>(x)), on<gpu<1>>(products<8>(y)))));
  check_peaks_everywhere(on<cpu<0>>(mean(towers(hana::tuple_t<gpu<0>, gpu<1>, gpu<2>>, [](auto place) {
    return matmul(slice<20 * place.index, 20 * place.index + 20>(x), y);
  }))));
}

TEST_CASE("the plan's peak is the measured peak: variables", "[session][memory]") {
  constexpr auto first = on<gpu<0>>(w);
  constexpr auto second = on<gpu<1>>(v);
  check_peaks_everywhere(assign(first, x + y));
  check_peaks_everywhere(assign_add(first, softmax(x)), on<gpu<1>>(matmul(first, second)));
  check_peaks_everywhere(assign_sub(first, 0.1f * matmul(first, x)), assign(second, first + 1), sum(second));
  check_peaks_everywhere(first, second, on<gpu<2>>(first + second));
}

// ---- limits -----------------------------------------------------------------------------------------------

namespace {

/// 64 KiB on one GPU: four matrices.
session_options four_matrices() {
  session_options o;
  o.gpu = {.allow_growth = true, .memory_limit = 4 * whole};
  o.simulated_gpus = 1;
  return o;
}

std::string refused(session& sess, int rows) {
  return words_of<resource_exhausted_error>(
      [&] { sess.run(on<gpu<0>>(softmax(transpose(named<"doubled">(open + open)))), open = sized(rows, 64)); });
}

}  // namespace

TEST_CASE("over the limit: the sentence has all that one needs to know", "[session][memory][golden]") {
  session sess{four_matrices()};
  REQUIRE(sess.devices().size() == 2);
  sess.run(assign(on<gpu<0>>(w), x), x = filled(1));
  const auto step = sess.prepare(on<gpu<0>>(named<"shown">(tanh(small))));
  std::string said = refused(sess, 100) + '\n';
  said += words_of<resource_exhausted_error>(
              [&] { sess.run(assign(on<gpu<0>>(kept), on<gpu<0>>(ones<float, 200, 64>() + 0))); }) +
          '\n';
  said +=
      words_of<resource_exhausted_error>([&] { sess.run(assign(on<gpu<0>>(tall), ones<float, 200, 64>())); }) + '\n';
  said += words_of<resource_exhausted_error>([&] { static_cast<void>(sess.prepare(on<gpu<0>>(products<9>(x)))); });
  golden("print/memory_limit", said);
}

TEST_CASE("over the limit: the session goes on, and what is below it runs", "[session][memory]") {
  session sess{four_matrices()};
  REQUIRE(sess.devices().size() == 2);
  for (int round = 0; round < 3; ++round) {
    CHECK(refused(sess, 10000).find("limit of 64.0 KiB") != std::string::npos);
    CHECK(sess.memory(gpu<0>{}).in_use == 0);
    CHECK(refused(sess, 64) == "nothing was thrown");
    CHECK(sess.memory(gpu<0>{}).in_use == 0);
    CHECK(sess.memory(gpu<0>{}).peak <= 4 * whole);
    CHECK(sess.memory(gpu<0>{}).limit == 4 * whole);
    CHECK(sess.run(on<gpu<0>>(sum(x + x)), x = filled(1)) == 8192.0f);
  }
}

TEST_CASE("exactly the limit fits, and one piece more does not", "[session][memory]") {
  constexpr auto program = on<gpu<0>>(softmax(transpose(tanh(x))));
  constexpr std::int64_t peak = plan_of<world<cpu<0>, gpu<0>>>(program).peak_bytes(first_gpu);
  static_assert(peak == 2 * whole);
  for (const std::int64_t limit : {peak, peak - 256}) {
    session sess{{.gpu = {.allow_growth = true, .memory_limit = limit}, .simulated_gpus = 1}};
    REQUIRE(sess.devices().size() == 2);
    if (limit == peak)
      CHECK(sess.run(program, x = filled(0))(3, 3) == Approx(1.0 / 64));
    else
      CHECK_THROWS_AS(sess.run(program, x = filled(0)), resource_exhausted_error);
  }
}

TEST_CASE("a variable's new value over the limit: the old one stays", "[session][memory]") {
  session sess{{.gpu = {.allow_growth = true, .memory_limit = 2 * whole}, .simulated_gpus = 1}};
  REQUIRE(sess.devices().size() == 2);
  sess.run(assign(on<gpu<0>>(w), x), x = filled(3));
  for (int round = 0; round < 3; ++round) {
    // The new value is written beside the old one, and the feed is there too.
    CHECK_THROWS_AS(sess.run(assign(on<gpu<0>>(w), x), x = filled(4)), resource_exhausted_error);
    CHECK(sess.run(w) == filled(3));
    CHECK(sess.memory(gpu<0>{}).in_use == whole);
  }
  sess.run(assign(on<gpu<0>>(w), 5));  // without a feed there is room
  CHECK(sess.run(w) == filled(5));
  CHECK(sess.memory(gpu<0>{}).peak == 2 * whole);
}

TEST_CASE("a prepared program holds its memory, is named as a holder, and gives it back", "[session][memory]") {
  session sess{four_matrices()};
  REQUIRE(sess.devices().size() == 2);
  {
    const auto step = sess.prepare(on<gpu<0>>(named<"big">(softmax(transpose(tanh(x))))));
    CHECK(sess.memory(gpu<0>{}).in_use == 2 * whole);
    step(x = filled(1));
    CHECK(sess.memory(gpu<0>{}).in_use == 2 * whole);
    const std::string said = refused(sess, 80);
    INFO(said);
    CHECK(said.find("in use 32.0 KiB of a limit of 64.0 KiB") != std::string::npos);
    CHECK(said.find("the largest holders: program 'big' 32.0 KiB") != std::string::npos);
    step(x = filled(1));
  }
  CHECK(sess.memory(gpu<0>{}).in_use == 0);
  CHECK(refused(sess, 80) == "nothing was thrown");
}

TEST_CASE("two sessions of a process keep each its own limit", "[session][memory]") {
  session narrow{{.gpu = {.allow_growth = true, .memory_limit = whole}, .simulated_gpus = 1}};
  session wide{{.gpu = {.allow_growth = true, .memory_limit = 16 * whole}, .simulated_gpus = 1}};
  REQUIRE(wide.devices().size() == 2);
  for (int round = 0; round < 2; ++round) {
    CHECK_THROWS_AS(narrow.run(on<gpu<0>>(softmax(transpose(x))), x = filled(1)), resource_exhausted_error);
    CHECK_NOTHROW(wide.run(on<gpu<0>>(products<3>(x)), x = filled(1)));
  }
  CHECK(narrow.memory(gpu<0>{}).peak == 0);
  CHECK(wide.memory(gpu<0>{}).peak == 3 * whole);
}

TEST_CASE("what is not in use, and waits to be used again, does not count against the limit", "[session][memory]") {
  session sess{four_matrices()};
  REQUIRE(sess.devices().size() == 2);
  for (int rows = 1; rows < 100; rows += 7) {
    CHECK_NOTHROW(sess.run(on<gpu<0>>(open * 2), open = sized(rows, 64)));
    CHECK_NOTHROW(sess.run(on<gpu<0>>(open * 2), open = sized(100 - rows, 64)));
    CHECK(sess.memory(gpu<0>{}).peak <= 4 * whole);
  }
}

// ---- giving back ------------------------------------------------------------------------------------------

TEST_CASE("trim gives back what nobody holds, and only that", "[session][memory]") {
  session sess{soft(1)};
  REQUIRE(sess.devices().size() == 2);
  sess.run(assign(on<gpu<0>>(w), x), x = filled(7));
  const auto step = sess.prepare(on<gpu<0>>(softmax(transpose(tanh(x)))));
  const tensor<float, 64, 64> once = step(x = filled(1));
  sess.run(on<gpu<0>>(softmax<0>(softmax(open + 1))), open = sized(2000, 64));
  sess.run(on<cpu<0>>(softmax<0>(softmax(open + 1))), open = sized(2000, 64));
  for (const device_info& d : sess.devices()) {
    const memory_info before = sess.memory(d.name);
    CHECK(before.reserved > before.in_use + 256 * 1000);
  }
  sess.trim();
  for (const device_info& d : sess.devices()) {
    const memory_info now = sess.memory(d.name);
    CHECK(now.reserved >= now.in_use);
    CHECK(now.reserved <= now.in_use + 8192);
  }
  CHECK(sess.memory(gpu<0>{}).in_use == 3 * whole);
  CHECK(sess.run(w) == filled(7));
  CHECK(step(x = filled(1)) == once);
  CHECK(sess.run(on<gpu<0>>(sum(open)), open = sized(2000, 64)) == 128000.0f);
}

TEST_CASE("a prepared program that outlives its session gives its memory back at its end", "[session][memory]") {
  auto* sess = new session{soft(1)};
  sess->run(assign(on<gpu<0>>(w), x), x = filled(2));
  const auto step = sess->prepare(on<gpu<0>>(sum(w * x)));
  delete sess;
  CHECK(step(x = filled(0.5f)) == 4096.0f);
}

// ---- what is touched --------------------------------------------------------------------------------------

TEST_CASE("only devices that a placement uses are touched", "[session][memory]") {
  session sess{{.gpu = {.memory_limit = 1 << 20}, .simulated_gpus = 4}};
  REQUIRE(sess.devices().size() == 5);
  const auto untouched = [&](auto place) {
    const memory_info m = sess.memory(place);
    return m.in_use == 0 && m.peak == 0 && m.reserved == 0;
  };
  CHECK((untouched(gpu<0>{}) && untouched(gpu<1>{}) && untouched(gpu<2>{}) && untouched(gpu<3>{})));
  sess.run(on<cpu<0>>(softmax(x + x)), x = filled(1));
  sess.placement(on<gpu<3>>(softmax(x)));
  CHECK((untouched(gpu<0>{}) && untouched(gpu<1>{}) && untouched(gpu<2>{}) && untouched(gpu<3>{})));
  const auto step = sess.prepare(on<gpu<2>>(on<gpu<1>>(tanh(x)) + x));
  step(x = filled(1));
  step(x = filled(1));
  CHECK((untouched(gpu<0>{}) && untouched(gpu<3>{})));
  CHECK_FALSE(untouched(gpu<1>{}));
  CHECK_FALSE(untouched(gpu<2>{}));
  CHECK(sess.memory(gpu<1>{}).reserved == 1 << 20);  // no growth: all of it at once
  CHECK(sess.statistics(device_name::local(first_gpu)).transfers == 0);
}

// ---- repeated runs ----------------------------------------------------------------------------------------

namespace {

/// How many blocks are taken in each of 8 runs.
template <class Run>
std::vector<int> allocations(session& sess, Run run) {
  std::vector<int> counts;
  for (int k = 0; k < 8; ++k) {
    saboteur counting;
    const injected now(sess, counting);
    run(k);
    counts.push_back(counting.allocations);
  }
  return counts;
}

bool none_after(int runs, const std::vector<int>& counts) {
  for (std::size_t k = static_cast<std::size_t>(runs); k < counts.size(); ++k)
    if (counts[k] != 0) return false;
  return true;
}

}  // namespace

TEST_CASE("a prepared program takes one block on each device, when it is prepared, and no more", "[session][memory]") {
  for (const int gpus : {0, 1, 2, 4}) {
    INFO("with " << gpus << " GPUs");
    session sess{soft(gpus)};
    const auto program = fetches(on<gpu<0>>(products<5>(tanh(x))), on<gpu<1>>(softmax(on<gpu<2>>(exp(x)) + y)),
                                 on<cpu<0>>(softmax<0>(softmax(x) + y)));
    saboteur counting;
    sess.inject(counting.hook());
    const auto step = sess.prepare(program);
    sess.inject({});
    CHECK(counting.allocations == std::min(gpus, 3) + 1);
    CHECK(none_after(
        0, allocations(sess, [&](int k) { step(x = filled(0.01f * static_cast<float>(k)), y = filled(1)); })));
  }
}

TEST_CASE("a prepared program that writes variables takes no memory from the third run on", "[session][memory]") {
  for (const int gpus : {0, 1, 2}) {
    INFO("with " << gpus << " GPUs");
    session sess{soft(gpus)};
    sess.run(fetches(assign(on<gpu<0>>(w), x), assign(on<gpu<1>>(v), x)), x = filled(0));
    const auto step =
        sess.prepare(fetches(assign_add(on<gpu<0>>(w), x), assign(on<gpu<1>>(v), on<gpu<0>>(w) * 2), sum(w)));
    const auto counts = allocations(sess, [&](int k) {
      const float sum_before = std::get<2>(step(x = filled(1)));
      CHECK(sum_before == static_cast<float>(4096 * k));
    });
    CHECK(none_after(2, counts));
    CHECK(sess.run(w) == filled(8));
    CHECK(sess.run(v) == filled(14));
  }
}

TEST_CASE("shapes that a prepared program remembers take no memory when they come back", "[session][memory]") {
  for (const int gpus : {0, 2}) {
    session sess{soft(gpus)};
    const auto step = sess.prepare(on<gpu<1>>(softmax(on<gpu<0>>(softmax(open * open)) + 1)));
    const auto round = [&] {
      saboteur counting;
      const injected now(sess, counting);
      for (int rows = 1; rows <= 8; ++rows) {
        const auto r = step(open = sized(rows, 4));
        CHECK(r.shape() == std::array<int, 2>{rows, 4});
        CHECK(r(rows - 1, 3) == Approx(0.25));
      }
      return counting.allocations.load();
    };
    CHECK(round() > 0);
    CHECK(round() == 0);
    CHECK(round() == 0);
    // A ninth takes the place of the one that was not used longest.
    step(open = sized(9, 4));
    saboteur counting;
    const injected now(sess, counting);
    step(open = sized(8, 4));
    CHECK(counting.allocations == 0);
    step(open = sized(1, 4));
    CHECK(counting.allocations > 0);
  }
}

TEST_CASE("more shapes than are remembered work all the same, and memory does not grow", "[session][memory]") {
  session sess{soft(1)};
  const auto step = sess.prepare(on<gpu<0>>(sum(softmax(open * open))));
  std::int64_t after_first = 0;
  for (int round = 0; round < 3; ++round) {
    for (int rows = 1; rows <= 20; ++rows) CHECK(step(open = sized(rows, 64)) == Approx(static_cast<float>(rows)));
    const std::int64_t now = sess.memory(sess.devices().back().name).in_use;
    if (round == 0) after_first = now;
    CHECK(now == after_first);
  }
}
