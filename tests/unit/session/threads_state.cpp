// SPDX-License-Identifier: BSL-1.0
// What threads share in a session beside its variables: programs that values tell apart, memory that is given back,
// variables that are saved.
#include <onto/safetensors.hpp>

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 4>;
constexpr auto open = placeholder<"open", float, dyn, dyn>;
const tensor<float, 4> in{0.1f, 0.2f, -0.3f, 0.4f};

tensor<float, dyn, dyn> ones(int rows, int columns) {
  tensor<float, dyn, dyn> t({rows, columns});
  for (float& v : t) v = 1;
  return t;
}

}  // namespace

TEST_CASE("threads run programs that values tell apart", "[session][identity][threads]") {
  session sess;
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 50; ++k) {
        const float a = static_cast<float>(1 + k % 3), b = static_cast<float>(1 + t);
        const tensor<float, 4> got = sess.run(exp(x * a) + exp(x * b), x = in);
        for (int j = 0; j < 4; ++j)
          if (!(std::abs(got(j) - (std::exp(a * in(j)) + std::exp(b * in(j)))) < 1e-4f))
            ++wrong[static_cast<std::size_t>(t)];
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("trim while others run is no trap", "[session][memory][threads]") {
  session sess{{.allow_soft_placement = true, .simulated_gpus = 2}};
  std::atomic<bool> stop{false};
  std::thread trimming([&] {
    while (!stop) sess.trim();
  });
  int wrong = 0;
  for (int k = 0; k < 60; ++k)
    wrong += sess.run(on<gpu<1>>(sum(on<gpu<0>>(open + 1))), open = ones(1 + k % 9, 5)) ==
                     static_cast<float>(10 * (1 + k % 9))
                 ? 0
                 : 1;
  stop = true;
  trimming.join();
  CHECK(wrong == 0);
}

TEST_CASE("what is saved while runs go on is of one moment", "[session][checkpoint][threads]") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("onto_threads_" + std::to_string(::getpid()))).string();
  constexpr auto left = variable<"left", float, 500>;
  constexpr auto right = variable<"right", float, 500>;
  session sess{{.simulated_gpus = 1}};
  sess.run(fetches(assign(left, 0.f), assign(on<gpu<0>>(right), 0.f)));
  std::thread runs([&] {
    auto both = sess.prepare(fetches(assign_add(left, 1.f), assign_add(right, 1.f)));
    for (int k = 0; k < 200; ++k) both();
  });
  for (int k = 0; k < 20; ++k) {
    sess.save(path);
    const safetensors_file file(path);
    const auto l = file.load<float, 500>("left"), r = file.load<float, 500>("right");
    CHECK(l == r);
    CHECK(l(0) == l(499));
  }
  runs.join();
  sess.restore(path);
  const auto [l, r] = sess.run(fetches(left, right));
  CHECK(l == r);
  std::filesystem::remove(path);
}
