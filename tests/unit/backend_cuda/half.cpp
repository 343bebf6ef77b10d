// SPDX-License-Identifier: BSL-1.0
// The GPU kernels' element loops over half and bfloat16, on the host: loads become floats, only stores round.
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/logic.hpp>

#include "catch.hpp"
#include "maps.hpp"

using namespace calls;

namespace {

constexpr element f16 = element::float16, b16 = element::bfloat16, f32 = element::float32;

// in0 * scalar0 + in1
using scaled =
    program<instruction<load_input, f16, 0>, instruction<load_scalar, f16, 0>, instruction<op::mul, f16, 0, 1>,
            instruction<load_input, f16, 1>, instruction<op::add, f16, 2, 3>>;
// bfloat16(half(in0 + in0)), from floats
using rounded = program<instruction<load_input, f32, 0>, instruction<op::add, f32, 0, 0>,
                        instruction<op::cast<half>, f16, 1>, instruction<op::cast<bfloat16>, b16, 2>>;
using same = program<instruction<load_input, f16, 0>>;

half number(std::size_t k) { return half(static_cast<double>(k * 37 % 101) / 64 - 0.75); }

}  // namespace

TEST_CASE("contiguous halves are loaded eight at a time", "[cuda][half]") {
  static_assert(map_lanes<scaled> == 8 && sizeof(lane_pack<half, 8>) == 16);
  constexpr std::size_t count = 21;
  alignas(16) half a[count] = {}, b[count] = {}, out[count] = {}, strided[count] = {};
  for (std::size_t k = 0; k < count; ++k) a[k] = number(k), b[k] = number(3 * k + 1);
  const extents space = shape_of({static_cast<int>(count)});
  const operand_view in[] = {contiguous_view(a, space), contiguous_view(b, space)};
  const std::uint64_t scalars[] = {calls::bits_of(3.0f)};
  kernel_call call;
  call.space = space;
  call.inputs = 2;
  call.in = in;
  call.scalars = scalars;
  call.out = contiguous_view(out, space);
  REQUIRE(coarsened_map_on_host<scaled>(layout_of<scaled>(call), scalars));
  call.out.data = strided;
  strided_on_host<scaled>(layout_of<scaled>(call), scalars);
  for (std::size_t k = 0; k < count; ++k) {
    CHECK(out[k].bits() == half(3.0f * a[k] + b[k]).bits());
    CHECK(strided[k].bits() == out[k].bits());
  }
}

TEST_CASE("a cast rounds, other operations do not", "[cuda][half]") {
  const float in[] = {1.0f / 3, 40000, 1e-8f, -2.5f};
  bfloat16 out[4] = {};
  const extents space = shape_of({4});
  const operand_view view = contiguous_view(in, space);
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &view;
  call.out = contiguous_view(out, space);
  strided_on_host<rounded>(layout_of<rounded>(call), nullptr);
  for (int k = 0; k < 4; ++k) CHECK(out[k].bits() == bfloat16(half(in[k] + in[k])).bits());
  CHECK(out[1] == std::numeric_limits<float>::infinity());
}

TEST_CASE("halves fold in float and are rounded once", "[cuda][half]") {
  constexpr std::size_t count = 3000;
  std::vector<half> in(count);
  double sum = 0;
  for (std::size_t k = 0; k < count; ++k) {
    in[k] = number(k);
    sum += static_cast<double>(in[k]);
  }
  const extents space = shape_of({static_cast<int>(count)});
  const operand_view view = contiguous_view(in.data(), space);
  const op_info all = fold_over({});
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &view;
  call.op = &all;
  half result[1] = {};
  std::int64_t index[1] = {};
  call.out.data = result;
  reduce_on_host<same, fold::sum>(call);
  CHECK(result[0].bits() == half(sum).bits());
  reduce_on_host<same, fold::mean>(call);
  CHECK(result[0].bits() == half(sum / count).bits());
  reduce_on_host<same, fold::max>(call);
  CHECK(result[0].bits() == half(100.0 / 64 - 0.75).bits());
  call.out.data = index;
  reduce_on_host<same, fold::argmin>(call);
  CHECK(index[0] == 0);
}

TEST_CASE("copies and addends move elements of two bytes", "[cuda][half]") {
  const half in[] = {half(1), half(-2), half(3), half(4), half(5), half(-6)};
  half out[6] = {};
  const extents space = shape_of({3, 2});  // of the transpose
  const operand_view view = view_of(in, {1, 3});
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  operand_view typed = view;
  typed.type = f16;
  call.in = &typed;
  call.out = contiguous_view(out, space);
  copy_on_host(call);
  const float turned[] = {1, 4, -2, 5, 3, -6};
  for (int k = 0; k < 6; ++k) CHECK(out[k] == turned[k]);
  addend_on_host<half>(space, typed, out, 0.5, true);
  const float placed[] = {0.5f, 2, 0, 2.5f, 1.5f, 0};
  for (int k = 0; k < 6; ++k) CHECK(out[k] == placed[k]);
}
