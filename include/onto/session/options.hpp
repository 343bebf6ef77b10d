// SPDX-License-Identifier: BSL-1.0
// What a session is told when it is made.
#pragma once

#include <onto/core/ref.hpp>

#include <concepts>
#include <cstdio>
#include <iosfwd>
#include <ostream>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// Where a session's log goes: standard error, a stream, or a callback that is given whole lines without their newline.
class log_sink {
 public:
  /// Standard error.
  log_sink() = default;
  /// A stream; it must live as long as the session. Null: no log.
  log_sink(std::ostream* stream) : target_(stream), write_(&write_stream) {}
  template <class F>
    requires std::invocable<const F&, std::string_view> log_sink(F callback)
        : write_(&write_callback<F>), callback_(new holder<F>(static_cast<F&&>(callback))) {}

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
    static void write_stream(const log_sink& s, std::string_view line) {
      if (!s.target_) return;
      s.target_->write(line.data(), static_cast<std::streamsize>(line.size()));
      s.target_->put('\n');
      s.target_->flush();
    }
    template <class F>
    static void write_callback(const log_sink& s, std::string_view line) {
      static_cast<const holder<F>*>(s.callback_.get())->call(line);
    }

    std::ostream* target_ = nullptr;
    void (*write_)(const log_sink&, std::string_view) = &write_standard_error;
    detail::ref<const detail::counted> callback_;
};

/// Options of a session.
struct session_options {
  bool allow_soft_placement = false;  ///< where a device or a kernel is missing, use another device and say so
  bool log_device_placement = false;  ///< log where each operation runs, once per program
  log_sink log{};                     ///< where the log goes; standard error
  int simulated_gpus = 0;             ///< adds GPUs made of host memory, for programs and tests on any machine
  int cpu_threads = 0;                ///< threads for CPU kernels; 0: as many as there are cores
};

}  // namespace onto

ONTO_END_RUNS_ONCE
