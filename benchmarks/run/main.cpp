// SPDX-License-Identifier: BSL-1.0
// The running time of onto beside hand-written loops and other libraries: `case/size/threads/peer`.
// benchmarks/run/measure.py runs this program, interleaves the repetitions and makes the table. BENCH_MODE is table or
// sweep, BENCH_FILTER a regular expression, BENCH_THREADS, BENCH_MIN_TIME and BENCH_REPETITIONS what they say;
// BENCH_CHECK=0 leaves results unchecked.
#include "bench.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <regex>
#include <set>
#include <thread>

#include <sched.h>

namespace bench {

namespace {

bool sweeping() {
  const char* mode = std::getenv("BENCH_MODE");
  return mode && std::string(mode) == "sweep";
}

double number_of(const char* variable, double otherwise) {
  const char* const text = std::getenv(variable);
  return text ? std::atof(text) : otherwise;
}

std::string label(double n) {
  const int power = static_cast<int>(std::floor(std::log10(n) + 1e-9));
  const long lead = std::lround(n / std::pow(10.0, power));
  return std::to_string(lead) + 'e' + std::to_string(power);
}

#if defined(__AVX512F__)
constexpr int fma_lanes = 12 * 16;
#else
constexpr int fma_lanes = 12 * 8;
#endif

struct cost {
  double bytes, flops;  // for an element of the result
};

/// Rows of about 10, 100 and 1000, squares, or vectors of 1e3, 1e5 and 1e7 elements.
std::vector<problem> elements(const std::string& name, cost c, const std::string& form = "vector") {
  std::vector<problem> list;
  std::vector<double> sizes{1e3, 1e5, 1e7};
  if (sweeping()) {
    sizes.clear();
    for (int power = 2; power <= 7; ++power)
      for (const double lead : {1.0, 3.0}) sizes.push_back(lead * std::pow(10.0, power));
    sizes.push_back(1e8);
  }
  for (const double size : sizes) {
    problem p{.name = name, .size = label(size)};
    p.cols = static_cast<std::int64_t>(size);
    if (form == "rows") {
      p.cols = size < 1e4 ? 100 : 1000;
      p.rows = static_cast<std::int64_t>(size) / p.cols;
    } else if (form == "square") {
      p.rows = p.cols = static_cast<std::int64_t>(std::sqrt(size));
    }
    const double n = static_cast<double>(p.n());
    p.bytes = c.bytes * n;
    p.flops = c.flops * n;
    list.push_back(p);
  }
  return list;
}

std::vector<problem> rows_of_1024(const std::string& name, cost c) {
  std::vector<problem> list;
  std::vector<std::int64_t> rows{64, 4096};
  if (sweeping()) rows = {1, 4, 16, 64, 256, 1024, 4096, 16384, 65536};
  for (const std::int64_t r : rows) {
    problem p{.name = name, .size = std::to_string(r) + "x1024", .rows = r, .cols = 1024};
    p.bytes = c.bytes * static_cast<double>(p.n());
    p.flops = c.flops * static_cast<double>(p.n());
    list.push_back(p);
  }
  return list;
}

std::vector<problem> products(const std::string& name, std::vector<std::int64_t> sizes, double count = 1) {
  std::vector<problem> list;
  if (sweeping() && name == "matmul") sizes = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  for (const std::int64_t s : sizes) {
    problem p{.name = name, .size = std::to_string(s), .rows = s, .cols = s};
    const double n = static_cast<double>(s);
    p.bytes = 12 * n * n * count;
    p.flops = 2 * n * n * n * count;
    list.push_back(p);
  }
  return list;
}

std::vector<problem> one(const std::string& name, const std::string& size, std::int64_t rows, std::int64_t cols,
                         double bytes, double flops) {
  problem p{.name = name, .size = size, .rows = rows, .cols = cols};
  p.bytes = bytes;
  p.flops = flops;
  return {p};
}

std::map<std::string, std::vector<problem>> make_cases() {
  std::map<std::string, std::vector<problem>> cases;
  const auto put = [&](std::vector<problem> list) {
    if (sweeping() &&
        !std::set<std::string>{"triad", "chain", "sqdiff", "softmax", "matmul", "limit_triad", "limit_fma"}.count(
            list.front().name))
      list.clear();
    if (!list.empty()) cases[list.front().name] = list;
  };
  put(elements("triad", {12, 2}));
  put(elements("chain", {20, 9}));
  put(elements("exp", {8, 1}));
  put(elements("tanh", {8, 1}));
  put(elements("gelu", {8, 9}));
  put(elements("sqdiff", {8, 3}));
  put(elements("argmax", {4, 1}));
  put(elements("rowadd", {8, 2}, "rows"));
  put(elements("transposed", {12, 1}, "square"));
  put(elements("sliced", {16, 1}, "rows"));
  put(rows_of_1024("softmax", {8, 5}));
  put(rows_of_1024("layernorm", {8, 8}));
  put(products("matmul", {64, 128, 256, 512, 1024, 2048}));
  for (const char* name : {"matmul_tn", "matmul_nt", "matmul_tt", "matmul_bias_relu"})
    put(products(name, {64, 256, 1024}));
  put(products("headline", {512, 1024}, 18));
  put(one("perceptron", "256x784", 256, 10, 4.0 * (784 * 512 + 512 * 512 + 512 * 10 + 256 * 784),
          2.0 * 256 * (784 * 512 + 512 * 512 + 512 * 10)));
  put(one("tiny_triad", "8", 1, 8, 96, 16));
  put(one("tiny_matmul", "4x4", 4, 4, 256, 3 * 128));
  put(elements("limit_triad", {12, 2}));
  put(one("limit_fma", "1", 1, 1, 0, 2.0 * fma_lanes * 1e5));
  for (auto& [name, list] : cases)
    for (problem& p : list) {
      if (name == "headline") p.tolerance = 1e-3;
      if (name == "perceptron") p.tolerance = 1e-2;  // its last logits are in the thousands
    }
  return cases;
}

/// Memory of its own pages, huge ones where there are, that starts `shift` lines of the cache into a page: arrays that
/// all start at one offset would disturb each other's loads and stores.
struct buffer {
  float* data = nullptr;
  std::int64_t capacity = 0;

  void reserve(std::int64_t count, int shift) {
    if (count <= capacity) return;
    constexpr std::size_t huge = std::size_t{1} << 21;
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(float) + 65536 + huge) / huge * huge;
    void* block = std::aligned_alloc(huge, bytes);
    if (!block) std::abort();
    madvise(block, bytes, MADV_HUGEPAGE);
    std::memset(block, 0, bytes);
    data = static_cast<float*>(block) + shift * 16;
    capacity = count;
  }
};

std::map<std::string, std::function<std::vector<float>(const problem&)>>& references() {
  static std::map<std::string, std::function<std::vector<float>(const problem&)>> all;
  return all;
}
std::vector<void (*)(int)>& setters() {
  static std::vector<void (*)(int)> all;
  return all;
}
std::vector<void (*)()>& peers() {
  static std::vector<void (*)()> all;
  return all;
}
std::regex filter(".");

}  // namespace

peer::peer(void (*register_cases)()) { peers().push_back(register_cases); }

const std::vector<problem>& problems_of(const std::string& name) {
  static std::map<std::string, std::vector<problem>> cases = make_cases();
  return cases[name];
}

int all_threads() {
  static const int count = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    const int free = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    // OpenMP binds the first thread before main begins where it binds threads at all.
    return static_cast<int>(number_of("BENCH_THREADS", free));
  }();
  return count;
}

std::vector<int> thread_counts(const problem& p) {
  std::vector<int> counts{1};
  if (p.name.starts_with("tiny")) return counts;
  if (sweeping())
    for (int t = 2; t < all_threads(); t *= 2) counts.push_back(t);
  if (all_threads() > 1) counts.push_back(all_threads());
  return counts;
}

const float* input(int k, std::int64_t count) {
  static buffer all[8];
  buffer& b = all[k];
  if (count > b.capacity) {
    b.reserve(count, 13 * (k + 1));
    std::uint32_t state = 12345u + 977u * static_cast<std::uint32_t>(k);
    for (std::int64_t i = 0; i < count; ++i) {
      state = state * 1664525u + 1013904223u;
      b.data[i] = static_cast<float>(state >> 8) * (1.998f / 16777216.0f) - 0.999f;
    }
  }
  return b.data;
}

float* output(std::int64_t count) {
  static buffer b;
  b.reserve(count, 5);
  return b.data;
}

float* scratch(int k, std::int64_t count) {
  static buffer all[8];
  all[k].reserve(count, 7 + 11 * k);
  return all[k].data;
}

void on_threads(void (*set)(int)) { setters().push_back(set); }

void say_version(const std::string& peer, const std::string& version) {
  benchmark::AddCustomContext("version_" + peer, version);
}

void reference(const std::string& name, std::function<std::vector<float>(const problem&)> make) {
  references()[name] = std::move(make);
}

void settle(const problem& p, const std::string& peer) {
  static double pause = 0;
  static std::string before;
  // OpenMP's threads wait busily for up to 20 ms after their work, OpenBLAS' for 30. They would take a core from the
  // next.
  const std::string now = peer + '/' + p.key() + '/' + std::to_string(p.threads);
  if (now == before) return;
  for (const auto set : setters()) set(p.threads);
  std::this_thread::sleep_for(std::chrono::duration<double>(pause));
  before = now;
  pause = p.threads == 1 ? 0 : 0.035;
}

double least_time() { return number_of("BENCH_MIN_TIME", 0.015); }

int repetitions(const problem& p) {
  const int wanted = static_cast<int>(number_of("BENCH_REPETITIONS", 9));
  return p.flops > 1.5e9 ? (wanted + 1) / 2 : wanted;
}

bool to_be_checked(const problem& p, const std::string& peer) {
  static const bool wanted = number_of("BENCH_CHECK", 1) != 0;
  static std::set<std::string> done;
  if (!wanted) return false;
  return done.insert(p.key() + '/' + std::to_string(p.threads) + '/' + peer).second;
}

std::int64_t result_count(const problem& p) {
  if (p.name == "sqdiff" || p.name == "argmax") return 1;
  return p.n();
}

double tolerance_of(const problem& p, const std::string& peer) {
  if (p.name != "sqdiff") return p.tolerance;
  if (peer == "onto") return 1e-6;
  if (peer == "hand") return 1e-3;   // its largest loss, 8e-4, is that of 1e8 elements
  if (peer == "torch") return 1e-2;  // 6e-3
  if (peer == "armadillo" || peer == "xtensor")
    return p.n() > 50000000 ? 0.5 : 0.05;  // 0.014 of 1e7, then 0.12 and 0.28
  return p.tolerance;
}

std::string check(const problem& p, const std::string& peer, const std::vector<float>& result) {
  if (p.name.starts_with("limit")) return "";
  static std::string key;
  static std::vector<float> wanted;
  const auto make = references().find(p.name);
  if (make == references().end()) return "there is no reference of " + p.name;
  if (key != p.key()) {
    wanted = make->second(p);
    key = p.key();
  }
  if (result.size() != wanted.size())
    return peer + " gave " + std::to_string(result.size()) + " values, not " + std::to_string(wanted.size());
  const double tolerance = tolerance_of(p, peer);
  double squares = 0;
  for (const float w : wanted) squares += static_cast<double>(w) * w;
  const double scale = std::sqrt(squares / static_cast<double>(wanted.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!(std::abs(static_cast<double>(result[i]) - wanted[i]) <= tolerance * (scale + std::abs(wanted[i]))))
      return peer + " is wrong: element " + std::to_string(i) + " is " + std::to_string(result[i]) + ", not " +
             std::to_string(wanted[i]);
  return "";
}

void give_up(const std::string& why) {
  std::fprintf(stderr, "bench_run: %s\n", why.c_str());
  std::exit(1);
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool selected(const std::string& full_name) { return std::regex_search(full_name, filter); }

}  // namespace bench

int main(int argc, char** argv) {
  // Only what is asked for is registered: Google Benchmark would sort the rest out, at every start.
  if (const char* wanted = std::getenv("BENCH_FILTER")) bench::filter = std::regex(wanted);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  for (const auto register_cases : bench::peers()) register_cases();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
