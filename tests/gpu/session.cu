// SPDX-License-Identifier: BSL-1.0
// Sessions on a real GPU: placement, copies, variables, products with epilogues, softmax, failures.
#include <onto/onto.hpp>

#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "session/saboteur.hpp"
#include "worse.hpp"

using namespace onto;
using onto_test::failure;
using onto_test::saboteur;
using onto_test::words_of;

namespace {

inline constexpr auto x = placeholder<"x", float, dyn, dyn>;
inline constexpr auto y = placeholder<"y", float, dyn, dyn>;
inline constexpr auto z = placeholder<"z", float, dyn, dyn>;
inline constexpr auto row = placeholder<"row", float, dyn>;
inline constexpr auto w = variable<"w", float, 2, 2>;

using matrix = tensor<float, dyn, dyn>;

const std::string gpu0 = "/job:localhost/replica:0/task:0/device:GPU:0";
const std::string cpu0 = "/job:localhost/replica:0/task:0/device:CPU:0";

matrix numbers(int rows, int columns, std::size_t seed, double scale = 1) {
  matrix m({rows, columns});
  std::size_t k = seed;
  for (float& v : m) v = static_cast<float>(gpu_test::number(k++) * scale);
  return m;
}

double at(const matrix& m, int r, int c) { return static_cast<double>(m(r, c)); }

/// The largest difference between the elements of `m` and what `exact(row, column)` gives.
template <class Exact>
double worst_of(const matrix& m, Exact exact) {
  double worst = 0;
  for (int r = 0; r < m.shape()[0]; ++r)
    for (int c = 0; c < m.shape()[1]; ++c) worst = gpu_test::worse(worst, std::fabs(at(m, r, c) - exact(r, c)));
  return worst;
}

struct leaky : elementwise<floating_elements> {
  static constexpr std::string_view name = "Leaky";
  template <class T>
  __host__ __device__ static T apply(T value, T slope) {
    return value > T(0) ? value : slope * value;
  }
};

/// For the host alone: it says that it has no kernels for GPUs.
struct host_only : elementwise<floating_elements> {
  static constexpr std::string_view name = "HostOnly";
  static constexpr kernel_set kernels{floating_elements, 0};
  template <class T>
  static T apply(T value) {
    return value + T(1);
  }
};

}  // namespace

TEST_CASE("the GPU is a device of the session, and comes first", "[cuda][session]") {
  session sess;
  const auto devices = sess.devices();
  REQUIRE(devices.size() >= 2);
  CHECK(devices[0].name.to_string() == cpu0);
  CHECK(devices[1].name.to_string() == gpu0);
  CHECK(devices[1].description.rfind("device: 0, name: ", 0) == 0);
  const auto report = sess.placement(on<cpu<0>>(tanh(matmul(x, y))));
  CHECK(report.at("MatMul").assigned.to_string() == cpu0);
  CHECK(sess.placement(tanh(matmul(x, y))).at("MatMul").assigned.to_string() == gpu0);
  CHECK(sess.placement(call<host_only>(x)).at("HostOnly").assigned.to_string() == cpu0);
}

TEST_CASE("copies and kernels are as planned", "[cuda][session]") {
  session sess;
  constexpr auto program = on<cpu<0>>(exp(on<gpu<0>>(matmul(x, y) + matmul(y, x)))) + on<gpu<0>>(sum(x));
  constexpr auto plan = plan_of<world<cpu<0>, gpu<0>>>(program);
  const auto m = numbers(8, 8, 1);
  (void)sess.run(program, x = m, y = m);
  const auto on_gpu = sess.statistics(gpu<0>{}), on_cpu = sess.statistics(cpu<0>{});
  CHECK(on_gpu.kernels + on_cpu.kernels == plan.kernels);
  CHECK(on_gpu.transfers + on_cpu.transfers == plan.transfers);
}

TEST_CASE("variables live on the GPU, and a run that only changes them copies nothing", "[cuda][session]") {
  session sess;
  const auto v = w({{1, 2}, {3, 4}});
  sess.run(initialize(v));
  CHECK(sess.placement(exp(w)).at("w").assigned.to_string() == gpu0);
  const auto before = sess.statistics(gpu<0>{});
  const auto step = assign_sub(w, 0.25f * w);
  for (int k = 0; k < 3; ++k) (void)sess.run(sum(step));
  const auto after = sess.statistics(gpu<0>{});
  CHECK(after.transfers - before.transfers == 3);  // the sums
  CHECK(after.transfer_bytes - before.transfer_bytes == 3 * 4);
  const float left = 0.75f * 0.75f * 0.75f;
  CHECK(sess.run(w) == tensor<float, 2, 2>{{left, 2 * left}, {3 * left, 4 * left}});
}

TEST_CASE("softmax over either axis", "[cuda][session]") {
  session sess;
  const auto m = numbers(300, 70, 5, 20);
  for (const bool rows : {true, false}) {
    const matrix got = rows ? sess.run(on<gpu<0>>(softmax(x)), x = m) : sess.run(on<gpu<0>>(softmax<0>(x)), x = m);
    const double worst = worst_of(got, [&](int r, int c) {
      double maximum = -1e300, total = 0;
      const int count = rows ? 70 : 300;
      for (int k = 0; k < count; ++k) maximum = std::fmax(maximum, rows ? at(m, r, k) : at(m, k, c));
      for (int k = 0; k < count; ++k) total += std::exp((rows ? at(m, r, k) : at(m, k, c)) - maximum);
      return std::exp(at(m, r, c) - maximum) / total;
    });
    CHECK(worst < 1e-5);
  }
}

TEST_CASE("products with what follows them, in one kernel", "[cuda][session]") {
  session sess;
  constexpr int rows = 33, inner = 65, columns = 48;
  const auto first = numbers(rows, inner, 1), second = numbers(inner, columns, 70000),
             third = numbers(rows, columns, 9);
  const auto bias = [] {
    tensor<float, dyn> b({columns});
    for (int k = 0; k < columns; ++k) b(k) = static_cast<float>(k) / 16;
    return b;
  }();
  const auto product = [&](int r, int c) {
    double s = 0;
    for (int k = 0; k < inner; ++k) s += at(first, r, k) * at(second, k, c);
    return s;
  };
  const auto kernels = [&] { return sess.statistics(gpu<0>{}).kernels; };
  auto before = kernels();
  CHECK(worst_of(sess.run(relu(matmul(x, y) + row), x = first, y = second, row = bias),
                 [&](int r, int c) { return std::fmax(0.0, product(r, c) + c / 16.0); }) < 1e-4);
  CHECK(kernels() - before == 1);
  before = kernels();
  CHECK(worst_of(sess.run(2.0f * matmul(x, y) - 0.5f * z, x = first, y = second, z = third),
                 [&](int r, int c) { return 2 * product(r, c) - 0.5 * at(third, r, c); }) < 1e-4);
  CHECK(kernels() - before == 1);
  before = kernels();
  CHECK(worst_of(sess.run(transpose(matmul(x, y)), x = first, y = second),
                 [&](int r, int c) { return product(c, r); }) < 1e-4);
  CHECK(worst_of(sess.run(matmul(transpose(y), transpose(x)), x = first, y = second),
                 [&](int r, int c) { return product(c, r); }) < 1e-4);
}

TEST_CASE("an operation of one's own runs on the GPU, or stays on the CPU if it is for the host alone",
          "[cuda][session]") {
  session sess;
  const matrix m{{-2, 3}, {4, -5}};
  CHECK(sess.run(on<gpu<0>>(call<leaky>(x, 0.5f)), x = m) == matrix{{-1, 3}, {4, -2.5f}});
  CHECK(sess.run(call<host_only>(x) * 2, x = m) == matrix{{-2, 8}, {10, -8}});
  CHECK_THROWS_AS(sess.run(on<gpu<0>>(call<host_only>(x)), x = m), invalid_argument_error);
  session soft{{.allow_soft_placement = true}};
  CHECK(soft.run(on<gpu<0>>(call<host_only>(x)), x = m) == matrix{{-1, 4}, {5, -4}});
}

TEST_CASE("programs of many tensors and of many operations", "[cuda][session]") {
  session sess;
  const matrix m{{1, 2, 3}, {4, 5, 6}};
  const auto values = [&](const auto&... leaf) {
    // 26 tensors, one of them a row for all rows and one transposed twice
    return sess.run(on<gpu<0>>((leaf + ...) * row + transpose(transpose(z) * 2)), (leaf = m)..., row = {1, 10, 100},
                    z = m);
  };
  const auto twenty_four = [&]<int... K>(std::integer_sequence<int, K...>) {
    return values(placeholder<fixed_string({static_cast<char>('A' + K), '\0'}), float, dyn, dyn>...);
  };
  CHECK(twenty_four(std::make_integer_sequence<int, 24>{}) == matrix{{26, 484, 7206}, {104, 1210, 14412}});
  const auto deep = [&]<int... K>(std::integer_sequence<int, K...>) { return (x + ... + (x * static_cast<float>(K))); };
  CHECK(sess.run(on<gpu<0>>(deep(std::make_integer_sequence<int, 64>{})), x = m) ==
        matrix{{2017, 4034, 6051}, {8068, 10085, 12102}});
}

TEST_CASE("memory that is not there is refused, and the session stays usable", "[cuda][session]") {
  session sess;
  const auto v = w({{1, 2}, {3, 4}});
  sess.run(initialize(v));
  const auto huge = on<gpu<0>>(sum(zeros<float, 1048576, 262144>() + 1.0f));  // 2^40 bytes
  for (int k = 0; k < 2; ++k) {
    CHECK_THROWS_AS(sess.run(huge), resource_exhausted_error);
    CHECK_THROWS_AS(sess.run(fetches(huge, assign(w, 7.0f * w))), resource_exhausted_error);
    CHECK(sess.run(w) == tensor<float, 2, 2>{{1, 2}, {3, 4}});
  }
  CHECK(sess.run(on<gpu<0>>(sum(x)), x = matrix{{1, 2}, {3, 4}}) == 10);
}

TEST_CASE("whatever call fails on the GPU, in whatever run, it throws, and variables keep their values",
          "[cuda][session]") {
  session sess;
  constexpr auto fed = placeholder<"fed", float, 2, 2>;
  constexpr auto program = fetches(assign_add(on<gpu<0>>(w), matmul(fed, fed)), on<gpu<0>>(sum(w * fed)));
  const tensor<float, 2, 2> value{{1, 2}, {3, 4}};
  sess.run(assign(on<gpu<0>>(w), zeros<float, 2, 2>()));
  enum { single, prepared_now, recorded, replayed };
  for (const int kind : {single, prepared_now, recorded, replayed})
    for (const failure how : {failure::memory, failure::resources, failure::internal}) {
      bool finished = false;
      for (int call = 0; !finished; ++call) {
        INFO("kind of run " << kind << ", of failure " << static_cast<int>(how) << ", call " << call);
        REQUIRE(call < 100);
        std::optional<decltype(sess.prepare(program))> step;
        if (kind == recorded || kind == replayed)
          step.emplace(sess.prepare(program));
        else
          sess.trim();  // so that the run asks for all of its memory, and for that of its kernels
        for (int k = 0; k < (kind == recorded ? 1 : kind == replayed ? 4 : 0); ++k) (*step)(fed = value);
        const auto run = [&] {
          if (kind == single)
            (void)sess.run(program, fed = value);
          else if (kind == prepared_now)
            (void)sess.prepare(program)(fed = value);
          else
            (void)(*step)(fed = value);
        };
        const tensor<float, 2, 2> w_now = sess.run(w);
        const std::int64_t in_use = sess.memory(gpu<0>{}).in_use;
        saboteur s;
        s.at = call;
        s.how = how;
        sess.inject(s.hook());
        const std::string said =
            how == failure::internal ? words_of<internal_error>(run) : words_of<resource_exhausted_error>(run);
        sess.inject({});
        finished = s.calls <= call;
        if (finished) {
          CHECK(said == "nothing was thrown");
          CHECK(s.kernels > 0);
          if (kind == replayed)
            CHECK(s.copies == 0);  // they are in the graph
          else if (kind == single || kind == prepared_now)
            CHECK((s.allocations > 0 && s.copies > 0));
          const auto next = sess.run(w);
          for (int r = 0; r < 2; ++r)
            for (int c = 0; c < 2; ++c) CHECK(next(r, c) == w_now(r, c) + (c ? (r ? 22 : 10) : (r ? 15 : 7)));
        } else {
          INFO(said);
          CHECK(said.rfind("[onto.", 0) == 0);
          CHECK(sess.run(w) == w_now);
          if (kind == single || kind == prepared_now) CHECK(sess.memory(gpu<0>{}).in_use == in_use);
        }
      }
    }
}

TEST_CASE("several threads use one session", "[cuda][session][threads]") {
  session sess;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const matrix m{{static_cast<float>(t), 1}, {1, 0}};
      for (int k = 0; k < 25; ++k)
        if (!(sess.run(on<gpu<0>>(sum(matmul(x, x) + x)), x = m) == static_cast<float>(t * t + 3 * t + 4))) ++wrong;
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}
