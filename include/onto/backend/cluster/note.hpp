// SPDX-License-Identifier: BSL-1.0
// What processes tell each other beside tensors: where they are in which program, and what has gone wrong.
#pragma once

#include <onto/core/error.hpp>
#include <onto/core/message.hpp>

#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Another process has failed, and says why itself.
class other_process_failed final : public error {
 public:
  other_process_failed() : error("[onto.cluster] another process has failed") {}
};

/// What an exception becomes on its way to another process.
enum class failure_kind : std::uint32_t {
  none,
  error,
  invalid_argument,
  failed_precondition,
  resource_exhausted,
  not_found,
  internal,
  elsewhere,  ///< the consequence of another process's failure
};

/// A note, with texts that follow it.
struct process_note {
  std::uint64_t round = 0;    // how often the processes have come together
  std::uint64_t program = 0;  // its hash
  std::int32_t nodes = 0;
  failure_kind failure = failure_kind::none;
  std::int32_t origin = -1;  // of a verdict: whose failure it is
  std::int32_t waited = -1;  // of a process that gave another one up: which
  bool fatal = false;        // nothing can be run together any more
  std::string operation;
  std::string text;  // of the failure
  std::string said;

  bool same_failure(const process_note& o) const { return failure == o.failure && text == o.text; }
};

/// Reads what is being handled. *Preconditions* `e` is not null.
ONTO_COLD ONTO_NOINLINE inline void describe_failure(const std::exception_ptr& e, process_note& n) {
  try {
    std::rethrow_exception(e);
  } catch (const other_process_failed& x) {
    n.failure = failure_kind::elsewhere;
    n.text = x.what();
  } catch (const invalid_argument_error& x) {
    n.failure = failure_kind::invalid_argument;
    n.text = x.what();
  } catch (const failed_precondition_error& x) {
    n.failure = failure_kind::failed_precondition;
    n.text = x.what();
  } catch (const resource_exhausted_error& x) {
    n.failure = failure_kind::resource_exhausted;
    n.text = x.what();
  } catch (const not_found_error& x) {
    n.failure = failure_kind::not_found;
    n.text = x.what();
  } catch (const internal_error& x) {
    n.failure = failure_kind::internal;
    n.text = x.what();
  } catch (const std::bad_alloc&) {
    n.failure = failure_kind::resource_exhausted;
    n.text = "[onto.memory] the system has no memory for what a run keeps on the host; use smaller programs";
  } catch (const std::exception& x) {
    n.failure = failure_kind::error;
    n.text = x.what();
  } catch (...) {
    n.failure = failure_kind::error;
    n.text = "an exception that says nothing";
  }
}

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_failure(const process_note& n) {
  switch (n.failure) {
    case failure_kind::invalid_argument: throw invalid_argument_error(n.text);
    case failure_kind::failed_precondition: throw failed_precondition_error(n.text);
    case failure_kind::resource_exhausted: throw resource_exhausted_error(n.text);
    case failure_kind::not_found: throw not_found_error(n.text);
    case failure_kind::internal: throw internal_error(n.text);
    default: throw error(n.text);
  }
}

namespace wire {

inline constexpr std::uint32_t magic = 0x6f6e746f;  // `onto`
inline constexpr std::uint32_t format = 1;

struct head {
  std::uint32_t magic, format;
  std::uint64_t round, program;
  std::int32_t nodes;
  std::uint32_t failure;
  std::int32_t origin, waited;
  std::uint32_t fatal, operation_bytes, text_bytes, said_bytes;
};

}  // namespace wire

ONTO_NOINLINE inline std::string write_note(const process_note& n) {
  const auto size = [](const std::string& s) { return static_cast<std::uint32_t>(s.size()); };
  const wire::head h{wire::magic,       wire::format, n.round,
                     n.program,         n.nodes,      static_cast<std::uint32_t>(n.failure),
                     n.origin,          n.waited,     n.fatal ? 1u : 0u,
                     size(n.operation), size(n.text), size(n.said)};
  std::string bytes(reinterpret_cast<const char*>(&h), sizeof h);
  return bytes += n.operation, bytes += n.text, bytes += n.said;
}

/// *Returns* false for what is no note of this format: garbage, or of another version.
ONTO_NOINLINE inline bool read_note(std::string_view bytes, process_note& n) {
  wire::head h;
  if (bytes.size() < sizeof h) return false;
  std::memcpy(&h, bytes.data(), sizeof h);
  const std::uint64_t texts = std::uint64_t{h.operation_bytes} + h.text_bytes + h.said_bytes;
  if (h.magic != wire::magic || h.format != wire::format || texts != bytes.size() - sizeof h ||
      h.failure > static_cast<std::uint32_t>(failure_kind::elsewhere))
    return false;
  n.round = h.round;
  n.program = h.program;
  n.nodes = h.nodes;
  n.failure = static_cast<failure_kind>(h.failure);
  n.origin = h.origin;
  n.waited = h.waited;
  n.fatal = h.fatal != 0;
  bytes.remove_prefix(sizeof h);
  n.operation = bytes.substr(0, h.operation_bytes);
  n.text = bytes.substr(h.operation_bytes, h.text_bytes);
  n.said = bytes.substr(std::size_t{h.operation_bytes} + h.text_bytes);
  return true;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
