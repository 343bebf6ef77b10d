// SPDX-License-Identifier: BSL-1.0
// What is around CUB's sorts: the workspace is that of the GPU, errors of others are left to them, and own ones told.
#include <onto/sort.hpp>

#include <map>
#include <string>

#include "catch.hpp"
#include "control.hpp"
#include "failing_calls.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;

namespace {

constexpr auto x = placeholder<"x", float, dyn, dyn>;

constexpr int length = 4100;  // a block does not sort a row of so many by itself

tensor<float, dyn, dyn> columns(int rows) {
  tensor<float, dyn, dyn> t({rows, length});
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < length; ++k) t(r, k) = static_cast<float>((k * 9 + r) % length);
  return t;
}
bool counts_up(const tensor<float, dyn, dyn>& t) {
  for (int r = 0; r < t.shape()[0]; ++r)
    for (int k = 0; k < length; ++k)
      if (t(r, k) != static_cast<float>(k)) return false;
  return true;
}

}  // namespace

TEST_CASE("a sort works on each GPU with the workspace that it asks for there", "[gpu]") {
  session sess;
  for (const int rows : {2, 9}) {
    const auto values = columns(rows);
    CHECK(counts_up(sess.run(on<gpu<2>>(sort(x)), x = values)));
    CHECK(counts_up(sess.run(on<gpu<1>>(sort(x)), x = values)));
    CHECK(counts_up(sess.run(on<gpu<0>>(sort(x)), x = values)));
    const auto two = on<gpu<0>>(sort(x)) - cast<float>(on<gpu<1>>(argsort(on<gpu<0>>(sort(x)))));
    CHECK(sess.run(on<cpu<0>>(sum(abs(two))), x = values) == 0);
  }
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("rows that a block sorts need no workspace", "[gpu]") {
  bench b;
  const op_info op = op_info_of<op::sort<1, false>>;
  const extents shapes[] = {shape_of({2, 4096}), shape_of({2, 4096})};
  kernel_call call;
  call.space = shapes[0];
  call.shapes = shapes;
  const operand_view in = contiguous_view(b.reserve<float>(8192), element::float32, call.space);
  call.inputs = 1;
  call.in = &in;
  call.out = contiguous_view(b.reserve<float>(8192), element::float32, call.space);
  call.op = &op;
  cuda_emulation::reset_calls();
  CHECK(b.gpu.ask_workspace(&cuda_sort_workspace<false, false, float>, call) == 0);
  CHECK(cuda_emulation::calls()["cudaGetLastError"] == 0);
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
  for (const int rows : {2, 9}) {
    const auto values = columns(rows);
    const auto places = sess.run(on<cpu<0>>(argsort(x)), x = values);
    emulated_test::check_failing_calls([&] { return counts_up(sess.run(on<gpu<1>>(sort(x)), x = values)); });
    emulated_test::check_failing_calls([&] { return sess.run(on<gpu<1>>(argsort(x)), x = values) == places; });
  }
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("a selection works on each GPU, and each launch of it fails once, and is told of", "[gpu]") {
  session sess;
  tensor<float, dyn, dyn> values({2, 9000});  // two parts a row
  for (int r = 0; r < 2; ++r)
    for (int k = 0; k < 9000; ++k) values(r, k) = static_cast<float>((k * 7 + r) % 9000);
  const auto places = sess.run(on<cpu<0>>(top_k<5>(x).indices), x = values);
  CHECK(sess.run(on<gpu<2>>(top_k<5>(x).indices), x = values) == places);
  emulated_test::check_failing_calls([&] { return sess.run(on<gpu<1>>(top_k<5>(x).indices), x = values) == places; },
                                     {"cudaLaunchKernelExC"});
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("the parts of rows are all of them, and no longer than threads count", "[gpu]") {
  for (const std::int64_t rows : {1, 3, 263, 264, 5000})
    for (const std::int64_t n :
         {std::int64_t{4097}, std::int64_t{8193}, std::int64_t{10'000'000}, (std::int64_t{1} << 32) - 1})
      for (const std::int64_t count : {1, 10, 256}) {
        const row_parts g = parts_of_rows(rows, n, count), rest = rest_of_rows(g);
        CAPTURE(rows, n, count, g.part);
        CHECK((g.parts.divisor - 1) * g.part < n);
        CHECK(g.parts.divisor * g.part >= n);
        CHECK((g.part % block_looks == 0 && g.part <= longest_piece));
        CHECK((g.parts.divisor == 1 || g.part >= block_looks));
        CHECK((rest.parts.divisor == 1 && rest.length == g.parts.divisor * count && rest.length <= 1 << 16));
      }
}
