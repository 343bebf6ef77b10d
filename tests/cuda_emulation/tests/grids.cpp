// SPDX-License-Identifier: BSL-1.0
// How kernels are spread over blocks and threads, as a table: another choice is not wrong, but may be slower, and is
// not to come by itself. Of each family some lines are spelled out, and all of it is summed up. Run with
// ONTO_UPDATE_GOLDEN=1 to take new choices over; what they cost is in docs/measurements/gpu_access.md.
#include <onto/ops/arithmetic.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "backend_cuda/maps.hpp"
#include "backend_cuda/row_programs.hpp"
#include "catch.hpp"
#include "golden.hpp"

#include <onto/backend/cuda/group_sums.hpp>
#include <onto/backend/cuda/integer_sums.hpp>
#include <onto/backend/cuda/matmul_plan.hpp>
#include <onto/backend/cuda/private_sums.hpp>
#include <onto/backend/cuda/row_operands.hpp>

using namespace calls;
using namespace row_programs;

namespace {

/// Lines of numbers, and the sum of all of them.
class family {
 public:
  explicit family(const char* name) : text_(std::string(name) + "\n") {}

  template <class... Number>
  void add(Number... number) {
    std::string line;
    ((line += ' ' + std::to_string(number)), ...);
    for (const char c : line) sum_ = (sum_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    if (count_++ % every == 0) text_ += ' ' + line + '\n';
  }
  std::string text() const {
    return text_ + "  of " + std::to_string(count_) + " lines: " + std::to_string(sum_) + "\n\n";
  }

 private:
  static constexpr long every = 499;
  std::string text_;
  std::uint64_t sum_ = 0xcbf29ce484222325u;
  long count_ = 0;
};

// About the edges of warps, blocks, multiprocessors and packs.
const std::int64_t counts[] = {1,     2,     3,     4,     5,     7,     8,      9,      15,     16,      17,     31,
                               32,    33,    63,    64,    65,    66,    67,     127,    128,    129,     131,    132,
                               133,   255,   256,   257,   263,   264,   265,    511,    512,    513,     527,    528,
                               529,   1023,  1024,  1025,  2047,  2048,  2049,   4096,   4223,   4224,    4225,   8192,
                               16383, 16384, 16385, 32767, 32768, 32769, 135167, 135168, 135169, 1000000, 2000003};

std::string folds() {
  family f(
      "folds: outputs, outer, inner, along, lanes; width, depth, inner_depth, blocks, pieces, inner_pieces, per_outer, "
      "per_inner");
  for (const std::int64_t outputs : counts)
    for (const std::int64_t inner : counts)
      for (const std::int64_t outer : {std::int64_t{1}, std::int64_t{3}, std::int64_t{64}, std::int64_t{1000}})
        for (const bool along : {false, true})
          for (const int lanes : {1, 4}) {
            if (!along && lanes > 1) continue;
            const fold_grid g = arrange_fold(outputs, outer, inner, along, lanes);
            f.add(outputs, outer, inner, along, lanes, g.width, g.depth, g.inner_depth, g.blocks, g.pieces,
                  g.inner_pieces, g.per_outer, g.per_inner);
          }
  for (const std::int64_t inner : {(std::int64_t{1} << 30) - 1, std::int64_t{1} << 30, (std::int64_t{1} << 30) + 1})
    for (const std::int64_t outputs : {1, 200, 100000}) {
      const fold_grid g = arrange_fold(outputs, 1, inner, true, 4);
      f.add(outputs, inner, g.depth, g.pieces, g.per_inner);
    }
  // Of little, the states of a block.
  for (int width = 1; width <= 256; width *= 2)
    for (int depth = 1; depth <= 256; depth *= 2)
      for (const bool along : {false, true}) f.add(width, depth, states_of_block(thread_grid(width, depth, along)));
  return f.text();
}

std::string sums_of_groups() {
  family f("sums of groups: numbers, groups, inner, along; width, depth of an element; of a piece; its bits, pieces");
  for (const std::int64_t numbers : counts)
    for (const std::int64_t groups : counts)
      for (const std::int64_t inner : {1, 3, 8, 33, 256})
        for (const bool along : {false, true}) {
          if (!along && inner < 8) continue;
          const group_sums g = arrange_sums(numbers, groups, groups * inner, inner, along);
          f.add(numbers, groups, inner, along, g.of_element.width, g.of_element.depth, g.of_piece.width,
                g.of_piece.depth, g.piece_bits, g.pieces);
        }
  return f.text();
}

std::string private_sums_of_threads() {
  family f("sums of few groups: numbers, groups, columns, bytes; width, depth, blocks, tiles; depth of an element");
  for (const std::int64_t numbers : counts)
    for (const std::int64_t groups : {1, 4, 16, 45})
      for (const std::int64_t columns : counts)
        for (const std::int64_t bytes : {8, 16}) {
          const private_sums g = arrange_private_sums(numbers, groups, groups * columns, columns, bytes);
          f.add(numbers, groups, columns, bytes, g.of_block.width, g.of_block.depth, g.blocks, g.tiles,
                g.of_element.depth);
        }
  return f.text();
}

std::string sums_of_integers() {
  family f("sums of integers: numbers, columns, sums; numbers at once, counters, copies, blocks");
  for (const std::int64_t numbers : counts)
    for (const std::int64_t columns : counts)
      for (const std::int64_t rows : {1, 16, 1000, 4096, 4097}) {
        const integer_sums g = arrange_integer_sums(numbers, columns, rows * columns);
        f.add(numbers, columns, rows * columns, g.numbers_at_once, g.counters, g.copies, g.blocks);
      }
  return f.text();
}

std::string rows() {
  family f(
      "rows: rows, count, along, packed, lanes, narrowest, bytes; width, depth, steps, packs, blocks, fits; split: "
      "width, depth, pieces, per_piece, steps, packs");
  for (const std::int64_t count_of_rows : counts)
    for (const std::int64_t count : counts)
      for (const bool along : {false, true})
        for (const bool packed : {false, true})
          for (const int narrowest : {1, 8})
            for (const std::int64_t bytes : {16, 28, 32, 48, 56, 112, 200}) {
              if ((packed && (!along || count % 4 != 0)) || (along && narrowest > 1) || narrowest > count_of_rows)
                continue;
              const row_shape s{count_of_rows, count, along, packed, 4, narrowest, bytes};
              const row_grid g = arrange_whole_rows(s);
              const bool fits = fits_whole(s, g, 227 << 10);
              f.add(count_of_rows, count, along, packed, 4, narrowest, bytes, g.width, g.depth, g.steps, g.packs,
                    g.blocks, fits);
              const row_grid p = arrange_split_rows(s, bytes, 227 << 10);
              f.add(p.width, p.depth, p.blocks, p.pieces, p.per_piece, p.steps, p.packs);
              const row_grid little = arrange_split_rows(s, bytes, 48 << 10);
              f.add(little.width, little.depth, little.pieces, little.per_piece, little.steps, little.packs);
            }
  for (const std::int64_t count : {(std::int64_t{1} << 30) - 1, std::int64_t{1} << 30, (std::int64_t{1} << 30) + 4}) {
    const row_shape s{1000, count, true, true, 4, 1, 0};
    f.add(count, fits_whole(s, arrange_whole_rows(s), 227 << 10));
    const row_grid p = arrange_split_rows(s, 16, 227 << 10);
    f.add(p.width, p.depth, p.blocks, p.pieces, p.per_piece, p.steps, p.packs);
  }
  return f.text();
}

/// What the kernels of a row program know, of contiguous operands and of such as are the same for all rows.
template <class Program>
void add_row_operands(family& f, const extents& space, int axis, bool shared_input, std::uintptr_t data) {
  using facts = row_facts<Program>;
  auto* const at = reinterpret_cast<void*>(data);
  operand_view in[3] = {contiguous_view(at, space), view_of(at, {}), view_of(at, {})};
  if (shared_input)
    for (int d = 0; d < space.rank; ++d)
      if (d != axis) in[0].stride[d] = 0;
  in[1].stride[axis] = 1;
  std::int64_t step = 1;
  for (int d = space.rank - 1; d >= 0; --d)
    if (d != axis) in[2].stride[d] = step, step *= space[d];
  const std::uint64_t scalar = 0;
  kernel_call call;
  call.space = space;
  call.inputs = 3;
  call.in = in;
  call.out.data = at;
  call.scalars = &scalar;
  const auto r = row_operands_of<Program>(call, axis, 227 << 10);
  f.add(space[0], space[1], axis, shared_input, data % 64, r.grid.width, r.grid.depth, r.grid.steps, r.grid.packs,
        r.grid.pieces, r.blocks, r.pack_step, r.lane_step, r.states_at, shared_bytes_of(r), row_workspace(r),
        rows_at_once(r), r.any_same);
  for (int k = 0; k < facts::slot_count; ++k) f.add(r.at[k]);
  for (int k = 0; k < facts::inputs; ++k) f.add(r.same[k], r.in_packs[k], r.step[k]);
  f.add(r.in_packs[facts::inputs], r.step[facts::inputs]);
}

std::string row_layouts() {
  family f(
      "row programs: extents, axis, shared, address; width, depth, steps, packs, pieces, blocks, ... and each slot");
  for (const int n : {1, 2, 4, 8, 40, 64, 100, 132, 133, 512, 1000, 4096, 4100, 16384, 57900, 70000})
    for (const int m : {1, 2, 7, 8, 31, 132, 264, 1000, 4096, 32768})
      for (const int axis : {0, 1})
        for (const bool shared_input : {false, true})
          for (const std::uintptr_t data : {0x10000u, 0x10004u, 0x10008u}) {
            const extents space = axis == 1 ? shape_of({m, n}) : shape_of({n, m});
            add_row_operands<softmax_program<element::float32>>(f, space, axis, shared_input, data);
            add_row_operands<normal_program<element::float32>>(f, space, axis, shared_input, data);
            add_row_operands<keeping_program<element::float32>>(f, space, axis, shared_input, data);
            add_row_operands<normal_program<element::float64>>(f, space, axis, shared_input, data);
            add_row_operands<softmax_program<element::float16>>(f, space, axis, shared_input, data);
          }
  return f.text();
}

using added = program<instruction<load_input, element::float32, 0>, instruction<load_input, element::float32, 1>,
                      instruction<op::add, element::float32, 0, 1>>;
using added_doubles =
    program<instruction<load_input, element::float64, 0>, instruction<load_input, element::float64, 1>,
            instruction<op::add, element::float64, 0, 1>>;
using kept_sum =
    program<instruction<load_input, element::float32, 0>, instruction<load_input, element::float32, 1>,
            instruction<op::add, element::float32, 0, 1>, instruction<store_result, element::float32, 0, 2>,
            instruction<op::mul, element::float32, 2, 2>>;

template <class Program>
void add_map(family& f, const extents& space, const operand_view& a, const operand_view& b, std::uintptr_t more) {
  const operand_view in[] = {a, b};
  operand_view further;
  further.data = reinterpret_cast<void*>(more);
  kernel_call call;
  call.space = space;
  call.inputs = 2;
  call.in = in;
  call.out.data = a.data;
  call.more_out = &further;
  const map_layout m = layout_of<Program>(call);
  f.add(space.rank, space[0], space[space.rank - 1], m.rank, m.size, is_short(m));
  if (!is_short(m)) return;
  const bool packs = has_aligned_packs(m, map_lanes<Program>);
  f.add(packs);
  if (packs) {
    coarsened_map<Program> coarsened;
    const std::int64_t threads =
        plan_coarsened_map(m, map_lanes<Program>, coarsened_ahead<Program>, coarsened_map_ref(coarsened));
    f.add(threads, coarsened.grid.width.divisor, coarsened.grid.steps, coarsened.grid.per_thread, coarsened.grid.end,
          coarsened.columns.rank);
    for (int k = 0; k < 3; ++k) f.add(coarsened.advances[k], coarsened.step[k]);
  }
  tiled_map<Program> tiled;
  const tiled_launch launch = plan_tiled_map(m, tiled_lanes<Program> * block_threads, tiled_map_ref(tiled));
  f.add(launch.blocks, launch.shared, tiled.space.grid.tiled, tiled.space.grid.tile.width, tiled.space.grid.tile.height,
        tiled.space.outer.rank);
  for (int k = 0; k < 3; ++k)
    f.add(tiled.space.tile_offset[k], tiled.space.along_width[k], tiled.space.along_height[k]);
}

std::string maps() {
  family f(
      "maps: rank, extents, joined; walks: threads, width, steps, per_thread; turns: blocks, shared, tiled, width, "
      "height");
  for (const int n : {1, 4, 8, 12, 31, 32, 33, 64, 255, 256, 1020, 1024, 1028, 4096, 100000, 600000})
    for (const int m : {1, 2, 3, 16, 31, 32, 33, 63, 64, 65, 128, 130, 1000, 4096})
      for (const std::uintptr_t data : {0x10000u, 0x10004u}) {
        if (std::int64_t{n} * m > std::int64_t{1} << 30) continue;
        const extents space = shape_of({m, n}), cube = shape_of({3, m, n});
        auto* const at = reinterpret_cast<void*>(data);
        const operand_view rows = contiguous_view(at, space), bias = view_of(at, {0, 1}), column = view_of(at, {1, 0}),
                           turned = view_of(at, {1, m}), gaps = view_of(at, {n + 4, 1}), one = view_of(at, {0, 0});
        for (const operand_view& other : {rows, bias, column, turned, gaps, one}) {
          add_map<added>(f, space, rows, other, data);
          add_map<added_doubles>(f, space, rows, other, data);
          add_map<kept_sum>(f, space, rows, other, data ^ 4);
          add_map<added>(f, space, turned, other, data);
          operand_view in_cube = view_of(at, {0, other.stride[0], other.stride[1]});
          add_map<added>(f, cube, contiguous_view(at, cube), in_cube, data);
          in_cube.stride[0] = std::int64_t{n} * m;
          add_map<added_doubles>(f, cube, contiguous_view(at, cube), in_cube, data);
        }
      }
  for (const int off : {-1, 0, 1}) {
    const int edge = (1 << 30) + off;
    auto* const at = reinterpret_cast<void*>(0x10000);
    add_map<added>(f, shape_of({edge}), view_of(at, {1}), view_of(at, {1}), 0x10000);
    add_map<added>(f, shape_of({2, 2}), view_of(at, {edge - 1, 1}), view_of(at, {edge, 1}), 0x10000);
    add_map<added>(f, shape_of({2, 2}), view_of(at, {edge - 1, 1}), view_of(at, {edge / 2, 1}), 0x10000);
    add_map<added>(f, shape_of({2, 2}), view_of(at, {edge / 2, 1}), view_of(at, {edge / 2, 1}), 0x10000);
    add_map<added>(f, shape_of({2, 2}), view_of(at, {edge, -1}), view_of(at, {0, 1}), 0x10000);
  }
  return f.text();
}

/// In words of which size copies are made, and of how many.
std::string transposed_copies() {
  family f("copies: extents, stride, address, bytes of an element; one run; bytes of a word, words, rank");
  for (const int n : {1, 2, 3, 4, 6, 8, 12, 16, 100})
    for (const int m : {1, 2, 5})
      for (const int gap : {0, 1, 2, 4, 8})
        for (const std::uintptr_t data : {0x10000u, 0x10001u, 0x10002u, 0x10004u})
          for (const element type : {element::boolean, element::float16, element::float32, element::float64}) {
            if (data % static_cast<unsigned>(size_of(type)) != 0) continue;
            operand_view in = view_of(reinterpret_cast<void*>(data), {n + gap, 1});
            in.type = type;
            kernel_call call;
            call.space = shape_of({m, n});
            call.inputs = 1;
            call.in = &in;
            call.out = contiguous_view(reinterpret_cast<void*>(0x20000), call.space);
            map_layout copy;
            set_copy(copy, call);
            const bool run = is_one_run(copy);
            if (!run) widen_words(copy);
            f.add(n, m, gap, data % 16, size_of(type), run, copy.bytes[0], copy.size, copy.rank);
          }
  return f.text();
}

std::string products() {
  family f("products: m, n, k, batches; m, batches, forms, addend; blocks: rows, columns, leadings, end");
  auto* const at = reinterpret_cast<void*>(0x10000);
  for (const int m : {1, 2, 9, 64, 1000, 65536})
    for (const int n : {1, 7, 64})
      for (const int k : {1, 5, 64})
        for (const int batches : {1, 2, 3, 32767, 32768})
          for (const int kind : {0, 1, 2, 3, 4, 5}) {
            operand_view in[3] = {view_of(at, {std::int64_t{m} * k, k, 1}), view_of(at, {std::int64_t{k} * n, n, 1}),
                                  view_of(at, {std::int64_t{m} * n, n, 1})};
            if (kind == 1) in[1].stride[0] = 0;
            if (kind == 2) in[0].stride[1] = 1, in[0].stride[2] = m, in[1].stride[1] = 1, in[1].stride[2] = k;
            if (kind == 3) in[0].stride[2] = 2, in[1].stride[0] = 0, in[1].stride[2] = 3;
            if (kind == 4) in[2] = view_of(at, {0, 0, 1});
            if (kind == 5) in[1].stride[0] = 0, in[2] = view_of(at, {std::int64_t{m} * (n + 1), n + 1, 1});
            kernel_call call;
            call.space = shape_of({batches, m, n});
            call.inner = k;
            call.inputs = 3;
            call.in = in;
            call.form.beta = kind < 3 ? 0 : 1;
            const matmul_plan p = plan_matmul(call);
            f.add(m, n, k, batches, kind, p.m, p.batch_rank, p.batches(), p.a.packed, p.a.transposed, p.a.leading,
                  p.b.packed, p.b.transposed, p.b.leading, static_cast<int>(p.addend), p.addend_leading, p.a_packed,
                  p.b_packed);
          }
  for (const int rows : {0x7ffffffe, 0x7fffffff}) {
    operand_view in[2] = {view_of(at, {1, 1, 1}), view_of(at, {0, 1, 1})};
    kernel_call call;
    call.space = shape_of({rows, 1, 1});
    call.inner = 1;
    call.inputs = 2;
    call.in = in;
    f.add(rows, plan_matmul(call).m);
  }
  for (const std::int64_t m : {1, 2, 9, 25, 64, 1000})
    for (const std::int64_t n : {1, 7, 25, 28, 64, 999})
      for (const std::int64_t k : {1, 5, 20, 64})
        for (const std::size_t size : {2u, 4u, 8u})
          for (const std::size_t bytes : {0u, 255u, 877u, 878u, 1000u, 6000u, 8190u, 8191u, 8192u, 100000u, 1u << 25}) {
            const block_plan p = plan_blocks(m, n, k, size, bytes);
            f.add(m, n, k, size, bytes, p.rows, p.columns, p.a_leading, p.b_leading, p.out_leading, p.b_at, p.out_at,
                  p.end);
          }
  return f.text();
}

/// What is folded of operands that lie one way or another.
std::string reductions() {
  family f(
      "reductions: extents, axis, kind; along, packed, width, depth, blocks, pieces, step; combined: width, depth, "
      "blocks");
  using load = program<instruction<load_input, element::float32, 0>>;
  for (const int n : {1, 3, 4, 8, 32, 100, 1000, 20000})
    for (const int m : {1, 2, 32, 33, 500})
      for (const int axis : {0, 1, 2})
        for (const int kind : {0, 1, 2, 3})
          for (const std::uintptr_t data : {0x10000u, 0x10004u}) {
            const extents space = shape_of({3, m, n});
            operand_view in = contiguous_view(reinterpret_cast<void*>(data), space);
            if (kind == 1) in.stride[2] = m, in.stride[1] = 1;
            if (kind == 2) in.stride[1] = 0;
            if (kind == 3) in.stride[2] = 0;
            const op_info op = fold_over({axis});
            kernel_call call;
            call.space = space;
            call.inputs = 1;
            call.in = &in;
            call.op = &op;
            const auto r = reduce_operands_of<load>(call);
            f.add(n, m, axis, kind, data % 16, r.grid.neighbours_fold, r.packed, r.grid.width, r.grid.depth,
                  r.grid.blocks, r.grid.pieces, r.step[0], r.kept.rank, r.outer.rank,
                  cuda_reduce_workspace<load, fold::sum>(call));
            using sums = program_accumulator<load, fold::sum>;
            const auto c = combine_operands_of<sums>(r.grid, nullptr, nullptr);
            f.add(c.grid.width, c.grid.depth, c.blocks, c.pieces);
          }
  return f.text();
}

}  // namespace

TEST_CASE("grids are those of the table", "[golden]") {
  golden("cuda/grids", folds() + rows() + row_layouts() + maps() + transposed_copies() + products() + reductions() +
                           sums_of_groups() + private_sums_of_threads() + sums_of_integers());
}
