// SPDX-License-Identifier: BSL-1.0
// A^n + B^n: the powers on one or two GPUs, the sum on the CPU, with options for all of it. `--help` lists them.
// RUN: --demo --size 96 --n 3
#include <onto/onto.hpp>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace onto;

namespace {

using clock_type = std::chrono::steady_clock;
using matrix = tensor<float, dyn, dyn>;

constexpr int highest_power = 16;

constexpr std::string_view usage = R"(usage: headline [OPTION...]

Computes A^n + B^n for two square matrices: the powers on the devices you name, the sum on the CPU.

  --n N               the power, 1 to 16 (10)
  --size N            rows and columns of the random matrices that are used without --a and --b (1000)
  --a FILE, --b FILE  .npy files with the matrices, float32
  --out FILE          writes the result to an .npy file
  --device NAME       where both powers are computed (/gpu:0)
  --devices NAME,NAME where A^n and where B^n is computed
  --soft, --no-soft   whether another device may stand in for one that is not there (--soft)
  --simulated N       adds N GPUs made of host memory
  --log               prints where each operation runs
  --demo              makes two .npy files, runs on them with --log, and checks the result in double precision
  --help              prints this
)";

// ---- the program ------------------------------------------------------------------------------------------

// [program]
inline constexpr auto a = placeholder<"a", float, dyn, dyn>;
inline constexpr auto b = placeholder<"b", float, dyn, dyn>;

template <int N>
constexpr auto matpow(const auto& m) {
  if constexpr (N == 1)
    return m;
  else
    return matmul(m, matpow<N - 1>(m));
}

/// A^N + B^N. The devices of the powers are known at run time, so they are guards; the sum's is known now.
template <int N>
auto sum_of_powers(const std::string& device_of_a, const std::string& device_of_b) {
  const auto power_on = [](const std::string& device, const auto& m) {
    device_guard scope{device};
    return matpow<N>(m);
  };
  return on<cpu<0>>(add_n(power_on(device_of_a, a), power_on(device_of_b, b)));
}
// [program]

// ---- options ----------------------------------------------------------------------------------------------

struct options {
  int n = 10;
  int size = 1000;
  int simulated = 0;
  std::string a, b, out;
  std::string device_of_a = "/gpu:0", device_of_b = "/gpu:0";
  bool soft = true, log = false, demo = false, help = false;
};

/// A mistake on the command line.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

int parse_number(std::string_view option, std::string_view text, int least, int most) {
  int value = 0;
  const auto [end, reason] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (reason != std::errc() || end != text.data() + text.size() || value < least || value > most)
    throw usage_error(std::string(option) + " takes a number from " + std::to_string(least) + " to " +
                      std::to_string(most) + ", not '" + std::string(text) + "'");
  return value;
}

options parse(const std::vector<std::string_view>& words) {
  options o;
  bool sized = false;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const auto equals = words[k].find('=');
    const std::string_view option = words[k].substr(0, equals);
    const auto value = [&]() -> std::string_view {  // of `--n 3` or `--n=3`
      if (equals != std::string_view::npos) return words[k].substr(equals + 1);
      if (k + 1 == words.size() || words[k + 1].starts_with("--"))
        throw usage_error(std::string(option) + " needs a value");
      return words[++k];
    };
    const auto flag = [&](bool& target, bool to) {
      if (equals != std::string_view::npos) throw usage_error(std::string(option) + " takes no value");
      target = to;
    };
    if (option == "--n") {
      o.n = parse_number(option, value(), 1, highest_power);
    } else if (option == "--size") {
      o.size = parse_number(option, value(), 1, 100000);
      sized = true;
    } else if (option == "--simulated") {
      o.simulated = parse_number(option, value(), 0, 64);
    } else if (option == "--a") {
      o.a = value();
    } else if (option == "--b") {
      o.b = value();
    } else if (option == "--out") {
      o.out = value();
    } else if (option == "--device") {
      o.device_of_a = o.device_of_b = value();
    } else if (option == "--devices") {
      const std::string_view both = value();
      const auto comma = both.find(',');
      if (comma == std::string_view::npos || both.find(',', comma + 1) != std::string_view::npos)
        throw usage_error("--devices takes two names, as in --devices /gpu:0,/gpu:1, not '" + std::string(both) + "'");
      o.device_of_a = both.substr(0, comma);
      o.device_of_b = both.substr(comma + 1);
    } else if (option == "--soft") {
      flag(o.soft, true);
    } else if (option == "--no-soft") {
      flag(o.soft, false);
    } else if (option == "--log") {
      flag(o.log, true);
    } else if (option == "--demo") {
      flag(o.demo, true);
    } else if (option == "--help" || option == "-h") {
      flag(o.help, true);
    } else {
      throw usage_error("there is no option '" + std::string(words[k]) + "'");
    }
  }
  if (o.a.empty() != o.b.empty()) throw usage_error("--a and --b go together");
  if (o.demo && !o.a.empty()) throw usage_error("--demo makes its own matrices; leave out --a and --b");
  if (sized && !o.a.empty()) throw usage_error("--size is for random matrices; with --a and --b the files say it");
  return o;
}

// ---- showing that it runs ---------------------------------------------------------------------------------

/// A line about a run that takes long, on a terminal: how much has been started, how fast, for how long.
class progress {
 public:
  progress(const session& s, int kernels) : session_(s), kernels_(kernels) {
    if (isatty(STDERR_FILENO)) thread_ = std::thread([this] { show(); });
  }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() {
    done_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void show() {
    const auto start = clock_type::now();
    bool shown = false;
    while (!done_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const double elapsed = std::chrono::duration<double>(clock_type::now() - start).count();
      if (elapsed < 1) continue;  // short runs are not commented on
      std::int64_t started = 0;
      for (const device_info& d : session_.devices()) started += session_.statistics(d.name).kernels;
      std::fprintf(stderr, "\r%lld of %d kernels started, %.2f a second, %.0f s elapsed ",
                   static_cast<long long>(started), kernels_, static_cast<double>(started) / elapsed, elapsed);
      shown = true;
    }
    if (shown) std::fprintf(stderr, "\r%70s\r", "");
  }

  const session& session_;
  int kernels_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

/// `0:00:13.816644`
std::string clock_time(clock_type::duration d) {
  const auto all = std::chrono::duration_cast<std::chrono::microseconds>(d).count();
  const auto seconds = all / 1000000;
  char text[64];
  std::snprintf(text, sizeof text, "%lld:%02lld:%02lld.%06lld", static_cast<long long>(seconds / 3600),
                static_cast<long long>(seconds / 60 % 60), static_cast<long long>(seconds % 60),
                static_cast<long long>(all % 1000000));
  return text;
}

/// What computes the matrix products: `GPU`, `CPU`, `simulated GPU`, or several.
std::string where_products_run(const session& sess, const placement_report& report) {
  std::string text;
  for (const placement_entry& node : report.nodes) {
    if (node.operation != "MatMul") continue;
    std::string kind = node.assigned.kind();
    for (const device_info& d : sess.devices())
      if (d.name == node.assigned && d.description.find("simulated") != std::string::npos) kind = "simulated " + kind;
    if (text.find(kind) == std::string::npos) text += (text.empty() ? "" : " and ") + kind;
  }
  return text.empty() ? "CPU" : text;
}

// ---- running it -------------------------------------------------------------------------------------------

template <int N>
matrix compute(const options& o, const matrix& left, const matrix& right) {
  // [run]
  session sess{{.allow_soft_placement = o.soft,
                .log_device_placement = o.log,
                .log = &std::cout,
                .simulated_gpus = o.simulated}};
  const auto sum = sum_of_powers<N>(o.device_of_a, o.device_of_b);
  const std::string where = where_products_run(sess, sess.placement(sum));

  std::optional<progress> line(std::in_place, sess, plan_of(sum).kernels);
  const auto start = clock_type::now();
  matrix result = sess.run(sum, a = left, b = right);
  const auto elapsed = clock_type::now() - start;
  line.reset();
  std::cout << where << " computation time: " << clock_time(elapsed) << '\n';
  // [run]
  return result;
}

/// `compute<n>`, for n that is known at run time: every power is compiled.
matrix compute(const options& o, const matrix& left, const matrix& right) {
  return [&]<int... N>(std::integer_sequence<int, N...>) {
    using function = matrix (*)(const options&, const matrix&, const matrix&);
    constexpr function powers[] = {&compute<N + 1>...};
    return powers[o.n - 1](o, left, right);
  }
  (std::make_integer_sequence<int, highest_power>{});
}

/// Numbers of [0, 2 / size): the rows add up to about 1, so that powers neither grow nor vanish.
matrix random_matrix(int size, unsigned seed) {
  matrix m({size, size});
  std::mt19937 bits(seed);
  for (float& x : m) x = static_cast<float>(bits() >> 8) * 0x1p-24f * 2.0f / static_cast<float>(size);
  return m;
}

// ---- the demonstration ------------------------------------------------------------------------------------

/// Row `row` of m^n, in double precision: plain loops that share nothing with onto.
std::vector<double> row_of_power(const matrix& m, int n, int row) {
  const auto size = static_cast<std::size_t>(m.shape()[0]);
  const float* values = m.data();
  std::vector<double> v(values + static_cast<std::size_t>(row) * size,
                        values + static_cast<std::size_t>(row + 1) * size);
  for (int k = 1; k < n; ++k) {
    std::vector<double> next(size);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) next[j] += v[i] * static_cast<double>(values[i * size + j]);
    v = std::move(next);
  }
  return v;
}

/// Compares rows of the result, spread evenly, with double precision; as many as a second or two allow.
bool check(const options& o, const matrix& left, const matrix& right, const matrix& result) {
  const int size = result.shape()[0];
  const double cost_of_row = 4.0 * o.n * size * size;
  const int rows = static_cast<int>(std::clamp(1e9 / cost_of_row, 1.0, static_cast<double>(size)));
  double worst = 0;
  for (int k = 0; k < rows; ++k) {
    const int row = static_cast<int>(static_cast<std::int64_t>(k) * size / rows);
    const std::vector<double> x = row_of_power(left, o.n, row), y = row_of_power(right, o.n, row);
    for (int j = 0; j < size; ++j) {
      const double wanted = x[static_cast<std::size_t>(j)] + y[static_cast<std::size_t>(j)];
      const double error = std::abs(static_cast<double>(result(row, j)) - wanted) / std::abs(wanted);
      worst = error > worst || std::isnan(error) ? error : worst;
    }
  }
  // The numbers are positive: each of the n steps loses at most size roundings of a float.
  const double limit = o.n * static_cast<double>(size) * 0x1p-24;
  const bool good = worst <= limit;
  std::printf("check: %d of %d rows against double precision: largest relative error %.2e, %s the limit %.2e\n", rows,
              size, worst, good ? "within" : "ABOVE", limit);
  return good;
}

/// A folder for files that are gone when the program ends.
struct temporary_folder {
  std::filesystem::path path;
  temporary_folder() {
    const auto parent = std::filesystem::temp_directory_path();
    std::random_device bits;
    do path = parent / ("onto-demo-" + std::to_string(bits()));
    while (!std::filesystem::create_directory(path));
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

int run(options o) {
  std::optional<temporary_folder> folder;
  if (o.demo) {
    folder.emplace();
    o.a = (folder->path / "a.npy").string();
    o.b = (folder->path / "b.npy").string();
    o.log = true;
    save_npy(o.a, random_matrix(o.size, 1));
    save_npy(o.b, random_matrix(o.size, 2));
    std::cout << "A: " << o.a << "\nB: " << o.b << "\nA^" << o.n << " + B^" << o.n << " with " << o.size
              << " rows and columns\n\n";
  }
  const bool from_files = !o.a.empty();
  const matrix left = from_files ? load_npy<float, dyn, dyn>(o.a) : random_matrix(o.size, 1);
  const matrix right = from_files ? load_npy<float, dyn, dyn>(o.b) : random_matrix(o.size, 2);

  const matrix result = compute(o, left, right);
  if (!o.out.empty()) save_npy(o.out, result);
  return o.demo && !check(o, left, right, result) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const options o = parse(std::vector<std::string_view>(argv + 1, argv + argc));
    if (o.help) {
      std::cout << usage;
      return 0;
    }
    return run(o);
  } catch (const usage_error& e) {
    std::cerr << "headline: " << e.what() << "; headline --help lists the options\n";
    return 2;
  } catch (const std::exception& e) {
    std::cerr << "headline: " << e.what() << '\n';
    return 1;
  }
}
