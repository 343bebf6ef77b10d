// SPDX-License-Identifier: BSL-1.0
// What carries messages between the processes of a cluster, as everything above it sees it: nothing here blocks.
#pragma once

#include <onto/core/element.hpp>
#include <onto/core/ref.hpp>

#include <cstdint>

namespace onto::detail {

/// A message under way. It may be let go of when it is done or cancelled.
class pending_message : public counted {
 public:
  /// Whether it has left, or has come: then `bytes` are those that came.
  virtual bool is_done(std::int64_t& bytes) = 0;
  /// Gives a message up that was to come, so that its memory can go.
  virtual void cancel() noexcept = 0;
};

/// The ways from this process to the others, which are numbers. Messages of one tag between two processes come in the
/// order in which they were sent; a tensor has a tag that no other one has that is under way. One thread at a time
/// calls it. *Throws* `internal_error` where the system fails.
class transport : public counted {
 public:
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// `data` must stay until the message is done.
  virtual ref<pending_message> send(int to, int tag, const void* data, std::int64_t bytes) = 0;
  /// Room for `most` bytes; an empty message may come instead.
  virtual ref<pending_message> receive(int from, int tag, void* data, std::int64_t most) = 0;
  /// Whether a message of that tag is there that nobody has asked for, and from whom. `from` -1: from anyone.
  virtual bool probe(int from, int tag, int& source, std::int64_t& bytes) = 0;
  /// Adds up what all processes give, in any order, where the system has something for that; all call it in one order.
  /// *Returns* null where it has not.
  virtual ref<pending_message> all_reduce(element type, const void* from, void* to, std::int64_t count) {
    (void)type;
    (void)from;
    (void)to;
    (void)count;
    return {};
  }
};

}  // namespace onto::detail
