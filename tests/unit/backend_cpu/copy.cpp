// SPDX-License-Identifier: BSL-1.0
// Copies on the CPU: from any view, to contiguous memory or to a part of a larger tensor.
#include <onto/backend/cpu/copy.hpp>

#include "reference.hpp"

#include <vector>

using namespace backend_cpu;
using onto::detail::cpu_copy;
using onto::detail::thread_pool;

namespace {

template <class T>
void check(thread_pool& pool, const extents& space, rng& r, memory kind) {
  const auto from = make_view<T>(space, kind, r);
  // The result is a part of a larger tensor, as concat's is: axis `axis` is longer, and the part begins at `start`.
  extents whole = space;
  std::int64_t offset = 0;
  operand_view to;
  if (space.rank > 0 && pick(r, 0, 1) == 0) {
    const int axis = pick(r, 0, space.rank - 1), start = pick(r, 0, 3);
    whole.dims[axis] += start + pick(r, 0, 3);
    onto::detail::contiguous_strides(whole, to.stride);
    offset = start * to.stride[axis];
  } else {
    onto::detail::contiguous_strides(whole, to.stride);
  }
  result<T> out(whole.size());
  const auto untouched = out.bytes;
  to.data = out.data() + offset;
  to.type = element_of<T>;
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &from.v;
  call.out = to;
  cpu_copy(pool, call);

  auto expected = untouched;
  for_each_index(space, [&](std::int64_t, const std::int64_t* index) {
    std::int64_t place = offset;
    for (int k = 0; k < space.rank; ++k) place += index[k] * to.stride[k];
    const T value = from.at(index);
    std::memcpy(expected.data() + static_cast<std::size_t>(place) * sizeof(T), &value, sizeof value);
  });
  INFO("shape " << to_string(space) << " in " << to_string(whole) << ", memory " << static_cast<int>(kind) << ", size "
                << sizeof(T) << ", " << pool.size() << " threads");
  CHECK(out.bytes == expected);
}

}  // namespace

TEST_CASE("copies of any view, to any part of a tensor", "[threads]") {
  rng r(41);
  for (int threads : {1, 2, 4}) {
    thread_pool pool(threads);
    for (int round = 0; round < 80; ++round) {
      const extents space = random_shape(r, 6, 3000);
      const memory kind = static_cast<memory>(round % 4);
      check<float>(pool, space, r, kind);
      check<double>(pool, space, r, kind);
      check<bool>(pool, space, r, kind);
    }
  }
}

TEST_CASE("large copies and transposes on several threads", "[threads]") {
  rng r(42);
  thread_pool pool(4);
  for (const extents& space :
       {shape_value({700, 301}), shape_value({200001}), shape_value({3, 65, 700}), shape_value({80000, 3}),
        shape_value({3, 80000}), shape_value({9000, 2, 3}), shape_value({40, 300, 4, 3}), shape_value({3, 2000, 2, 5})})
    for (int kind = 0; kind < 4; ++kind) {
      check<std::int32_t>(pool, space, r, static_cast<memory>(kind));
      check<bool>(pool, space, r, static_cast<memory>(kind));
    }
}

TEST_CASE("any part of a view is gathered, of few elements at once and of many") {
  rng r(47);
  for (int round = 0; round < 20000; ++round) {
    onto::detail::layout l;
    l.rank = pick(r, 1, 4);
    const int size = 1 << pick(r, 0, 3), most = round % 4 == 0 ? 40 : 5;
    std::int64_t count = 1, least = 0, greatest = 0;
    for (int d = 0; d < l.rank; ++d) {
      l.extent[d] = pick(r, 1, d == l.rank - 1 ? most : 5);
      l.stride[0][d] = pick(r, -3, 5);
      count *= l.extent[d];
      (l.stride[0][d] < 0 ? least : greatest) += l.stride[0][d] * (l.extent[d] - 1);
    }
    std::vector<unsigned char> source(static_cast<std::size_t>((greatest - least + 1) * size));
    for (auto& byte : source) byte = static_cast<unsigned char>(pick(r, 0, 255));
    const std::int64_t first = pick(r, 0, static_cast<int>(count) - 1);
    const std::int64_t some = pick(r, 1, static_cast<int>(count - first));
    std::vector<unsigned char> out(static_cast<std::size_t>(some * size)), expected;
    onto::detail::gather(l, size, source.data() - least * size, first, some, out.data());
    for (std::int64_t k = first; k < first + some; ++k) {
      std::int64_t place = -least, rest = k;
      for (int d = l.rank - 1; d >= 0; rest /= l.extent[d], --d) place += rest % l.extent[d] * l.stride[0][d];
      expected.insert(expected.end(), source.begin() + place * size, source.begin() + (place + 1) * size);
    }
    REQUIRE(out == expected);
  }
}

TEST_CASE("a copy of nothing does nothing") {
  rng r(43);
  thread_pool pool(2);
  check<float>(pool, shape_value({2, 0, 3}), r, memory::contiguous);
  check<float>(pool, shape_value({0}), r, memory::contiguous);
}

TEST_CASE("rows of every few bytes, and rows backwards, write what is theirs alone") {
  rng r(48);
  std::vector<unsigned char> source(4096);
  for (auto& byte : source) byte = static_cast<unsigned char>(pick(r, 0, 255));
  for (const int size : {1, 2, 4, 8})
    for (int columns = 1; columns <= 40; ++columns)
      for (const bool backwards : {false, true}) {
        INFO(columns << " elements of " << size << " bytes, " << (backwards ? "backwards" : "forwards"));
        const int rows = 5, in_row = columns + 3, out_row = columns + 2;
        std::vector<unsigned char> out(static_cast<std::size_t>(rows * out_row * size), 7), expected = out;
        const unsigned char* const first = source.data() + (backwards ? (columns - 1) * size : 0);
        onto::detail::copy_elements(size, out.data(), out_row, 1, first, in_row, backwards ? -1 : 1, rows, columns);
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < columns; ++j)
            std::memcpy(expected.data() + (i * out_row + j) * size, first + (i * in_row + (backwards ? -j : j)) * size,
                        static_cast<std::size_t>(size));
        REQUIRE(out == expected);
      }
}
