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

enum class note_kind : std::uint32_t {
  agreement,  ///< a process has come to a point of a program; or the answer to that
  question,   ///< of the first process: for whom do you wait?
  farewell,   ///< a session has ended
  end,        ///< nothing can be run together any more; or whoever waits says for whom
};

/// A note, with texts that follow it.
struct process_note {
  note_kind kind = note_kind::agreement;
  std::uint64_t round = 0;    // how often the processes have come together
  std::uint64_t program = 0;  // its hash
  std::int32_t nodes = 0;
  failure_kind failure = failure_kind::none;
  std::int32_t origin = -1;  // whose failure it is
  std::int32_t waited = -1;  // of a process that waits for another one: for which
  std::int32_t other = -1;   // of several tasks: the first one that runs something else than the first of them
  std::int32_t other_nodes = 0;
  bool alike = true;  // of several tasks: all have the same failure, or none
  std::string operation;
  std::string text;  // of the failure
  std::string said;  // task by task
  std::string other_operation;

  bool is_fatal() const { return kind == note_kind::farewell || kind == note_kind::end; }
  bool same_failure(const process_note& o) const { return failure == o.failure && text == o.text; }

  /// Makes the note of some tasks that of more of them. `n`: of `first` and tasks that follow it, where `first` follows
  /// those of this note. What is put together in any way that keeps the order is the same.
  void add(const process_note& n, int first) {
    if (other < 0 && (n.program != program || n.round != round)) {
      other = first;
      other_nodes = n.nodes;
      other_operation = n.operation;
    } else if (other < 0) {
      other = n.other;
      other_nodes = n.other_nodes;
      other_operation = n.other_operation;
    }
    alike = alike && n.alike && same_failure(n);
    // The first failure counts, and before all what is not the consequence of another one.
    if ((failure == failure_kind::none || failure == failure_kind::elsewhere) && n.failure != failure_kind::none) {
      failure = n.failure;
      text = n.text;
      origin = n.origin;
    }
    said += n.said;
  }
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
inline constexpr std::uint32_t format = 2;

struct head {
  std::uint32_t magic, format;
  std::uint64_t round, program;
  std::uint32_t kind, failure;
  std::int32_t nodes, origin, waited, other, other_nodes;
  std::uint32_t alike, operation_bytes, text_bytes, said_bytes, other_operation_bytes;
};

}  // namespace wire

ONTO_NOINLINE inline std::string write_note(const process_note& n) {
  const auto size = [](const std::string& s) { return static_cast<std::uint32_t>(s.size()); };
  const wire::head h{wire::magic,
                     wire::format,
                     n.round,
                     n.program,
                     static_cast<std::uint32_t>(n.kind),
                     static_cast<std::uint32_t>(n.failure),
                     n.nodes,
                     n.origin,
                     n.waited,
                     n.other,
                     n.other_nodes,
                     n.alike ? 1u : 0u,
                     size(n.operation),
                     size(n.text),
                     size(n.said),
                     size(n.other_operation)};
  std::string bytes(reinterpret_cast<const char*>(&h), sizeof h);
  return bytes += n.operation, bytes += n.text, bytes += n.said, bytes += n.other_operation;
}

/// *Returns* false for what is no note of this format: garbage, or of another version.
ONTO_NOINLINE inline bool read_note(std::string_view bytes, process_note& n) {
  wire::head h;
  if (bytes.size() < sizeof h) return false;
  std::memcpy(&h, bytes.data(), sizeof h);
  const std::uint64_t texts = std::uint64_t{h.operation_bytes} + h.text_bytes + h.said_bytes + h.other_operation_bytes;
  if (h.magic != wire::magic || h.format != wire::format || texts != bytes.size() - sizeof h ||
      h.kind > static_cast<std::uint32_t>(note_kind::end) ||
      h.failure > static_cast<std::uint32_t>(failure_kind::elsewhere))
    return false;
  n.kind = static_cast<note_kind>(h.kind);
  n.round = h.round;
  n.program = h.program;
  n.failure = static_cast<failure_kind>(h.failure);
  n.nodes = h.nodes;
  n.origin = h.origin;
  n.waited = h.waited;
  n.other = h.other;
  n.other_nodes = h.other_nodes;
  n.alike = h.alike != 0;
  bytes.remove_prefix(sizeof h);
  const auto next = [&](std::uint32_t size) {
    const std::string_view text = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return std::string(text);
  };
  n.operation = next(h.operation_bytes);
  n.text = next(h.text_bytes);
  n.said = next(h.said_bytes);
  n.other_operation = next(h.other_operation_bytes);
  return true;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
