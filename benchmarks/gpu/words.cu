// SPDX-License-Identifier: BSL-1.0
// Words of an array library: sorts, scans, reads and sums by number, bins, statistics of rows and random numbers,
// beside CUB's call or CUDA by hand, where there is one, and a copy of as many bytes.
#include <onto/indexing.hpp>
#include <onto/sort.hpp>

#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "program.hpp"

using namespace gpu_bench;

namespace {

using onto::dyn;

inline constexpr auto v = onto::on<onto::gpu<0>>(onto::variable<"v", float, dyn>);
inline constexpr auto m = onto::on<onto::gpu<0>>(onto::variable<"m", float, dyn, dyn>);
inline constexpr auto numbers = onto::on<onto::gpu<0>>(onto::variable<"numbers", std::int64_t, dyn>);

constexpr auto there(const auto& e) { return onto::on<onto::gpu<0>>(e); }

/// From 0 up to `below`.
__global__ void number_kernel(std::int64_t* to, std::int64_t n, std::uint64_t seed, std::int64_t below) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n; k += step) {
    const double part = (static_cast<double>(number(static_cast<std::uint64_t>(k), seed)) + 1) / 2;
    const auto at = static_cast<std::int64_t>(part * below);
    to[k] = at < below ? at : below - 1;
  }
}
buffer<std::int64_t> some_numbers(std::int64_t n, std::uint64_t seed, std::int64_t below) {
  buffer<std::int64_t> b(n);
  number_kernel<<<4096, threads>>>(b.data(), n, seed, below);
  check(cudaDeviceSynchronize(), "numbers");
  return b;
}

template <class Got, class Expected>
struct beside {
  const Got* got_at;
  const Expected* expected_at;
  __device__ void operator()(std::int64_t k, double& got, double& expected) const {
    got = static_cast<double>(got_at[k]);
    expected = static_cast<double>(expected_at[k]);
  }
};
template <class Got, class Expected>
double wrong_by(const Got* got, const buffer<Expected>& expected) {
  return error_of(expected.size(), beside<Got, Expected>{got, expected.data()});
}

row word(const char* name, const std::string& shape, double size, double bytes, double tolerance = 0) {
  row r;
  r.family = "words";
  r.name = name;
  r.shape = shape;
  r.size = size;
  r.bytes = bytes;
  r.sets = std::min(4, sets_for(bytes));
  r.tolerance = tolerance;
  return r;
}

/// Inputs of a row: a set for each turn.
struct sets_of_floats {
  std::vector<buffer<float>> x;
  sets_of_floats(int sets, std::int64_t n, float scale = 1) {
    for (int k = 0; k < sets; ++k) x.emplace_back(n, static_cast<std::uint64_t>(10 + k), scale);
  }
  const buffer<float>& operator[](int k) const { return x[static_cast<std::size_t>(k)]; }
};

struct as_double {
  __host__ __device__ double operator()(float a) const { return static_cast<double>(a); }
};
struct by_columns {
  int columns;
  __host__ __device__ int operator()(int k) const { return k / columns; }
};

// ---- sorts and scans --------------------------------------------------------------------------------------

void sorts(int n) {
  const std::int64_t count = n;
  row r = word("sort(v)", std::to_string(n), n, 8.0 * n);
  attempt(r, [&] {
    const sets_of_floats x(r.sets, count);
    buffer<float> expected(count), out(count);
    check(cudaMemcpy(expected.data(), x[0].data(), expected.bytes(), cudaMemcpyDeviceToDevice), "copy");
    thrust::sort(thrust::device, expected.data(), expected.data() + count);
    const program_sets program(there(onto::sort(v)), r.sets, [&](machine& to, int k) { to.set(v, x[k]); });
    cub_call by_cub([&](void* at, std::size_t& bytes, cudaStream_t s, int set) {
      return cub::DeviceRadixSort::SortKeys(at, bytes, x[set].data(), out.data(), count, 0, 32, s);
    });
    const copying copy(r.bytes, r.sets);
    std::vector<contestant> all{
        program.as_contestant([&] { return wrong_by(program.template result<float>(), expected); }),
        by_cub.as_contestant([&] { return wrong_by(out.data(), expected); }), copy.as_contestant()};
    (void)measure(r, all);
  });
  r = word("argsort(v)", std::to_string(n), n, 12.0 * n);
  attempt(r, [&] {
    const sets_of_floats x(r.sets, count);
    buffer<float> keys(count), sorted(count);
    buffer<std::int64_t> expected(count);
    buffer<std::uint32_t> before(count), out(count);
    check(cudaMemcpy(keys.data(), x[0].data(), keys.bytes(), cudaMemcpyDeviceToDevice), "copy");
    thrust::sequence(thrust::device, expected.data(), expected.data() + count);
    thrust::sequence(thrust::device, before.data(), before.data() + count);
    thrust::stable_sort_by_key(thrust::device, keys.data(), keys.data() + count, expected.data());
    const program_sets program(there(onto::argsort(v)), r.sets, [&](machine& to, int k) { to.set(v, x[k]); });
    cub_call by_cub([&](void* at, std::size_t& bytes, cudaStream_t s, int set) {
      return cub::DeviceRadixSort::SortPairs(at, bytes, static_cast<const float*>(x[set].data()), sorted.data(),
                                             static_cast<const std::uint32_t*>(before.data()), out.data(), count, 0, 32,
                                             s);
    });
    const copying copy(r.bytes, r.sets);
    std::vector<contestant> all{
        program.as_contestant([&] { return wrong_by(program.template result<std::int64_t>(), expected); }),
        by_cub.as_contestant([&] { return wrong_by(out.data(), expected); }), copy.as_contestant()};
    (void)measure(r, all);
  });
  r = word("top_k<10>(v)", std::to_string(n), n, 4.0 * n);
  attempt(r, [&] {
    const sets_of_floats x(r.sets, count);
    buffer<float> sorted(count), expected(10);
    check(cudaMemcpy(sorted.data(), x[0].data(), sorted.bytes(), cudaMemcpyDeviceToDevice), "copy");
    thrust::sort(thrust::device, sorted.data(), sorted.data() + count, thrust::greater<float>());
    check(cudaMemcpy(expected.data(), sorted.data(), 40, cudaMemcpyDeviceToDevice), "copy");
    const program_sets program(there(onto::top_k<10>(v).values), r.sets, [&](machine& to, int k) { to.set(v, x[k]); });
    const copying copy(r.bytes, r.sets);
    std::vector<contestant> all{
        program.as_contestant([&] { return wrong_by(program.template result<float>(), expected); }),
        copy.as_contestant()};
    (void)measure(r, all);
  });
  r = word("cumsum(v)", std::to_string(n), n, 8.0 * n, 1e-4);
  attempt(r, [&] {
    const sets_of_floats x(r.sets, count);
    buffer<double> expected(count);
    buffer<float> out(count);
    const auto wide = thrust::make_transform_iterator(static_cast<const float*>(x[0].data()), as_double{});
    thrust::inclusive_scan(thrust::device, wide, wide + count, expected.data());
    const program_sets program(there(onto::cumsum(v)), r.sets, [&](machine& to, int k) { to.set(v, x[k]); });
    cub_call by_cub([&](void* at, std::size_t& bytes, cudaStream_t s, int set) {
      return cub::DeviceScan::InclusiveSum(at, bytes, x[set].data(), out.data(), count, s);
    });
    const copying copy(r.bytes, r.sets);
    std::vector<contestant> all{
        program.as_contestant([&] { return wrong_by(program.template result<float>(), expected); }),
        by_cub.as_contestant([&] { return wrong_by(out.data(), expected); }), copy.as_contestant()};
    (void)measure(r, all);
  });
}

void sort_of_rows(int rows, int columns) {
  const std::int64_t n = std::int64_t{rows} * columns;
  row r = word("sort(m)", std::to_string(rows) + "x" + std::to_string(columns), static_cast<double>(n),
               8.0 * static_cast<double>(n));
  attempt(r, [&] {
    const sets_of_floats x(r.sets, n);
    buffer<float> expected(n);
    check(cudaMemcpy(expected.data(), x[0].data(), expected.bytes(), cudaMemcpyDeviceToDevice), "copy");
    buffer<int> row_of(n);
    thrust::transform(thrust::device, thrust::counting_iterator<int>(0),
                      thrust::counting_iterator<int>(static_cast<int>(n)), row_of.data(), by_columns{columns});
    thrust::stable_sort_by_key(thrust::device, expected.data(), expected.data() + n, row_of.data());
    thrust::stable_sort_by_key(thrust::device, row_of.data(), row_of.data() + n, expected.data());
    const program_sets program(there(onto::sort(m)), r.sets,
                               [&](machine& to, int k) { to.set(m, x[k], rows, columns); });
    const copying copy(r.bytes, r.sets);
    std::vector<contestant> all{
        program.as_contestant([&] { return wrong_by(program.template result<float>(), expected); }),
        copy.as_contestant()};
    (void)measure(r, all);
  });
}

// ---- by number --------------------------------------------------------------------------------------------

struct rows_read {
  const float *table, *out;
  const std::int64_t* at;
  int columns;
  __device__ void operator()(std::int64_t k, double& got, double& expected) const {
    got = out[k];
    expected = table[std::int64_t{at[k / columns]} * columns + k % columns];
  }
};

__global__ void take_by_hand(const float4* table, const std::int64_t* at, float4* out, std::int64_t rows, int packs) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x, n = rows * packs;
  for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n; k += step)
    out[k] = __ldg(table + std::int64_t{__ldg(at + k / packs)} * packs + k % packs);
}

template <class Sum>
__global__ void sum_by_hand(const float* x, const std::int64_t* at, Sum* sums, std::int64_t rows, int columns) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x, n = rows * columns;
  for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n; k += step)
    atomicAdd(sums + std::int64_t{at[k / columns]} * columns + k % columns, static_cast<Sum>(x[k]));
}

void rows_by_number(int table_rows, int columns, int count) {
  const std::int64_t n = std::int64_t{count} * columns;
  const std::string shape = std::to_string(count) + " of " + std::to_string(table_rows) + "x" + std::to_string(columns);
  row r = word("take<0>(m, numbers)", shape, static_cast<double>(n), 8.0 * static_cast<double>(n));
  r.sets = 1;
  attempt(r, [&] {
    const buffer<float> table(std::int64_t{table_rows} * columns, 5);
    buffer<float> out(n);
    const buffer<std::int64_t> at = some_numbers(count, 6, table_rows);
    const program_sets program(there(onto::take<0>(m, numbers)), r.sets, [&](machine& to, int) {
      to.set(m, table, table_rows, columns);
      to.set(numbers, at);
    });
    const auto error = [&](const float* got) { return error_of(n, rows_read{table.data(), got, at.data(), columns}); };
    const copying copy(r.bytes, r.sets);
    std::vector<contestant> all{program.as_contestant([&] { return error(program.template result<float>()); }),
                                {"hand",
                                 [&](cudaStream_t s, int) {
                                   take_by_hand<<<2048, threads, 0, s>>>(
                                       reinterpret_cast<const float4*>(table.data()), at.data(),
                                       reinterpret_cast<float4*>(out.data()), count, columns / 4);
                                   check(cudaGetLastError(), "by hand");
                                 },
                                 [&] { return error(out.data()); }},
                                copy.as_contestant()};
    (void)measure(r, all);
  });
}

template <int Segments>
void sums_by_number(int columns, int count) {
  const std::int64_t n = std::int64_t{count} * columns, results = std::int64_t{Segments} * columns;
  row r = word("segment_sum(m, numbers)",
               std::to_string(count) + "x" + std::to_string(columns) + " to " + std::to_string(Segments),
               static_cast<double>(n), 4.0 * static_cast<double>(n + results), 1e-4);
  attempt(r, [&] {
    const sets_of_floats x(r.sets, n);
    const buffer<std::int64_t> at = some_numbers(count, 6, Segments);
    buffer<double> expected(results);
    buffer<float> out(results);
    check(cudaMemset(expected.data(), 0, expected.bytes()), "cudaMemset");
    sum_by_hand<<<4096, threads>>>(x[0].data(), at.data(), expected.data(), count, columns);
    check(cudaDeviceSynchronize(), "the reference");
    const program_sets program(there(onto::segment_sum<Segments>(m, numbers)), r.sets, [&](machine& to, int k) {
      to.set(m, x[k], count, columns);
      to.set(numbers, at);
    });
    const copying copy(r.bytes, r.sets);
    std::vector<contestant> all{
        program.as_contestant([&] { return wrong_by(program.template result<float>(), expected); }),
        {"hand",
         [&](cudaStream_t s, int set) {
           check(cudaMemsetAsync(out.data(), 0, out.bytes(), s), "cudaMemsetAsync");
           sum_by_hand<<<4096, threads, 0, s>>>(x[set].data(), at.data(), out.data(), count, columns);
           check(cudaGetLastError(), "by hand");
         },
         [&] { return wrong_by(out.data(), expected); }},
        copy.as_contestant()};
    (void)measure(r, all);
  });
}

void bins(int n) {
  const std::int64_t count = n;
  row r = word("bincount<1024>(numbers)", std::to_string(n), n, 8.0 * n);
  r.sets = 1;
  attempt(r, [&] {
    const buffer<std::int64_t> at = some_numbers(count, 6, 1024);
    buffer<int> expected(1024), out(1024);
    std::vector<int> counted(1024);
    std::vector<std::int64_t> here(static_cast<std::size_t>(n));
    check(cudaMemcpy(here.data(), at.data(), at.bytes(), cudaMemcpyDeviceToHost), "copy");
    for (const std::int64_t k : here) ++counted[static_cast<std::size_t>(k)];
    check(cudaMemcpy(expected.data(), counted.data(), expected.bytes(), cudaMemcpyHostToDevice), "copy");
    const program_sets program(there(onto::bincount<1024>(numbers)), r.sets,
                               [&](machine& to, int) { to.set(numbers, at); });
    cub_call by_cub([&](void* room, std::size_t& bytes, cudaStream_t s, int) {
      return cub::DeviceHistogram::HistogramEven(room, bytes, at.data(), out.data(), 1025, 0, 1024, n, s);
    });
    const copying copy(r.bytes, r.sets);
    std::vector<contestant> all{
        program.as_contestant([&] { return wrong_by(program.template result<std::int64_t>(), expected); }),
        by_cub.as_contestant([&] { return wrong_by(out.data(), expected); }), copy.as_contestant()};
    (void)measure(r, all);
  });
  r = word("histogram<64>(v, -1, 1)", std::to_string(n), n, 4.0 * n, 1e-4);  // of numbers at the edges of bins
  attempt(r, [&] {
    const sets_of_floats x(r.sets, count);
    buffer<int> out(64);
    cub_call by_cub([&](void* room, std::size_t& bytes, cudaStream_t s, int set) {
      return cub::DeviceHistogram::HistogramEven(room, bytes, x[set].data(), out.data(), 65, -1.f, 1.f, n, s);
    });
    buffer<int> expected(64);
    std::vector<int> counted(64);
    std::vector<float> here(static_cast<std::size_t>(n));
    check(cudaMemcpy(here.data(), x[0].data(), x[0].bytes(), cudaMemcpyDeviceToHost), "copy");
    for (const float a : here) ++counted[static_cast<std::size_t>(std::clamp(static_cast<int>((a + 1) * 32), 0, 63))];
    check(cudaMemcpy(expected.data(), counted.data(), expected.bytes(), cudaMemcpyHostToDevice), "copy");
    const program_sets program(there(onto::histogram<64>(v, -1, 1)), r.sets,
                               [&](machine& to, int k) { to.set(v, x[k]); });
    const copying copy(r.bytes, r.sets);
    std::vector<contestant> all{
        program.as_contestant([&] { return wrong_by(program.template result<std::int64_t>(), expected); }),
        by_cub.as_contestant([&] { return wrong_by(out.data(), expected); }), copy.as_contestant()};
    (void)measure(r, all);
  });
}

// ---- statistics of rows, random numbers -------------------------------------------------------------------

enum class statistic { variance, log_sum_exp, greatest_at };

template <class Result>
struct row_reference {
  const float* x;
  const Result* out;
  int columns;
  statistic which;
  __device__ void operator()(std::int64_t k, double& got, double& expected) const {
    const float* const row_at = x + k * columns;
    double sum = 0, squares = 0, exponentials = 0;
    int place = 0;
    for (int c = 0; c < columns; ++c) {
      const double a = row_at[c];
      sum += a;
      squares += a * a;
      exponentials += exp(a);
      if (row_at[c] > row_at[place]) place = c;
    }
    got = static_cast<double>(out[k]);
    if (which == statistic::variance) expected = squares / columns - sum / columns * (sum / columns);
    if (which == statistic::log_sum_exp) expected = log(exponentials);
    if (which == statistic::greatest_at) expected = place;
  }
};

template <class Result, class E>
void of_rows(const char* name, const E& e, int rows, int columns, statistic which) {
  const std::int64_t n = std::int64_t{rows} * columns;
  row r = word(name, std::to_string(rows) + "x" + std::to_string(columns), static_cast<double>(n),
               4.0 * static_cast<double>(n), which == statistic::greatest_at ? 0 : 1e-5);
  attempt(r, [&] {
    const sets_of_floats x(r.sets, n, 4);
    const program_sets program(e, r.sets, [&](machine& to, int k) { to.set(m, x[k], rows, columns); });
    const copying copy(r.bytes, r.sets);
    std::vector<contestant> all{
        program.as_contestant([&] {
          return error_of(rows, row_reference<Result>{x[0].data(), program.template result<Result>(), columns, which});
        }),
        copy.as_contestant()};
    (void)measure(r, all);
  });
}

struct away_from_normal {
  const float* x;
  __device__ void operator()(std::int64_t k, double& got, double& expected) const {
    got =
        static_cast<double>(x[k]) * x[k] + 1;  // the sum of the squares of what is added to 1 is that of a kurtosis: 3
    expected = 1;
  }
};

void random_numbers() {
  constexpr int n = 10000000;
  row r = word("random_normal", std::to_string(n), n, 4.0 * n, 1e-2);
  r.sets = 1;
  attempt(r, [&] {
    const program_sets program(there(onto::random_normal<float, n>(7)), 1, [](machine&, int) {});
    const copying copy(r.bytes, r.sets);
    std::vector<contestant> all{program.as_contestant([&] {
                                  const double d = error_of(n, away_from_normal{program.template result<float>()});
                                  return std::fabs(d * d - 3);
                                }),
                                copy.as_contestant()};
    (void)measure(r, all);
  });
}

void run() {
  sorts(10000000);
  sorts(100000);
  sort_of_rows(4096, 1024);
  sort_of_rows(100000, 32);
  rows_by_number(100000, 256, 65536);
  sums_by_number<1000>(256, 65536);
  sums_by_number<16>(1, 10000000);
  bins(10000000);
  of_rows<float>("var<1>(m)", there(onto::var<1>(m)), 4096, 8192, statistic::variance);
  of_rows<float>("logsumexp<1>(m)", there(onto::logsumexp<1>(m)), 4096, 8192, statistic::log_sum_exp);
  of_rows<std::int64_t>("argmax<1>(m)", there(onto::argmax<1>(m)), 4096, 8192, statistic::greatest_at);
  random_numbers();
}

}  // namespace

int main(int argc, char** argv) { return on_gpu(argc, argv, &run); }
