// SPDX-License-Identifier: BSL-1.0
// Sessions on a real GPU: placement, copies, variables, products with epilogues, softmax, failures.
#include <onto/onto.hpp>

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
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

TEST_CASE("steps of training on the GPU give what they give on the CPU, and copy nothing but inputs and losses",
          "[cuda][session]") {
  static constexpr auto in = placeholder<"in", float, 40, 6>;
  static constexpr auto wanted = placeholder<"wanted", std::int64_t, 40>;
  constexpr auto w1 = variable<"w1", float, 6, 24>(glorot_uniform<float, 6, 24>(1_c));
  constexpr auto b1 = variable<"b1", float, 24>(zeros<float, 24>());
  constexpr auto w2 = variable<"w2", float, 24, 5>(glorot_uniform<float, 24, 5>(2_c));
  constexpr auto loss = [](auto place, const auto& v1, const auto& b, const auto& v2) {
    return on<decltype(place)>(
        softmax_cross_entropy(matmul(dropout(relu(matmul(in, v1) + b), 0.25_c, 1_c), v2), wanted));
  };
  constexpr auto on_gpu = minimize<adam{.rate = 0.05}>(clip_by_global_norm(1_c), loss(gpu<0>{}, w1, b1, w2));
  constexpr auto on_cpu = minimize<adam{.rate = 0.05}>(clip_by_global_norm(1_c), loss(cpu<0>{}, w1, b1, w2));
  constexpr auto plain = minimize<sgd{.rate = 0.05}>(loss(gpu<0>{}, w1, b1, w2));
  constexpr auto plain_on_cpu = minimize<sgd{.rate = 0.05}>(loss(cpu<0>{}, w1, b1, w2));
  tensor<float, 40, 6> points;
  for (std::size_t k = 0; k < points.size(); ++k) points.data()[k] = static_cast<float>(gpu_test::number(k));
  tensor<std::int64_t, 40> classes;
  for (int k = 0; k < 40; ++k) classes(k) = k % 5;
  const auto same = [&](const auto& there, const auto& here) {
    session a, b;
    a.initialize(there);
    b.initialize(here);
    CHECK(a.placement(there).at("w1").assigned.to_string() == gpu0);
    CHECK(b.placement(here).at("w1").assigned.to_string() == cpu0);
    auto step = a.prepare(there);
    for (int k = 0; k < 12; ++k) {
      const auto before = a.statistics(gpu<0>{});
      const float now = step(in = points, wanted = classes);
      const auto after = a.statistics(gpu<0>{});
      CHECK(after.transfers - before.transfers == 3);
      const float other = b.run(here, in = points, wanted = classes);
      CHECK(static_cast<double>(now) == Approx(static_cast<double>(other)).epsilon(1e-4));
    }
    const auto mine = a.run(w2), other = b.run(w2);
    for (std::size_t k = 0; k < mine.size(); ++k)
      CHECK(static_cast<double>(mine.data()[k]) == Approx(static_cast<double>(other.data()[k])).margin(1e-3));
  };
  same(on_gpu, on_cpu);
  same(plain, plain_on_cpu);
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

TEST_CASE("folds over the first axis and a middle one, in the kernel of what uses them", "[cuda][session]") {
  session sess;
  const auto m = numbers(300, 70, 5);
  constexpr auto centred = x - mean<0>(x);
  constexpr auto standard = centred * rsqrt(mean<0>(square(centred)) + 0.125_c);
  static_assert(plan_of(on<gpu<0>>(standard)).kernels == 1);
  const matrix got = sess.run(on<gpu<0>>(standard), x = m);
  CHECK(worst_of(got, [&](int r, int c) {
          double total = 0, variance = 0;
          for (int k = 0; k < 300; ++k) total += at(m, k, c);
          for (int k = 0; k < 300; ++k) variance += (at(m, k, c) - total / 300) * (at(m, k, c) - total / 300) / 300;
          return (at(m, r, c) - total / 300) / std::sqrt(variance + 0.125);
        }) < 1e-5);
  // What a generator makes is an element's own, wherever its row lies.
  constexpr auto cube = placeholder<"cube", float, 3, 40, 12>;
  constexpr auto noisy = (cube + random_uniform<float, 3, 40, 12>(3_c)) / sum<1>(abs(cube), keep_extents);
  static_assert(plan_of(on<gpu<0>>(noisy)).kernels == 1);
  tensor<float, 3, 40, 12> t;
  std::size_t k = 0;
  for (float& v : t) v = static_cast<float>(gpu_test::number(k++));
  const auto there = sess.run(on<gpu<0>>(noisy), cube = t), here = sess.run(on<cpu<0>>(noisy), cube = t);
  double worst = 0;
  for (std::size_t j = 0; j < here.size(); ++j)
    worst =
        gpu_test::worse(worst, std::fabs(static_cast<double>(there.data()[j]) - static_cast<double>(here.data()[j])));
  CHECK(worst < 1e-6);
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
  // A product is in memory: 2^40 bytes. What is zeros alone would be made where it is read.
  const auto huge = on<gpu<0>>(sum(matmul(zeros<float, 1048576, 1>() + 1.0f, zeros<float, 1, 262144>() + 1.0f)));
  for (int k = 0; k < 2; ++k) {
    CHECK_THROWS_AS(sess.run(huge), resource_exhausted_error);
    CHECK_THROWS_AS(sess.run(fetches(huge, assign(w, 7.0f * w))), resource_exhausted_error);
    CHECK(sess.run(w) == tensor<float, 2, 2>{{1, 2}, {3, 4}});
  }
  CHECK(sess.run(on<gpu<0>>(sum(x)), x = matrix{{1, 2}, {3, 4}}) == 10);
}

TEMPLATE_TEST_CASE("a product times 0 keeps NaN and infinities", "[cuda][matmul]", float, double) {
  using T = TestType;
  session sess;
  constexpr auto a = placeholder<"a", T, dyn, dyn>;
  constexpr auto bias = placeholder<"bias", T, dyn>;
  constexpr auto s = placeholder<"s", T>;
  tensor<T, dyn, dyn> values({33, 40});
  std::size_t k = 0;
  for (T& v : values) v = static_cast<T>(gpu_test::number(k++));
  values(3, 7) = std::numeric_limits<T>::quiet_NaN();
  values(20, 0) = std::numeric_limits<T>::infinity();
  const tensor<T, dyn> b(std::vector<T>(33, T(2)));
  const auto program = relu(s * matmul(a, transpose(a)) + bias);
  for (const T factor : {T(0), T(-0.0)}) {
    const auto got = sess.run(on<gpu<0>>(program), a = values, s = factor, bias = b);
    const auto expected = sess.run(on<cpu<0>>(program), a = values, s = factor, bias = b);
    int wrong = 0, nan = 0;
    for (int i = 0; i < 33; ++i)
      for (int j = 0; j < 33; ++j) {
        nan += std::isnan(got(i, j)) ? 1 : 0;
        wrong += got(i, j) == expected(i, j) || (std::isnan(got(i, j)) && std::isnan(expected(i, j))) ? 0 : 1;
      }
    CHECK(wrong == 0);
    CHECK(nan == 2 * 2 * 33 - 4);
  }
}

TEST_CASE("a limit that is smaller than what the driver takes at once holds, and products work within it",
          "[cuda][session]") {
  const auto m = numbers(512, 512, 3);
  session enough{{.gpu = {.memory_limit = 4 << 20}}}, small{{.gpu = {.memory_limit = 1 << 20}}};
  const auto program = on<gpu<0>>(matmul(x, x) + x);
  const matrix got = enough.run(program, x = m);
  std::vector<double> expected(m.data(), m.data() + m.size());
  for (int r = 0; r < 512; ++r)
    for (int k = 0; k < 512; ++k) {
      const double left = at(m, r, k);
      const float* const numbers_of_row = m.data() + 512 * k;
      double* const sums = expected.data() + 512 * r;
      for (int c = 0; c < 512; ++c) sums[c] += left * static_cast<double>(numbers_of_row[c]);
    }
  CHECK(worst_of(got, [&](int r, int c) { return expected[static_cast<std::size_t>(512 * r + c)]; }) < 1e-3);
  CHECK_THROWS_AS(small.run(program, x = m), resource_exhausted_error);
  CHECK(small.run(on<gpu<0>>(x * 2.0f), x = numbers(8, 8, 1)) == small.run(on<cpu<0>>(x * 2.0f), x = numbers(8, 8, 1)));
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

TEST_CASE("variables on a GPU are saved and restored", "[cuda][session]") {
  constexpr auto many = variable<"many", float, dyn, 700>;
  const auto folder = std::filesystem::temp_directory_path();
  const std::string path = (folder / ("onto_gpu_" + std::to_string(::getpid()) + ".safetensors")).string();
  const matrix values = numbers(400, 700, 1);  // by way of pinned memory, in several pieces
  const auto filled = [&](const auto& sess_values, const auto& pair) {
    return sess_values == values && pair == tensor<float, 2, 2>{{1, 2}, {3, 4}};
  };
  session sess;
  sess.run(assign(on<gpu<0>>(many), reshape<dyn, 700>(x)), x = values);
  sess.run(assign(on<gpu<0>>(w), constant({{1.f, 2.f}, {3.f, 4.f}})));
  sess.save(path);
  sess.run(fetches(assign(many, 0.f), assign(w, 0.f)));
  // Each allocation and copy fails once, on the way back; nothing has changed then.
  int failures = 0;
  for (bool done = false; !done;) {
    saboteur s;
    s.at = failures;
    const onto_test::injected hook(sess, s);
    try {
      sess.restore(path);
      done = true;
    } catch (const internal_error&) {
      ++failures;
      s.at = -1;
      CHECK((sess.run(many)(399, 699) == 0 && sess.run(w)(1, 1) == 0));
    }
  }
  CHECK(failures >= 4);
  CHECK(filled(sess.run(many), sess.run(w)));
  CHECK(sess.placement(many).to_string().find(gpu0) != std::string::npos);

  session other;
  other.restore(path);
  CHECK(other.run(sum(on<gpu<0>>(many))) == sess.run(sum(many)));
  CHECK(filled(other.run(many), other.run(w)));
  std::filesystem::remove(path);
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
