// SPDX-License-Identifier: BSL-1.0
// Whole runs as a user calls them, by the host's clock: A^10 + B^10 beside CUDA and cublasLt by hand with streams and
// pinned memory, and 100 tiny operations as one prepared run beside a graph made by hand.
#include <onto/onto.hpp>

#include <chrono>
#include <cstring>
#include <thread>

#include "gemm.hpp"

using namespace gpu_bench;

namespace {

using onto::dyn;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// A whole call, and how far its result is from the others'.
struct whole_call {
  const char* who;
  std::function<void()> call;
  double error = -1;
  const char* note = "";
};

/// Makes the calls in turns and reports what each took.
void in_turns(const row& r, const std::vector<whole_call>& all, int rounds) {
  std::vector<std::vector<double>> seconds(all.size());
  for (int k = -2; k < rounds; ++k) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double begin = now();
      all[i].call();
      if (k >= 0) seconds[i].push_back(now() - begin);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const times t = summary(seconds[i]);
    report(r, all[i].who, t.median, t.low, t.high, all[i].error, all[i].note);
  }
}

// ---- A^10 + B^10 ------------------------------------------------------------------------------------------

inline constexpr auto a = onto::placeholder<"a", float, dyn, dyn>;
inline constexpr auto b = onto::placeholder<"b", float, dyn, dyn>;

template <int N>
constexpr auto matpow(auto m) {
  if constexpr (N == 1)
    return m;
  else
    return onto::matmul(m, matpow<N - 1>(m));
}
constexpr auto c1 = onto::on<onto::gpu<0>>(matpow<10>(a));
constexpr auto c2 = onto::on<onto::gpu<0>>(matpow<10>(b));
constexpr auto on_the_host = onto::on<onto::cpu<0>>(onto::add_n(c1, c2));
constexpr auto on_the_gpu = onto::on<onto::gpu<0>>(onto::add_n(c1, c2));

struct pinned {
  float* data = nullptr;
  explicit pinned(std::int64_t n) { check(cudaMallocHost(&data, static_cast<std::size_t>(n) * 4), "cudaMallocHost"); }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  ~pinned() { (void)cudaFreeHost(data); }
};

struct event {
  cudaEvent_t it = nullptr;
  event() { check(cudaEventCreateWithFlags(&it, cudaEventDisableTiming), "cudaEventCreate"); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { (void)cudaEventDestroy(it); }
};

__global__ void add_kernel(const float* x, const float* y, float* out, std::int64_t n) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n; k += step) out[k] = x[k] + y[k];
}

/// The same by hand. Copies to the GPU, products and copies back are in a stream each: B is copied while A is
/// multiplied, and A's power goes back while B is.
class by_hand {
 public:
  explicit by_hand(int n)
      : n_(n),
        size_(std::int64_t{n} * n),
        in_{buffer<float>(size_, 1), buffer<float>(size_, 2)},
        power_{buffer<float>(size_), buffer<float>(size_)},
        other_(size_),
        back_{std::make_unique<pinned>(size_), std::make_unique<pinned>(size_)},
        product_(n, false, false) {
    (void)product_.choose(in_[0].data(), in_[1].data(), other_.data());
  }

  void run(const float* x, const float* y, float* result, bool add_on_gpu) {
    const float* from[] = {x, y};
    for (std::size_t k = 0; k < 2; ++k) {
      check(cudaMemcpyAsync(in_[k].data(), from[k], in_[k].bytes(), cudaMemcpyHostToDevice, up_.it), "copy");
      check(cudaEventRecord(arrived_[k].it, up_.it), "cudaEventRecord");
    }
    for (std::size_t k = 0; k < 2; ++k) {
      check(cudaStreamWaitEvent(compute_.it, arrived_[k].it, 0), "cudaStreamWaitEvent");
      // 9 products, of which the last writes to `power_`.
      const float* p = in_[k].data();
      for (int i = 0; i < 9; ++i) {
        float* to = i % 2 == 0 ? power_[k].data() : other_.data();
        product_.launch(compute_.it, in_[k].data(), p, to);
        p = to;
      }
      check(cudaEventRecord(done_[k].it, compute_.it), "cudaEventRecord");
      if (add_on_gpu) continue;
      check(cudaStreamWaitEvent(down_.it, done_[k].it, 0), "cudaStreamWaitEvent");
      check(cudaMemcpyAsync(back_[k]->data, power_[k].data(), power_[k].bytes(), cudaMemcpyDeviceToHost, down_.it),
            "copy");
    }
    if (add_on_gpu) {
      add_kernel<<<4096, threads, 0, compute_.it>>>(power_[0].data(), power_[1].data(), other_.data(), size_);
      check(cudaMemcpyAsync(back_[0]->data, other_.data(), other_.bytes(), cudaMemcpyDeviceToHost, compute_.it),
            "copy");
      check(cudaStreamSynchronize(compute_.it), "waiting for the GPU");
      in_parts([&](std::int64_t first, std::int64_t count) {
        std::memcpy(result + first, back_[0]->data + first, static_cast<std::size_t>(count) * 4);
      });
      return;
    }
    check(cudaStreamSynchronize(down_.it), "waiting for the GPU");
    in_parts([&](std::int64_t first, std::int64_t count) {
      const float *p = back_[0]->data, *q = back_[1]->data;
      for (std::int64_t k = first; k < first + count; ++k) result[k] = p[k] + q[k];
    });
  }

 private:
  template <class Work>
  void in_parts(const Work& work) const {
    const int parts = size_ < 1000000 ? 1 : static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 16u));
    std::vector<std::thread> others;
    const std::int64_t share = (size_ + parts - 1) / parts;
    for (int k = 1; k < parts; ++k)
      others.emplace_back([&, k] { work(k * share, std::max<std::int64_t>(0, std::min(share, size_ - k * share))); });
    work(0, std::min(share, size_));
    for (std::thread& t : others) t.join();
  }

  int n_;
  std::int64_t size_;
  buffer<float> in_[2], power_[2], other_;
  std::unique_ptr<pinned> back_[2];
  gemm<float> product_;
  stream up_, compute_, down_;
  event arrived_[2], done_[2];
};

double distance(const float* x, const float* y, std::int64_t n) {
  double difference = 0, scale = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const double d = static_cast<double>(x[k]) - y[k];
    difference += d * d;
    scale += static_cast<double>(y[k]) * y[k];
  }
  return std::sqrt(difference / scale);
}

/// A^10 + B^10 in double, on the host, for small matrices.
std::vector<float> in_double(const float* x, const float* y, int n) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<float> sum(size * size);
  for (const float* m : {x, y}) {
    std::vector<double> p(m, m + size * size);
    for (int k = 1; k < 10; ++k) {
      std::vector<double> next(size * size);
      for (std::size_t i = 0; i < size; ++i)
        for (std::size_t q = 0; q < size; ++q)
          for (std::size_t j = 0; j < size; ++j)
            next[i * size + j] += static_cast<double>(m[i * size + q]) * p[q * size + j];
      p = next;
    }
    for (std::size_t k = 0; k < size * size; ++k) sum[k] += static_cast<float>(p[k]);
  }
  return sum;
}

template <class E>
void headline(const char* name, const E& program, bool add_on_gpu, int n, int rounds) {
  const double extent = n;
  row r{"headline", name, std::to_string(n), extent * extent, 12 * extent * extent, 36 * extent * extent * extent};
  r.tolerance = 1e-4;
  attempt(r, [&] {
    const std::int64_t size = std::int64_t{n} * n;
    const pinned x(size), y(size);
    const auto spread = static_cast<float>(std::sqrt(3.0 / n));  // powers neither vanish nor explode
    for (std::int64_t k = 0; k < size; ++k) {
      x.data[k] = spread * number(static_cast<std::uint64_t>(k), 1);
      y.data[k] = spread * number(static_cast<std::uint64_t>(k), 2);
    }
    by_hand hand(n);
    std::vector<float> expected(static_cast<std::size_t>(size));
    hand.run(x.data, y.data, expected.data(), add_on_gpu);
    onto::session sess;
    const auto step = sess.prepare(program);
    const onto::tensor_ref<float, dyn, dyn> left(static_cast<const float*>(x.data), {n, n}),
        right(static_cast<const float*>(y.data), {n, n});
    const auto result = step(a = left, b = right);
    double error = distance(result.data(), expected.data(), size);
    if (n <= 300) {
      const std::vector<float> exact = in_double(x.data, y.data, n);
      error = std::max(distance(result.data(), exact.data(), size), distance(expected.data(), exact.data(), size));
    }
    if (!(error <= r.tolerance)) return report_skip(r, "all", "the results differ by " + short_number(error));
    in_turns(r,
             {{"onto", [&] { (void)step(a = left, b = right); }, error, "prepared"},
              {"onto, not prepared", [&] { (void)sess.run(program, a = left, b = right); }, -1, "session::run"},
              {"hand", [&] { hand.run(x.data, y.data, expected.data(), add_on_gpu); }}},
             rounds);
  });
}

// ---- 100 tiny operations ----------------------------------------------------------------------------------

inline constexpr auto tiny = onto::placeholder<"tiny", float, 8>;
inline constexpr auto factors = onto::placeholder<"factors", float, 1, 8>;

/// A product and a sum each, in a kernel that cannot be one with the next: it needs all of what that gives.
template <int N>
constexpr auto steps(auto v) {
  if constexpr (N == 0)
    return v;
  else
    return steps<N - 1>(onto::sum<1>(onto::reshape<8, 1>(v) * factors));
}

__global__ void tiny_by_hand(const float* in, const float* row_of_factors, float* out) {
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += in[threadIdx.x] * row_of_factors[k];
  out[threadIdx.x] = sum;
}

void hundred_operations() {
  row r{"tiny", "100 tiny operations", "8", 8};
  attempt(r, [&] {
    constexpr int pairs = 50;
    onto::tensor<float, 8> values;
    onto::tensor<float, 1, 8> row_of_factors;
    for (int k = 0; k < 8; ++k) {
      values(k) = static_cast<float>(k + 1);
      row_of_factors(0, k) = 0.25f + 0.01f * static_cast<float>(k - 8);  // 8 of them add up to about 1.64
    }
    const stream s;
    const pinned in(8), in_factors(8), out(8);
    const buffer<float> x(8), y(8), z(8);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaStreamBeginCapture(s.it, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    check(cudaMemcpyAsync(x.data(), in.data, 32, cudaMemcpyHostToDevice, s.it), "copy");
    check(cudaMemcpyAsync(z.data(), in_factors.data, 32, cudaMemcpyHostToDevice, s.it), "copy");
    for (int k = 0; k < pairs; ++k)
      tiny_by_hand<<<1, 8, 0, s.it>>>(k % 2 ? y.data() : x.data(), z.data(), k % 2 ? x.data() : y.data());
    check(cudaMemcpyAsync(out.data, pairs % 2 ? y.data() : x.data(), 32, cudaMemcpyDeviceToHost, s.it), "copy");
    check(cudaStreamEndCapture(s.it, &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    const auto hand = [&] {
      std::memcpy(in.data, values.data(), 32);
      std::memcpy(in_factors.data, row_of_factors.data(), 32);
      check(cudaGraphLaunch(executable, s.it), "cudaGraphLaunch");
      check(cudaStreamSynchronize(s.it), "waiting for the GPU");
    };
    onto::session sess;
    const auto step = sess.prepare(onto::on<onto::gpu<0>>(steps<pairs>(tiny)));
    hand();
    double error = 0;
    for (int k = 0; k < 3; ++k) {  // issued, recorded, replayed
      const auto result = step(tiny = values, factors = row_of_factors);
      error = std::max(error, distance(result.data(), out.data, 8));
    }
    if (!(error <= 1e-4)) {
      report_skip(r, "all", "the results differ by " + short_number(error));
    } else {
      in_turns(
          r,
          {{"onto", [&] { (void)step(tiny = values, factors = row_of_factors); }, error, "prepared"}, {"hand", hand}},
          2000);
    }
    (void)cudaGraphExecDestroy(executable);
    (void)cudaGraphDestroy(graph);
  });
}

void run() {
  hundred_operations();
  headline("A^10 + B^10", on_the_host, false, 256, 21);
  headline("A^10 + B^10", on_the_host, false, 4096, 9);
  headline("A^10 + B^10", on_the_host, false, 10000, 5);
  headline("A^10 + B^10, added on the GPU", on_the_gpu, true, 10000, 5);
}

}  // namespace

int main(int argc, char** argv) { return on_gpu(argc, argv, &run); }
