// SPDX-License-Identifier: BSL-1.0
// What a session is told when it is made.
#pragma once

#include <onto/core/config.hpp>

#include <concepts>
#include <iosfwd>
#include <memory>
#include <ostream>
#include <string_view>

namespace onto {

/// Where a session's log goes: standard error, a stream, or a callback that is given whole lines without their newline.
class log_sink {
 public:
  /// Standard error.
  log_sink() = default;
  /// A stream; it must live as long as the session. Null: no log.
  log_sink(std::ostream* stream) : stream_(stream), standard_error_(false) {}
  template <class F>
    requires std::invocable<const F&, std::string_view>
  log_sink(F callback) : standard_error_(false), callback_(std::make_shared<holder<F>>(static_cast<F&&>(callback))) {}

  void write(std::string_view line) const;

 private:
  struct base {
    virtual ~base() = default;
    virtual void call(std::string_view) const = 0;
  };
  template <class F>
  struct holder : base {
    explicit holder(F f) : f_(static_cast<F&&>(f)) {}
    void call(std::string_view line) const override { f_(line); }
    F f_;
  };

  std::ostream* stream_ = nullptr;
  bool standard_error_ = true;
  std::shared_ptr<const base> callback_;
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
