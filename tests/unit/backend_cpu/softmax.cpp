// SPDX-License-Identifier: BSL-1.0
// Softmax on the CPU against its definition in double, summed without loss: every axis, view, length and thread count.
#include <onto/backend/cpu/softmax.hpp>

#include <cmath>
#include <limits>

#include "reference.hpp"

using namespace backend_cpu;
using onto::detail::cpu_softmax;
using onto::detail::thread_pool;

namespace {

template <class T, bool Packs>
bool agrees(thread_pool& pool, const extents& space, int axis, bool log, const view<T>& x) {
  op_info op{};
  op.kind = op_kind::row;
  op.attributes = 2;
  op.attribute[0] = log;
  op.attribute[1] = axis;
  result<T> out(space.size());
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &x.v;
  call.out = as_result(out, space);
  call.op = &op;
  cpu_softmax<T, Packs>(pool, call);

  bool good = out.margin_is_whole();
  const int a = axis < 0 ? axis + space.rank : axis;
  std::int64_t step = 1;  // from an element of a row to the next
  for (int k = a + 1; k < space.rank; ++k) step *= space.dims[k];
  for_each_index(space, [&](std::int64_t first, const std::int64_t* index) {
    if (index[a] != 0) return;
    std::int64_t at[max_rank];
    std::copy(index, index + max_rank, at);
    double greatest = -std::numeric_limits<double>::infinity(), sum = 0, lost = 0;
    for (at[a] = 0; at[a] < space.dims[a]; ++at[a]) {
      const double v = static_cast<double>(x.at(at));
      if (v > greatest || v != v) greatest = v;
    }
    for (at[a] = 0; at[a] < space.dims[a]; ++at[a]) {
      // Kahan's sum: the reference has to be better than what it is compared with.
      const double term = std::exp(static_cast<double>(x.at(at)) - greatest) - lost, next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
    for (at[a] = 0; at[a] < space.dims[a]; ++at[a]) {
      const double shifted = static_cast<double>(x.at(at)) - greatest;
      const double expected = log ? shifted - std::log(sum) : std::exp(shifted) / sum;
      const double got = static_cast<double>(out[first + at[a] * step]);
      const double allowed =
          8 * static_cast<double>(std::numeric_limits<T>::epsilon()) * (std::abs(expected) + (log ? 1.0 : 1e-30));
      if (!(std::abs(got - expected) <= allowed) && !(got != got && expected != expected) && got != expected)
        good = false;
    }
  });
  return good;
}

template <class T>
void check(thread_pool& pool, const extents& space, int axis, const view<T>& x) {
  INFO("shape " << to_string(space) << ", axis " << axis << ", " << pool.size() << " threads, size " << sizeof(T));
  for (bool log : {false, true}) {
    CHECK(agrees<T, onto::detail::has_packs>(pool, space, axis, log, x));
    CHECK(agrees<T, false>(pool, space, axis, log, x));
  }
}

}  // namespace

TEST_CASE("softmax agrees with its definition over any axis of any view", "[threads]") {
  rng r(31);
  for (int threads : {1, 2, 4}) {
    thread_pool pool(threads);
    for (int round = 0; round < 25; ++round) {
      extents space = random_shape(r, 4, 1500);
      if (space.rank == 0) space.push_back(1 + round);
      const int axis = pick(r, -space.rank, space.rank - 1);
      if (round % 2 == 0)
        check(pool, space, axis, random_view<float>(space, r));
      else
        check(pool, space, axis, random_view<double>(space, r));
    }
  }
}

TEST_CASE("softmax of large rows and columns, on several threads", "[threads]") {
  rng r(32);
  thread_pool pool(4);
  for (const extents& space :
       {shape_value({300, 70}), shape_value({3, 5000}), shape_value({20, 600}), shape_value({9, 11, 260})})
    for (int axis = 0; axis < space.rank; ++axis) {
      check(pool, space, axis, make_view<float>(space, memory::contiguous, r));
      check(pool, space, axis, make_view<float>(space, memory::transposed, r));
    }
}

TEST_CASE("softmax neither overflows nor hides NaN, and takes infinities as its definition does") {
  rng r(33);
  thread_pool pool(1);
  constexpr float inf = std::numeric_limits<float>::infinity();
  const extents space = shape_value({6, 37});
  auto x = make_view<float>(space, memory::contiguous, r);
  for (int k = 0; k < 37; ++k) {
    x.data()[k] = 1000.f + static_cast<float>(k) / 8;
    x.data()[37 + k] = -1000.f;
    x.data()[74 + k] = k == 5 ? std::numeric_limits<float>::quiet_NaN() : 1.f;
    x.data()[111 + k] = k == 36 ? inf : 1.f;
    x.data()[148 + k] = k % 2 == 0 ? -inf : 1.f;
    x.data()[185 + k] = -inf;
  }
  check(pool, space, 1, x);
  check(pool, space, 0, x);
}

TEST_CASE("softmax of nothing does nothing") {
  rng r(34);
  thread_pool pool(2);
  for (const extents& space : {shape_value({0}), shape_value({3, 0}), shape_value({0, 3})})
    check(pool, space, -1, make_view<float>(space, memory::contiguous, r));
}
