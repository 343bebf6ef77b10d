// SPDX-License-Identifier: BSL-1.0
// What is around CUB's scans: the workspace is that of the GPU, errors of others are left to them, and own ones told.
#include <onto/scan.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "control.hpp"
#include "failing_calls.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;

namespace {

constexpr auto x = placeholder<"x", float, dyn, dyn>;
const tensor<float, 3, 4> values{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
const tensor<float, 3, 4> sums{{1, 3, 6, 10}, {5, 11, 18, 26}, {9, 19, 30, 42}};

/// A call of the kernel for `cumsum` over memory of the bench.
struct direct_scan {
  bench b;
  op_info op = op_info_of<op::scan<fold::sum, 1, false>>;
  operand_view in;
  kernel_call call;

  direct_scan() {
    call.space = shape_of({3, 4});
    in = contiguous_view(b.upload(values.data(), 12), element::float32, call.space);
    call.inputs = 1;
    call.in = &in;
    call.out = contiguous_view(b.reserve<float>(12), element::float32, call.space);
    call.op = &op;
    b.order(stream_kind::in, stream_kind::compute);
  }
  direct_scan(const direct_scan&) = delete;

  void run() { b.launch(&cuda_scan<fold::sum, float>, call); }
};

}  // namespace

TEST_CASE("a scan works on each GPU with the workspace that it asks for there", "[gpu]") {
  session sess;
  CHECK(sess.run(on<gpu<2>>(cumsum(x)), x = values) == sums);
  CHECK(sess.run(on<gpu<1>>(cumsum(x)), x = values) == sums);
  CHECK(sess.run(on<gpu<0>>(cumsum(x)), x = values) == sums);
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("simulated GPUs need no workspace for scans", "[gpu]") {
  session_options o;
  o.gpu.visible_device_list = "3";
  o.simulated_gpus = 1;
  session sess{o};
  cuda_emulation::reset_calls();
  CHECK(sess.run(on<gpu<0>>(cumsum(x)), x = values) == sums);
  CHECK(cuda_emulation::calls_made() == 0);
}

TEST_CASE("a scan without its workspace, or with too little, is refused", "[gpu]") {
  direct_scan s;
  CHECK_THROWS_WITH(s.run(), Catch::Contains("without its workspace"));
  s.b.run.reset();
  s.call.workspace = s.b.reserve<char>(256);
  s.call.workspace_bytes = 256;
  CHECK_THROWS_WITH(s.run(), Catch::Contains("cub::DeviceScan::InclusiveScanByKey failed"));
  s.b.run.reset();
  s.b.launch(&cuda_scan<fold::sum, float>, s.call, &cuda_scan_workspace<fold::sum, float>);
  CHECK(s.b.download(static_cast<float*>(s.call.out.data), 12) == std::vector<float>(sums.begin(), sums.end()));
  // As one row.
  s.call.space = shape_of({1, 12});
  s.in = contiguous_view(const_cast<void*>(s.in.data), element::float32, s.call.space);
  s.call.out = contiguous_view(s.call.out.data, element::float32, s.call.space);
  s.call.workspace_bytes = 256;
  CHECK_THROWS_WITH(s.run(), Catch::Contains("cub::DeviceScan::InclusiveScan failed"));
  s.b.run.reset();
  s.b.launch(&cuda_scan<fold::sum, float>, s.call, &cuda_scan_workspace<fold::sum, float>);
  CHECK(s.b.download(static_cast<float*>(s.call.out.data), 12) ==
        std::vector<float>{1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66, 78});
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("a scan of nothing needs no workspace", "[gpu]") {
  direct_scan s;
  s.call.space = shape_of({0, 4});
  cuda_emulation::reset_calls();
  CHECK(s.b.gpu.ask_workspace(&cuda_scan_workspace<fold::sum, float>, s.call) == 0);
  CHECK(cuda_emulation::calls()["cudaGetLastError"] == 0);
}

TEST_CASE("an earlier error of the program's own is not the scan's", "[gpu]") {
  session sess;
  void* none = nullptr;
  cuda_emulation::fail_call("cudaMalloc", 1, cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&none, 16) == cudaErrorMemoryAllocation);
  cuda_emulation::clear_faults();
  CHECK(sess.run(on<gpu<0>>(cumsum(x)), x = values) == sums);
}

TEST_CASE("each call of the CUDA runtime that a scan makes fails once, and is told of", "[gpu]") {
  session sess;
  emulated_test::check_failing_calls([&] { return sess.run(on<gpu<1>>(cumsum(x)), x = values) == sums; });
  const tensor<float, 1, 4> row{{1, 2, 3, 4}}, sums_of_row{{1, 3, 6, 10}};
  emulated_test::check_failing_calls([&] { return sess.run(on<gpu<1>>(cumsum(x)), x = row) == sums_of_row; });
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("a recorded scan is done again with other data", "[gpu]") {
  session sess;
  auto step = sess.prepare(on<gpu<1>>(cumsum<0>(x, reverse)));
  for (int round = 1; round < 6; ++round) {
    tensor<float, 3, 4> in;
    for (float& v : in) v = static_cast<float>(round);
    const tensor<float, dyn, dyn> got = step(x = in);
    for (int r = 0; r < 3; ++r) CHECK(got(r, 3) == static_cast<float>(round * (3 - r)));
  }
  CHECK(cuda_emulation::take_violations().empty());
}
