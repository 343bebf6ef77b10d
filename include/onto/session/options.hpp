// SPDX-License-Identifier: BSL-1.0
// What a session is told when it is made.
#pragma once

#include <onto/core/math_mode.hpp>
#include <onto/core/ref.hpp>
#include <onto/device/task.hpp>
#include <onto/plan/cost_model.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

struct session_options;
class cluster_spec;

namespace detail {
class device;
class trace_sink;
struct memory_limit;

template <class F>
concept takes_lines = std::invocable<const F&, std::string_view>;
}  // namespace detail

/// Where a session's log goes: standard error, a stream, or a callback that is given whole lines without their newline.
class log_sink {
 public:
  /// Standard error.
  log_sink() = default;
  /// A stream, or a pointer to one; it must live as long as the session. Null: no log.
  template <class Traits>
  log_sink(std::basic_ostream<char, Traits>* stream)
      : target_(stream), write_(stream ? &write_stream<Traits> : &write_nothing) {}
  template <class Traits>
  log_sink(std::basic_ostream<char, Traits>& stream) : log_sink(&stream) {}
  log_sink(std::nullptr_t) : write_(&write_nothing) {}
  template <detail::takes_lines F>
  log_sink(F callback) : write_(&write_callback<F>), callback_(new holder<F>(static_cast<F&&>(callback))) {}

  void write(std::string_view line) const { write_(*this, line); }

 private:
  template <class F>
  struct holder : detail::counted {
    explicit holder(F f) : call(static_cast<F&&>(f)) {}
    F call;
  };

  static void write_standard_error(const log_sink&, std::string_view line) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  }
  // A template: programs that have no stream do not read what one is.
  template <class Traits>
  static void write_stream(const log_sink& s, std::string_view line) {
    auto& stream = *static_cast<std::basic_ostream<char, Traits>*>(s.target_);
    stream.write(line.data(), static_cast<std::ptrdiff_t>(line.size()));
    stream.put('\n');
    stream.flush();
  }
  static void write_nothing(const log_sink&, std::string_view) {}
  template <class F>
  static void write_callback(const log_sink& s, std::string_view line) {
    static_cast<const holder<F>*>(s.callback_.get())->call(line);
  }

  void* target_ = nullptr;  // the stream
  void (*write_)(const log_sink&, std::string_view) = &write_standard_error;
  detail::ref<const detail::counted> callback_;
};

/// An option that is on or off, and whether the program said so: what it says stands above the environment.
class toggle {
 public:
  /// Off, and nobody said so.
  constexpr toggle() = default;
  /// What the program says.
  template <std::integral Integer>
  constexpr toggle(Integer on) : on_(on != 0), given_(true) {}

  constexpr operator bool() const { return on_; }
  constexpr bool given() const { return given_; }

 private:
  bool on_ = false;
  bool given_ = false;
};

/// How many GPUs are simulated. Who says a number brings the code of simulated GPUs; other programs have none of it.
class simulated_gpu_count {
 public:
  constexpr simulated_gpu_count() = default;
  template <std::convertible_to<int> Count>
  constexpr simulated_gpu_count(Count count);  // in session/makers.hpp

  constexpr operator int() const { return count_; }
  /// *Preconditions* the number is above 0.
  detail::device* make(int index, int physical, const detail::memory_limit& limit, const cost_model& model) const {
    return make_(index, physical, limit, model);
  }

 private:
  int count_ = 0;
  detail::device* (*make_)(int, int, const detail::memory_limit&, const cost_model&) = nullptr;
};

/// The path of a trace. Who says one brings the code that writes it; other programs have none of it.
class trace_path {
 public:
  trace_path() = default;
  /// Throws nothing: where an option's value does, g++ 12 destroys options that it has not made yet.
  template <std::convertible_to<std::string> Path>
  trace_path(Path&& path) noexcept;  // in session/makers.hpp

  bool empty() const { return path_.empty(); }
  const std::string& path() const { return path_; }
  /// *Preconditions* it is not empty. *Throws* `invalid_argument_error` where the file cannot be written.
  detail::trace_sink* make(const std::string& path) const { return make_(path); }

 private:
  std::string path_;
  detail::trace_sink* (*make_)(const std::string&) = nullptr;
};

namespace detail {
template <class Numbers>
struct gpus_are_listed_as_text {
  using reported = void;
  static constexpr bool ok = sizeof(Numbers) == 0;
  static_assert(ok == true,
                "[onto.option] GPUs are listed as text, numbers with commas: .visible_device_list = \"1,0\"");
};
}  // namespace detail

/// Numbers of GPUs as text, `"1,0"`. A string but for 0, which is no pointer to one, and for lists of numbers.
struct gpu_numbers : std::string {
  gpu_numbers() = default;
  gpu_numbers(const char* text) : std::string(text) {}
  gpu_numbers(std::string text) noexcept : std::string(static_cast<std::string&&>(text)) {}
  template <std::integral Number>
  gpu_numbers(Number) {
    static_cast<void>(static_cast<typename detail::gpus_are_listed_as_text<Number>::reported*>(nullptr));
  }
  template <std::same_as<int> Number>
  gpu_numbers(std::initializer_list<Number>) : gpu_numbers(Number{}) {}
};

/// A part of a GPU's memory as a GPU of its own, with a limit of its own.
struct logical_device {
  int gpu = 0;                    ///< which GPU, counted after visible_device_list
  std::int64_t memory_limit = 0;  ///< bytes; every part has to have them
};

/// What a session takes of the GPUs, real and simulated. An option that can have no effect is an error;
/// but a program is to run unchanged on other machines: limits and growth may be given where there is no GPU, and
/// growth where there is no limit.
struct gpu_options {
  /// Take memory as runs need it. Off: a limit is taken when its GPU is first used, so that it is there when needed.
  /// Where there is no limit nothing is taken beforehand, on or off.
  toggle allow_growth{};
  /// A limit for each GPU: so much of its total memory, above 0 and at most 1. 0: no limit but the GPU's own.
  double per_process_gpu_memory_fraction = 0;
  /// A limit for each GPU, in bytes. 0: no limit but the GPU's own, as for a GPU that has less.
  std::int64_t memory_limit = 0;
  /// The GPUs to use, by the driver's numbers: with `"5,3"` GPU 5 is `gpu<0>` and GPU 3 is `gpu<1>`. Empty: all.
  gpu_numbers visible_device_list{};
  /// Splits GPUs into parts. A GPU with entries here becomes these, in their order; the others stay whole; all are
  /// numbered in order.
  std::vector<logical_device> logical_devices{};
};

namespace detail {

class gpu_list;
class session_runtime;
class simulated_cluster;

/// Finds the GPUs of a backend: one for each, in the order in which they are preferred, and then null.
using gpu_finder = ref<gpu_list> (*)(const session_options& options);

/// Opens sessions of something else than this process's devices.
class session_opener : public counted {
 public:
  /// *Returns* a session, with a reference for the caller.
  virtual session_runtime* open(session_options& options, const gpu_finder* finders) const = 0;
};

template <class T>
concept is_defined = requires {
  sizeof(T);
};

}  // namespace detail

/// The tasks of a cluster inside this process, job by job: `{{"ps", 1}, {"worker", 2}}`; none. Include
/// `<onto/simulated_cluster.hpp>`.
class simulated_jobs {
 public:
  simulated_jobs() = default;
  /// *Throws* `invalid_argument_error`, as `cluster_spec`.
  template <class Cluster = detail::simulated_cluster>
  simulated_jobs(std::initializer_list<cluster_job> jobs) : opener_(make<Cluster>(jobs)) {}
  /// The tasks of a specification.
  template <class Cluster = detail::simulated_cluster>
  simulated_jobs(const cluster_spec& spec) : opener_(make<Cluster>(spec)) {}
  template <std::integral Count>
  simulated_jobs(Count) {
    constexpr bool has_a_job = sizeof(Count) == 0;
    static_assert(has_a_job, "[onto.option] simulated_tasks are of a job; give it a name: {{\"worker\", 4}}");
  }

  /// Tasks that something else opens.
  explicit simulated_jobs(detail::ref<const detail::session_opener> opener)
      : opener_(static_cast<detail::ref<const detail::session_opener>&&>(opener)) {}

  const detail::session_opener* opener() const { return static_cast<const detail::session_opener*>(opener_.get()); }

 private:
  template <class Cluster, class Jobs>
  static const detail::counted* make(const Jobs& jobs) {
    constexpr bool is_there = detail::is_defined<Cluster>;
    static_assert(is_there,
                  "[onto.option] simulated_tasks is a cluster inside this process; #include "
                  "<onto/simulated_cluster.hpp>");
    if constexpr (is_there) return new Cluster(jobs);
    return nullptr;
  }

  detail::ref<const detail::counted> opener_;
};

/// Options of a session.
struct session_options {
  bool allow_soft_placement = false;     ///< where a device or a kernel is missing, use another device and say so
  toggle log_device_placement{};         ///< log where each operation runs, once per program
  log_sink log{};                        ///< where the log goes; standard error
  gpu_options gpu{};                     ///< which GPUs, and how much of their memory
  simulated_gpu_count simulated_gpus{};  ///< adds GPUs made of host memory, for programs and tests on any machine
  simulated_jobs simulated_tasks{};      ///< a cluster of threads: `{{"worker", 4}}`; <onto/simulated_cluster.hpp>
  int cpu_threads = 0;                   ///< threads for CPU kernels; 0: as many as there are cores
  int cpus = 1;                          ///< CPU devices `cpu<0>` and up; they share memory and threads
  cost_model simulation{};               ///< what simulated GPUs cost, in simulated time; unset: nothing
  math_mode math = math_mode::full;      ///< how exact matrix products of floats are on a GPU
  bool tune_matmul = false;    ///< a prepared program tries algorithms for its products on a GPU at its first run
  double timeout = 30;         ///< seconds to wait for another process of a cluster before it is given up
  bool deterministic = false;  ///< sums over tasks of a cluster are in a fixed order: the same bits every time
  trace_path trace{};          ///< path of a trace of every run, for Perfetto or Chrome; empty: none
};

}  // namespace onto

ONTO_END_RUNS_ONCE
