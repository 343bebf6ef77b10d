// SPDX-License-Identifier: BSL-1.0
// How the GPU's row kernels are laid out: who does what, what is in shared memory, and how large the workspace is. What
// they compute is tested on (emulated) GPUs: tests/gpu/rows.cu.
#include <onto/backend/cuda/row_registers.hpp>

#include <vector>

#include "calls.hpp"
#include "catch.hpp"
#include "row_programs.hpp"

using namespace calls;
using namespace row_programs;

namespace {

constexpr std::int64_t most_shared = 227 << 10;

using softmax_of_floats = softmax_program<element::float32>;
using normal_of_floats = normal_program<element::float32>;
using keeping_of_floats = keeping_program<element::float32>;

/// Operands that are all contiguous, a scale for each column and a factor for each row.
template <class Program>
row_operands<Program> operands_of(const extents& space, int axis = -1, std::int64_t shared = most_shared,
                                  std::uintptr_t data = 0x10000) {
  const int along = axis < 0 ? space.rank - 1 : axis;
  auto* const at = reinterpret_cast<void*>(data);
  operand_view in[3] = {contiguous_view(at, space), view_of(at, {}), view_of(at, {})};
  in[1].stride[along] = 1;
  std::int64_t step = 1;
  for (int d = space.rank - 1; d >= 0; --d)
    if (d != along) in[2].stride[d] = step, step *= space[d];
  const std::uint64_t scalar = 0;
  kernel_call call;
  call.space = space;
  call.inputs = 3;
  call.in = in;
  call.out.data = at;
  call.scalars = &scalar;
  return row_operands_of<Program>(call, along, shared);
}

template <class Program>
void check_layout(const row_operands<Program>& r) {
  const row_grid& g = r.grid;
  REQUIRE(g.threads() >= fewest_row_threads);
  REQUIRE(g.threads() <= most_row_threads);
  REQUIRE((g.depth & (g.depth - 1)) == 0);
  REQUIRE((g.width & (g.width - 1)) == 0);
  REQUIRE(g.blocks * g.width >= r.row_count);
  REQUIRE((g.blocks - 1) * g.width < r.row_count);
  REQUIRE(r.blocks <= g.blocks);
  REQUIRE(r.blocks >= (g.blocks < few_blocks ? g.blocks : few_blocks));
  REQUIRE(g.pieces * g.per_piece >= r.count);
  REQUIRE((g.pieces - 1) * g.per_piece < r.count);
  REQUIRE(g.pieces <= 65535);
  REQUIRE(g.per_piece <= longest_piece);
  REQUIRE(r.states_at % 16 == 0);
  REQUIRE(shared_bytes_of(r) <= most_shared);
  const std::int64_t unit = std::int64_t{g.depth} * row_facts<Program>::lanes;
  if (g.split) {
    REQUIRE((g.pieces == 1 || g.per_piece % unit == 0));
  } else {
    REQUIRE(g.pieces == 1);
    REQUIRE(unit * g.steps >= r.count);
    if (g.in_registers) return;
    REQUIRE(g.packs * row_facts<Program>::lanes >= (g.width == 1 ? r.count : g.width * r.count));
    REQUIRE(row_workspace(r) == 0);
  }
}

}  // namespace

TEST_CASE("rows of every number and length are covered", "[cuda][rows]") {
  for (int rows : {1, 2, 3, 7, 8, 100, 131, 132, 1000, 4096, 5000, 100000})
    for (int n : {1, 2, 3, 4, 7, 8, 31, 32, 100, 1000, 4096, 16384, 50257, 58112, 70000, 128256, 1000000}) {
      INFO(rows << " rows of " << n);
      for (int axis : {0, 1}) {
        const extents space = axis == 1 ? shape_of({rows, n}) : shape_of({n, rows});
        check_layout(operands_of<softmax_of_floats>(space, axis));
        check_layout(operands_of<normal_of_floats>(space, axis));
        check_layout(operands_of<keeping_of_floats>(space, axis));
      }
    }
  check_layout(operands_of<softmax_of_floats>(shape_of({1, 2000000000})));
}

TEST_CASE("a program's slots", "[cuda][rows]") {
  constexpr auto& softmax = row_facts<softmax_of_floats>::table;
  STATIC_REQUIRE(softmax.staged[0]);
  STATIC_REQUIRE(softmax.last[0] == 1);
  STATIC_REQUIRE(softmax.loads[3][1]);
  STATIC_REQUIRE_FALSE(softmax.loads[3][0]);
  STATIC_REQUIRE(softmax.needs[3][0]);  // for the exponentials, where they are not kept
  constexpr auto& normal = row_facts<normal_of_floats>::table;
  STATIC_REQUIRE(normal.column[2]);
  STATIC_REQUIRE_FALSE(normal.staged[2]);
  STATIC_REQUIRE(normal.last[0] == 4);
  constexpr auto& keeping = row_facts<keeping_of_floats>::table;
  STATIC_REQUIRE(keeping.needs[2][0]);
  STATIC_REQUIRE(keeping.needs[2][1]);
  STATIC_REQUIRE(row_facts<softmax_program<element::float16>>::lanes == 4);
  STATIC_REQUIRE(row_facts<normal_program<element::float16>>::lanes == 8);
  STATIC_REQUIRE(row_facts<normal_program<element::float64>>::lanes == 2);
}

TEST_CASE("what a row keeps takes the place of what is not read any more", "[cuda][rows]") {
  const auto softmax = operands_of<softmax_of_floats>(shape_of({1000, 57900}));
  CHECK_FALSE(softmax.grid.split);
  CHECK(softmax.at[0] == softmax.at[1]);
  // The keeping program reads its input to the end.
  const auto keeping = operands_of<keeping_of_floats>(shape_of({1000, 1001}));
  CHECK(keeping.at[0] != keeping.at[1]);
  CHECK(keeping.at[1] != keeping.at[2]);
  // Nothing takes the place of what is the same for all rows.
  kernel_call call;
  const operand_view same = view_of(reinterpret_cast<void*>(0x10000), {0, 1});
  const std::uint64_t scalar = 0;
  call.space = shape_of({1000, 1001});
  call.inputs = 1;
  call.in = &same;
  call.out.data = same.data;
  call.scalars = &scalar;
  const auto one_row = row_operands_of<softmax_of_floats>(call, 1, most_shared);
  CHECK(one_row.same[0]);
  CHECK(one_row.at[0] != one_row.at[1]);
}

TEST_CASE("rows are split where they do not fit or are few", "[cuda][rows]") {
  const auto blocks = [](const auto& r) { return r.grid.blocks * r.grid.pieces; };
  const auto is_split = [](int rows, int n, int axis) {
    return operands_of<softmax_of_floats>(axis == 1 ? shape_of({rows, n}) : shape_of({n, rows}), axis).grid.split;
  };
  CHECK(is_split(1, 70000, 1));
  CHECK(is_split(8, 128256, 1));
  CHECK(is_split(4096, 60000, 1));
  CHECK_FALSE(is_split(4096, 4096, 1));
  CHECK_FALSE(is_split(4096, 4096, 0));
  CHECK_FALSE(is_split(1000, 57900, 1));
  CHECK_FALSE(is_split(1, 10000, 1));
  CHECK(is_split(64, 20000, 0));
  CHECK(blocks(operands_of<softmax_of_floats>(shape_of({1, 70000}))) >= few_blocks);
  CHECK(blocks(operands_of<softmax_of_floats>(shape_of({8, 128256}))) >= 2 * few_blocks);
  CHECK(blocks(operands_of<softmax_of_floats>(shape_of({4096, 4096}))) >= few_blocks);
  CHECK(blocks(operands_of<softmax_of_floats>(shape_of({4096, 4096}), 0)) >= few_blocks);
  // A GPU with less shared memory.
  CHECK(operands_of<softmax_of_floats>(shape_of({1000, 57900}), 1, 99 << 10).grid.split);
}

TEST_CASE("rows in registers have more threads only where blocks are few", "[cuda][rows]") {
  const auto depth = [](std::int64_t rows) { return arrange_register_rows({rows, 64, true, true, 4, 1, 16}, 8).depth; };
  CHECK(depth(16 * enough_blocks) == 8);
  CHECK(depth(16 * (enough_blocks - 1)) == 16);
}

TEST_CASE("whole rows may fill shared memory to the last byte", "[cuda][rows]") {
  const row_shape s{1000, 10000, true, true, 4, 1, 16};
  const row_grid g = arrange_whole_rows(s);
  const std::int64_t bytes = shared_bytes_of(g, s.bytes);
  CHECK(fits_whole(s, g, bytes));
  CHECK_FALSE(fits_whole(s, g, bytes - 1));
}

TEST_CASE("neighbouring rows are read together, whole sectors of them", "[cuda][rows]") {
  const auto r = operands_of<softmax_of_floats>(shape_of({4096, 4096}), 0);
  CHECK_FALSE(r.grid.neighbours_fold);
  CHECK(r.grid.width == 8);
  CHECK(r.step[0] == 4096);
  CHECK_FALSE(r.in_packs[0]);
  const auto last = operands_of<softmax_of_floats>(shape_of({4096, 4096}));
  CHECK(last.grid.neighbours_fold);
  CHECK(last.in_packs[0]);
  CHECK(last.in_packs[1]);
  CHECK(last.in_packs[row_facts<softmax_of_floats>::inputs]);  // the result
  CHECK_FALSE(operands_of<softmax_of_floats>(shape_of({4096, 4095})).in_packs[0]);
  CHECK_FALSE(operands_of<softmax_of_floats>(shape_of({4096, 4096}), 1, most_shared, 0x10004).in_packs[0]);
}

TEST_CASE("rows are read in packs only where results are aligned, too", "[cuda][rows]") {
  const extents space = shape_of({4096, 1024});
  const operand_view in = contiguous_view(reinterpret_cast<void*>(0x10000), space);
  const std::uint64_t scalar = 0;
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &in;
  call.scalars = &scalar;
  for (const unsigned offset : {0u, 4u}) {
    call.out.data = reinterpret_cast<void*>(0x20000 + offset);
    CHECK(row_operands_of<softmax_of_floats>(call, 1, most_shared).in_packs[0] == (offset == 0));
  }
}

TEST_CASE("blocks read what is the same for all rows seldom", "[cuda][rows]") {
  const auto r = operands_of<normal_of_floats>(shape_of({4096, 1023}));
  CHECK(r.any_same);
  CHECK(r.same[1]);
  CHECK_FALSE(r.same[0]);
  CHECK(r.blocks == 2 * few_blocks);
  CHECK(operands_of<normal_of_floats>(shape_of({32768, 1023})).blocks > few_blocks);
  CHECK(operands_of<softmax_of_floats>(shape_of({32768, 1023})).blocks == 32768 / 8);
}

TEST_CASE("rows that threads can hold are in registers", "[cuda][rows]") {
  // 8 packs of one input; the exponentials take its place.
  STATIC_REQUIRE(row_facts<softmax_of_floats>::packs_held() == 8);
  STATIC_REQUIRE(row_facts<normal_of_floats>::packs_held() == 8);
  STATIC_REQUIRE(row_facts<keeping_of_floats>::packs_held() == 4);
  STATIC_REQUIRE(is_held<normal_of_floats, 0>);
  STATIC_REQUIRE_FALSE(is_held<normal_of_floats, 1>);  // one phase reads it
  const auto in_registers = [](int rows, int n, int axis = 1) {
    return operands_of<softmax_of_floats>(axis == 1 ? shape_of({rows, n}) : shape_of({n, rows}), axis)
        .grid.in_registers;
  };
  CHECK(in_registers(4096, 1024));
  CHECK(in_registers(4096, 16384));
  CHECK_FALSE(in_registers(4096, 16388));
  CHECK_FALSE(in_registers(4096, 1023));
  CHECK_FALSE(in_registers(4096, 1024, 0));
  CHECK_FALSE(in_registers(1, 16384));  // one block would do it all
  CHECK(in_registers(1, 64));
  // A warp for each row, and no barrier, where that is enough.
  const auto r = operands_of<softmax_of_floats>(shape_of({4096, 1024}));
  CHECK(r.grid.depth == 32);
  CHECK(shared_bytes_of(r) == 0);
  CHECK(r.blocks >= enough_blocks);
  // More threads to a row rather than few blocks.
  CHECK(operands_of<softmax_of_floats>(shape_of({100, 1024})).grid.depth == 256);
}

namespace {

/// Whether a program works in no more than extents say, however its operands lie and whatever the GPU.
template <class Program>
bool works_within_bounds() {
  using facts = row_facts<Program>;
  bool split = false;
  for (int rows : {1, 2, 3, 7, 8, 15, 33, 100, 131, 1000, 2111, 2112, 4096, 5000, 100000})
    for (int n : {1, 2, 3, 4, 16, 31, 100, 512, 1000, 1024, 4096, 16384, 50257, 70000, 128256, 10000000}) {
      row_work w{rows, n, facts::keeps, 4, facts::given};
      for (int k = 0; k < facts::slot_count; ++k) w.size = greatest(w.size, facts::table.size[k]);
      for (int k = 0; k < facts::inputs; ++k) w.slot_count += facts::table.elements[k] ? 1 : 0;
      const std::int64_t most = most_row_workspace(w);
      for (const int axis : {0, 1})
        for (const std::int64_t shared : {64 << 10, 99 << 10, 227 << 10})
          for (const std::uintptr_t data : {0x10000, 0x10004}) {
            INFO(rows << " rows of " << n << " along " << axis << " with " << shared << " at " << data);
            const extents space = axis == 1 ? shape_of({rows, n}) : shape_of({n, rows});
            const std::int64_t bytes = row_workspace(operands_of<Program>(space, axis, shared, data));
            REQUIRE(bytes <= most);
            split = split || bytes > 0;
          }
      // A piece for each of a few hundred blocks, and some numbers for each row.
      REQUIRE(most <= 32 * enough_blocks * most_rows_together + (32 + 8 * w.given) * most_split_rows);
    }
  return split;
}

}  // namespace

TEST_CASE("a row kernel's workspace is at most what extents alone say", "[cuda][rows]") {
  CHECK(works_within_bounds<softmax_of_floats>());
  CHECK(works_within_bounds<normal_of_floats>());
  CHECK(works_within_bounds<keeping_of_floats>());
  CHECK(works_within_bounds<softmax_program<element::float64>>());
  CHECK(works_within_bounds<normal_program<element::float16>>());
  CHECK(row_workspace(operands_of<softmax_of_floats>(shape_of({4096, 4096}))) == 0);
}

TEST_CASE("short rows and many are never split", "[cuda][rows]") {
  CHECK(most_row_workspace({8, 16, 5, 4, 3}) == 0);
  CHECK(most_row_workspace({100, 64, 2, 4, 3}) == 0);
  CHECK(most_row_workspace({4096, 128, 2, 4, 3}) == 0);
  CHECK(most_row_workspace({1, 70000, 2, 4, 3}) > 0);
}
