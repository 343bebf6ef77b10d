// SPDX-License-Identifier: BSL-1.0
// Programs with convolutions through cuDNN in sessions: a handle for each GPU, plans that are found once, recorded
// programs, little memory, several threads, and calls that fail.
#include <onto/convolution.hpp>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "control.hpp"
#include "dnn.hpp"

using namespace onto;

namespace {

constexpr auto picture = placeholder<"picture", float, dyn, dyn, dyn, dyn>;
constexpr auto weights = placeholder<"weights", float, dyn, dyn, dyn, dyn>;
using images = tensor<float, dyn, dyn, dyn, dyn>;

images numbers(int a, int b, int c, int d, int salt = 0) {
  images t({a, b, c, d});
  for (float& v : t) v = std::sin(1.7f * static_cast<float>(++salt));
  return t;
}

template <class A, class B>
bool alike(const A& a, const B& b) {
  if (!(a.shape() == b.shape())) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (!(std::fabs(a.data()[k] - b.data()[k]) < 1e-4f)) return false;
  return true;
}

/// A convolution and the gradient of its square's sum by the filter, on one device.
template <class D>
auto step_on() {
  const auto y = on<D>(conv2d<same>(picture, weights));
  return fetches(y, gradient(on<D>(sum(square(y))), weights));
}

struct tables {
  tables() { (void)cuda_emulation::take_dnn_calls(); }
  tables(const tables&) = delete;
  tables& operator=(const tables&) = delete;
  ~tables() {
    cuda_emulation::dnn_engines = cuda_emulation::all_dnn_engines();
    cuda_emulation::dnn_refusals.clear();
  }
};

template <class D>
bool runs(session& sess, int salt = 0) {
  const images x = numbers(2, 5, 5, 3, salt), w = numbers(3, 3, 3, 4, 2 * salt);
  const auto [y0, g0] = sess.run(step_on<cpu<0>>(), picture = x, weights = w);
  const auto [y1, g1] = sess.run(step_on<D>(), picture = x, weights = w);
  return alike(y1, y0) && alike(g1, g0);
}

}  // namespace

TEST_CASE("each GPU has its cuDNN, and a form its plan there", "[gpu][cudnn]") {
  const tables restored;
  session sess;
  (void)cuda_emulation::take_dnn_plans();
  cuda_emulation::reset_calls();
  CHECK(runs<gpu<0>>(sess));
  CHECK(cuda_emulation::calls()["cudnnCreate"] == 1);
  const long plans = cuda_emulation::take_dnn_plans();
  CHECK(runs<gpu<0>>(sess, 1));
  CHECK(cuda_emulation::take_dnn_plans() == 0);
  CHECK(runs<gpu<1>>(sess));
  CHECK(cuda_emulation::calls()["cudnnCreate"] == 2);
  CHECK(cuda_emulation::take_dnn_plans() == plans);
  // From one to the other.
  const auto y = on<gpu<1>>(conv2d<same>(on<gpu<2>>(conv2d<same>(picture, weights)), weights));
  const auto z = on<cpu<0>>(conv2d<same>(conv2d<same>(picture, weights), weights));
  const images x = numbers(1, 4, 4, 3), w = numbers(3, 3, 3, 3);
  CHECK(alike(sess.run(y, picture = x, weights = w), sess.run(z, picture = x, weights = w)));
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("a recorded program has its convolutions in it", "[gpu][cudnn]") {
  const tables restored;
  session sess;
  cuda_emulation::reset_calls();
  auto prepared = sess.prepare(step_on<gpu<0>>());
  long calls = 0, handles = 0;
  for (int round = 0; round < 5; ++round) {
    const images x = numbers(2, 5, 5, 3, round), w = numbers(3, 3, 3, 4, 2 * round);
    const auto [y0, g0] = sess.run(step_on<cpu<0>>(), picture = x, weights = w);
    handles += cuda_emulation::calls()["cudnnCreate"];
    cuda_emulation::reset_calls();
    const auto [y1, g1] = prepared(picture = x, weights = w);
    CHECK(alike(y1, y0));
    CHECK(alike(g1, g0));
    calls = cuda_emulation::calls()["cudnnBackendExecute"];
  }
  CHECK(calls == 0);    // a graph was launched
  CHECK(handles == 1);  // the recording has the device's
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("where memory is short, an engine that needs less", "[gpu][cudnn]") {
  const tables restored;
  cuda_emulation::dnn_engines = {{0, false, false, std::int64_t{200} << 20}, {0, false, true, 0}};
  session plenty;
  CHECK(runs<gpu<0>>(plenty));
  for (const auto& call : cuda_emulation::take_dnn_calls()) CHECK_FALSE(call.engine.fallback);
  session_options options;
  options.gpu.memory_limit = std::int64_t{64} << 20;
  session little{options};
  CHECK(runs<gpu<0>>(little));
  const auto calls = cuda_emulation::take_dnn_calls();
  CHECK(calls.size() == 2);
  for (const auto& call : calls) CHECK(call.engine.fallback);
}

TEST_CASE("what cuDNN does not do is done without it", "[gpu][cudnn]") {
  const tables restored;
  for (const auto how : {cuda_emulation::dnn_refusal::by::no_proposal, cuda_emulation::dnn_refusal::by::the_graph,
                         cuda_emulation::dnn_refusal::by::the_plan, cuda_emulation::dnn_refusal::by::the_execution}) {
    session sess;
    cuda_emulation::dnn_refusal filters;
    filters.part = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
    filters.how = how;
    cuda_emulation::dnn_refusals = {filters};
    CHECK(runs<gpu<0>>(sess));
    CHECK(cuda_emulation::take_dnn_calls().size() == 1);
  }
  // So is what there is no memory for.
  cuda_emulation::dnn_refusals.clear();
  cuda_emulation::dnn_engines = {{0, false, false, std::int64_t{200} << 20}};
  session_options options;
  options.gpu.memory_limit = std::int64_t{64} << 20;
  session little{options};
  CHECK(runs<gpu<0>>(little));
  CHECK(cuda_emulation::take_dnn_calls().empty());
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("bias and relu are in cuDNN's graph where it has engines for them, else behind it", "[gpu][cudnn]") {
  const tables restored;
  static constexpr auto bias = placeholder<"bias", float, dyn>;
  const images x = numbers(2, 5, 5, 3), w = numbers(3, 3, 3, 4);
  tensor<float, dyn> b({4});
  for (int k = 0; k < 4; ++k) b(k) = std::cos(static_cast<float>(k));
  const auto y = [](auto device) { return on<decltype(device)>(relu(conv2d<same>(picture, weights) + bias)); };
  const auto run = [&] {
    session sess;
    const bool right = alike(sess.run(y(gpu<0>()), picture = x, weights = w, bias = b),
                             sess.run(y(cpu<0>()), picture = x, weights = w, bias = b));
    CHECK(right);
    return cuda_emulation::take_dnn_calls();
  };
  auto calls = run();
  REQUIRE(calls.size() == 1);
  CHECK((calls[0].problem.bias && calls[0].problem.relu));
  cuda_emulation::dnn_refusal epilogues;
  epilogues.epilogue = true;
  for (const auto how : {cuda_emulation::dnn_refusal::by::no_proposal, cuda_emulation::dnn_refusal::by::the_graph,
                         cuda_emulation::dnn_refusal::by::the_plan}) {
    epilogues.how = how;
    cuda_emulation::dnn_refusals = {epilogues};
    calls = run();
    REQUIRE(calls.size() == 1);
    CHECK_FALSE((calls[0].problem.bias || calls[0].problem.relu));
  }
  epilogues.how = cuda_emulation::dnn_refusal::by::the_execution;
  cuda_emulation::dnn_refusals = {epilogues};
  CHECK(run().empty());  // onto's own kernel
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("floats go to tensor cores where a session allows TF32", "[gpu][cudnn]") {
  const tables restored;
  const images x = numbers(2, 5, 5, 3), w = numbers(3, 3, 3, 4);
  for (const math_mode math : {math_mode::full, math_mode::tf32}) {
    session_options options;
    options.math = math;
    session sess{options};
    (void)sess.run(step_on<gpu<0>>(), picture = x, weights = w);
    const auto calls = cuda_emulation::take_dnn_calls();
    CHECK(calls.size() == 2);
    for (const auto& call : calls) CHECK((call.engine.notes != 0) == (math == math_mode::tf32));
  }
}

TEST_CASE("several threads share a GPU's cuDNN", "[gpu][cudnn][threads]") {
  const tables restored;
  session sess;
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (std::size_t t = 0; t < good.size(); ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 3; ++round)
        good[t] += t % 2 == 0 ? runs<gpu<0>>(sess, static_cast<int>(t)) : runs<gpu<1>>(sess, static_cast<int>(t));
    });
  for (std::thread& t : threads) t.join();
  for (const int g : good) CHECK(g == 3);
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("each call of cuDNN that a session makes fails once, and the session stays usable", "[gpu][cudnn]") {
  const tables restored;
  const auto first = [] {
    session sess;
    return runs<gpu<0>>(sess);
  };
  cuda_emulation::reset_calls();
  REQUIRE(first());
  const auto calls = cuda_emulation::calls();
  for (const auto& [name, count] : calls) {
    if (name.rfind("cudnn", 0) != 0 || name == "cudnnDestroy" || name == "cudnnBackendDestroyDescriptor") continue;
    for (long n = 1; n <= count; n += 1 + count / 8) {
      INFO(name << ", call " << n << " of " << count);
      session sess;
      cuda_emulation::fail_call(name, n, cudaErrorInvalidValue);
      CHECK_THROWS_AS(runs<gpu<0>>(sess), internal_error);
      CHECK(cuda_emulation::clear_faults() == 1);
      CHECK(cudaGetLastError() == cudaSuccess);
      CHECK(runs<gpu<0>>(sess));
    }
  }
}
