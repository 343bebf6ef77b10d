// SPDX-License-Identifier: BSL-1.0
// How many accesses of which size kernels make to memory: of a pack where there are packs, and no more than are needed.
// The sectors of large matrices are counted in benchmarks/gpu/access.cpp.
#include <onto/backend/cuda/copy.hpp>
#include <onto/backend/cuda/map.hpp>
#include <onto/backend/cuda/reduce.hpp>
#include <onto/backend/cuda/row.hpp>
#include <onto/indexing.hpp>
#include <onto/ops/arithmetic.hpp>

#include <map>
#include <string>
#include <vector>

#include "backend_cuda/row_programs.hpp"
#include "catch.hpp"
#include "control.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;
using cuda_emulation::kernel_counts;

namespace {

constexpr element f32 = element::float32;
using added =
    program<instruction<load_input, f32, 0>, instruction<load_input, f32, 1>, instruction<op::add, f32, 0, 1>>;
using loaded = program<instruction<load_input, f32, 0>>;

/// The counts of the one kernel that `work` launches.
template <class Work>
kernel_counts counts_of(bench& b, const Work& work) {
  b.settle(stream_kind::compute);
  cuda_emulation::count_accesses(true);
  work();
  b.settle(stream_kind::compute);
  cuda_emulation::count_accesses(false);
  const std::map<std::string, kernel_counts> all = cuda_emulation::take_counts();
  REQUIRE(all.size() == 1);
  return all.begin()->second;
}

struct matrices {
  bench b;
  extents space;
  float* out;
  operand_view in[2];

  matrices(int rows, int columns)
      : space(shape_of({rows, columns})), out(b.reserve<float>(static_cast<std::size_t>(space.size()))) {
    const std::vector<float> values = numbers<float>(static_cast<std::size_t>(space.size()));
    for (operand_view& v : in) v = contiguous_view(b.upload(values), f32, space);
  }
  kernel_call call(int inputs) {
    kernel_call c;
    c.space = space;
    c.inputs = inputs;
    c.in = in;
    c.out = contiguous_view(out, f32, space);
    return c;
  }
};

}  // namespace

TEST_CASE("a contiguous map loads and stores packs", "[traffic]") {
  matrices m(16, 512);  // 8192 elements: 2048 packs, 64 warps' worth
  const kernel_counts c = counts_of(m.b, [&] { m.b.launch(&cuda_map<added>, m.call(2)); });
  CHECK(c.widest_load == 16);
  CHECK(c.load_requests == 2 * 64);
  CHECK(c.store_requests == 64);
  CHECK(c.load_bytes == 2 * 8192 * 4);
  CHECK(c.store_bytes == 8192 * 4);
  CHECK(c.load_sectors == 2 * 1024);
  CHECK(c.store_sectors == 1024);
  CHECK(c.blocks == 4);  // two packs a thread
}

TEST_CASE("a bias is loaded once for the rows of a thread", "[traffic]") {
  matrices m(64, 512);
  m.in[1].stride[0] = 0;
  const kernel_counts c = counts_of(m.b, [&] { m.b.launch(&cuda_map<added>, m.call(2)); });
  CHECK(c.widest_load == 16);
  CHECK(c.load_bytes == 64 * 512 * 4 + 32 * 512 * 4);  // two rows a thread
  CHECK(c.store_bytes == 64 * 512 * 4);
}

TEST_CASE("a transposed operand is read along its own neighbours", "[traffic]") {
  matrices m(128, 128);
  m.in[1].stride[0] = 1;
  m.in[1].stride[1] = 128;
  const kernel_counts c = counts_of(m.b, [&] { m.b.launch(&cuda_map<added>, m.call(2)); });
  CHECK(c.load_bytes == 2 * 128 * 128 * 4);
  CHECK(c.load_sectors == 2 * 128 * 128 / 8);
  CHECK(c.store_sectors == 128 * 128 / 8);
  CHECK(c.bank_conflicts == 0);
  CHECK(c.shared_requests == 2 * 128 * 128 / 32);
}

TEST_CASE("a tile that ends before its block's threads do reads nothing of the next", "[traffic]") {
  matrices m(2, 1000);  // tiles of 256 by 2: half a block's elements
  m.in[1].stride[0] = 1;
  m.in[1].stride[1] = 2;
  const kernel_counts c = counts_of(m.b, [&] { m.b.launch(&cuda_map<added>, m.call(2)); });
  CHECK(c.blocks == 4);
  CHECK(c.load_bytes == 2 * 2 * 1000 * 4);
  CHECK(c.store_bytes == 2 * 1000 * 4);
}

TEST_CASE("rows are copied in the widest words that they allow", "[traffic]") {
  matrices m(64, 512);
  kernel_call call = m.call(1);
  call.space = shape_of({64, 500});
  call.out.stride[0] = 500;
  const kernel_counts c = counts_of(m.b, [&] { m.b.launch(&cuda_copy, call); });
  CHECK(c.widest_load == 16);
  CHECK(c.load_bytes == 64 * 500 * 4);
  CHECK(c.store_bytes == 64 * 500 * 4);
}

TEST_CASE("a reduction loads its elements once, in packs", "[traffic]") {
  matrices m(32, 1024);
  op_info op{op_kind::reduce, "Sum", 0, {}, 1, nullptr, 0, {}};
  op.attribute[2] = 1;
  op.attributes = 4;
  for (const int axis : {0, 1}) {
    INFO("axis " << axis);
    op.attribute[3] = axis;
    kernel_call call = m.call(1);
    call.op = &op;
    const bool pieces = cuda_reduce_workspace<loaded, fold::sum>(call) > 0;
    m.b.settle(stream_kind::compute);
    cuda_emulation::count_accesses(true);
    m.b.launch(&cuda_reduce<loaded, fold::sum>, call, &cuda_reduce_workspace<loaded, fold::sum>);
    m.b.settle(stream_kind::compute);
    cuda_emulation::count_accesses(false);
    auto all = cuda_emulation::take_counts();
    REQUIRE(all.size() == (pieces ? 2u : 1u));
    const kernel_counts& c = all["reduce_kernel"];
    CHECK(c.load_bytes == 32 * 1024 * 4);
    CHECK(c.load_sectors == 32 * 1024 / 8);
    CHECK(c.widest_load == (axis == 1 ? 16 : 4));
    CHECK(c.bank_conflicts == 0);
  }
}

TEST_CASE("rows in registers are loaded in packs", "[traffic]") {
  using program_type = row_programs::normal_program<f32>;
  constexpr int rows = 600, columns = 64;
  matrices m(rows, columns);
  const std::vector<float> factors = numbers<float>(rows);
  const operand_view in[] = {m.in[0], view_of(m.in[1].data, f32, {0, 1}), view_of(m.b.upload(factors), f32, {1, 0})};
  kernel_call call = m.call(3);
  call.in = in;
  const auto run = [&] {
    m.b.launch(static_cast<void (*)(gpu_context&, const kernel_call&)>(&cuda_row<program_type>), call,
               static_cast<std::size_t (*)(const kernel_call&)>(&cuda_row_workspace<program_type>));
  };
  const kernel_counts c = counts_of(m.b, run);
  const auto r = row_operands_of<program_type>(call, 1, 227 << 10);
  CHECK(c.widest_load == 16);
  CHECK(c.blocks == r.blocks);
  // In registers: the matrix once, the scales with each row, and a factor for each thread of it.
  REQUIRE(r.grid.in_registers);
  CHECK(c.load_bytes == 2 * rows * columns * 4 + std::int64_t{rows} * r.grid.depth * 4);
  CHECK(c.store_bytes == rows * columns * 4);
  CHECK(c.bank_conflicts == 0);
}

TEST_CASE("rows over the first axis are read once, in whole sectors, by as many blocks as there is work for",
          "[traffic]") {
  using program_type = row_programs::softmax_program<f32>;
  constexpr int count = 1024, columns = 512;
  matrices m(count, columns);
  const std::uint64_t scalar = to_bits(1.0f);
  kernel_call call = m.call(1);
  call.scalars = &scalar;
  call.row_axis = 1;
  const kernel_counts c = counts_of(m.b, [&] {
    m.b.launch(static_cast<void (*)(gpu_context&, const kernel_call&)>(&cuda_row<program_type>), call,
               static_cast<std::size_t (*)(const kernel_call&)>(&cuda_row_workspace<program_type>));
  });
  CHECK(c.blocks == columns / 8);
  CHECK(c.load_sectors == count * columns / 8);
  CHECK(c.store_sectors == count * columns / 8);
  CHECK(c.bank_conflicts == 0);
}

TEST_CASE("rows that are summed up by number are read in whole sectors, once", "[traffic]") {
  constexpr auto u = placeholder<"u", float, dyn, dyn>;
  constexpr auto i = placeholder<"i", int, dyn>;
  constexpr int count = 1000, columns = 64;
  const tensor<float, dyn, dyn> rows({count, columns});
  session sess;
  const auto sectors_of = [&](const auto& sums, const char* kernel) {
    tensor<int, dyn> N({count});
    for (int k = 0; k < count; ++k) N(k) = k * 7 % 50;
    cuda_emulation::count_accesses(true);
    sess.run(on<gpu<0>>(sums), u = rows, i = N);
    cuda_emulation::count_accesses(false);
    std::int64_t sectors = 0;
    for (const auto& [name, counts] : cuda_emulation::take_counts())
      if (name.find(kernel) != std::string::npos) sectors += counts.load_sectors;
    return sectors;
  };
  // For each 32 elements of a row, which are 4 sectors, a warp reads a number, which is in one, and where groups begin.
  constexpr std::int64_t whole = count * columns * 4 / 32;
  for (const std::int64_t sectors : {sectors_of(segment_sum<50>(u, i), "group_sums_kernel"),
                                     sectors_of(segment_sum<40>(u, i), "private_sums_kernel")}) {
    CHECK(sectors >= whole / 2);
    CHECK(sectors <= whole * 3 / 2);
  }
}
