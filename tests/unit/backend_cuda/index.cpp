// SPDX-License-Identifier: BSL-1.0
// The GPU kernels' index arithmetic on the host.
#include "catch.hpp"
#include "maps.hpp"

using namespace calls;

TEST_CASE("division by an invariant number agrees with division", "[cuda][index]") {
  const std::int64_t divisors[] = {1,     2,      3,       5,          7,          10,           31,
                                   32,    33,     127,     1000,       65535,      65536,        65537,
                                   46341, 999983, 1 << 30, 0x7ffffffe, 0x7fffffff, 0x80000000LL, 0x123456789abLL};
  const std::int64_t dividends[] = {0,
                                    1,
                                    2,
                                    3,
                                    6,
                                    7,
                                    8,
                                    99,
                                    100,
                                    65534,
                                    65535,
                                    65536,
                                    999982,
                                    999983,
                                    0x3fffffff,
                                    0x40000000,
                                    0x7ffffffe,
                                    0x7fffffff,
                                    0x80000000LL,
                                    0xffffffffLL,
                                    0x100000000LL,
                                    0x123456789abcdefLL};
  for (std::int64_t d : divisors) {
    const index_divisor by(d);
    for (std::int64_t n : dividends) {
      INFO(n << " / " << d);
      CHECK(by.divide(n) == n / d);
    }
    // Around multiples, where a wrong multiplier shows first.
    for (std::int64_t k = 1; k <= 50; ++k) {
      const std::int64_t multiple = (0x7fffffff / d) * d / k;
      for (std::int64_t n = multiple > 1 ? multiple - 1 : 0; n <= multiple + 1; ++n)
        if (by.divide(n) != n / d) FAIL(n << " / " << d << " is not " << by.divide(n));
      const std::int64_t last = 0x7fffffffffffffff / d / k * d;
      for (std::int64_t n : {last - 1, last})
        if (by.divide(n) != n / d) FAIL(n << " / " << d << " is not " << by.divide(n));
    }
    CHECK(by.divide(0x7fffffffffffffff) == 0x7fffffffffffffff / d);
  }
}

TEST_CASE("dimensions join where every operand lets them", "[cuda][index]") {
  const extents space = shape_of({2, 3, 4});

  SECTION("contiguous operands become one run") {
    const operand_view in[] = {view_of(nullptr, {12, 4, 1}), view_of(nullptr, {0, 0, 0})};
    const auto s = collapse<2>(space, all_dimensions(3), in);
    CHECK(s.rank == 1);
    CHECK(s.size == 24);
    CHECK(s.extent[0].divisor == 24);
    CHECK(s.stride[0][0] == 1);
    CHECK(s.stride[1][0] == 0);
  }
  SECTION("a broadcast row keeps two dimensions") {
    const operand_view in[] = {view_of(nullptr, {12, 4, 1}), view_of(nullptr, {0, 0, 1})};
    const auto s = collapse<2>(space, all_dimensions(3), in);
    CHECK(s.rank == 2);
    CHECK(s.extent[0].divisor == 6);
    CHECK(s.extent[1].divisor == 4);
    CHECK(s.stride[0][0] == 4);
    CHECK(s.stride[1][0] == 0);
    CHECK(s.stride[1][1] == 1);
  }
  SECTION("extents of 1 go away, whatever their strides") {
    const operand_view in[] = {view_of(nullptr, {77, 3, 55, 1})};
    const auto s = collapse<1>(shape_of({1, 2, 1, 3}), all_dimensions(4), in);
    CHECK(s.rank == 1);
    CHECK(s.size == 6);
  }
  SECTION("a subset of the dimensions") {
    const operand_view in[] = {view_of(nullptr, {12, 4, 1})};
    const auto outer = collapse<1>(space, 0b001u, in);
    CHECK(outer.rank == 1);
    CHECK(outer.stride[0][0] == 12);
    const auto ends = collapse<1>(space, 0b101u, in);
    CHECK(ends.rank == 2);
    CHECK(ends.size == 8);
    const auto none = collapse<1>(space, 0u, in);
    CHECK(none.rank == 0);
    CHECK(none.size == 1);
  }
  SECTION("no operands: everything joins") {
    const auto s = collapse<0>(space, all_dimensions(3), nullptr);
    CHECK(s.rank == 1);
    CHECK(s.size == 24);
  }
}

TEST_CASE("offsets agree with nested loops, joined or not", "[cuda][index]") {
  const extents space = shape_of({3, 1, 4, 2, 5});
  // A transposed operand, a broadcast one, a slice with steps, a contiguous one.
  const operand_view in[] = {view_of(nullptr, {1, 9, 3, 12, 24}), view_of(nullptr, {0, 0, 10, 5, 1}),
                             view_of(nullptr, {400, 0, 90, 40, 3}), contiguous_view(nullptr, space)};
  const auto s = collapse<4>(space, all_dimensions(5), in);
  REQUIRE(s.size == 120);
  std::int64_t index = 0;
  for (int a = 0; a < 3; ++a)
    for (int c = 0; c < 4; ++c)
      for (int d = 0; d < 2; ++d)
        for (int e = 0; e < 5; ++e, ++index) {
          std::int64_t start[4] = {7, 0, 0, 0};
          add_offsets(s, index, start);
          for (int k = 0; k < 4; ++k)
            CHECK(start[k] - (k == 0 ? 7 : 0) ==
                  a * in[k].stride[0] + c * in[k].stride[2] + d * in[k].stride[3] + e * in[k].stride[4]);
        }
}

TEST_CASE("offsets of many operands are those of few", "[cuda][index]") {
  constexpr int many = many_inputs + 1;
  const extents space = shape_of({3, 4, 5});
  operand_view operands[many] = {view_of(nullptr, {1, 3, 12}), view_of(nullptr, {20, 5, 1}),
                                 view_of(nullptr, {0, 0, 7})};
  for (int k = 3; k < many; ++k) operands[k] = view_of(nullptr, {k, 0, 2 * k});
  const auto all = collapse<many>(space, all_dimensions(3), operands);
  const auto few = collapse<3>(space, all_dimensions(3), operands);
  for (std::int64_t k = 0; k < space.size(); ++k) {
    std::int64_t of_all[many] = {}, of_few[3] = {};
    add_offsets(all, k, of_all);
    add_offsets(few, k, of_few);
    for (int o = 0; o < 3; ++o) CHECK(of_all[o] == of_few[o]);
    CHECK(of_all[many - 1] == (many - 1) * (k / 20) + 2 * (many - 1) * (k % 5));
  }
}

TEST_CASE("indices beyond 32 bits are located", "[cuda][index]") {
  const extents space = shape_of({70000, 3, 70000});
  const operand_view in[] = {view_of(nullptr, {1, 70000, 210000})};
  const auto s = collapse<1>(space, all_dimensions(3), in);
  REQUIRE(s.size == std::int64_t{70000} * 3 * 70000);
  const std::int64_t a = 69998, b = 2, c = 69997;
  std::int64_t start[1] = {};
  add_offsets(s, (a * 3 + b) * 70000 + c, start);
  CHECK(start[0] == a + b * 70000 + c * 210000);
}

TEST_CASE("a strided copy moves each element once", "[cuda][copy]") {
  const extents space = shape_of({2, 3, 4});
  std::vector<std::uint32_t> in(24), out(48, 99);
  for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<std::uint32_t>(k);
  operand_view from = view_of(in.data(), {12, 1, 3});  // (2, 4, 3) seen transposed
  from.type = element::int32;
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &from;
  call.out = view_of(out.data(), {24, 8, 1});  // the left half of rows of 8
  map_layout copy;
  set_copy(copy, call);
  CHECK_FALSE(is_one_run(copy));
  copy_on_host(call);
  for (std::size_t a = 0; a < 2; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t c = 0; c < 8; ++c) CHECK(out[a * 24 + b * 8 + c] == (c < 4 ? in[a * 12 + b + c * 3] : 99));

  call.out = contiguous_view(out.data(), space);
  const operand_view same = contiguous_view(in.data(), space);
  call.in = &same;
  set_copy(copy, call);
  CHECK(is_one_run(copy));
  call.space = shape_of({1, 1, 1});
  set_copy(copy, call);
  CHECK(is_one_run(copy));
}

TEST_CASE("an addend is scaled, broadcast and cut off at zero; NaN stays", "[cuda][copy]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float row[] = {-1, 2, nan};
  float out[6];
  const extents space = shape_of({2, 3});
  addend_on_host<float>(space, view_of(row, {0, 1}), out, 2, true);
  for (int r = 0; r < 2; ++r) {
    CHECK(out[3 * r] == 0);
    CHECK(out[3 * r + 1] == 4);
    CHECK(out[3 * r + 2] != out[3 * r + 2]);
  }
}

TEST_CASE("copies move the widest words that rows, strides and addresses allow", "[cuda][copy]") {
  alignas(16) char from[64], to[64];
  const auto widened = [&](std::initializer_list<int> dims, std::initializer_list<std::int64_t> in,
                           std::initializer_list<std::int64_t> out, element type, int offset) {
    operand_view view = view_of(from + offset, in);
    view.type = type;
    kernel_call call;
    call.space = shape_of(dims);
    call.inputs = 1;
    call.in = &view;
    call.out = view_of(to, out);
    map_layout copy;
    set_copy(copy, call);
    widen_words(copy);
    return copy;
  };
  const map_layout floats = widened({3, 6}, {8, 1}, {10, 1}, element::float32, 0);
  CHECK(floats.bytes[0] == 8);
  CHECK(floats.size == 9);
  CHECK(floats.extent[1] == 3);
  CHECK(floats.stride[0][0] == 4);
  CHECK(floats.stride[1][0] == 5);
  CHECK(widened({3, 6}, {8, 1}, {9, 1}, element::float32, 0).bytes[0] == 4);
  CHECK(widened({3, 6}, {8, 1}, {10, 1}, element::float32, 4).bytes[0] == 4);
  CHECK(widened({3, 5}, {8, 1}, {10, 1}, element::float32, 0).bytes[0] == 4);
  CHECK(widened({3, 6}, {1, 3}, {10, 1}, element::float32, 0).bytes[0] == 4);
  CHECK(widened({3, 4}, {8, 1}, {6, 1}, element::boolean, 0).bytes[0] == 2);
  CHECK(widened({3, 4}, {8, 1}, {12, 1}, element::boolean, 4).bytes[0] == 4);
  const map_layout words = widened({3, 4}, {8, 1}, {20, 1}, element::float16, 0);  // a row is a word
  CHECK(words.bytes[0] == 8);
  CHECK(words.rank == 1);
  CHECK(words.stride[0][0] == 2);
  CHECK(words.stride[1][0] == 5);
}

TEST_CASE("division of 32 bits agrees with division", "[cuda][index]") {
  for (std::uint32_t d : {1u, 2u, 3u, 7u, 31u, 32u, 33u, 641u, 65535u, 65537u, 0x3fffffffu, 0x40000000u, 0x7fffffffu}) {
    const short_divisor by(d);
    for (std::uint32_t n : {0u, 1u, 6u, 31u, 32u, 65535u, 999983u, 0x3fffffffu, 0x40000000u, 0x7ffffffeu, 0x7fffffffu})
      CHECK(by.divide(n) == n / d);
    for (std::uint32_t k = 1; k <= 50; ++k) {
      const std::uint32_t multiple = 0x7fffffffu / d * d / k;
      for (std::uint32_t n = multiple > 1 ? multiple - 1 : 0; n <= multiple + 1; ++n)
        if (by.divide(n) != n / d) FAIL(n << " / " << d << " is not " << by.divide(n));
    }
  }
}
