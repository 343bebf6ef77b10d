// SPDX-License-Identifier: BSL-1.0
// Reductions and softmax on a GPU beside double references.
#include <onto/backend/cuda/reduce.hpp>
#include <onto/backend/cuda/softmax.hpp>
#include <onto/ops/arithmetic.hpp>

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "gpu.hpp"
#include "worse.hpp"

using namespace gpu_test;

namespace {

template <element E>
using bare = program<instruction<load_input, E, 0>>;
using squared = program<instruction<load_input, element::float32, 0>, instruction<op::mul, element::float32, 0, 0>>;

op_info with_attributes(std::initializer_list<std::int64_t> attributes) {
  op_info o{op_kind::reduce, "Sum", 0, {}, 1, nullptr, 0, {}};
  for (std::int64_t a : attributes) o.attribute[o.attributes++] = a;
  return o;
}

template <class Program, fold F, class T>
auto folded(const std::vector<T>& values, const operand_view& strides, const extents& space,
            std::initializer_list<std::int64_t> attributes, std::size_t outputs) {
  using result = typename program_accumulator<Program, F>::result;
  bench b;
  operand_view in = strides;
  in.data = b.upload(values);
  result* out = b.reserve<result>(outputs);
  const op_info op = with_attributes(attributes);
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &in;
  call.out.data = out;
  call.op = &op;
  b.launch(&cuda_reduce<Program, F>, call, &cuda_reduce_workspace<Program, F>);
  return b.download(out, outputs);
}

}  // namespace

TEST_CASE("sums over everything are exact to a rounding, and the same each time", "[cuda][reduce]") {
  for (int n : {1, 100, 10007, 3000001}) {
    const std::vector<float> x = numbers<float>(static_cast<std::size_t>(n));
    double exact = 0, squares = 0;
    for (float v : x) exact += static_cast<double>(v), squares += static_cast<double>(v * v);
    const extents space = shape_of({n});
    const operand_view in = contiguous_view(nullptr, element::float32, space);
    const auto first = folded<bare<element::float32>, fold::sum>(x, in, space, {0, 0, 0}, 1)[0];
    CHECK(first == Approx(exact).epsilon(2e-7));
    CHECK(folded<bare<element::float32>, fold::sum>(x, in, space, {0, 0, 0}, 1)[0] == first);
    CHECK(folded<squared, fold::sum>(x, in, space, {0, 0, 0}, 1)[0] == Approx(squares).epsilon(2e-7));
    const std::vector<double> wide = numbers<double>(static_cast<std::size_t>(n));
    long double reference = 0;
    for (double v : wide) reference += static_cast<long double>(v);
    CHECK(folded<bare<element::float64>, fold::mean>(wide, in, space, {0, 0, 0}, 1)[0] ==
          Approx(static_cast<double>(reference / n)).epsilon(1e-14));
  }
}

TEST_CASE("folds over the last, the first, a middle and scattered axes", "[cuda][reduce]") {
  const int dims[] = {19, 34, 3, 65};
  const extents space = shape_of({19, 34, 3, 65});
  const std::vector<double> x = numbers<double>(19 * 34 * 3 * 65);
  const operand_view views[] = {contiguous_view(nullptr, element::float64, space),
                                view_of(nullptr, element::float64, {1, 19, 19 * 34 * 65, 19 * 34})};
  const std::vector<std::int64_t> axes[] = {{3}, {0}, {1}, {0, 2}, {1, 3}, {0, 1, 2, 3}};
  for (const operand_view& view : views)
    for (const auto& list : axes) {
      bool is_folded[4] = {};
      for (std::int64_t a : list) is_folded[a] = true;
      std::size_t outputs = 1;
      for (int d = 0; d < 4; ++d)
        if (!is_folded[d]) outputs *= static_cast<std::size_t>(dims[d]);
      std::vector<double> sums(outputs), best(outputs, -2);
      std::vector<std::int64_t> where(outputs);
      for (std::int64_t k = 0; k < space.size(); ++k) {
        std::int64_t rest = k, at[4], from = 0, position = 0, output = 0;
        for (int d = 3; d >= 0; --d) at[d] = rest % dims[d], rest /= dims[d];
        for (int d = 0; d < 4; ++d) {
          from += at[d] * view.stride[d];
          if (is_folded[d])
            position = position * dims[d] + at[d];
          else
            output = output * dims[d] + at[d];
        }
        const auto o = static_cast<std::size_t>(output);
        const double v = x[static_cast<std::size_t>(from)];
        sums[o] += v;
        if (v > best[o]) best[o] = v, where[o] = position;
      }
      op_info op = with_attributes({0, 0, static_cast<std::int64_t>(list.size())});
      for (std::int64_t a : list) op.attribute[op.attributes++] = a;
      bench b;
      operand_view in = view;
      in.data = b.upload(x);
      double* sum_out = b.reserve<double>(outputs);
      double* max_out = b.reserve<double>(outputs);
      std::int64_t* where_out = b.reserve<std::int64_t>(outputs);
      kernel_call call;
      call.space = space;
      call.inputs = 1;
      call.in = &in;
      call.op = &op;
      using load = bare<element::float64>;
      call.out.data = sum_out;
      b.launch(&cuda_reduce<load, fold::sum>, call, &cuda_reduce_workspace<load, fold::sum>);
      call.out.data = max_out;
      b.launch(&cuda_reduce<load, fold::max>, call, &cuda_reduce_workspace<load, fold::max>);
      call.out.data = where_out;
      b.launch(&cuda_reduce<load, fold::argmax>, call, &cuda_reduce_workspace<load, fold::argmax>);
      const auto got = b.download(sum_out, outputs);
      double worst = 0;
      for (std::size_t k = 0; k < outputs; ++k) worst = worse(worst, std::fabs(got[k] - sums[k]));
      CHECK(worst < 1e-10);
      CHECK(b.download(max_out, outputs) == best);
      CHECK(b.download(where_out, outputs) == where);
    }
}

TEST_CASE("the greatest of a row is found wherever it is", "[cuda][reduce]") {
  constexpr int rows = 128, length = 2048;
  const extents space = shape_of({rows, length});
  std::vector<float> x(rows * length, -1);
  std::vector<std::int64_t> places(rows);
  for (int r = 0; r < rows; ++r) {
    const int place = r * 1031 % length;
    x[static_cast<std::size_t>(r * length + place)] = 1;
    places[static_cast<std::size_t>(r)] = place;
  }
  const operand_view in = contiguous_view(nullptr, element::float32, space);
  CHECK(folded<bare<element::float32>, fold::argmax>(x, in, space, {0, 0, 1, 1}, rows) == places);
}

TEST_CASE("short folds of many outputs", "[cuda][reduce]") {
  constexpr int outputs = static_cast<int>(enough_blocks * block_threads / 4) + 3;
  for (const int length : {1, 3, 7, 16, 17}) {
    CAPTURE(length);
    const auto size = static_cast<std::size_t>(outputs) * static_cast<std::size_t>(length);
    const std::vector<float> x = numbers<float>(size);
    std::vector<double> along(outputs), across(outputs);
    std::vector<std::int64_t> where(outputs);
    for (std::size_t o = 0; o < along.size(); ++o) {
      const auto n = static_cast<std::size_t>(length);
      for (std::size_t k = 0; k < n; ++k) {
        along[o] += static_cast<double>(x[o * n + k]);
        across[o] += static_cast<double>(x[k * along.size() + o]);
        if (x[o * n + k] > x[o * n + static_cast<std::size_t>(where[o])]) where[o] = static_cast<std::int64_t>(k);
      }
    }
    const auto wrong_by = [](const std::vector<float>& got, const std::vector<double>& wanted) {
      double most = 0;
      for (std::size_t k = 0; k < wanted.size(); ++k) most = worse(most, std::fabs(got[k] - wanted[k]));
      return most;
    };
    const extents rows = shape_of({outputs, length}), columns = shape_of({length, outputs});
    const operand_view in_rows = contiguous_view(nullptr, element::float32, rows),
                       in_columns = contiguous_view(nullptr, element::float32, columns);
    CHECK(wrong_by(folded<bare<element::float32>, fold::sum>(x, in_rows, rows, {0, 0, 1, 1}, along.size()), along) <
          1e-5);
    CHECK(wrong_by(folded<bare<element::float32>, fold::sum>(x, in_columns, columns, {0, 0, 1, 0}, along.size()),
                   across) < 1e-5);
    CHECK(folded<bare<element::float32>, fold::argmax>(x, in_rows, rows, {0, 0, 1, 1}, along.size()) == where);
  }
}

TEST_CASE("folds of integers, NaN and nothing", "[cuda][reduce]") {
  const extents four = shape_of({4});
  const operand_view in = contiguous_view(nullptr, element::int32, four);
  CHECK(folded<bare<element::int32>, fold::sum>(std::vector<int>{2147483647, 1, 0, 0}, in, four, {0, 0, 0}, 1)[0] ==
        -2147483647 - 1);
  CHECK(folded<bare<element::int64>, fold::prod>(std::vector<std::int64_t>{3, -5, 7, 1}, in, four, {0, 0, 0}, 1)[0] ==
        -105);
  const float none = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x{1, none, 9, none};
  CHECK(std::isnan(folded<bare<element::float32>, fold::max>(x, in, four, {0, 0, 0}, 1)[0]));
  CHECK(std::isnan(folded<bare<element::float32>, fold::min>(x, in, four, {0, 0, 0}, 1)[0]));
  CHECK(folded<bare<element::float32>, fold::argmin>(x, in, four, {0, 0, 0}, 1)[0] == 1);
  const extents nothing = shape_of({2, 0});
  const operand_view empty = contiguous_view(nullptr, element::float32, nothing);
  CHECK(folded<bare<element::float32>, fold::sum>(std::vector<float>{}, empty, nothing, {0, 0, 1, 1}, 2) ==
        std::vector<float>{0, 0});
  CHECK(std::isnan(folded<bare<element::float32>, fold::mean>(std::vector<float>{}, empty, nothing, {0, 0, 0}, 1)[0]));
}

TEST_CASE("any and all", "[cuda][reduce]") {
  bench b;
  constexpr std::size_t n = 100000;
  const auto values = std::make_unique<bool[]>(n);
  values[n - 1] = true;
  const extents space = shape_of({static_cast<int>(n)});
  const operand_view in = contiguous_view(b.upload(values.get(), n), element::boolean, space);
  bool* out = b.reserve<bool>(2);
  const op_info op = with_attributes({0, 0, 0});
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &in;
  call.op = &op;
  using load = bare<element::boolean>;
  call.out.data = out;
  b.launch(&cuda_reduce<load, fold::any>, call, &cuda_reduce_workspace<load, fold::any>);
  call.out.data = out + 1;
  b.launch(&cuda_reduce<load, fold::all>, call, &cuda_reduce_workspace<load, fold::all>);
  bool result[2];
  b.download(out, result, 2);
  CHECK(result[0]);
  CHECK_FALSE(result[1]);
}

TEST_CASE("softmax and its logarithm over any axis", "[cuda][softmax]") {
  const extents space = shape_of({20, 3000, 7});
  std::vector<float> x = numbers<float>(20 * 3000 * 7);
  for (float& v : x) v *= 30;
  x[5] = -std::numeric_limits<float>::infinity();
  const std::int64_t stride[] = {21000, 7, 1};
  for (std::int64_t axis : {0, 1, -1})
    for (std::int64_t log : {0, 1}) {
      bench b;
      const operand_view in = contiguous_view(b.upload(x), element::float32, space);
      float* out = b.reserve<float>(x.size());
      const op_info op = with_attributes({log, axis});
      kernel_call call;
      call.space = space;
      call.inputs = 1;
      call.in = &in;
      call.out.data = out;
      call.op = &op;
      b.launch(&cuda_softmax<float>, call, &cuda_softmax_workspace<float>);
      const auto result = b.download(out, x.size());
      const auto d = static_cast<std::size_t>(axis < 0 ? 2 : axis);
      const auto step = static_cast<std::size_t>(stride[d]),
                 count = static_cast<std::size_t>(space[static_cast<int>(d)]);
      double worst = 0;
      for (std::size_t start = 0; start < x.size(); ++start) {
        if (start / step % count != 0) continue;
        double maximum = -1e300, sum = 0;
        for (std::size_t k = 0; k < count; ++k) maximum = std::fmax(maximum, static_cast<double>(x[start + k * step]));
        for (std::size_t k = 0; k < count; ++k) sum += std::exp(static_cast<double>(x[start + k * step]) - maximum);
        for (std::size_t k = 0; k < count; ++k) {
          const double v = static_cast<double>(x[start + k * step]) - maximum;
          const double exact = log ? v - std::log(sum) : std::exp(v) / sum;
          const double got = static_cast<double>(result[start + k * step]);
          if (got == exact) continue;  // minus infinity
          worst = worse(worst, std::fabs(got - exact) / (log ? std::fmax(1, std::fabs(exact)) : exact + 1e-30));
        }
      }
      CHECK(worst < 1e-5);
    }
}
