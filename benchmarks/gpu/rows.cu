// SPDX-License-Identifier: BSL-1.0
// Softmax and layer normalization of rows beside CUDA by hand, which reads each row once, and a copy of as many bytes.
#include "program.hpp"

using namespace gpu_bench;

namespace {

using onto::dyn;

inline constexpr auto a = onto::on<onto::gpu<0>>(onto::variable<"a", float, dyn, dyn>);
inline constexpr auto scale = onto::on<onto::gpu<0>>(onto::variable<"scale", float, dyn>);
inline constexpr auto shift = onto::on<onto::gpu<0>>(onto::variable<"shift", float, dyn>);

constexpr auto mean_of = onto::mean<-1>(a, onto::keep_extents);
constexpr auto variance_of = onto::mean<-1>(onto::square(a - mean_of), onto::keep_extents);

struct add_up {
  __device__ static float empty() { return 0; }
  __device__ static float join(float x, float y) { return x + y; }
};
struct take_greater {
  __device__ static float empty() { return -INFINITY; }
  __device__ static float join(float x, float y) { return fmaxf(x, y); }
};

/// Joins a number of every thread of a block; all of them get the result.
template <class Join>
__device__ float in_block(float x, float* shared) {
  for (int lanes = 16; lanes > 0; lanes /= 2) x = Join::join(x, __shfl_xor_sync(0xffffffffu, x, lanes));
  __syncthreads();  // what was in `shared` is read
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
  __syncthreads();
  x = threadIdx.x % 32 < threads / 32 ? shared[threadIdx.x % 32] : Join::empty();
  for (int lanes = 16; lanes > 0; lanes /= 2) x = Join::join(x, __shfl_xor_sync(0xffffffffu, x, lanes));
  return x;
}

/// A row a block, in registers: `Packs` times 4 numbers a thread.
template <int Packs>
__global__ void __launch_bounds__(threads) softmax_by_hand(const float* x, float* out) {
  __shared__ float shared[32];
  const std::int64_t first = std::int64_t{blockIdx.x} * (Packs * threads) + threadIdx.x;
  float4 v[Packs];
  float top = -INFINITY, sum = 0;
  for (int k = 0; k < Packs; ++k) v[k] = __ldg(reinterpret_cast<const float4*>(x) + first + k * threads);
  for (int k = 0; k < Packs; ++k) top = fmaxf(top, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
  top = in_block<take_greater>(top, shared);
  for (int k = 0; k < Packs; ++k) {
    v[k] = make_float4(__expf(v[k].x - top), __expf(v[k].y - top), __expf(v[k].z - top), __expf(v[k].w - top));
    sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  }
  const float factor = 1 / in_block<add_up>(sum, shared);
  for (int k = 0; k < Packs; ++k)
    reinterpret_cast<float4*>(out)[first + k * threads] =
        make_float4(v[k].x * factor, v[k].y * factor, v[k].z * factor, v[k].w * factor);
}

template <int Packs>
__global__ void __launch_bounds__(threads)
    normalize_by_hand(const float* x, const float* factors, const float* shifts, float* out) {
  __shared__ float shared[32];
  constexpr float count = Packs * threads * 4;
  const std::int64_t first = std::int64_t{blockIdx.x} * (Packs * threads) + threadIdx.x;
  float4 v[Packs];
  float sum = 0, squares = 0;
  for (int k = 0; k < Packs; ++k) v[k] = __ldg(reinterpret_cast<const float4*>(x) + first + k * threads);
  for (int k = 0; k < Packs; ++k) sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  const float mean = in_block<add_up>(sum, shared) / count;
  for (int k = 0; k < Packs; ++k) {
    v[k] = make_float4(v[k].x - mean, v[k].y - mean, v[k].z - mean, v[k].w - mean);
    squares += (v[k].x * v[k].x + v[k].y * v[k].y) + (v[k].z * v[k].z + v[k].w * v[k].w);
  }
  const float inverse = rsqrtf(in_block<add_up>(squares, shared) / count + 1e-5f);
  for (int k = 0; k < Packs; ++k) {
    const float4 g = __ldg(reinterpret_cast<const float4*>(factors) + threadIdx.x + k * threads);
    const float4 h = __ldg(reinterpret_cast<const float4*>(shifts) + threadIdx.x + k * threads);
    reinterpret_cast<float4*>(out)[first + k * threads] =
        make_float4(v[k].x * inverse * g.x + h.x, v[k].y * inverse * g.y + h.y, v[k].z * inverse * g.z + h.z,
                    v[k].w * inverse * g.w + h.w);
  }
}

/// What a row adds up to, in double: its greatest number and the sum of exponentials, or its mean and the inverse of
/// its deviation.
__global__ void facts_of_rows(const float* x, int rows, int columns, bool softmax, double* facts) {
  const int r = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (r >= rows) return;
  const float* row_at = x + std::int64_t{r} * columns;
  double first = softmax ? -1e300 : 0, second = 0;
  for (int k = lane; k < columns; k += 32)
    first = softmax ? fmax(first, static_cast<double>(row_at[k])) : first + row_at[k];
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    const double other = __shfl_xor_sync(0xffffffffu, first, lanes);
    first = softmax ? fmax(first, other) : first + other;
  }
  if (!softmax) first /= columns;
  for (int k = lane; k < columns; k += 32) {
    const double d = row_at[k] - first;
    second += softmax ? exp(d) : d * d;
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) second += __shfl_xor_sync(0xffffffffu, second, lanes);
  if (lane != 0) return;
  facts[2 * r] = first;
  facts[2 * r + 1] = softmax ? 1 / second : 1 / sqrt(second / columns + 1e-5);
}

struct reference {
  const float *x, *factors, *shifts, *out;
  const double* facts;
  int columns;
  __device__ void operator()(std::int64_t k, double& got, double& expected) const {
    const std::int64_t r = k / columns, c = k % columns;
    const double d = x[k] - facts[2 * r];
    got = out[k];
    expected = factors ? d * facts[2 * r + 1] * factors[c] + shifts[c] : exp(d) * facts[2 * r + 1];
  }
};

template <int Packs, class E>
void row_of(const char* name, const E& expression, int rows, bool softmax) {
  constexpr int columns = Packs * threads * 4;
  const std::int64_t n = std::int64_t{rows} * columns;
  row r;
  r.family = "rows";
  r.name = name;
  r.shape = std::to_string(rows) + "x" + std::to_string(columns);
  r.size = static_cast<double>(n);
  r.bytes = 8 * r.size + (softmax ? 0 : 8.0 * columns);
  r.sets = sets_for(r.bytes);
  attempt(r, [&] {
    std::vector<buffer<float>> x, out;
    for (int k = 0; k < r.sets; ++k) {
      x.emplace_back(n, static_cast<std::uint64_t>(10 + k), 4.0f);
      out.emplace_back(n);
    }
    const buffer<float> factors(columns, 2), shifts(columns, 3);
    const buffer<double> facts(2 * std::int64_t{rows});
    facts_of_rows<<<static_cast<unsigned>(blocks_for(rows, threads / 32)), threads>>>(x[0].data(), rows, columns,
                                                                                      softmax, facts.data());
    check(cudaDeviceSynchronize(), "the reference");
    const program_sets program(expression, r.sets, [&](machine& m, int set) {
      m.set(a, x[static_cast<std::size_t>(set)], rows, columns);
      if (softmax) return;
      m.set(scale, factors);
      m.set(shift, shifts);
    });
    const copying copy(r.bytes, r.sets);
    const auto wrong_by = [&](const float* result) {
      return error_of(
          n, reference{x[0].data(), softmax ? nullptr : factors.data(), shifts.data(), result, facts.data(), columns});
    };
    std::vector<contestant> all{program.as_contestant([&] { return wrong_by(program.template result<float>()); }),
                                {"hand",
                                 [&](cudaStream_t s, int set) {
                                   const auto k = static_cast<std::size_t>(set);
                                   if (softmax)
                                     softmax_by_hand<Packs>
                                         <<<static_cast<unsigned>(rows), threads, 0, s>>>(x[k].data(), out[k].data());
                                   else
                                     normalize_by_hand<Packs><<<static_cast<unsigned>(rows), threads, 0, s>>>(
                                         x[k].data(), factors.data(), shifts.data(), out[k].data());
                                   check(cudaGetLastError(), "by hand");
                                 },
                                 [&] { return wrong_by(out[0].data()); }},
                                copy.as_contestant()};
    (void)measure(r, all);
  });
}

template <int Packs>
void both(int rows) {
  row_of<Packs>("softmax", onto::on<onto::gpu<0>>(onto::softmax(a)), rows, true);
  row_of<Packs>("layer normalization",
                onto::on<onto::gpu<0>>((a - mean_of) * onto::rsqrt(variance_of + 1e-5f) * scale + shift), rows, false);
}

void run() {
  both<1>(4096);
  both<1>(32768);
  both<8>(4096);
}

}  // namespace

int main(int argc, char** argv) { return on_gpu(argc, argv, &run); }
