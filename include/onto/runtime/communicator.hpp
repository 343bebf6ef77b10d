// SPDX-License-Identifier: BSL-1.0
// Devices of several tasks that copy values to each other and add them up without the hosts. A backend answers by
// deriving.
#pragma once

#include <onto/core/ref.hpp>
#include <onto/runtime/process_group.hpp>

#include <string>

namespace onto::detail {

/// What some tasks do together, as one of their devices has it.
struct direct_part {
  const collective_part& what;  // a transfer: the first task sends, the second receives
  const int* rank;              // in the communicator; per task of `what`
  int own;                      // which of these tasks has the device
};

/// One device of each of some tasks. All of them make the same calls in the same order, and nothing blocks. *Throws*
/// `internal_error` where the library or the device fails: then it is over.
class communicator : public counted {
 public:
  /// Does a part in the stream `out`, whether the run has failed or not: its values are one call.
  virtual void begin(const work& w, const direct_part& part) = 0;
  /// Whether what was called before is in the stream, or has been set up: nothing else is called until then.
  virtual bool is_ready() = 0;
  /// Remembers the end of the stream. *Preconditions* it is ready.
  virtual void mark() = 0;
  /// Whether the stream is past that.
  virtual bool is_done() = 0;
  /// Gives up what is under way: it is over soon, with values that are nothing. Nothing is called afterwards.
  virtual void abort() noexcept = 0;
};

/// What a device has to make one.
struct communicators {
  /// The words by which the device is known on its machine, whatever process asks.
  std::string (*hardware)(const device& d);
  /// What the first task says to the others, `id_bytes` of it.
  std::string (*make_id)(device& d);
  std::int64_t id_bytes;
  /// Begins to make one, which is ready when all tasks have come. The device has it, too, and gives it up when it goes.
  ref<communicator> (*join)(device& d, const std::string& id, int tasks, int rank);
};

}  // namespace onto::detail
