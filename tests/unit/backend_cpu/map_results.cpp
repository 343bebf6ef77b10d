// SPDX-License-Identifier: BSL-1.0
// Fused maps with several results on the CPU: every length, packs and scalars, views, threads, half, and over operands.
#include <onto/backend/cpu/common_kernels.hpp>
#include <onto/backend/cpu/half_precision.hpp>

#include <cmath>

#include "reference.hpp"

using namespace backend_cpu;
using onto::detail::cpu_map;
using onto::detail::instruction;
using onto::detail::load_input;
using onto::detail::program;
using onto::detail::store_result;
using onto::detail::thread_pool;

// Not in the anonymous namespace, where nvcc warns of each fact of an operation that this file does not ask for.
namespace backend_cpu::result_operations {

struct plus {
  static constexpr op_kind kind = op_kind::map;
  static constexpr int cost = 1;
  static constexpr bool packs = true;
  template <class T>
  static T apply(T a, T b) {
    return a + b;
  }
};
struct times : plus {
  template <class T>
  static T apply(T a, T b) {
    return a * b;
  }
};
struct less : plus {
  template <class T>
  static auto apply(T a, T b) {
    return a < b;
  }
};

}  // namespace backend_cpu::result_operations

using namespace backend_cpu::result_operations;

namespace {

constexpr element f32 = element::float32, f64 = element::float64, boolean = element::boolean;

// a + b and (a + b) * a; the root: a * b
template <element E>
using three_results = program<instruction<load_input, E, 0>, instruction<load_input, E, 1>, instruction<plus, E, 0, 1>,
                              instruction<times, E, 2, 0>, instruction<store_result, E, 0, 2>,
                              instruction<store_result, E, 1, 3>, instruction<times, E, 0, 1>>;
// a < b, and a + b
using with_mask =
    program<instruction<load_input, f32, 0>, instruction<load_input, f32, 1>, instruction<less, boolean, 0, 1>,
            instruction<store_result, boolean, 0, 2>, instruction<plus, f32, 0, 1>>;

static_assert(three_results<f32>::packs.plain && three_results<f64>::packs.plain);
static_assert(!with_mask::packs.plain);

template <class T>
bool near(T got, T expected) {
  return std::abs(got - expected) <= T(1e-6) * (1 + std::abs(expected));
}

template <class T, bool Packs>
void check_three(thread_pool& pool, const extents& space, const view<T>& a, const view<T>& b) {
  result<T> out[3]{result<T>(space.size()), result<T>(space.size()), result<T>(space.size())};
  const operand_view in[] = {a.v, b.v};
  const operand_view more[] = {as_result(out[1], space), as_result(out[2], space)};
  kernel_call call;
  call.space = space;
  call.inputs = 2;
  call.in = in;
  call.out = as_result(out[0], space);
  call.more_outputs = 2;
  call.more_out = more;
  cpu_map<three_results<element_of<T>>, Packs>(pool, call);
  bool good = out[0].margin_is_whole() && out[1].margin_is_whole() && out[2].margin_is_whole();
  for_each_index(space, [&](std::int64_t k, const std::int64_t* index) {
    const T x = a.at(index), y = b.at(index);
    good = good && near<T>(out[0][k], x * y) && near<T>(out[1][k], x + y) && near<T>(out[2][k], (x + y) * x);
  });
  CHECK(good);
}

}  // namespace

TEST_CASE("every length of a run has the rest of each result computed") {
  rng r(1);
  thread_pool pool(1);
  for (int n = 0; n < 150; ++n) {
    const extents space = shape_value({n});
    INFO("length " << n);
    const auto a = random_view<float>(space, r), b = random_view<float>(space, r);
    check_three<float, onto::detail::has_packs>(pool, space, a, b);
    check_three<float, false>(pool, space, a, b);
    const auto c = random_view<double>(space, r), d = random_view<double>(space, r);
    check_three<double, onto::detail::has_packs>(pool, space, c, d);
  }
}

TEST_CASE("several results of views of every kind, on several threads", "[threads]") {
  rng r(2);
  thread_pool pool(4);
  for (int round = 0; round < 40; ++round) {
    const extents space = round < 36 ? random_shape(r, 5, 3000) : shape_value({130, 1000 + round});
    INFO("shape " << to_string(space) << ", round " << round);
    const auto a = random_view<float>(space, r), b = random_view<float>(space, r);
    check_three<float, onto::detail::has_packs>(pool, space, a, b);
  }
}

TEST_CASE("each result may lie where an operand does, whichever is loaded last", "[threads]") {
  rng r(3);
  thread_pool pool(2);
  for (int n : {1, 5, 64, 77, 1000, 300001}) {
    const extents space = shape_value({n});
    auto a = make_view<float>(space, memory::contiguous, r), b = make_view<float>(space, memory::contiguous, r);
    const std::vector<float> x(a.data(), a.data() + n), y(b.data(), b.data() + n);
    result<float> third(n);
    const operand_view in[] = {a.v, b.v};
    const operand_view more[] = {b.v, as_result(third, space)};
    kernel_call call;
    call.space = space;
    call.inputs = 2;
    call.in = in;
    call.out = a.v;
    call.more_outputs = 2;
    call.more_out = more;
    cpu_map<three_results<f32>>(pool, call);
    bool good = third.margin_is_whole();
    for (std::size_t k = 0; k < x.size(); ++k)
      good = good && near(a.data()[k], x[k] * y[k]) && near(b.data()[k], x[k] + y[k]) &&
             near(third[static_cast<std::int64_t>(k)], (x[k] + y[k]) * x[k]);
    INFO("length " << n);
    CHECK(good);
  }
}

TEST_CASE("results have element types of their own") {
  rng r(4);
  thread_pool pool(1);
  for (int n : {1, 63, 64, 200}) {
    const extents space = shape_value({n});
    const auto a = random_view<float>(space, r), b = random_view<float>(space, r);
    result<float> out(n);
    result<bool> mask(n);
    const operand_view in[] = {a.v, b.v};
    const operand_view more[] = {as_result(mask, space)};
    kernel_call call;
    call.space = space;
    call.inputs = 2;
    call.in = in;
    call.out = as_result(out, space);
    call.more_outputs = 1;
    call.more_out = more;
    cpu_map<with_mask>(pool, call);
    bool good = out.margin_is_whole();
    for (std::int64_t k = 0; k < n; ++k)
      good = good && mask[k] == (a.at(&k) < b.at(&k)) && near(out[k], a.at(&k) + b.at(&k));
    INFO("length " << n);
    CHECK(good);
  }
}

TEST_CASE("results of type half are rounded, and may lie where operands of type half do", "[threads]") {
  rng r(5);
  thread_pool pool(2);
  for (int n : {1, 9, 100, 5000, 100003}) {
    const extents space = shape_value({n});
    std::vector<half> a(static_cast<std::size_t>(n)), b(a), third(a);
    std::vector<float> x(a.size()), y(a.size()), second(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
      a[k] = half(random_value<float>(r));
      b[k] = half(random_value<float>(r));
      x[k] = a[k];
      y[k] = b[k];
    }
    operand_view in[2], more[2], out;
    for (operand_view* v : {&in[0], &in[1], &more[0], &more[1], &out}) {
      v->type = element::float16;
      v->stride[0] = 1;
    }
    in[0].data = out.data = a.data();
    in[1].data = b.data();
    more[0].data = second.data();  // beside them one that is not rounded
    more[0].type = f32;
    more[1].data = b.data();
    kernel_call call;
    call.space = space;
    call.inputs = 2;
    call.in = in;
    call.out = out;
    call.more_outputs = 2;
    call.more_out = more;
    call.half_precision = &onto::detail::cpu_half_kernels;
    cpu_map<three_results<f32>>(pool, call);
    bool good = true;
    for (std::size_t k = 0; k < a.size(); ++k) {
      good = good && a[k].bits() == half(x[k] * y[k]).bits() && second[k] == x[k] + y[k];
      good = good && std::abs(static_cast<float>(b[k]) - (x[k] + y[k]) * x[k]) <= 0.01f;
    }
    INFO("length " << n);
    CHECK(good);
  }
}
