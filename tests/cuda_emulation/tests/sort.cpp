// SPDX-License-Identifier: BSL-1.0
// What is around CUB's sorts: the workspace is that of the GPU, errors of others are left to them, and own ones told.
#include <onto/sort.hpp>

#include <string>

#include "catch.hpp"
#include "control.hpp"
#include "failing_calls.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;

namespace {

constexpr auto x = placeholder<"x", float, dyn, dyn>;

tensor<float, dyn, dyn> columns(int rows) {
  tensor<float, dyn, dyn> t({rows, 70});
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < 70; ++k) t(r, k) = static_cast<float>((k * 9 + r) % 70);
  return t;
}
bool counts_up(const tensor<float, dyn, dyn>& t) {
  for (int r = 0; r < t.shape()[0]; ++r)
    for (int k = 0; k < 70; ++k)
      if (t(r, k) != static_cast<float>(k)) return false;
  return true;
}

}  // namespace

TEST_CASE("a sort works on each GPU with the workspace that it asks for there", "[gpu]") {
  session sess;
  for (const int rows : {2, 20}) {
    const auto values = columns(rows);
    CHECK(counts_up(sess.run(on<gpu<2>>(sort(x)), x = values)));
    CHECK(counts_up(sess.run(on<gpu<1>>(sort(x)), x = values)));
    CHECK(counts_up(sess.run(on<gpu<0>>(sort(x)), x = values)));
    const auto two = on<gpu<0>>(sort(x)) - cast<float>(on<gpu<1>>(argsort(on<gpu<0>>(sort(x)))));
    CHECK(sess.run(on<cpu<0>>(sum(abs(two))), x = values) == 0);
  }
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("an earlier error of the program's own is not the sort's", "[gpu]") {
  session sess;
  void* none = nullptr;
  cuda_emulation::fail_call("cudaMalloc", 1, cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&none, 16) == cudaErrorMemoryAllocation);
  cuda_emulation::clear_faults();
  CHECK(counts_up(sess.run(on<gpu<0>>(sort(x)), x = columns(9))));
}

TEST_CASE("each call of the CUDA runtime that a sort makes fails once, and is told of", "[gpu]") {
  session sess;
  for (const int rows : {2, 20}) {
    const auto values = columns(rows);
    const auto places = sess.run(on<cpu<0>>(argsort(x)), x = values);
    emulated_test::check_failing_calls([&] { return counts_up(sess.run(on<gpu<1>>(sort(x)), x = values)); });
    emulated_test::check_failing_calls([&] { return sess.run(on<gpu<1>>(argsort(x)), x = values) == places; });
  }
  CHECK(cuda_emulation::take_violations().empty());
}
