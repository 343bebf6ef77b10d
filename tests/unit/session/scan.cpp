// SPDX-License-Identifier: BSL-1.0
// Scans in programs: NumPy's results, on the CPU and on simulated GPUs, prepared, of views and beside kernels that
// fuse.
#include <onto/scan.hpp>

#include <string>

#include "../catch.hpp"
#include "machines.hpp"
#include "numpy_table.hpp"

using namespace onto;
using namespace onto_test;

namespace {

template <class T>
inline constexpr auto x = placeholder<"x", T, 2, 3, 4>;

template <class T, class Place>
void check_scans(session& sess, Place) {
  const numpy_table t = read_numpy("scans.tsv", numpy_name(element_of<T>));
  REQUIRE(t.size() == 10);
  tensor<T, 2, 3, 4> X;
  fill_from(t, "x", X);
  constexpr auto& a = x<T>;
  const auto got =
      sess.run(fetches(on<Place>(cumsum<0>(a)), on<Place>(cumsum<1>(a, reverse)), on<Place>(cumsum(a)),
                       on<Place>(cumprod<0>(a, reverse)), on<Place>(cumprod<-1>(a)), on<Place>(cummin<-3>(a)),
                       on<Place>(cummin<1>(a, reverse)), on<Place>(cummax<1>(a)), on<Place>(cummax(a, reverse))),
               a = X);
  const char* const names[] = {"cumsum 0", "cumsum -1", "cumsum 2", "cumprod -0", "cumprod 2",
                               "cummin 0", "cummin -1", "cummax 1", "cummax -2"};
  std::apply([&, k = 0](const auto&... r) mutable { (check_numpy(t, names[k++], r), ...); }, got);
}

}  // namespace

TEST_CASE("scans compute what NumPy computes", "[session]") {
  session sess{{.simulated_gpus = 2}};
  check_scans<std::int8_t>(sess, cpu<0>{});
  check_scans<std::uint8_t>(sess, gpu<1>{});
  check_scans<std::int16_t>(sess, cpu<0>{});
  check_scans<std::uint16_t>(sess, cpu<0>{});
  check_scans<std::int32_t>(sess, gpu<0>{});
  check_scans<std::uint32_t>(sess, cpu<0>{});
  check_scans<std::int64_t>(sess, cpu<0>{});
  check_scans<std::uint64_t>(sess, gpu<1>{});
  check_scans<half>(sess, cpu<0>{});
  check_scans<float>(sess, gpu<1>{});
  check_scans<double>(sess, cpu<0>{});
}

// ---- programs ---------------------------------------------------------------------------------------------

namespace {

constexpr auto m = placeholder<"m", float, dyn, dyn>;
const tensor<float, 2, 3> values{{1, 2, 3}, {4, 5, 6}};

}  // namespace

TEST_CASE("a scan reads a view where it is, and a stretched operand", "[session]") {
  session sess;
  CHECK(sess.run(cumsum(transpose(m)), m = values) == tensor<float, 3, 2>{{1, 5}, {2, 7}, {3, 9}});
  CHECK(sess.run(cumsum<0>(transpose(m), reverse), m = values) == tensor<float, 3, 2>{{6, 15}, {5, 11}, {3, 6}});
  CHECK(sess.run(cumsum(slice<range<>, range<1, to_end>>(m)), m = values) == tensor<float, 2, 2>{{2, 5}, {5, 11}});
  CHECK(sess.run(cumprod<0>(slice<range<>, range<0, to_end, 2>>(m)), m = values) ==
        tensor<float, 2, 2>{{1, 3}, {4, 18}});
  CHECK(sess.run(cummax(reshape<6>(m)), m = values) == tensor<float, 6>{1, 2, 3, 4, 5, 6});
  CHECK(sess.run(cumsum(m), m = tensor<float, 2, 0>{}).size() == 0);
  CHECK(sess.run(cummax<0>(m), m = tensor<float, 0, 2>{}).size() == 0);
}

TEST_CASE("a scan stands between kernels that fuse", "[session]") {
  session sess{{.simulated_gpus = 1}};
  constexpr auto e = cumsum(m * 2_c + 1_c) - m;
  const tensor<float, 2, 3> wanted{{2, 6, 12}, {5, 15, 27}};
  CHECK(sess.run(e, m = values) == wanted);
  CHECK(sess.run(on<gpu<0>>(e), m = values) == wanted);
  CHECK(sess.run(sum(cumsum<0>(m)), m = values) == 27);
}

TEST_CASE("scans follow each other along extents that only the run knows", "[session]") {
  session sess;
  CHECK(sess.run(cumsum<0>(cumsum<1>(m)), m = values) == tensor<float, 2, 3>{{1, 3, 6}, {5, 12, 21}});
}

TEST_CASE("a prepared scan runs on several simulated GPUs", "[session]") {
  session sess{{.simulated_gpus = 3}};
  constexpr auto e = on<cpu<0>>(on<gpu<0>>(cumsum(m)) + on<gpu<1>>(cumprod<0>(m, reverse)) + on<gpu<2>>(cummin(m)));
  auto step = sess.prepare(e);
  for (int round = 1; round <= 4; ++round) {
    tensor<float, 2, 3> in = values;
    for (float& v : in) v *= static_cast<float>(round);
    const auto r = static_cast<float>(round);
    const tensor<float, dyn, dyn> got = step(m = in);
    CHECK(got(0, 1) == 3 * r + 10 * r * r + r);
    CHECK(got(1, 2) == 15 * r + 6 * r + 4 * r);
  }
}

TEST_CASE("scans that only values tell apart are both computed", "[session]") {
  session sess;
  const auto scaled = [](float by) { return cumsum(m * by); };
  CHECK(sess.run(scaled(2) + scaled(2), m = values) == tensor<float, 2, 3>{{4, 12, 24}, {16, 36, 60}});
  CHECK(sess.run(scaled(2) + scaled(3), m = values) == tensor<float, 2, 3>{{5, 15, 30}, {20, 45, 75}});
  CHECK(sess.placement(scaled(2) + scaled(3)).told_apart > 0);
  // The same with the reading that types give, and with another axis beside it.
  const auto crossed = [](float by) { return cumsum<0>(cumsum(m * by), reverse); };
  CHECK(sess.run(crossed(1) - crossed(2), m = values) == tensor<float, 2, 3>{{-5, -12, -21}, {-4, -9, -15}});
}

TEST_CASE("a scan takes the time that is estimated", "[session]") {
  constexpr auto s = placeholder<"s", float, 64, 32>;
  constexpr auto e = on<gpu<0>>(cumsum<0>(exp(s)));
  constexpr cost_model model{1e9, 1e9, 3.1e3, 1.1e3, 1e9, 1e9, 1e-6, 1.9e-2};
  session sess{onto_test::timed(1, model)};
  tensor<float, 64, 32> in;
  sess.run(e, s = in);
  CHECK(estimate(plan_of<onto_test::machine_of<1>>(e), model).seconds == Approx(sess.simulated_seconds()));
}

TEST_CASE("a scan is named in the plan and in the placement", "[session]") {
  CHECK(plan_of(cumsum(m)).text().find("Cumsum float[?, ?] = Cumsum") != std::string::npos);
  session sess{{.simulated_gpus = 1}};
  CHECK(sess.placement(on<gpu<0>>(cummin(m, reverse))).to_json().find("\"Cummin\"") != std::string::npos);
}
