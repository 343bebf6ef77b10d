// SPDX-License-Identifier: BSL-1.0
// Devices of several tasks that add up values without the hosts. A backend answers by deriving.
#pragma once

#include <onto/core/element.hpp>
#include <onto/core/ref.hpp>
#include <onto/runtime/process_group.hpp>

#include <string>

namespace onto::detail {

/// One device of each of some tasks. All of them make the same calls in the same order, and nothing blocks. *Throws*
/// `internal_error` where the library or the device fails: then it is over.
class communicator : public counted {
 public:
  /// Adds up what all devices give, in the stream `out`, whether the run has failed or not: the values are one call.
  virtual void all_reduce(const work& w, element type, const shared_value* values, int count) = 0;
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
  /// Whether it adds up elements of a type over so many tasks as well as the hosts do.
  bool (*adds)(element type, int tasks);
  /// The words by which the device is known on its machine, whatever process asks.
  std::string (*hardware)(const device& d);
  /// What the first task says to the others, `id_bytes` of it.
  std::string (*make_id)(device& d);
  std::int64_t id_bytes;
  /// Begins to make one, which is ready when all tasks have come. The device has it, too, and gives it up when it goes.
  ref<communicator> (*join)(device& d, const std::string& id, int tasks, int rank);
};

}  // namespace onto::detail
