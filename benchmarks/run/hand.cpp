// SPDX-License-Identifier: BSL-1.0
// Loops written by hand for one case each, with OpenMP threads: the twins that onto is measured against. They keep what
// was measured to be the fastest form of each: several accumulators, blocks that stay in the cache, stores past the
// cache for what does not fit in it, nothing before or after the loop.
#include "bench.hpp"
#include "hand_gemm.hpp"
#include "hand_math.hpp"

#include <omp.h>

#include <algorithm>
#include <vector>

namespace {

using namespace hand;
using bench::input;
using bench::output;
using bench::problem;
using bench::scratch;

/// Below so many elements a second thread costs more than it gives.
constexpr std::int64_t few = 20000;
/// What is read and written once and is larger than this is stored past the caches.
constexpr double cached_bytes = 64e6;

/// Registers a case, and its result on one thread as what the peers have to give.
template <class Make>
void add(const char* name, const Make& make) {
  bench::add("hand", name, make);
  bench::reference(name, [make](problem p) {
    p.threads = 1;
    auto run = make(p);
    return bench::result_of(p, run);
  });
}

/// Calls `body(lo, hi)` for every thread's share of [0, n), whole vectors each.
template <class Body>
void shares(std::int64_t n, int threads, std::int64_t at_least, const Body& body) {
  if (threads == 1 || n < at_least) {
    body(std::int64_t{0}, n);
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    const Body mine = body;
    const std::int64_t k = omp_get_thread_num(), count = omp_get_num_threads();
    const std::int64_t share = ((n + count - 1) / count + width - 1) / width * width;
    const std::int64_t lo = std::min(n, k * share), hi = std::min(n, lo + share);
    if (lo < hi) mine(lo, hi);
  }
}

// ---- maps -------------------------------------------------------------------------------------------------

/// out[i] = f(i), a vector at a time. The rest is done as a whole vector again that overlaps what was done.
template <class F>
void map(float* out, std::int64_t n, int threads, bool past_cache, const F& f) {
  shares(n, threads, few, [=](std::int64_t lo, std::int64_t hi) {
    const F g = f;
    const std::int64_t last = hi - width;
    std::int64_t i = lo;
    if (past_cache) {
      store(out + i, g(i));
      i += width - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out + i) % sizeof(vec)) / 4;
#pragma GCC unroll 2
      for (; i <= last; i += width) stream(out + i, g(i));
      streams_done();
    } else {
#pragma GCC unroll 4
      for (; i <= last; i += width) store(out + i, g(i));
    }
    if (i < hi) store(out + last, g(last));
  });
}

template <class Make>
void add_map(const char* name, const Make& make) {
  add(name, [make](const problem& p) {
    return [f = make(p), out = output(p.n()), n = p.n(), threads = p.threads, past = p.bytes > cached_bytes] {
      map(out, n, threads, past, f);
    };
  });
}

vec gelu(vec x) { return x * 0.5f * (tanh((x + x * x * x * 0.044715f) * 0.7978845608f) + 1.0f); }

void add_maps() {
  add_map("triad", [](const problem& p) {
    return [a = input(0, p.n()), b = input(1, p.n())](std::int64_t i) { return load(a + i) + 1.5f * load(b + i); };
  });
  add_map("chain", [](const problem& p) {
    return [a = input(0, p.n()), b = input(1, p.n()), c = input(2, p.n()), d = input(3, p.n())](std::int64_t i) {
      const vec x = load(a + i), y = load(b + i);
      return sqrt(x * x + y * y) * load(c + i) - load(d + i) / (x + 1.0f) + max(y, vec{});
    };
  });
  add_map("exp", [](const problem& p) { return [a = input(0, p.n())](std::int64_t i) { return exp(load(a + i)); }; });
  add_map("tanh", [](const problem& p) { return [a = input(0, p.n())](std::int64_t i) { return tanh(load(a + i)); }; });
  add_map("gelu", [](const problem& p) { return [a = input(0, p.n())](std::int64_t i) { return gelu(load(a + i)); }; });
  // Rows lie one after the other, so even columns are even elements.
  add_map("sliced", [](const problem& p) {
    return [x = input(0, 2 * p.n()), y = input(1, p.n())](std::int64_t i) {
      const vec first = load(x + 2 * i), second = load(x + 2 * i + width);
#if defined(__AVX512F__)
      return load(y + i) +
             __builtin_shufflevector(first, second, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
#else
      return load(y + i) + __builtin_shufflevector(first, second, 0, 2, 4, 6, 8, 10, 12, 14);
#endif
    };
  });
  // The row is laid down twice, so that a vector may begin anywhere in it: one loop over all rows.
  add_map("rowadd", [](const problem& p) {
    const float* const row = input(1, p.cols);
    float* const twice = scratch(0, 2 * p.cols);
    std::copy(row, row + p.cols, twice);
    std::copy(row, row + p.cols, twice + p.cols);
    struct {
      const float *x, *row;
      std::int64_t cols;
      mutable std::int64_t first = 0;  // of the row that we are in
      vec operator()(std::int64_t i) const {
        if (i - first >= cols || i < first) first = i / cols * cols;
        return max(load(x + i) + load(row + (i - first)), vec{});
      }
    } f{input(0, p.n()), twice, p.cols};
    return f;
  });
}

// ---- transposed -------------------------------------------------------------------------------------------

/// Turns a square of vectors: in each step the halves of pairs of rows change places.
template <int Half>
inline void turn_step(vec* rows) {
  ivec low{}, high{};
  for (int k = 0; k < width; ++k) {
    low[k] = k & Half ? (k - Half) + width : k;
    high[k] = k & Half ? k + width : k + Half;
  }
  for (int r = 0; r < width; ++r)
    if (!(r & Half)) {
      const vec a = rows[r], b = rows[r + Half];
      rows[r] = __builtin_shuffle(a, b, low);
      rows[r + Half] = __builtin_shuffle(a, b, high);
    }
}
inline void turn(vec* rows) {
  if constexpr (width == 16) turn_step<8>(rows);
  turn_step<4>(rows);
  turn_step<2>(rows);
  turn_step<1>(rows);
}

/// out = a + transpose(b) of n x n, by squares; columns of squares, so that rows of b are read in long pieces.
void add_transposed(const float* a, const float* b, float* out, std::int64_t n, std::int64_t lo, std::int64_t hi) {
  constexpr std::int64_t block = 4 * width;
  for (std::int64_t i0 = lo; i0 < hi; i0 += block)
    for (std::int64_t j0 = 0; j0 < n; j0 += width)
      for (std::int64_t i = i0; i < std::min(i0 + block, hi); i += width) {
        if (i + width <= hi && j0 + width <= n) {
          vec square[width];
          for (int k = 0; k < width; ++k) square[k] = load(b + (j0 + k) * n + i);
          turn(square);
          for (int k = 0; k < width; ++k) {
            const std::int64_t at = (i + k) * n + j0;
            store(out + at, load(a + at) + square[k]);
          }
        } else {
          for (std::int64_t r = i; r < std::min(i + width, hi); ++r)
            for (std::int64_t c = j0; c < std::min(j0 + width, n); ++c) out[r * n + c] = a[r * n + c] + b[c * n + r];
        }
      }
}

// ---- reductions -------------------------------------------------------------------------------------------

/// The sum of f(i): four vectors of partial sums, whose additions do not wait for each other.
template <class F>
float sum_part(std::int64_t lo, std::int64_t hi, const F& f) {
  vec s[4] = {};
  std::int64_t i = lo;
  for (; i + 4 * width <= hi; i += 4 * width)
    for (int k = 0; k < 4; ++k) s[k] += f(i + k * width);
  for (; i + width <= hi; i += width) s[0] += f(i);
  if (i < hi) {  // the last lanes of the last vector
    const std::int64_t last = hi - width;
    ivec lane{};
    for (int k = 0; k < width; ++k) lane[k] = k;
    s[1] += lane >= static_cast<std::int32_t>(i - last) ? f(last) : vec{};
  }
  return sum_lanes(s[0] + s[1] + (s[2] + s[3]));
}

/// The first position of the largest value: blocks by their maxima, then only the block that has it is searched.
std::int64_t argmax_part(const float* x, std::int64_t lo, std::int64_t hi) {
  constexpr std::int64_t block = 2048;
  std::int64_t best_block = lo;
  float best = x[lo];
  for (std::int64_t b = lo; b < hi; b += block) {
    const std::int64_t end = std::min(b + block, hi);
    vec m[4];
    for (vec& v : m) v = all(best);
    std::int64_t i = b;
    for (; i + 4 * width <= end; i += 4 * width)
      for (int k = 0; k < 4; ++k) m[k] = max(load(x + i + k * width), m[k]);
    float found = max_lane(max(max(m[0], m[1]), max(m[2], m[3])));
    for (; i < end; ++i) found = std::max(found, x[i]);
    if (found > best) {
      best = found;
      best_block = b;
    }
  }
  for (std::int64_t i = best_block;; ++i)
    if (x[i] == best) return i;
}

void add_reductions() {
  add("sqdiff", [](const problem& p) {
    return [a = input(0, p.n()), b = input(1, p.n()), n = p.n(), threads = p.threads] {
      const auto f = [=](std::int64_t i) {
        const vec d = load(a + i) - load(b + i);
        return d * d;
      };
      if (threads == 1 || n < few) return sum_part(0, n, f);
      float total = 0;
      shares(n, threads, few, [f, &total](std::int64_t lo, std::int64_t hi) {
        const float part = sum_part(lo, hi, f);
#pragma omp atomic
        total += part;
      });
      return total;
    };
  });
  // A sum of many floats is off by itself: what it has to be is summed in double.
  bench::reference("sqdiff", [](const problem& p) {
    const float *a = input(0, p.n()), *b = input(1, p.n());
    double total = 0;
    for (std::int64_t i = 0; i < p.n(); ++i) {
      const double d = static_cast<double>(a[i]) - b[i];
      total += d * d;
    }
    return std::vector<float>{static_cast<float>(total)};
  });
  add("argmax", [](const problem& p) {
    return [x = input(0, p.n()), n = p.n(), threads = p.threads] {
      if (threads == 1 || n < few) return argmax_part(x, 0, n);
      std::int64_t best = 0;
      shares(n, threads, few, [x, &best](std::int64_t lo, std::int64_t hi) {
        const std::int64_t mine = argmax_part(x, lo, hi);
#pragma omp critical
        if (x[mine] > x[best] || (x[mine] == x[best] && mine < best)) best = mine;
      });
      return best;
    };
  });
}

// ---- rows -------------------------------------------------------------------------------------------------

void softmax_row(const float* x, float* out, std::int64_t n) {
  vec m[4];
  for (vec& v : m) v = all(x[0]);
  std::int64_t j = 0;
  for (; j + 4 * width <= n; j += 4 * width)
    for (int k = 0; k < 4; ++k) m[k] = max(load(x + j + k * width), m[k]);
  float largest = max_lane(max(max(m[0], m[1]), max(m[2], m[3])));
  for (; j < n; ++j) largest = std::max(largest, x[j]);
  vec s[2] = {};
  for (j = 0; j + 2 * width <= n; j += 2 * width)
    for (int k = 0; k < 2; ++k) {
      const vec e = exp(load(x + j + k * width) - largest);
      store(out + j + k * width, e);
      s[k] += e;
    }
  float sum = sum_lanes(s[0] + s[1]);
  for (; j < n; ++j) sum += out[j] = exp(all(x[j] - largest))[0];
  const float scale = 1 / sum;
#pragma omp simd
  for (std::int64_t k = 0; k < n; ++k) out[k] *= scale;
}

void layernorm_row(const float* x, const float* gamma, const float* beta, float* out, std::int64_t n) {
  const float count = static_cast<float>(n);
  const float mean = sum_part(0, n, [=](std::int64_t i) { return load(x + i); }) / count;
  const float variance = sum_part(0, n,
                                  [=](std::int64_t i) {
                                    const vec d = load(x + i) - mean;
                                    return d * d;
                                  }) /
                         count;
  const float scale = 1 / __builtin_sqrtf(variance + 1e-5f);
#pragma omp simd
  for (std::int64_t k = 0; k < n; ++k) out[k] = (x[k] - mean) * scale * gamma[k] + beta[k];
}

template <class F>
void each_row(std::int64_t rows, int threads, const F& f) {
  if (threads == 1) {
    for (std::int64_t r = 0; r < rows; ++r) f(r);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t r = 0; r < rows; ++r) f(r);
}

void add_rows() {
  add("softmax", [](const problem& p) {
    return [x = input(0, p.n()), out = output(p.n()), p] {
      each_row(p.rows, p.threads, [&](std::int64_t r) { softmax_row(x + r * p.cols, out + r * p.cols, p.cols); });
    };
  });
  add("layernorm", [](const problem& p) {
    return [x = input(0, p.n()), gamma = input(1, p.cols), beta = input(2, p.cols), out = output(p.n()), p] {
      each_row(p.rows, p.threads,
               [&](std::int64_t r) { layernorm_row(x + r * p.cols, gamma, beta, out + r * p.cols, p.cols); });
    };
  });
  add("transposed", [](const problem& p) {
    return [a = input(0, p.n()), b = input(1, p.n()), out = output(p.n()), p] {
      constexpr std::int64_t block = 4 * width;
      const std::int64_t blocks = (p.rows + block - 1) / block;
      each_row(blocks, p.n() < few ? 1 : p.threads, [&](std::int64_t k) {
        add_transposed(a, b, out, p.rows, k * block, std::min(p.rows, (k + 1) * block));
      });
    };
  });
}

// ---- products ---------------------------------------------------------------------------------------------

void add_products() {
  const auto product = [](const char* name, bool turn_a, bool turn_b) {
    add(name, [=](const problem& p) {
      const std::int64_t n = p.rows;
      const matrix a{input(0, p.n()), turn_a ? 1 : n, turn_a ? n : 1},
          b{input(1, p.n()), turn_b ? 1 : n, turn_b ? n : 1};
      return [=, out = output(p.n()), threads = p.threads] { gemm(n, n, n, a, b, out, threads); };
    });
  };
  product("matmul", false, false);
  product("matmul_tn", true, false);
  product("matmul_nt", false, true);
  product("matmul_tt", true, true);
  add("matmul_bias_relu", [](const problem& p) {
    const std::int64_t n = p.rows;
    return [=, a = input(0, p.n()), b = input(1, p.n()), bias = input(2, n), out = output(p.n()), threads = p.threads] {
      gemm(n, n, n, {a, n, 1}, {b, n, 1}, out, threads, false, bias_and_relu{bias});
    };
  });
  add("headline", [](const problem& p) {
    return [n = p.rows, a = input(0, p.n()), b = input(1, p.n()), out = output(p.n()), t0 = scratch(0, p.n()),
            t1 = scratch(1, p.n()), threads = p.threads] {
      for (const float* m : {a, b}) {
        const float* power = m;
        for (int k = 2; k <= 9; ++k) {
          float* const next = k % 2 ? t0 : t1;
          gemm(n, n, n, {m, n, 1}, {power, n, 1}, next, threads);
          power = next;
        }
        gemm(n, n, n, {m, n, 1}, {power, n, 1}, out, threads, m == b);
      }
    };
  });
  add("perceptron", [](const problem& p) {
    return [x = input(0, 256 * 784), w1 = input(1, 784 * 512), w2 = input(2, 512 * 512), w3 = input(3, 512 * 10),
            bias = input(4, 512), h1 = scratch(0, 256 * 512), h2 = scratch(1, 256 * 512), out = output(p.n()),
            threads = p.threads] {
      gemm(256, 512, 784, {x, 784, 1}, {w1, 512, 1}, h1, threads, false, bias_and_relu{bias});
      gemm(256, 512, 512, {h1, 512, 1}, {w2, 512, 1}, h2, threads, false, bias_and_relu{bias});
      gemm(256, 10, 512, {h2, 512, 1}, {w3, 10, 1}, out, threads, false, only_bias{bias});
      for (std::int64_t r = 0; r < 256; ++r) softmax_row(out + r * 10, out + r * 10, 10);
    };
  });
}

// ---- tiny -------------------------------------------------------------------------------------------------

void product_4x4(const float* a, const float* b, float* out) {
  typedef float row __attribute__((vector_size(16), aligned(4), may_alias));
  const row* const rows = reinterpret_cast<const row*>(b);
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<row*>(out + 4 * i) =
        a[4 * i] * rows[0] + a[4 * i + 1] * rows[1] + a[4 * i + 2] * rows[2] + a[4 * i + 3] * rows[3];
}

void add_tiny() {
  add("tiny_triad", [](const problem&) {
    return [a = input(0, 8), b = input(1, 8), out = output(8)] {
#pragma omp simd
      for (int k = 0; k < 8; ++k) out[k] = a[k] + 1.5f * b[k];
    };
  });
  add("tiny_matmul", [](const problem&) {
    return [a = input(0, 16), b = input(1, 16), c = input(2, 16), d = input(3, 16), out = output(16)] {
      float ab[16], abc[16];
      product_4x4(a, b, ab);
      product_4x4(ab, c, abc);
      product_4x4(abc, d, out);
    };
  });
}

// ---- limits -----------------------------------------------------------------------------------------------

/// As many fused multiplications and additions as there can be: independent ones, in registers.
void add_limits() {
  bench::add("limit", "limit_triad", [](const problem& p) {
    return [a = input(0, p.n()), b = input(1, p.n()), out = output(p.n()), n = p.n(), threads = p.threads,
            past = p.bytes > cached_bytes] {
      map(out, n, threads, past, [=](std::int64_t i) { return load(a + i) + 1.5f * load(b + i); });
    };
  });
  bench::add("limit", "limit_fma", [](const problem& p) {
    return [x = input(0, 1), out = output(64), threads = p.threads] {
#pragma omp parallel num_threads(threads) if (threads > 1)
      {
        vec s[12];
        for (vec& v : s) v = all(x[0]);
        const vec f = all(x[0] * 0.5f);
        for (int i = 0; i < 100000; ++i) {
#pragma GCC unroll 12
          for (int k = 0; k < 12; ++k) s[k] = s[k] * f + f;
        }
        vec total{};
        for (const vec& v : s) total += v;
        if (total[0] == 12345.0f) out[0] = total[0];
      }
    };
  });
}

void register_cases() {
  add_maps();
  add_reductions();
  add_rows();
  add_products();
  add_tiny();
  add_limits();
  bench::on_threads(omp_set_num_threads);
  bench::say_version("hand", "g++ " __VERSION__ " -O3 -march=native, OpenMP");
}
const bench::peer registered(register_cases);

}  // namespace
