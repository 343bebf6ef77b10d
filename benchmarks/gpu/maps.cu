// SPDX-License-Identifier: BSL-1.0
// Elementwise programs beside CUDA written by hand (16 bytes a load) and a copy of as many bytes.
#include "program.hpp"

using namespace gpu_bench;

namespace {

using onto::dyn;

inline constexpr auto a = onto::on<onto::gpu<0>>(onto::variable<"a", float, dyn, dyn>);
inline constexpr auto b = onto::on<onto::gpu<0>>(onto::variable<"b", float, dyn, dyn>);
inline constexpr auto c = onto::on<onto::gpu<0>>(onto::variable<"c", float, dyn, dyn>);
inline constexpr auto d = onto::on<onto::gpu<0>>(onto::variable<"d", float, dyn, dyn>);
inline constexpr auto bias = onto::on<onto::gpu<0>>(onto::variable<"bias", float, dyn>);

// What a row computes: by hand in float, and as the reference in double.
struct triad {
  static constexpr int inputs = 2;
  template <class T>
  __device__ static T at(const T* x) {
    return x[0] + T(1.5) * x[1];
  }
};
struct chain {
  static constexpr int inputs = 4;
  template <class T>
  __device__ static T at(const T* x) {
    return sqrt(x[0] * x[0] + x[1] * x[1]) * x[2] - x[3] / (x[0] + T(1)) + (x[1] > T(0) ? x[1] : T(0));
  }
};
struct exponential {
  static constexpr int inputs = 1;
  template <class T>
  __device__ static T at(const T* x) {
    return exp(x[0]);
  }
};
struct tangent {
  static constexpr int inputs = 1;
  template <class T>
  __device__ static T at(const T* x) {
    return tanh(x[0]);
  }
};
struct gaussian {
  static constexpr int inputs = 1;
  template <class T>
  __device__ static T at(const T* x) {
    return T(0.5) * x[0] * (T(1) + erf(x[0] * T(0.70710678118654752)));
  }
};

template <int N>
struct pointers {
  const float* at[N];
};

template <class F>
__global__ void __launch_bounds__(threads) by_hand(pointers<F::inputs> in, float* out, std::int64_t n) {
  const std::int64_t packs = n / 4, step = std::int64_t{gridDim.x} * threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * threads + threadIdx.x; k < packs; k += step) {
    float4 x[F::inputs];
    for (int i = 0; i < F::inputs; ++i) x[i] = __ldg(reinterpret_cast<const float4*>(in.at[i]) + k);
    float lane[4][F::inputs];
    for (int i = 0; i < F::inputs; ++i) {
      lane[0][i] = x[i].x;
      lane[1][i] = x[i].y;
      lane[2][i] = x[i].z;
      lane[3][i] = x[i].w;
    }
    reinterpret_cast<float4*>(out)[k] = make_float4(F::at(lane[0]), F::at(lane[1]), F::at(lane[2]), F::at(lane[3]));
  }
  const std::int64_t rest = packs * 4 + std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (rest < n) {
    float x[F::inputs];
    for (int i = 0; i < F::inputs; ++i) x[i] = in.at[i][rest];
    out[rest] = F::at(x);
  }
}

template <class F>
struct reference {
  pointers<F::inputs> in;
  const float* out;
  __device__ void operator()(std::int64_t k, double& got, double& expected) const {
    double x[F::inputs];
    for (int i = 0; i < F::inputs; ++i) x[i] = in.at[i][k];
    got = out[k];
    expected = F::at(x);
  }
};

struct grid_shape {
  int rows, columns;
};

row row_of(const char* name, grid_shape g, double bytes) {
  row r;
  r.family = "maps";
  r.name = name;
  r.shape = std::to_string(g.rows) + "x" + std::to_string(g.columns);
  r.size = static_cast<double>(g.rows) * g.columns;
  r.bytes = bytes;
  r.sets = sets_for(bytes);
  return r;
}

/// A map of contiguous operands of one shape.
template <class F, class E>
void map_row(const char* name, const E& expression, grid_shape g) {
  const std::int64_t n = std::int64_t{g.rows} * g.columns;
  const row r = row_of(name, g, 4.0 * static_cast<double>(n) * (F::inputs + 1));
  attempt(r, [&] {
    std::vector<std::vector<buffer<float>>> in(static_cast<std::size_t>(r.sets));
    std::vector<pointers<F::inputs>> at(in.size());
    std::vector<buffer<float>> out;
    for (std::size_t set = 0; set < in.size(); ++set) {
      for (int i = 0; i < F::inputs; ++i) {
        in[set].emplace_back(n, set * 16 + static_cast<std::size_t>(i));
        at[set].at[i] = in[set].back().data();
      }
      out.emplace_back(n);
    }
    const program_sets program(expression, r.sets, [&](machine& m, int set) {
      const auto& values = in[static_cast<std::size_t>(set)];
      m.set(a, values[0], g.rows, g.columns);
      if constexpr (F::inputs > 1) m.set(b, values[1], g.rows, g.columns);
      if constexpr (F::inputs > 2) m.set(c, values[2], g.rows, g.columns);
      if constexpr (F::inputs > 3) m.set(d, values[3], g.rows, g.columns);
    });
    const copying copy(r.bytes, r.sets);
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(blocks_for(n, threads * 4), 1 << 20));
    std::vector<contestant> all;
    all.push_back(program.as_contestant([&] {
      return error_of(n, reference<F>{at[0], program.template result<float>()});
    }));
    all.push_back({"hand",
                   [&](cudaStream_t s, int set) {
                     const auto k = static_cast<std::size_t>(set);
                     by_hand<F><<<blocks, threads, 0, s>>>(at[k], out[k].data(), n);
                     check(cudaGetLastError(), "by hand");
                   },
                   [&] {
                     return error_of(n, reference<F>{at[0], out[0].data()});
                   }});
    all.push_back(copy.as_contestant());
    (void)measure(r, all);
  });
}

// ---- a row added to every row, then relu ------------------------------------------------------------------

__global__ void __launch_bounds__(threads)
    bias_by_hand(const float* x, const float* v, float* out, int rows, int columns) {
  const int packs = columns / 4;
  for (int k = static_cast<int>(threadIdx.x); k < packs; k += threads) {
    const float4 add = reinterpret_cast<const float4*>(v)[k];
    for (int r = static_cast<int>(blockIdx.x) * 4; r < rows; r += static_cast<int>(gridDim.x) * 4) {
      float4 y[4];
      for (int i = 0; i < 4; ++i)
        if (r + i < rows) y[i] = __ldg(reinterpret_cast<const float4*>(x + std::int64_t{r + i} * columns) + k);
      for (int i = 0; i < 4; ++i)
        if (r + i < rows)
          reinterpret_cast<float4*>(out + std::int64_t{r + i} * columns)[k] = make_float4(
              fmaxf(y[i].x + add.x, 0), fmaxf(y[i].y + add.y, 0), fmaxf(y[i].z + add.z, 0), fmaxf(y[i].w + add.w, 0));
    }
  }
}
struct bias_reference {
  const float *x, *v, *out;
  int columns;
  __device__ void operator()(std::int64_t k, double& got, double& expected) const {
    got = out[k];
    expected = fmax(static_cast<double>(x[k]) + v[k % columns], 0.0);
  }
};

// ---- transpose(a) + b -------------------------------------------------------------------------------------

// out (columns x rows) = transposed x (rows x columns) + y
__global__ void __launch_bounds__(256)
    transpose_by_hand(const float* x, const float* y, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  const int lane = static_cast<int>(threadIdx.x) % 32, line = static_cast<int>(threadIdx.x) / 32;
  const int column = static_cast<int>(blockIdx.x) * 32, first = static_cast<int>(blockIdx.y) * 32;
  for (int k = line; k < 32; k += 8)
    if (first + k < rows && column + lane < columns)
      tile[k][lane] = x[std::int64_t{first + k} * columns + column + lane];
  __syncthreads();
  for (int k = line; k < 32; k += 8)
    if (column + k < columns && first + lane < rows) {
      const std::int64_t at = std::int64_t{column + k} * rows + first + lane;
      out[at] = tile[lane][k] + y[at];
    }
}
struct transpose_reference {
  const float *x, *y, *out;
  int rows, columns;
  __device__ void operator()(std::int64_t k, double& got, double& expected) const {
    got = out[k];
    expected = static_cast<double>(x[(k % rows) * columns + k / rows]) + y[k];
  }
};

// ---- every second row plus the row below it ---------------------------------------------------------------

__global__ void __launch_bounds__(threads) slice_by_hand(const float* x, float* out, int pairs, int columns) {
  const int packs = columns / 4;
  for (int r = static_cast<int>(blockIdx.x); r < pairs; r += static_cast<int>(gridDim.x))
    for (int k = static_cast<int>(threadIdx.x); k < packs; k += threads) {
      const auto* first = reinterpret_cast<const float4*>(x + std::int64_t{2} * r * columns);
      const float4 u = __ldg(first + k), v = __ldg(first + packs + k);
      reinterpret_cast<float4*>(out + std::int64_t{r} * columns)[k] =
          make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
    }
}
struct slice_reference {
  const float *x, *out;
  int columns;
  __device__ void operator()(std::int64_t k, double& got, double& expected) const {
    const std::int64_t at = k / columns * 2 * columns + k % columns;
    got = out[k];
    expected = static_cast<double>(x[at]) + x[at + columns];
  }
};

void other_rows(grid_shape g) {
  const std::int64_t n = std::int64_t{g.rows} * g.columns;
  const double elements = static_cast<double>(n);
  const auto sets_of = [&](int sets, std::int64_t count, std::uint64_t seed) {
    std::vector<buffer<float>> v;
    for (int k = 0; k < sets; ++k) v.emplace_back(count, seed + static_cast<std::uint64_t>(k));
    return v;
  };
  const auto few = static_cast<unsigned>(std::min(g.rows, 132 * 8));

  const row broadcast = row_of("broadcast add and relu", g, 8 * elements + 4.0 * g.columns);
  attempt(broadcast, [&] {
    const auto x = sets_of(broadcast.sets, n, 1), out = sets_of(broadcast.sets, n, 2);
    const buffer<float> v(g.columns, 7);
    const program_sets program(onto::on<onto::gpu<0>>(onto::relu(a + bias)), broadcast.sets, [&](machine& m, int set) {
      m.set(a, x[static_cast<std::size_t>(set)], g.rows, g.columns);
      m.set(bias, v);
    });
    const copying copy(broadcast.bytes, broadcast.sets);
    std::vector<contestant> all{
        program.as_contestant([&] {
          return error_of(n, bias_reference{x[0].data(), v.data(), program.result<float>(), g.columns});
        }),
        {"hand",
         [&](cudaStream_t s, int set) {
           const auto k = static_cast<std::size_t>(set);
           bias_by_hand<<<few, threads, 0, s>>>(x[k].data(), v.data(), out[k].data(), g.rows, g.columns);
           check(cudaGetLastError(), "by hand");
         },
         [&] {
           return error_of(n, bias_reference{x[0].data(), v.data(), out[0].data(), g.columns});
         }},
        copy.as_contestant()};
    (void)measure(broadcast, all);
  });

  const row transposed = row_of("transpose(a) + b", g, 12 * elements);
  attempt(transposed, [&] {
    const auto x = sets_of(transposed.sets, n, 1), y = sets_of(transposed.sets, n, 20),
               out = sets_of(transposed.sets, n, 2);
    const program_sets program(onto::on<onto::gpu<0>>(onto::transpose(a) + b), transposed.sets,
                               [&](machine& m, int set) {
                                 m.set(a, x[static_cast<std::size_t>(set)], g.rows, g.columns);
                                 m.set(b, y[static_cast<std::size_t>(set)], g.columns, g.rows);
                               });
    const copying copy(transposed.bytes, transposed.sets);
    const dim3 tiles(static_cast<unsigned>(blocks_for(g.columns, 32)), static_cast<unsigned>(blocks_for(g.rows, 32)));
    const auto wrong_by = [&](const float* result) {
      return error_of(n, transpose_reference{x[0].data(), y[0].data(), result, g.rows, g.columns});
    };
    std::vector<contestant> all{program.as_contestant([&] { return wrong_by(program.result<float>()); }),
                                {"hand",
                                 [&](cudaStream_t s, int set) {
                                   const auto k = static_cast<std::size_t>(set);
                                   transpose_by_hand<<<tiles, 256, 0, s>>>(x[k].data(), y[k].data(), out[k].data(),
                                                                           g.rows, g.columns);
                                   check(cudaGetLastError(), "by hand");
                                 },
                                 [&] { return wrong_by(out[0].data()); }},
                                copy.as_contestant()};
    (void)measure(transposed, all);
  });

  const row sliced = row_of("pairs of rows added", g, 6 * elements);
  attempt(sliced, [&] {
    const auto x = sets_of(sliced.sets, n, 1), out = sets_of(sliced.sets, n / 2, 2);
    const program_sets program(
        onto::on<onto::gpu<0>>(onto::slice<0, onto::to_end, 2>(a) + onto::slice<1, onto::to_end, 2>(a)), sliced.sets,
        [&](machine& m, int set) { m.set(a, x[static_cast<std::size_t>(set)], g.rows, g.columns); });
    const copying copy(sliced.bytes, sliced.sets);
    std::vector<contestant> all{
        program.as_contestant([&] {
          return error_of(n / 2, slice_reference{x[0].data(), program.result<float>(), g.columns});
        }),
        {"hand",
         [&](cudaStream_t s, int set) {
           const auto k = static_cast<std::size_t>(set);
           slice_by_hand<<<few, threads, 0, s>>>(x[k].data(), out[k].data(), g.rows / 2, g.columns);
           check(cudaGetLastError(), "by hand");
         },
         [&] {
           return error_of(n / 2, slice_reference{x[0].data(), out[0].data(), g.columns});
         }},
        copy.as_contestant()};
    (void)measure(sliced, all);
  });
}

void all_rows() {
  const auto triad_of = onto::on<onto::gpu<0>>(a + 1.5f * b);
  const auto chain_of = onto::on<onto::gpu<0>>(onto::sqrt(a * a + b * b) * c - d / (a + 1.0f) + onto::maximum(b, 0.0f));
  const grid_shape large{100000, 1000};
  const auto everything = [&](grid_shape g) {
    map_row<triad>("a + s*b", triad_of, g);
    map_row<chain>("8 operations", chain_of, g);
    map_row<exponential>("exp", onto::on<onto::gpu<0>>(onto::exp(a)), g);
    map_row<tangent>("tanh", onto::on<onto::gpu<0>>(onto::tanh(a)), g);
    map_row<gaussian>("gelu", onto::on<onto::gpu<0>>(onto::gelu(a)), g);
    other_rows(g);
  };
  everything(large);  // what the targets are about comes first
  everything({10000, 1000});
  everything({100, 1000});
  map_row<triad>("a + s*b", triad_of, {1000000, 1000});
  map_row<exponential>("exp", onto::on<onto::gpu<0>>(onto::exp(a)), {1000000, 1000});
  map_row<triad>("a + s*b", triad_of, {10, 100});
  map_row<chain>("8 operations", chain_of, {10, 100});
}

}  // namespace

int main(int argc, char** argv) { return on_gpu(argc, argv, &all_rows); }
