// SPDX-License-Identifier: BSL-1.0
// Fused maps on the CPU against plain loops in double: every kind of view, of length, of element type and thread count.
#include <onto/backend/cpu/map.hpp>

#include <cmath>
#include <limits>

#include "reference.hpp"

using namespace backend_cpu;
using onto::detail::cpu_map;
using onto::detail::instruction;
using onto::detail::load_input;
using onto::detail::load_scalar;
using onto::detail::program;
using onto::detail::result_store;
using onto::detail::thread_pool;

// Not in the anonymous namespace, where nvcc warns of each fact of an operation that this file does not ask for.
namespace backend_cpu::map_operations {

struct packed {
  static constexpr op_kind kind = op_kind::map;
  static constexpr int cost = 1;
  static constexpr bool packs = true;
};
struct plus : packed {
  template <class T>
  static T apply(T a, T b) {
    return a + b;
  }
};
struct times : packed {
  template <class T>
  static T apply(T a, T b) {
    return a * b;
  }
};
struct root : packed {
  template <class T>
  static T apply(T a) {
    using std::sqrt;
    return sqrt(a);
  }
};
struct less : packed {
  template <class T>
  static auto apply(T a, T b) {
    return a < b;
  }
};
struct choose : packed {
  template <class C, class T>
  static T apply(C c, T a, T b) {
    if constexpr (std::is_same_v<C, bool>)
      return c ? a : b;
    else
      return select(c, a, b);
  }
};
struct wrapping_plus {  // scalars only
  static constexpr op_kind kind = op_kind::map;
  static constexpr int cost = 1;
  template <class T>
  static T apply(T a, T b) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  }
};
struct to_double {
  static constexpr op_kind kind = op_kind::map;
  template <class T>
  static double apply(T a) {
    return static_cast<double>(a);
  }
};
struct position {
  static constexpr op_kind kind = op_kind::generator;
  template <class T>
  static T at(std::int64_t index) {
    return static_cast<T>(index);
  }
};

}  // namespace backend_cpu::map_operations

using namespace backend_cpu::map_operations;

namespace {

constexpr element f32 = element::float32, f64 = element::float64, i32 = element::int32, i64 = element::int64,
                  boolean = element::boolean;

template <element E>
using sum_program = program<instruction<load_input, E, 0>, instruction<load_input, E, 1>, instruction<plus, E, 0, 1>>;
template <element E>
using wrap_program =
    program<instruction<load_input, E, 0>, instruction<load_input, E, 1>, instruction<wrapping_plus, E, 0, 1>>;

// where(a < s, sqrt(a * a + b), b) + s
template <element E>
using chain_program =
    program<instruction<load_input, E, 0>, instruction<load_input, E, 1>, instruction<load_scalar, E, 0>,
            instruction<times, E, 0, 0>, instruction<plus, E, 3, 1>, instruction<root, E, 4>,
            instruction<less, boolean, 0, 2>, instruction<choose, E, 6, 5, 1>, instruction<plus, E, 7, 2>>;
using less_program =
    program<instruction<load_input, f64, 0>, instruction<load_input, f64, 1>, instruction<less, boolean, 0, 1>>;
// double(a) + double(c) where b
using mixed_program =
    program<instruction<load_input, i32, 0>, instruction<load_input, boolean, 1>, instruction<load_input, f32, 2>,
            instruction<to_double, f64, 0>, instruction<to_double, f64, 2>, instruction<plus, f64, 3, 4>,
            instruction<choose, f64, 1, 5, 3>>;
using position_program =
    program<instruction<load_input, i64, 0>, instruction<position, i64>, instruction<plus, i64, 0, 1>>;

static_assert(sum_program<f32>::packs.plain && chain_program<f64>::packs.plain);
static_assert(!wrap_program<i32>::packs.plain && !less_program::packs.plain && !mixed_program::packs.plain);

using any_copies = onto::detail::copies<onto::detail::all_sizes, true>;

template <class Program, bool Packs, class Out, class Copies = any_copies, class A, class B, class F>
bool agrees(thread_pool& pool, const extents& space, const view<A>& a, const view<B>& b, const std::uint64_t* scalars,
            F f) {
  result<Out> out(space.size());
  const operand_view in[] = {a.v, b.v};
  kernel_call call;
  call.space = space;
  call.inputs = 2;
  call.in = in;
  call.out = as_result(out, space);
  call.scalars = scalars;
  cpu_map<Program, Packs, Copies>(pool, call);
  bool good = out.margin_is_whole();
  for_each_index(space, [&](std::int64_t flat, const std::int64_t* index) {
    const Out expected = f(a.at(index), b.at(index)), got = out[flat];
    if constexpr (std::is_floating_point_v<Out>) {
      const bool near = std::abs(got - expected) <= 4 * std::numeric_limits<Out>::epsilon() * (1 + std::abs(expected));
      if (!near && !(std::isnan(got) && std::isnan(expected)) && got != expected) good = false;
    } else if (got != expected) {
      good = false;
    }
  });
  return good;
}

template <class T, bool Packs>
void check_floating(thread_pool& pool, const extents& space, rng& r) {
  const auto a = random_view<T>(space, r), b = random_view<T>(space, r);
  const T s = random_value<T>(r);
  const std::uint64_t scalars[] = {bits(s)};
  CHECK(agrees<sum_program<element_of<T>>, Packs, T>(pool, space, a, b, nullptr, [](T x, T y) { return x + y; }));
  CHECK(agrees<chain_program<element_of<T>>, Packs, T>(pool, space, a, b, scalars, [s](T x, T y) {
    const double x2 = static_cast<double>(x) * static_cast<double>(x);
    // The sum under the root is rounded once or twice, as the machine fuses; near 0 that decides between a root and
    // NaN.
    const T sum = static_cast<T>(static_cast<T>(x2) + y);
    return static_cast<T>((x < s ? std::sqrt(sum) : y) + s);
  }));
}

}  // namespace

TEST_CASE("maps agree with a plain loop over views of every kind", "[threads]") {
  rng r(1);
  for (int threads : {1, 2, 4}) {
    thread_pool pool(threads);
    for (int round = 0; round < 60; ++round) {
      const extents space = random_shape(r, 5, 3000);
      const auto a = random_view<float>(space, r), b = random_view<float>(space, r);
      INFO("shape " << to_string(space) << ", " << threads << " threads, round " << round);
      CHECK(agrees<sum_program<f32>, onto::detail::has_packs, float>(pool, space, a, b, nullptr,
                                                                     [](float x, float y) { return x + y; }));
      CHECK(agrees<sum_program<f32>, false, float>(pool, space, a, b, nullptr, [](float x, float y) { return x + y; }));
      const auto c = random_view<std::int32_t>(space, r), d = random_view<std::int32_t>(space, r);
      CHECK(agrees<wrap_program<i32>, false, std::int32_t>(pool, space, c, d, nullptr,
                                                           [](int x, int y) { return x + y; }));
      const auto e = random_view<double>(space, r), f = random_view<double>(space, r);
      CHECK(agrees<less_program, false, bool>(pool, space, e, f, nullptr, [](double x, double y) { return x < y; }));
    }
  }
}

TEST_CASE("a program without views needs only what broadcasting makes, of its own elements' sizes") {
  rng r(10);
  for (int threads : {1, 2}) {
    thread_pool pool(threads);
    for (int round = 0; round < 200; ++round) {
      const extents space = random_shape(r, 5, 5000);
      const auto kind = [&] { return pick(r, 0, 2) == 0 ? memory::contiguous : memory::broadcast; };
      INFO("shape " << to_string(space) << ", " << threads << " threads, round " << round);
      const auto a = make_view<float>(space, kind(), r), b = make_view<float>(space, kind(), r);
      const auto plus = [](auto x, auto y) { return x + y; };
      using of_floats = onto::detail::copies<4, false>;
      CHECK(agrees<sum_program<f32>, onto::detail::has_packs, float, of_floats>(pool, space, a, b, nullptr, plus));
      CHECK(agrees<sum_program<f32>, false, float, of_floats>(pool, space, a, b, nullptr, plus));
      const auto c = make_view<double>(space, kind(), r), d = make_view<double>(space, kind(), r);
      CHECK(agrees<less_program, false, bool, onto::detail::copies<8, false>>(
          pool, space, c, d, nullptr, [](double x, double y) { return x < y; }));
    }
  }
}

TEST_CASE("a batch of maps gives what each map gives, small ones and large, next to each other and apart") {
  rng r(7);
  for (int round = 0; round < 60; ++round) {
    thread_pool pool(1 + round % 3);
    const int count = pick(r, 1, 5);
    std::vector<view<float>> a, b;
    std::vector<result<float>> alone, together;
    for (int k = 0; k < count; ++k) {
      extents space = random_shape(r, 3, round % 4 == 0 ? 4000 : 60);
      if (pick(r, 0, 9) == 0) space.push_back(0);
      const auto contiguous = [&] { return pick(r, 0, 2) > 0; };
      a.push_back(contiguous() ? make_view<float>(space, memory::contiguous, r) : random_view<float>(space, r));
      b.push_back(contiguous() ? make_view<float>(space, memory::contiguous, r) : random_view<float>(space, r));
      alone.emplace_back(space.size());
      together.emplace_back(space.size());
    }
    std::vector<operand_view> in(static_cast<std::size_t>(2 * count));
    std::vector<kernel_call> calls(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < calls.size(); ++k) {
      in[2 * k] = a[k].v;
      in[2 * k + 1] = b[k].v;
      calls[k].space = a[k].space;
      calls[k].inputs = 2;
      calls[k].in = &in[2 * k];
      calls[k].out = as_result(alone[k], a[k].space);
      cpu_map<sum_program<f32>>(pool, calls[k]);
      calls[k].out = as_result(together[k], a[k].space);
      if (k > 0) calls[k - 1].next = &calls[k];
    }
    onto::detail::cpu_map_batch<sum_program<f32>>(pool, calls[0]);
    for (std::size_t k = 0; k < calls.size(); ++k) {
      INFO("call " << k << " of " << count << ", shape " << to_string(a[k].space) << ", round " << round);
      CHECK(alone[k].bytes == together[k].bytes);
    }
  }
}

TEST_CASE("maps of large spaces agree with a plain loop on several threads", "[threads]") {
  rng r(2);
  thread_pool pool(4);
  for (const extents& space : {shape_value({700, 600}), shape_value({300, 7, 200}), shape_value({400001}),
                               shape_value({3, 140000}), shape_value({140000, 3}), shape_value({64, 64, 8, 16})})
    for (int kind = 0; kind < 4; ++kind) {
      const auto a = make_view<float>(space, static_cast<memory>(kind), r), b = random_view<float>(space, r);
      INFO("shape " << to_string(space) << ", memory " << kind);
      CHECK(agrees<sum_program<f32>, onto::detail::has_packs, float>(pool, space, a, b, nullptr,
                                                                     [](float x, float y) { return x + y; }));
    }
}

TEST_CASE("every length of a run has its rest computed") {
  rng r(3);
  thread_pool pool(1);
  for (int n = 0; n < 150; ++n) {
    const extents space = shape_value({n});
    INFO("length " << n);
    check_floating<float, onto::detail::has_packs>(pool, space, r);
    check_floating<double, onto::detail::has_packs>(pool, space, r);
    check_floating<float, false>(pool, space, r);
  }
}

TEST_CASE("a map may write over the operand it reads") {
  rng r(4);
  thread_pool pool(2);
  for (int n : {1, 5, 64, 77, 1000, 300001}) {
    const extents space = shape_value({n});
    auto a = make_view<float>(space, memory::contiguous, r);
    const auto b = make_view<float>(space, memory::contiguous, r);
    const std::vector<float> before(a.data(), a.data() + n);
    const operand_view in[] = {a.v, b.v};
    kernel_call call;
    call.space = space;
    call.inputs = 2;
    call.in = in;
    call.out = a.v;
    cpu_map<sum_program<f32>>(pool, call);
    bool good = true;
    for (std::int64_t k = 0; k < n; ++k) good = good && a.data()[k] == before[static_cast<std::size_t>(k)] + b.at(&k);
    CHECK(good);
  }
}

#if ONTO_DEFINITIONS  // where nvcc reads for devices are none
TEST_CASE("a run that is written past the caches has its elements and no others, whatever its length and beginning") {
  rng r(9);
  const extents space = shape_value({200});
  const auto a = make_view<float>(space, memory::contiguous, r), b = make_view<float>(space, memory::contiguous, r);
  const operand_view operands[] = {a.v, b.v};
  for (auto how : {result_store::streamed, result_store::copied})
    for (int shift : {0, 1, 15, 16, 31})
      for (int n = 0; n <= 130; ++n) {
        result<float> out(n + shift);
        for (int k = 0; k < shift; ++k) out.data()[k] = 7;
        kernel_call call;
        call.space = shape_value({n});
        call.inputs = 2;
        call.in = operands;
        call.out = as_result(out, call.space);
        call.out.data = out.data() + shift;
        const void* in[] = {a.v.data, b.v.data};
        onto::detail::store_span(onto::detail::chosen_span<sum_program<f32>>(), how, call, in, 0, n);
        onto::detail::end_streaming();
        bool good = out.margin_is_whole();
        for (int k = 0; k < shift; ++k) good = good && out[k] == 7;
        for (std::int64_t k = 0; k < n; ++k) good = good && out[k + shift] == a.at(&k) + b.at(&k);
        INFO("length " << n << " at " << shift);
        CHECK(good);
      }
}

TEST_CASE("a result too large for the caches is written past them, wherever it begins") {
  rng r(8);
  thread_pool pool(2);
  for (int shift : {0, 1, 7}) {
    const extents space = shape_value({3000001});
    const auto a = make_view<float>(space, memory::contiguous, r), b = make_view<float>(space, memory::contiguous, r);
    result<float> out(space.size() + shift);
    const operand_view in[] = {a.v, b.v};
    kernel_call call;
    call.space = space;
    call.inputs = 2;
    call.in = in;
    call.out = as_result(out, space);
    call.out.data = out.data() + shift;
    const bool streams = onto::detail::streaming_bytes() <= 12 * space.size();
    CHECK(onto::detail::store_of_large(call, 1, true) == (streams ? result_store::streamed : result_store::cached));
    CHECK(onto::detail::store_of_large(call, 1, false) == (streams ? result_store::copied : result_store::cached));
    CHECK(onto::detail::store_of_large(call, 5, false) == result_store::cached);
    cpu_map<sum_program<f32>>(pool, call);
    bool good = out.margin_is_whole();
    for (std::int64_t k = 0; k < space.size(); ++k) good = good && out[k + shift] == a.at(&k) + b.at(&k);
    CHECK(good);
  }
  std::vector<unsigned char> from(4000), to(4200);
  for (std::size_t k = 0; k < from.size(); ++k) from[k] = static_cast<unsigned char>(1 + k % 200);
  for (int begin = 0; begin < 70; ++begin)
    for (int n : {0, 1, 63, 64, 65, 200, 3999}) {
      std::fill(to.begin(), to.end(), static_cast<unsigned char>(0));
      onto::detail::stream_copy(to.data() + begin, from.data() + 1, n);
      onto::detail::end_streaming();
      bool good = true;
      for (int k = 0; k < 4200; ++k) {
        const bool within = k >= begin && k < begin + n;
        good = good && to[static_cast<std::size_t>(k)] == (within ? from[static_cast<std::size_t>(k - begin + 1)] : 0);
      }
      CHECK(good);
    }
}
#endif

TEST_CASE("rows are walked whatever their strides: backwards, repeated, apart, two apart, turned") {
  rng r(9);
  for (int threads : {1, 3}) {
    thread_pool pool(threads);
    for (int columns : {48, 64, 77, 300, 1500})
      for (int rows : {1, 2, 31, 70}) {
        const extents space = shape_value({3, rows, columns});
        const auto b = random_view<float>(space, r);
        std::vector<float> memory(static_cast<std::size_t>(3 * rows * columns * 4 + 64));
        for (float& v : memory) v = random_value<float>(r);
        const std::int64_t m = rows * columns;
        const std::int64_t strides[][3] = {{m, columns, -1}, {-m, -columns, 1}, {2 * m, 2 * columns, 2},
                                           {m, 0, 1},        {m, columns, 0},   {0, 0, 0},
                                           {m, 1, rows},     {1, 3, 3 * rows},  {4 * m, 4 * columns, 3},
                                           {columns, 0, 1},  {0, 1, rows},      {rows, 1, 3 * rows}};
        for (const auto& s : strides) {
          view<float> a;
          a.space = space;
          a.v.type = f32;
          std::int64_t lowest = 0;
          for (int k = 0; k < 3; ++k) {
            a.v.stride[k] = s[k];
            if (s[k] < 0) lowest -= s[k] * (space.dims[k] - 1);
          }
          a.v.data = memory.data() + lowest;
          INFO("shape " << to_string(space) << ", strides " << s[0] << " " << s[1] << " " << s[2]);
          CHECK(agrees<sum_program<f32>, onto::detail::has_packs, float>(pool, space, a, b, nullptr,
                                                                         [](float x, float y) { return x + y; }));
        }
      }
  }
}

TEST_CASE("integers wrap, and NaN and infinities go through a map") {
  thread_pool pool(1);
  rng r(5);
  const extents space = shape_value({70});
  auto a = make_view<std::int64_t>(space, memory::contiguous, r),
       b = make_view<std::int64_t>(space, memory::contiguous, r);
  a.data()[3] = std::numeric_limits<std::int64_t>::max();
  b.data()[3] = 1;
  CHECK(agrees<wrap_program<i64>, false, std::int64_t>(pool, space, a, b, nullptr, [](std::int64_t x, std::int64_t y) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
  }));
  auto c = make_view<float>(space, memory::contiguous, r), d = make_view<float>(space, memory::contiguous, r);
  c.data()[0] = c.data()[69] = std::numeric_limits<float>::quiet_NaN();
  c.data()[1] = std::numeric_limits<float>::infinity();
  d.data()[1] = -std::numeric_limits<float>::infinity();
  CHECK(agrees<sum_program<f32>, onto::detail::has_packs, float>(pool, space, c, d, nullptr,
                                                                 [](float x, float y) { return x + y; }));
}

TEST_CASE("programs of several element types, and of the element's index") {
  rng r(6);
  thread_pool pool(4);
  for (int round = 0; round < 20; ++round) {
    const extents space = round == 0 ? shape_value({500, 1000}) : random_shape(r, 4, 2000);
    const auto a = random_view<std::int32_t>(space, r);
    const auto b = random_view<bool>(space, r);
    const auto c = random_view<float>(space, r);
    const auto d = random_view<std::int64_t>(space, r);
    result<double> out(space.size());
    const operand_view in[] = {a.v, b.v, c.v};
    kernel_call call;
    call.space = space;
    call.inputs = 3;
    call.in = in;
    call.out = as_result(out, space);
    cpu_map<mixed_program>(pool, call);
    result<std::int64_t> places(space.size());
    call.in = &d.v;
    call.inputs = 1;
    call.out = as_result(places, space);
    cpu_map<position_program>(pool, call);
    bool good = out.margin_is_whole() && places.margin_is_whole();
    for_each_index(space, [&](std::int64_t flat, const std::int64_t* index) {
      const double x = a.at(index);
      if (out[flat] != (b.at(index) ? x + static_cast<double>(c.at(index)) : x)) good = false;
      if (places[flat] != d.at(index) + flat) good = false;
    });
    INFO("shape " << to_string(space));
    CHECK(good);
  }
}

TEST_CASE("a map of nothing does nothing") {
  thread_pool pool(2);
  rng r(7);
  const extents space = shape_value({3, 0, 2});
  const auto a = make_view<float>(space, memory::contiguous, r), b = make_view<float>(space, memory::broadcast, r);
  CHECK(agrees<sum_program<f32>, onto::detail::has_packs, float>(pool, space, a, b, nullptr,
                                                                 [](float x, float y) { return x + y; }));
}
