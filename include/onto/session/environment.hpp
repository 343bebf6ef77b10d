// SPDX-License-Identifier: BSL-1.0
// Options from the environment: ONTO_GPU_ALLOW_GROWTH, ONTO_GPU_MEMORY_LIMIT and ONTO_LOG_DEVICE_PLACEMENT. They stand
// above defaults and below what the program says, and each is a line in the session's log.
#pragma once

#include <onto/device/device_name_grammar.hpp>
#include <onto/runtime/memory.hpp>
#include <onto/session/options.hpp>

#include <cstdlib>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Reads `0`, `1`, `true` or `false`, in any case. *Returns* whether it is one of these.
ONTO_COLD ONTO_NOINLINE inline bool parse_switch(std::string_view text, bool& on) {
  on = text == "1" || device_grammar::equal_but_for_case(text, "true");
  return on || text == "0" || device_grammar::equal_but_for_case(text, "false");
}

/// Reads a number of bytes, `1048576` or `1024KiB` or `1MiB` or `2GiB`. *Returns* whether it is one, above 0.
ONTO_COLD ONTO_NOINLINE inline bool parse_bytes(std::string_view text, std::int64_t& bytes) {
  bytes = 0;
  int shift = 0;
  if (text.size() > 3) {
    const std::string_view unit = text.substr(text.size() - 3);
    shift = unit == "KiB" ? 10 : unit == "MiB" ? 20 : unit == "GiB" ? 30 : 0;
    if (shift) text = text.substr(0, text.size() - 3);
  }
  const std::int64_t most = INT64_MAX >> shift;
  for (char c : text) {
    if (!device_grammar::is_ascii_digit(c) || bytes > (most - (c - '0')) / 10) return false;
    bytes = 10 * bytes + (c - '0');
  }
  bytes <<= shift;
  return bytes > 0;
}

/// One variable of the environment: what it says, and what becomes of that.
class environment_variable {
 public:
  explicit environment_variable(const char* name) : name_(name) {
    if (const char* value = std::getenv(name)) value_ = value;
  }
  /// A variable that is empty counts as one that is not there.
  bool is_set() const { return !value_.empty(); }
  std::string_view value() const { return value_; }

  /// *Throws* `invalid_argument_error` for a value that is not `accepted`.
  ONTO_COLD ONTO_NOINLINE bool read_switch() const {
    bool on = false;
    if (!parse_switch(value_, on)) refuse("0, 1, true or false");
    return on;
  }
  ONTO_COLD ONTO_NOINLINE std::int64_t read_bytes() const {
    std::int64_t bytes = 0;
    if (!parse_bytes(value_, bytes)) refuse("a number of bytes above 0, or of KiB, MiB or GiB, as 512MiB is");
    return bytes;
  }

  /// The line of the log. `own` is the program's own option that stands above this one, or null.
  ONTO_COLD ONTO_NOINLINE void say(const log_sink& log, const char* own, std::string_view effect) const {
    message m(name_);
    m << "=" << value_ << ": ";
    if (own)
      m << "no effect, the program's own " << own << " stands";
    else
      m << effect;
    log.write(m.text());
  }

 private:
  [[noreturn]] void refuse(const char* accepted) const {
    fail<invalid_argument_error>(message("[onto.option] the environment's ")
                                 << name_ << " is " << device_grammar::quoted(value_) << "; it is " << accepted
                                 << ", or not set");
  }

  const char* name_;
  std::string_view value_;
};

/// Puts what the environment says into options that the program left open, and says so in the log.
/// *Throws* `invalid_argument_error` for a malformed variable, even where the program's own option stands.
ONTO_COLD ONTO_NOINLINE inline const session_options& apply_environment(session_options& o) {
  gpu_options& gpu = o.gpu;
  if (const environment_variable v("ONTO_GPU_ALLOW_GROWTH"); v.is_set()) {
    const bool on = v.read_switch();
    const bool own = gpu.allow_growth.given();
    if (!own) gpu.allow_growth = on;
    v.say(o.log, own ? "gpu.allow_growth" : nullptr,
          on ? "GPU memory is taken as runs need it" : "a limit of GPU memory is taken when the GPU is first used");
  }
  if (const environment_variable v("ONTO_GPU_MEMORY_LIMIT"); v.is_set()) {
    const std::int64_t bytes = v.read_bytes();
    const char* own = gpu.memory_limit != 0                      ? "gpu.memory_limit"
                      : gpu.per_process_gpu_memory_fraction != 0 ? "gpu.per_process_gpu_memory_fraction"
                      : !gpu.logical_devices.empty()             ? "gpu.logical_devices"
                                                                 : nullptr;
    if (!own) gpu.memory_limit = bytes;
    message effect;
    write_bytes(effect << "each GPU has a limit of ", bytes);
    v.say(o.log, own, effect.text());
  }
  if (const environment_variable v("ONTO_LOG_DEVICE_PLACEMENT"); v.is_set()) {
    const bool on = v.read_switch();
    const bool own = o.log_device_placement.given();
    if (!own) o.log_device_placement = on;
    v.say(o.log, own ? "log_device_placement" : nullptr, on ? "placement is logged" : "placement is not logged");
  }
  return o;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
