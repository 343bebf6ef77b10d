// SPDX-License-Identifier: BSL-1.0
// How kernels are timed on a GPU: the ways of doing one piece of work run in turns, each as a recorded graph of many
// launches, between two events. A line of JSON on standard output for each.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gpu_bench {

/// The GPU has no room for a row; the row is left out.
struct no_room : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  const std::string sentence = std::string(what) + ": " + cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation) throw no_room(sentence);
  throw std::runtime_error(sentence);
}

inline constexpr int threads = 256;
inline std::int64_t blocks_for(std::int64_t units, std::int64_t per_block) {
  return (units + per_block - 1) / per_block;
}

/// Between -1 and 1, the same for the same numbers.
__host__ __device__ inline float number(std::uint64_t index, std::uint64_t seed) {
  std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1342543de82ef95u;
  x ^= x >> 31;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 29;
  return static_cast<float>(static_cast<double>(x >> 11) / 4503599627370496.0 - 1);
}

template <class T>
__global__ void fill_kernel(T* to, std::int64_t n, std::uint64_t seed, float scale) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n; k += step)
    to[k] = static_cast<T>(scale * number(static_cast<std::uint64_t>(k), seed));
}

/// Memory on the GPU: every byte is 0xff at first, which is no number.
template <class T>
class buffer {
 public:
  explicit buffer(std::int64_t count) : count_(count) {
    check(cudaMalloc(&data_, bytes()), "cudaMalloc");
    poison();
  }
  /// Numbers between `-scale` and `scale`.
  buffer(std::int64_t count, std::uint64_t seed, float scale = 1) : buffer(count) {
    fill_kernel<<<4096, threads>>>(data_, count, seed, scale);
    check(cudaGetLastError(), "fill");
    check(cudaDeviceSynchronize(), "fill");
  }
  buffer(buffer&& o) noexcept : data_(std::exchange(o.data_, nullptr)), count_(o.count_) {}
  buffer& operator=(buffer&&) = delete;
  ~buffer() { (void)cudaFree(data_); }

  void poison() {
    check(cudaMemset(data_, 0xff, bytes()), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaMemset");  // the streams here do not wait for it
  }
  T* data() const { return data_; }
  std::int64_t size() const { return count_; }
  std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::int64_t count_;
};

/// Adds up squares of differences, and of what is expected. `pair(k, got, expected)` gives both.
template <class Pair>
__global__ void compare_kernel(std::int64_t n, Pair pair, double* sums) {
  double difference = 0, scale = 0;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n; k += step) {
    double got = 0, expected = 0;
    pair(k, got, expected);
    difference += (got - expected) * (got - expected);
    scale += expected * expected;
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    difference += __shfl_down_sync(0xffffffffu, difference, lanes);
    scale += __shfl_down_sync(0xffffffffu, scale, lanes);
  }
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&sums[0], difference);
  atomicAdd(&sums[1], scale);
}

/// The norm of what is wrong by that of what is expected. What is not a number makes it none.
template <class Pair>
double error_of(std::int64_t n, const Pair& pair) {
  buffer<double> sums(2);
  check(cudaMemset(sums.data(), 0, sums.bytes()), "cudaMemset");
  const std::int64_t blocks = std::min<std::int64_t>(blocks_for(n, threads), 65536);
  compare_kernel<<<static_cast<unsigned>(blocks), threads>>>(n, pair, sums.data());
  check(cudaGetLastError(), "compare");
  double found[2];
  check(cudaMemcpy(found, sums.data(), sizeof found, cudaMemcpyDeviceToHost), "compare");
  return found[1] > 0 ? std::sqrt(found[0] / found[1]) : std::sqrt(found[0]);
}

/// What is measured.
struct row {
  std::string family;  // maps, reductions, rows, matmul, ceiling: which target holds
  std::string name;
  std::string shape;
  double size;       // elements
  double bytes = 0;  // that must be moved: each input read once, each output written once
  double flops = 0;
  double tolerance = 1e-5;  // of the norm of what is wrong
  std::string type = "float32";
  int sets = 1;  // of inputs, one after the other, so that the GPU's cache does not hold them
};

/// So many sets that together they are several times the cache; small data stays in the cache, whoever reads it.
inline int sets_for(double bytes) {
  constexpr double enough = 256e6;
  if (bytes < 4e6 || bytes >= enough) return 1;
  return static_cast<int>(std::min(8.0, std::ceil(enough / bytes)));
}

/// One way of doing a row's work.
struct contestant {
  std::string who;
  std::function<void(cudaStream_t, int set)> launch;
  std::function<double()> error{};  // of the result for set 0; none: there is nothing to compare
  std::string note{};
};

inline std::string quoted(const std::string& s) {
  std::string r = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') r += '\\';
    r += c < ' ' && c >= 0 ? ' ' : c;
  }
  return r + "\"";
}

inline std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", value);
  return text;
}

/// A result, as soon as it is known.
inline void report(const row& r, const std::string& who, double seconds, double low, double high, double error,
                   const std::string& note) {
  std::printf(
      "{\"family\": %s, \"row\": %s, \"shape\": %s, \"type\": %s, \"size\": %.0f, \"bytes\": %.0f, \"flops\": %.0f, "
      "\"sets\": %d, \"who\": %s, \"us\": %.4f, \"low\": %.4f, \"high\": %.4f, \"error\": %s, \"note\": %s}\n",
      quoted(r.family).c_str(), quoted(r.name).c_str(), quoted(r.shape).c_str(), quoted(r.type).c_str(), r.size,
      r.bytes, r.flops, r.sets, quoted(who).c_str(), seconds * 1e6, low * 1e6, high * 1e6,
      error < 0 ? "null" : short_number(error).c_str(), quoted(note).c_str());
  std::fflush(stdout);
}
/// Why something has no result.
inline void report_skip(const row& r, const std::string& who, const std::string& why) {
  std::printf("{\"family\": %s, \"row\": %s, \"shape\": %s, \"type\": %s, \"size\": %.0f, \"who\": %s, \"skip\": %s}\n",
              quoted(r.family).c_str(), quoted(r.name).c_str(), quoted(r.shape).c_str(), quoted(r.type).c_str(), r.size,
              quoted(who).c_str(), quoted(why).c_str());
  std::fflush(stdout);
}

struct stream {
  cudaStream_t it = nullptr;
  stream() { check(cudaStreamCreateWithFlags(&it, cudaStreamNonBlocking), "cudaStreamCreate"); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() { (void)cudaStreamDestroy(it); }
};

/// A stretch of time in a stream.
class stopwatch {
 public:
  stopwatch() {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;
  ~stopwatch() {
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
  }
  template <class Work>
  double seconds(cudaStream_t s, const Work& work) {
    check(cudaEventRecord(begin_, s), "cudaEventRecord");
    work();
    check(cudaEventRecord(end_, s), "cudaEventRecord");
    check(cudaEventSynchronize(end_), "waiting for what is measured");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// Many launches as one graph: nothing but the GPU's own time between them.
class repeated {
 public:
  repeated(const contestant& c, cudaStream_t s, int launches, int sets) : launches_(launches) {
    cudaGraph_t graph = nullptr;
    // Relaxed: a library may ask the driver for something while its call is recorded.
    check(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    try {
      for (int k = 0; k < launches; ++k) c.launch(s, k % sets);
    } catch (...) {
      (void)cudaStreamEndCapture(s, &graph);
      if (graph) (void)cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(s, &graph), "cudaStreamEndCapture");
    const cudaError_t status = cudaGraphInstantiate(&program_, graph, 0);
    (void)cudaGraphDestroy(graph);
    check(status, "cudaGraphInstantiate");
    check(cudaGraphUpload(program_, s), "cudaGraphUpload");
  }
  repeated(repeated&& o) noexcept : program_(std::exchange(o.program_, nullptr)), launches_(o.launches_) {}
  repeated& operator=(repeated&&) = delete;
  ~repeated() {
    if (program_) (void)cudaGraphExecDestroy(program_);
  }
  /// Seconds of one launch.
  double time(stopwatch& watch, cudaStream_t s) const {
    return watch.seconds(s, [&] { check(cudaGraphLaunch(program_, s), "cudaGraphLaunch"); }) / launches_;
  }

 private:
  cudaGraphExec_t program_ = nullptr;
  int launches_;
};

struct times {
  double median, low, high;  // low and high: the quartiles
};
inline times summary(std::vector<double> t) {
  std::sort(t.begin(), t.end());
  return {t[t.size() / 2], t[t.size() / 4], t[t.size() * 3 / 4]};
}

/// Measures the ways in turns. One whose result is wrong is not timed; one that fails is said to. *Returns* the medians
/// in seconds, 0 where there is none.
inline std::vector<double> measure(const row& r, std::vector<contestant>& all, int rounds = 11, bool quiet = false) {
  struct entry {
    contestant* who;
    repeated graph;
    double error;
    std::vector<double> seconds{};
  };
  constexpr double worth = 10e-3;  // seconds of a graph: beside them its launch is nothing
  const stream s;
  stopwatch watch;
  std::vector<entry> entries;
  for (contestant& c : all) {
    try {
      c.launch(s.it, 0);
      check(cudaStreamSynchronize(s.it), c.who.c_str());
      const double error = c.error ? c.error() : -1;
      if (c.error && !(error <= r.tolerance)) {
        report_skip(r, c.who, "the result is wrong by " + short_number(error));
        continue;
      }
      for (int k = 0; k < r.sets; ++k) c.launch(s.it, k);
      const double once = watch.seconds(s.it, [&] {
        for (int k = 0; k < r.sets; ++k) c.launch(s.it, k);
      });
      const int turns = static_cast<int>(std::clamp(worth / std::max(once, 1e-7), 1.0, 1000.0 / r.sets));
      entries.push_back({&c, repeated(c, s.it, turns * r.sets, r.sets), error});
      (void)entries.back().graph.time(watch, s.it);
    } catch (const no_room&) {
      throw;
    } catch (const std::exception& e) {
      report_skip(r, c.who, e.what());
    }
  }
  for (int k = 0; k < rounds; ++k)
    for (entry& e : entries) e.seconds.push_back(e.graph.time(watch, s.it));
  std::vector<double> medians(all.size());
  for (const entry& e : entries) {
    const times t = summary(e.seconds);
    medians[static_cast<std::size_t>(e.who - all.data())] = t.median;
    if (!quiet) report(r, e.who->who, t.median, t.low, t.high, e.error, e.who->note);
  }
  return medians;
}

/// The rows that the command line asks for: those whose family, name, shape and type contain it.
inline std::string wanted_rows;

/// Runs a row; says so where it does not fit into the GPU's memory or cannot be done.
template <class Work>
void attempt(const row& r, const Work& work) {
  if ((r.family + " " + r.name + " " + r.shape + " " + r.type).find(wanted_rows) == std::string::npos) return;
  try {
    work();
  } catch (const no_room& e) {
    report_skip(r, "all", std::string("does not fit into the GPU's memory: ") + e.what());
  } catch (const std::exception& e) {
    report_skip(r, "all", e.what());
  }
}

/// A device-to-device copy that moves as many bytes as a row, read and written together.
class copying {
 public:
  copying(double bytes, int sets) : bytes_(static_cast<std::size_t>(bytes / 2)) {
    for (int k = 0; k < sets; ++k) {
      from_.emplace_back(static_cast<std::int64_t>(bytes_ / 4 + 1), static_cast<std::uint64_t>(90 + k));
      to_.emplace_back(static_cast<std::int64_t>(bytes_ / 4 + 1));
    }
  }
  contestant as_contestant() const {
    return {"copy", [this](cudaStream_t s, int set) {
              const auto k = static_cast<std::size_t>(set);
              check(cudaMemcpyAsync(to_[k].data(), from_[k].data(), bytes_, cudaMemcpyDeviceToDevice, s), "copy");
            }};
  }

 private:
  std::size_t bytes_;
  std::vector<buffer<float>> from_, to_;
};

/// A call of CUB's, with its memory: `call(storage, bytes, stream, set)`.
class cub_call {
 public:
  template <class Call>
  explicit cub_call(Call call) : call_(call) {
    std::size_t bytes = 0;
    check(call_(nullptr, bytes, nullptr, 0), "CUB");
    storage_.emplace_back(static_cast<std::int64_t>(bytes) + 1);
  }
  contestant as_contestant(std::function<double()> error) {
    return {"cub",
            [this](cudaStream_t s, int set) {
              std::size_t bytes = storage_[0].bytes();
              check(call_(storage_[0].data(), bytes, s, set), "CUB");
            },
            std::move(error)};
  }

 private:
  std::function<cudaError_t(void*, std::size_t&, cudaStream_t, int)> call_;
  std::vector<buffer<char>> storage_;
};

/// The main of every program here: says why not where there is no GPU (exit status 77). An argument is a part of the
/// rows to run: `measure_rows "softmax 4096x1024"`, which is what a profiler is given.
inline int on_gpu(int argc, char** argv, void (*run)()) {
  if (argc > 1) wanted_rows = argv[1];
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU: %s\n", status == cudaSuccess ? "none is visible" : cudaGetErrorString(status));
    return 77;
  }
  try {
    run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}

}  // namespace gpu_bench
