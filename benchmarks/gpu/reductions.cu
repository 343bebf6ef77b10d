// SPDX-License-Identifier: BSL-1.0
// Reductions beside CUB's and a copy of as many bytes; sums of columns, which CUB does not have, beside CUDA by hand.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_reduce.cuh>

#include "program.hpp"

using namespace gpu_bench;

namespace {

using onto::dyn;

inline constexpr auto a = onto::on<onto::gpu<0>>(onto::variable<"a", float, dyn, dyn>);
inline constexpr auto b = onto::on<onto::gpu<0>>(onto::variable<"b", float, dyn, dyn>);

struct squared_difference {
  const float *x, *y;
  __host__ __device__ float operator()(std::int64_t k) const {
    const float d = x[k] - y[k];
    return d * d;
  }
};

/// One number on the GPU beside one on the host.
template <class T>
double error_of_number(const T* at, double expected) {
  T got{};
  check(cudaMemcpy(&got, at, sizeof got, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return std::fabs(static_cast<double>(got) - expected) / std::max(1.0, std::fabs(expected));
}

__global__ void sum_in_double(squared_difference f, std::int64_t n, double* total) {
  double sum = 0;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n; k += step) {
    const double d = static_cast<double>(f.x[k]) - f.y[k];
    sum += d * d;
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

// The greatest number and, below it, the first place where it is: both in one word that is ordered as they are.
__global__ void first_greatest(const float* x, std::int64_t n, unsigned long long* found) {
  unsigned long long best = 0;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n; k += step) {
    const auto bits = static_cast<unsigned>(__float_as_int(x[k]));
    const unsigned ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    const unsigned long long word =
        (static_cast<unsigned long long>(ordered) << 32) | (0xffffffffu - static_cast<unsigned>(k));
    best = word > best ? word : best;
  }
  atomicMax(found, best);
}

struct column_reference {
  const float *x, *out;
  int rows, columns;
  __device__ void operator()(std::int64_t k, double& got, double& expected) const {
    double sum = 0;
    for (int r = 0; r < rows; ++r) sum += x[std::int64_t{r} * columns + k];
    got = out[k];
    expected = sum;
  }
};

// Every block sums some rows of 128 columns, four to a thread, and adds what it has to the result.
__global__ void __launch_bounds__(threads) columns_by_hand(const float* x, float* out, int rows, int columns) {
  __shared__ float4 parts[threads];
  const int lane = static_cast<int>(threadIdx.x) % 32, line = static_cast<int>(threadIdx.x) / 32;
  const int pack = static_cast<int>(blockIdx.x) * 32 + lane;
  const bool inside = pack < columns / 4;
  float4 sum = make_float4(0, 0, 0, 0);
  if (inside) {
    const int step = static_cast<int>(gridDim.y) * 8;
#pragma unroll 8
    for (int r = static_cast<int>(blockIdx.y) * 8 + line; r < rows; r += step) {
      const float4 v = __ldg(reinterpret_cast<const float4*>(x + std::int64_t{r} * columns) + pack);
      sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
    }
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (line != 0 || !inside) return;
  for (int k = 1; k < 8; ++k) {
    const float4 v = parts[k * 32 + lane];
    sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
  }
  atomicAdd(out + pack * 4, sum.x);
  atomicAdd(out + pack * 4 + 1, sum.y);
  atomicAdd(out + pack * 4 + 2, sum.z);
  atomicAdd(out + pack * 4 + 3, sum.w);
}

struct grid_shape {
  int rows, columns;
};

/// A row's operands, and the rest that every row has.
struct operands {
  row r;
  std::int64_t n;
  std::vector<buffer<float>> x, y;

  operands(const char* name, grid_shape g, int inputs) : n(std::int64_t{g.rows} * g.columns) {
    r.family = "reductions";
    r.name = name;
    r.shape = std::to_string(g.rows) + "x" + std::to_string(g.columns);
    r.size = static_cast<double>(n);
    r.bytes = 4 * r.size * inputs;
    r.sets = sets_for(r.bytes);
    r.tolerance = 1e-4;
  }
  void fill(int inputs) {
    for (int k = 0; k < r.sets; ++k) {
      x.emplace_back(n, static_cast<std::uint64_t>(10 + k));
      if (inputs > 1) y.emplace_back(n, static_cast<std::uint64_t>(30 + k));
    }
  }
  void set(machine& m, int k, grid_shape g) const {
    m.set(a, x[static_cast<std::size_t>(k)], g.rows, g.columns);
    if (!y.empty()) m.set(b, y[static_cast<std::size_t>(k)], g.rows, g.columns);
  }
};

void squares(grid_shape g) {
  operands o("sum of (a - b)^2", g, 2);
  attempt(o.r, [&] {
    o.fill(2);
    buffer<double> total(1);
    check(cudaMemset(total.data(), 0, total.bytes()), "cudaMemset");
    sum_in_double<<<4096, threads>>>({o.x[0].data(), o.y[0].data()}, o.n, total.data());
    double expected = 0;
    check(cudaMemcpy(&expected, total.data(), sizeof expected, cudaMemcpyDeviceToHost), "the reference");
    const buffer<float> out(1);
    cub_call by_cub([&](void* storage, std::size_t& bytes, cudaStream_t s, int number) {
      const auto set = static_cast<std::size_t>(number);
      const auto values = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                                          squared_difference{o.x[set].data(), o.y[set].data()});
      return cub::DeviceReduce::Sum(storage, bytes, values, out.data(), o.n, s);
    });
    const program_sets program(onto::on<onto::gpu<0>>(onto::sum(onto::square(a - b))), o.r.sets,
                               [&](machine& m, int k) { o.set(m, k, g); });
    const copying copy(o.r.bytes, o.r.sets);
    std::vector<contestant> all{
        program.as_contestant([&] { return error_of_number(program.result<float>(), expected); }),
        by_cub.as_contestant([&] { return error_of_number(out.data(), expected); }), copy.as_contestant()};
    (void)measure(o.r, all);
  });
}

void greatest(grid_shape g) {
  operands o("max", g, 1);
  attempt(o.r, [&] {
    o.fill(1);
    buffer<unsigned long long> found(1);
    check(cudaMemset(found.data(), 0, found.bytes()), "cudaMemset");
    first_greatest<<<1024, threads>>>(o.x[0].data(), o.n, found.data());
    unsigned long long word = 0;
    check(cudaMemcpy(&word, found.data(), sizeof word, cudaMemcpyDeviceToHost), "the reference");
    const auto place = static_cast<std::int64_t>(0xffffffffu - static_cast<unsigned>(word));
    float value = 0;
    check(cudaMemcpy(&value, o.x[0].data() + place, sizeof value, cudaMemcpyDeviceToHost), "the reference");
    const double position = static_cast<double>(place);

    const buffer<float> out(1);
    const buffer<std::int64_t> index(1);
    const copying copy(o.r.bytes, o.r.sets);
    {
      cub_call by_cub([&](void* storage, std::size_t& bytes, cudaStream_t s, int number) {
        const auto set = static_cast<std::size_t>(number);
        return cub::DeviceReduce::Max(storage, bytes, static_cast<const float*>(o.x[set].data()), out.data(), o.n, s);
      });
      const program_sets program(onto::on<onto::gpu<0>>(onto::max(a)), o.r.sets,
                                 [&](machine& m, int k) { o.set(m, k, g); });
      std::vector<contestant> all{
          program.as_contestant([&] { return error_of_number(program.result<float>(), value); }),
          by_cub.as_contestant([&] { return error_of_number(out.data(), value); }), copy.as_contestant()};
      (void)measure(o.r, all);
    }
    o.r.name = "argmax";
    o.r.tolerance = 1e-12;
    cub_call by_cub([&](void* storage, std::size_t& bytes, cudaStream_t s, int number) {
      const auto set = static_cast<std::size_t>(number);
      return cub::DeviceReduce::ArgMax(storage, bytes, static_cast<const float*>(o.x[set].data()), out.data(),
                                       index.data(), o.n, s);
    });
    const program_sets program(onto::on<onto::gpu<0>>(onto::argmax(a)), o.r.sets,
                               [&](machine& m, int k) { o.set(m, k, g); });
    std::vector<contestant> all{
        program.as_contestant([&] { return error_of_number(program.result<std::int64_t>(), position); }),
        by_cub.as_contestant([&] { return error_of_number(index.data(), position); }), copy.as_contestant()};
    (void)measure(o.r, all);
  });
}

void columns(grid_shape g) {
  operands o("sums of columns", g, 1);
  o.r.bytes += 4.0 * g.columns;
  attempt(o.r, [&] {
    o.fill(1);
    const buffer<float> out(g.columns);
    const program_sets program(onto::on<onto::gpu<0>>(onto::sum<0>(a)), o.r.sets,
                               [&](machine& m, int k) { o.set(m, k, g); });
    const copying copy(o.r.bytes, o.r.sets);
    const auto wide = static_cast<unsigned>(blocks_for(g.columns, 128));
    const dim3 blocks(wide, static_cast<unsigned>(std::clamp<std::int64_t>(g.rows / 64, 1, 132 * 8 / wide + 1)));
    const auto wrong_by = [&](const float* result) {
      return error_of(g.columns, column_reference{o.x[0].data(), result, g.rows, g.columns});
    };
    std::vector<contestant> all{program.as_contestant([&] { return wrong_by(program.result<float>()); }),
                                {"hand",
                                 [&](cudaStream_t s, int set) {
                                   check(cudaMemsetAsync(out.data(), 0, out.bytes(), s), "cudaMemsetAsync");
                                   columns_by_hand<<<blocks, threads, 0, s>>>(o.x[static_cast<std::size_t>(set)].data(),
                                                                              out.data(), g.rows, g.columns);
                                   check(cudaGetLastError(), "by hand");
                                 },
                                 [&] { return wrong_by(out.data()); }},
                                copy.as_contestant()};
    (void)measure(o.r, all);
  });
}

void run() {
  for (const grid_shape g : {grid_shape{100000, 1000}, grid_shape{10000, 1000}, grid_shape{100, 1000}}) {
    squares(g);
    greatest(g);
    columns(g);
  }
  squares({1000000, 1000});
  squares({10, 100});
}

}  // namespace

int main(int argc, char** argv) { return on_gpu(argc, argv, &run); }
