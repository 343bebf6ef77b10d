// SPDX-License-Identifier: BSL-1.0
// Matrix products on the CPU against three loops: shapes, strides, batches, addends, both implementations where there
// are two.
#include <onto/backend/cpu/matmul.hpp>

#include <cmath>
#include <limits>

#include "reference.hpp"

using namespace backend_cpu;
using onto::detail::cpu_matmul;
using onto::detail::has_cblas;
using onto::detail::has_onednn;
using onto::detail::matmul_form;
using onto::detail::matmul_library;
using onto::detail::thread_pool;

namespace {

extents with_last(extents e, int rows, int columns) {
  e.dims[e.rank - 2] = rows;
  e.dims[e.rank - 1] = columns;
  return e;
}

/// Whose right operand and addend are one for all batches.
enum class shared { no, yes };

template <class T, matmul_library Library>
void check(thread_pool& pool, const extents& space, int k, matmul_form form, memory kind_a, memory kind_b, rng& r,
           shared one) {
  const auto a = make_view<T>(with_last(space, space.dims[space.rank - 2], k), kind_a, r);
  auto b = make_view<T>(with_last(space, k, space.dims[space.rank - 1]), kind_b, r);
  auto addend = random_view<T>(space, r);
  for (int d = 0; one == shared::yes && d + 2 < space.rank; ++d) b.v.stride[d] = addend.v.stride[d] = 0;
  const operand_view in[] = {a.v, b.v, addend.v};
  result<T> out(space.size());
  kernel_call call;
  call.space = space;
  call.inputs = form.beta != 0 ? 3 : 2;
  call.in = in;
  call.out = as_result(out, space);
  call.inner = k;
  call.form = form;
  cpu_matmul<T, Library>(pool, call);

  bool good = out.margin_is_whole();
  for_each_index(space, [&](std::int64_t flat, const std::int64_t* index) {
    std::int64_t at_a[max_rank], at_b[max_rank];
    std::copy(index, index + max_rank, at_a);
    std::copy(index, index + max_rank, at_b);
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      U sum = 0;
      for (at_a[space.rank - 1] = 0; at_a[space.rank - 1] < k; ++at_a[space.rank - 1]) {
        at_b[space.rank - 2] = at_a[space.rank - 1];
        sum += static_cast<U>(a.at(at_a)) * static_cast<U>(b.at(at_b));
      }
      sum *= static_cast<U>(static_cast<T>(form.alpha));
      if (form.beta != 0) sum += static_cast<U>(static_cast<T>(form.beta)) * static_cast<U>(addend.at(index));
      T expected = static_cast<T>(sum);
      if (form.relu && expected < 0) expected = 0;
      if (out[flat] != expected) good = false;
    } else {
      double sum = 0, magnitude = 0;
      for (at_a[space.rank - 1] = 0; at_a[space.rank - 1] < k; ++at_a[space.rank - 1]) {
        at_b[space.rank - 2] = at_a[space.rank - 1];
        const double term = static_cast<double>(a.at(at_a)) * static_cast<double>(b.at(at_b));
        sum += term;
        magnitude += std::abs(term);
      }
      double expected = form.alpha * sum;
      magnitude *= std::abs(form.alpha);
      if (form.beta != 0) {
        expected += form.beta * static_cast<double>(addend.at(index));
        magnitude += std::abs(form.beta * static_cast<double>(addend.at(index)));
      }
      if (form.relu && expected < 0) expected = 0;
      const double allowed = static_cast<double>(std::numeric_limits<T>::epsilon()) * (4 + k / 2.0) * magnitude;
      if (!(std::abs(static_cast<double>(out[flat]) - expected) <= allowed)) good = false;
    }
  });
  INFO("shape " << to_string(space) << ", inner " << k << ", memory " << static_cast<int>(kind_a) << " and "
                << static_cast<int>(kind_b) << ", alpha " << form.alpha << ", beta " << form.beta << ", relu "
                << form.relu << ", " << pool.size() << " threads, size " << sizeof(T) << ", library "
                << static_cast<int>(Library));
  CHECK(good);
}

template <class T>
void check_all(thread_pool& pool, const extents& space, int k, matmul_form form, memory kind_a, memory kind_b, rng& r,
               shared one = shared::no) {
  check<T, matmul_library::builtin>(pool, space, k, form, kind_a, kind_b, r, one);
  if constexpr (has_cblas && std::is_floating_point_v<T>)
    check<T, matmul_library::cblas>(pool, space, k, form, kind_a, kind_b, r, one);
  if constexpr (has_onednn && std::is_same_v<T, float>)
    check<T, matmul_library::onednn>(pool, space, k, form, kind_a, kind_b, r, one);
}

template <class T>
void check_random(thread_pool& pool, rng& r, int most) {
  extents space;
  for (int n = pick(r, 0, 2); n > 0; --n) space.push_back(pick(r, 1, 4));
  const auto extent = [&] { return pick(r, 0, 3) == 0 ? pick(r, 1, 3) : pick(r, 1, most); };
  space.push_back(extent());
  space.push_back(extent());
  matmul_form form;
  if (pick(r, 0, 1) == 0) form.beta = pick(r, 0, 1) == 0 ? 1 : 2;
  if (pick(r, 0, 1) == 0) form.alpha = 3;
  form.relu = pick(r, 0, 2) == 0;
  check_all<T>(pool, space, extent(), form, static_cast<memory>(pick(r, 0, 3)), static_cast<memory>(pick(r, 0, 3)), r);
}

}  // namespace

TEST_CASE("matrix products agree with three loops, of any strides, batches and forms", "[threads]") {
  rng r(21);
  for (int threads : {1, 2, 4}) {
    thread_pool pool(threads);
    for (int round = 0; round < 40; ++round) {
      check_random<float>(pool, r, 60);
      check_random<double>(pool, r, 60);
      check_random<std::int32_t>(pool, r, 60);
      check_random<std::int64_t>(pool, r, 60);
    }
  }
}

TEST_CASE("matrix products larger than a block of the cache", "[threads]") {
  rng r(22);
  for (int threads : {1, 3}) {
    thread_pool pool(threads);
    check_all<float>(pool, shape_value({200, 130}), 300, {}, memory::contiguous, memory::transposed, r);
    check_all<float>(pool, shape_value({5, 2100}), 270, {2, 1, true}, memory::contiguous, memory::contiguous, r);
    check_all<double>(pool, shape_value({250, 7}), 260, {1, 3, false}, memory::transposed, memory::contiguous, r);
    check_all<std::int32_t>(pool, shape_value({97, 65}), 257, {}, memory::any, memory::any, r);
    check_all<std::int64_t>(pool, shape_value({13, 97}), 140, {1, 1, false}, memory::contiguous, memory::contiguous, r);
  }
}

TEST_CASE("matrices times vectors") {
  rng r(23);
  thread_pool pool(2);
  for (int kind = 0; kind < 3; ++kind) {
    const memory m = static_cast<memory>(kind);
    check_all<float>(pool, shape_value({500, 1}), 300, {}, m, memory::contiguous, r);
    check_all<float>(pool, shape_value({1, 500}), 300, {2, 1, false}, memory::contiguous, m, r);
    check_all<double>(pool, shape_value({500, 1}), 300, {1, 1, true}, m, memory::any, r);
    check_all<double>(pool, shape_value({1, 1}), 5000, {}, m, memory::contiguous, r);
  }
}

TEST_CASE("many small products, and many that share their right operand") {
  rng r(24);
  thread_pool pool(4);
  check_all<float>(pool, shape_value({1000, 4, 4}), 4, {}, memory::contiguous, memory::contiguous, r);
  check_all<double>(pool, shape_value({100, 20, 18}), 33, {}, memory::contiguous, memory::contiguous, r);
  for (int round = 0; round < 8; ++round)
    check_all<float>(pool, shape_value({6, 5, 20, 18}), 33, {1, 1, false}, memory::contiguous, memory::broadcast, r);
}

TEST_CASE("many small products with one addend, and many short rows", "[threads]") {
  rng r(27);
  for (int threads : {1, 3}) {
    thread_pool pool(threads);
    check_all<float>(pool, shape_value({1000, 4, 4}), 4, {1, 1, false}, memory::contiguous, memory::transposed, r,
                     shared::yes);
    for (int round = 0; round < 60; ++round) {
      const extents space = shape_value({pick(r, 1, 300), pick(r, 1, 9), pick(r, 1, 40)});
      matmul_form form;
      form.alpha = pick(r, 1, 3);
      form.beta = pick(r, 1, 2);
      form.relu = pick(r, 0, 1) == 0;
      const int k = pick(r, 0, 9);
      check_all<float>(pool, space, k, form, memory::contiguous, static_cast<memory>(pick(r, 0, 2)), r, shared::yes);
      check_all<double>(pool, space, k, form, memory::contiguous, memory::contiguous, r, shared::yes);
      check_all<std::int32_t>(pool, space, k, form, memory::contiguous, memory::contiguous, r, shared::yes);
    }
    for (int k = 1; k < 40; ++k)
      for (int n : {1, 2}) {
        check_all<float>(pool, shape_value({pick(r, 60, 300), n}), k, {1, k % 2 ? 1.0 : 0.0, false}, memory::contiguous,
                         static_cast<memory>(pick(r, 0, 2)), r);
        check_all<double>(pool, shape_value({pick(r, 60, 300), n}), k, {}, memory::contiguous, memory::contiguous, r);
      }
  }
}

TEST_CASE("many products of few elements, whose matrices lie anywhere, go side by side", "[threads]") {
  rng r(28);
  for (int threads : {1, 3}) {
    thread_pool pool(threads);
    for (int round = 0; round < 120; ++round) {
      const extents space = shape_value({pick(r, 7, 70), pick(r, 1, 5), pick(r, 1, 5)});
      const int k = pick(r, 1, 5);
      const matmul_form form{static_cast<double>(pick(r, 1, 2)), static_cast<double>(pick(r, 0, 2)),
                             pick(r, 0, 1) == 0};
      const auto first = static_cast<memory>(pick(r, 0, 3)), second = static_cast<memory>(pick(r, 0, 3));
      const shared one = pick(r, 0, 3) == 0 ? shared::yes : shared::no;
      check_all<float>(pool, space, k, form, first, second, r, one);
      check_all<double>(pool, space, k, form, first, second, r, one);
      check_all<std::int32_t>(pool, space, k, form, first, second, r, one);
      check_all<std::int64_t>(pool, space, k, form, first, second, r, one);
    }
    check_all<double>(pool, shape_value({9000, 3, 3}), 3, {1, 1, true}, memory::contiguous, memory::transposed, r);
  }
}

TEST_CASE("a product over an inner extent of 0 is the addend") {
  rng r(25);
  thread_pool pool(2);
  check_all<float>(pool, shape_value({3, 4}), 0, {}, memory::contiguous, memory::contiguous, r);
  check_all<float>(pool, shape_value({2, 3, 4}), 0, {1, 2, true}, memory::contiguous, memory::contiguous, r);
  check_all<std::int64_t>(pool, shape_value({3, 4}), 0, {1, 1, false}, memory::contiguous, memory::contiguous, r);
  check_all<double>(pool, shape_value({0, 4}), 3, {}, memory::contiguous, memory::contiguous, r);
  check_all<double>(pool, shape_value({0, 2, 4}), 3, {1, 1, false}, memory::contiguous, memory::contiguous, r);
}

TEST_CASE("integer products wrap around, and relu keeps NaN") {
  thread_pool pool(1);
  const std::int32_t big[] = {std::numeric_limits<std::int32_t>::max(), 3, std::numeric_limits<std::int32_t>::min(), 7};
  std::int32_t out[4];
  operand_view in[2];
  for (auto& v : in) {
    v.data = const_cast<std::int32_t*>(big);
    v.type = element::int32;
    v.stride[0] = 2;
    v.stride[1] = 1;
  }
  kernel_call call;
  call.space = shape_value({2, 2});
  call.inputs = 2;
  call.in = in;
  call.inner = 2;
  call.out.data = out;
  call.out.type = element::int32;
  cpu_matmul<std::int32_t>(pool, call);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      std::uint32_t sum = 0;
      for (int p = 0; p < 2; ++p)
        sum += static_cast<std::uint32_t>(big[2 * i + p]) * static_cast<std::uint32_t>(big[2 * p + j]);
      CHECK(out[2 * i + j] == static_cast<std::int32_t>(sum));
    }

  float nan = std::numeric_limits<float>::quiet_NaN(), result = 0;
  for (auto& v : in) {
    v.data = &nan;
    v.type = element::float32;
  }
  call.space = shape_value({1, 1});
  call.inner = 1;
  call.form.relu = true;
  call.out.data = &result;
  call.out.type = element::float32;
  cpu_matmul<float>(pool, call);
  CHECK(result != result);
}

TEST_CASE("an addend in place of the result is not copied") {
  rng r(26);
  thread_pool pool(2);
  for (int n : {3, 40}) {
    const extents space = shape_value({n, n});
    const auto a = make_view<double>(space, memory::contiguous, r), b = make_view<double>(space, memory::transposed, r);
    auto c = make_view<double>(space, memory::contiguous, r);
    const std::vector<double> before(c.data(), c.data() + n * n);
    const operand_view in[] = {a.v, b.v, c.v};
    kernel_call call;
    call.space = space;
    call.inputs = 3;
    call.in = in;
    call.inner = n;
    call.form.beta = 1;
    call.out = c.v;
    cpu_matmul<double>(pool, call);
    bool good = true;
    for_each_index(space, [&](std::int64_t flat, const std::int64_t* index) {
      double sum = before[static_cast<std::size_t>(flat)];
      for (std::int64_t p = 0; p < n; ++p) {
        const std::int64_t at_a[] = {index[0], p}, at_b[] = {p, index[1]};
        sum += a.at(at_a) * b.at(at_b);
      }
      if (std::abs(sum - c.at(index)) > 1e-12) good = false;
    });
    CHECK(good);
  }
}
