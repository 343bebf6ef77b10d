// SPDX-License-Identifier: BSL-1.0
// What carries messages between the processes of a cluster, as everything above it sees it: nothing here blocks.
#pragma once

#include <onto/core/element.hpp>
#include <onto/core/ref.hpp>

#include <cstdint>
#include <vector>

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
  /// Whether `send` and `receive` take the memory of GPUs of CUDA's. What was issued to these must be done before.
  virtual bool takes_cuda_memory() const { return false; }

  // What all processes do together, where the system has something of its own for that; all call these in one order.
  // They return null where it has not: it is made of messages then.

  /// Adds up what all give, in any order.
  virtual ref<pending_message> all_reduce(element, const void* /*from*/, void* /*to*/, std::int64_t /*count*/) {
    return {};
  }
  /// The same, of which process k gets the next `counts[k]` elements.
  virtual ref<pending_message> reduce_scatter(element, const void* /*from*/, void* /*to*/,
                                              const std::vector<std::int64_t>& /*counts*/) {
    return {};
  }
  /// All get the `bytes[k]` of process k, behind those of the processes before it, where that one has them already.
  virtual ref<pending_message> all_gather(void* /*data*/, const std::vector<std::int64_t>& /*bytes*/) { return {}; }
  /// All get what process `root` has.
  virtual ref<pending_message> broadcast(int /*root*/, void* /*data*/, std::int64_t /*bytes*/) { return {}; }
};

}  // namespace onto::detail
