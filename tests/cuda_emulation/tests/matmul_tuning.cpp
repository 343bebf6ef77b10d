// SPDX-License-Identifier: BSL-1.0
// session_options::tune_matmul: the fastest of cublasLt's proposals is found by running them, once for each shape, and
// what is computed meanwhile does no harm.
#include <onto/onto.hpp>

#include <vector>

#include "../../gpu/product.hpp"
#include "blas.hpp"
#include "catch.hpp"
#include "control.hpp"

using namespace gpu_test;
using cuda_emulation::blas_call;

namespace {

constexpr int proposals = 5, fastest = 3, runs_of_each = 4;

/// Algorithms of which one is the fastest, and not the first, for as long as it lives. All take longer than it takes to
/// issue them, which would be measured too.
struct uneven_algorithms {
  uneven_algorithms() {
    cuda_emulation::blas_proposals = proposals;
    cuda_emulation::blas_durations = [](int k) { return k == fastest ? 100000 : 600000; };
    (void)cuda_emulation::take_blas_calls();
  }
  uneven_algorithms(const uneven_algorithms&) = delete;
  uneven_algorithms& operator=(const uneven_algorithms&) = delete;
  ~uneven_algorithms() {
    cuda_emulation::blas_proposals = 4;
    cuda_emulation::blas_durations = {};
    cuda_emulation::blas_refusals.clear();
  }
};

/// Which proposals the products since the last question used.
std::vector<int> used() {
  std::vector<int> numbers;
  for (const blas_call& c : cuda_emulation::take_blas_calls()) numbers.push_back(c.proposal);
  return numbers;
}

std::vector<int> tuned_then_fastest() {
  std::vector<int> numbers;
  for (int k = 0; k < proposals; ++k) numbers.insert(numbers.end(), runs_of_each, k);
  numbers.push_back(fastest);
  return numbers;
}

matmul_form tuning(double alpha = 1, double beta = 0, bool relu = false) {
  matmul_form form{alpha, beta, relu};
  form.tune = true;
  return form;
}

}  // namespace

TEST_CASE("the fastest proposal is found by trying, once", "[cuda][matmul]") {
  const uneven_algorithms algorithms;
  bench b;
  product<float> p(shape_of({9, 7}), 5, {5, 1}, {7, 1}, {}, tuning());
  CHECK(p.error(b) < 1e-6);
  CHECK(used() == tuned_then_fastest());
  CHECK(p.error(b) < 1e-6);
  CHECK(used() == std::vector<int>{fastest});
  // Who does not ask for it has what was found for the shape, and for other shapes the first.
  p.call.form.tune = false;
  CHECK(p.error(b) < 1e-6);
  CHECK(used() == std::vector<int>{fastest});
  CHECK(product<float>(shape_of({9, 8}), 5, {5, 1}, {8, 1}).error(b) < 1e-6);
  CHECK(used() == std::vector<int>{0});
}

TEST_CASE("a shape that was met untuned is tuned when that is asked for", "[cuda][matmul]") {
  const uneven_algorithms algorithms;
  bench b;
  product<float> p(shape_of({9, 7}), 5, {5, 1}, {7, 1});
  CHECK(p.error(b) < 1e-6);
  CHECK(used() == std::vector<int>{0});
  p.call.form.tune = true;
  CHECK(p.error(b) < 1e-6);
  CHECK(used() == tuned_then_fastest());
}

TEST_CASE("as many proposals as are asked for are tried", "[cuda][matmul]") {
  const uneven_algorithms algorithms;
  cuda_emulation::blas_proposals = 20;
  CHECK(product<float>(shape_of({9, 7}), 5, {5, 1}, {7, 1}, {}, tuning()).error() < 1e-6);
  CHECK(used().size() == 8 * runs_of_each + 1);
}

TEST_CASE("an addend is placed again where something was tried, and only there", "[cuda][matmul]") {
  const uneven_algorithms algorithms;
  const auto kernels = [] {
    cuda_emulation::reset_calls();
    CHECK(product<float>(shape_of({9, 7}), 5, {5, 1}, {7, 1}, {1, 0}, tuning(1, -0.5)).error() < 1e-5);
    return cuda_emulation::calls()["cudaLaunchKernelExC"];
  };
  CHECK(kernels() == 2);
  cuda_emulation::blas_proposals = 1;
  CHECK(kernels() == 1);
}

TEST_CASE("nothing is tried where there is no choice", "[cuda][matmul]") {
  const uneven_algorithms algorithms;
  cuda_emulation::blas_proposals = 1;
  CHECK(product<float>(shape_of({9, 7}), 5, {5, 1}, {7, 1}, {}, tuning()).error() < 1e-6);
  CHECK(used() == std::vector<int>{0});
}

TEST_CASE("the first proposal is kept where none is faster", "[cuda][matmul]") {
  const uneven_algorithms algorithms;
  cuda_emulation::blas_durations = [](int) { return 1000000; };
  CHECK(product<float>(shape_of({9, 7}), 5, {5, 1}, {7, 1}, {}, tuning()).error() < 1e-6);
  CHECK(used().back() == 0);
}

TEST_CASE("addends survive the trying", "[cuda][matmul]") {
  const uneven_algorithms algorithms;
  const extents space = shape_of({9, 7}), batched = shape_of({3, 9, 7}), twice = shape_of({2, 3, 9, 7});
  for (bool relu : {false, true})
    for (bool refused : {false, true}) {
      INFO("relu " << relu << (refused ? ", epilogues refused" : ""));
      cuda_emulation::blas_refusals.clear();
      if (refused)
        for (std::uint32_t e : {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS}) {
          cuda_emulation::blas_refusal row;
          row.epilogue = e;
          cuda_emulation::blas_refusals.push_back(row);
        }
      const auto check = [](product<float> p) {
        CHECK(p.error() < 1e-5);
        CHECK(used().size() > proposals);
      };
      check({space, 5, {5, 1}, {7, 1}, {8, 1}, tuning(2, -0.5, relu)});  // read where it lies
      check({space, 5, {5, 1}, {7, 1}, {0, 1}, tuning(1, 1, relu)});     // a bias
      check({space, 5, {5, 1}, {7, 1}, {0, 1}, tuning(1, 3, relu)});     // copied into the result first
      check({space, 5, {5, 1}, {7, 1}, {1, 0}, tuning(1, -0.5, relu)});
      check({batched, 5, {45, 5, 1}, {35, 7, 1}, {0, 0, 1}, tuning(1, 2, relu)});
      check({twice, 5, {45, 0, 5, 1}, {0, 35, 7, 1}, {0, 0, 0, 1}, tuning(1, 1, relu)});
      check({twice, 5, {45, 0, 5, 1}, {0, 35, 7, 1}, {0, 0, 0, 1}, tuning(1, 2, relu)});
      // The runs' batches are aligned differently: another shape is met when a part of the result is there.
      check({shape_of({2, 3, 8, 8}), 8, {65, 0, 8, 1}, {0, 64, 8, 1}, {0, 0, 0, 1}, tuning(1, 2, relu)});
    }
}

TEST_CASE("what fails while algorithms are tried fails the run, and leaves nothing", "[cuda][matmul]") {
  const uneven_algorithms algorithms;
  bench b;
  product<float> p(shape_of({9, 7}), 5, {5, 1}, {7, 1}, {}, tuning());
  for (const std::string call : {"cudaEventCreateWithFlags", "cudaEventRecord", "cudaEventSynchronize",
                                 "cudaEventElapsedTime", "cublasLtMatmul", "cublasLtMatmulAlgoGetHeuristic"}) {
    INFO(call);
    kernel_call c = p.call;
    for (int o = 0; o < 2; ++o) p.in[o].data = b.upload(p.memory[o]);
    c.in = p.in;
    c.out.data = b.reserve<float>(63);
    c.workspace_bytes = 1 << 20;
    c.workspace = b.reserve<char>(1 << 20);
    b.settle(stream_kind::compute);
    const long before = cuda_emulation::live_objects()["events"];
    cuda_emulation::fail_call(call, 1, cudaErrorInvalidValue);
    const std::string named = call == "cudaEventCreateWithFlags" ? "cudaEventCreate" : call;
    CHECK_THROWS_WITH(b.launch(&cuda_matmul<float>, c), Catch::Contains("[onto.cuda] " + named + " failed"));
    CHECK(cuda_emulation::clear_faults() == 1);
    CHECK(cuda_emulation::live_objects()["events"] == before);
    b.run.reset();
  }
  CHECK(p.error(b) < 1e-6);
}

TEST_CASE("nothing is tried while a graph is recorded", "[cuda][matmul]") {
  const uneven_algorithms algorithms;
  struct recorded {
    bench b;
    product<float> p{shape_of({9, 7}), 5, {5, 1}, {7, 1}, {}, tuning()};
    kernel_call call;
  } r;
  r.call = r.p.call;
  for (int o = 0; o < 2; ++o) r.p.in[o].data = r.b.upload(r.p.memory[o]);
  auto* out = r.b.reserve<float>(63);
  r.call.in = r.p.in;
  r.call.out.data = out;
  const ref<device_graph> graph = r.b.gpu.record_graph(
      [](void* self) {
        auto& it = *static_cast<recorded*>(self);
        it.b.gpu.launch(work{it.b.run, it.b.label}, cuda_entry(&run_in_stream<&cuda_matmul<float>>), it.call);
      },
      &r);
  REQUIRE(graph);
  CHECK(used() == std::vector<int>{0});
  graph->perform(r.b.run);
  const std::vector<float> got = r.b.download(out, 63);
  const std::vector<double> exact = r.p.expected();
  for (std::size_t k = 0; k < 63; ++k) CHECK(std::fabs(static_cast<double>(got[k]) - exact[k]) < 1e-6);
}

TEST_CASE("what was refused is not asked for again", "[cuda][matmul]") {
  const uneven_algorithms algorithms;
  cuda_emulation::blas_refusal row;
  row.epilogue = CUBLASLT_EPILOGUE_RELU;
  cuda_emulation::blas_refusals = {row};
  bench b;
  product<float> p(shape_of({9, 7}), 5, {5, 1}, {7, 1}, {}, tuning(1, 0, true));
  CHECK(p.error(b) < 1e-6);
  cuda_emulation::reset_calls();
  CHECK(p.error(b) < 1e-6);
  CHECK(cuda_emulation::calls()["cublasLtMatmulAlgoGetHeuristic"] == 0);
}

TEST_CASE("prepared programs of a session that tunes try algorithms at their first run", "[cuda][matmul][session]") {
  const uneven_algorithms algorithms;
  constexpr auto x = placeholder<"x", float, 9, 5>;
  constexpr auto y = placeholder<"y", float, 5, 7>;
  const auto e = on<gpu<0>>(matmul(x, y));
  tensor<float, 9, 5> a;
  tensor<float, 5, 7> b;
  for (std::size_t k = 0; k < 45; ++k) a.data()[k] = static_cast<float>(number(k));
  for (std::size_t k = 0; k < 35; ++k) b.data()[k] = static_cast<float>(number(k + 45));
  const auto is_right = [&](const tensor<float, 9, 7>& t) {
    double worst = 0;
    for (int r = 0; r < 9; ++r)
      for (int c = 0; c < 7; ++c) {
        double sum = 0;
        for (int k = 0; k < 5; ++k) sum += static_cast<double>(a(r, k)) * static_cast<double>(b(k, c));
        worst = std::fmax(worst, std::fabs(sum - static_cast<double>(t(r, c))));
      }
    return worst < 1e-6;
  };

  session tunes{{.tune_matmul = true}};
  CHECK(is_right(tunes.run(e, x = a, y = b)));
  CHECK(used() == std::vector<int>{0});  // no prepared program
  auto step = tunes.prepare(e);
  CHECK(is_right(step(x = a, y = b)));
  CHECK(used() == tuned_then_fastest());
  for (int replay = 0; replay < 3; ++replay) CHECK(is_right(step(x = a, y = b)));
  for (const int k : used()) CHECK(k == fastest);
  CHECK(is_right(tunes.run(e, x = a, y = b)));
  CHECK(used() == std::vector<int>{fastest});

  session plain;
  auto untuned = plain.prepare(e);
  for (int run = 0; run < 3; ++run) CHECK(is_right(untuned(x = a, y = b)));
  for (const int k : used()) CHECK(k == 0);
}

TEST_CASE("a session with little memory multiplies with little workspace", "[cuda][matmul][session]") {
  constexpr std::int64_t MiB = std::int64_t{1} << 20;
  constexpr auto x = placeholder<"x", float, 4, 4>;
  tensor<float, 4, 4> a;
  for (int k = 0; k < 4; ++k) a(k, k) = 2;
  const auto workspace_with = [&](std::int64_t limit) {
    (void)cuda_emulation::take_blas_calls();
    session s{{.gpu = {.allow_growth = true, .memory_limit = limit}}};
    const tensor<float, 4, 4> squared = s.run(on<gpu<0>>(matmul(x, x)), x = a);
    CHECK(squared(3, 3) == 4);
    CHECK(squared(3, 2) == 0);
    const std::vector<blas_call> calls = cuda_emulation::take_blas_calls();
    REQUIRE(calls.size() == 1);
    return static_cast<std::int64_t>(calls[0].workspace);
  };
  CHECK(workspace_with(64 * MiB) == 32 * MiB);
  CHECK(workspace_with(16 * MiB) == 4 * MiB);
  CHECK(workspace_with(2 * MiB) == 0);
}
