// SPDX-License-Identifier: BSL-1.0
// Carries values between the host of the first process and the devices of all, one after the other.
#pragma once

#include <onto/runtime/process_group.hpp>
#include <onto/session/feeds.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// All processes carry the same values in the same order. After a failure they go on, with empty messages, so that
/// nobody waits for what does not come.
class value_carrier {
 public:
  explicit value_carrier(const device_list& devices)
      : devices_(devices),
        here_(devices.here()),
        first_(host_of(devices.places()[0])),
        is_first_(same_task(first_, here_)) {}
  value_carrier(const value_carrier&) = delete;
  value_carrier& operator=(const value_carrier&) = delete;
  ~value_carrier() { std::free(staging_); }

 protected:
  device& device_at(const place& p) const { return devices_[devices_.index_of(p)]; }
  bool is_mine(const device& d) const { return same_task(d.where(), here_); }

  /// For values of a device or process that the host only passes on. All is wanted before it is made.
  void want_staging(std::int64_t bytes) {
    if (bytes > staging_bytes_) staging_bytes_ = bytes;
  }
  void make_staging() {
    if (staging_bytes_ == 0) return;
    staging_ = std::malloc(static_cast<std::size_t>(staging_bytes_));
    if (!staging_) throw_no_host_memory();
  }

  /// Copies between the host and a device, and waits. A device of another process waits, too: after a failure its
  /// message is empty.
  void copy(device& d, stream_kind stream, const void* from, void* to, std::int64_t bytes, std::string_view name) {
    if (bytes == 0 || (progress_.failed() && is_mine(d))) return;
    const work_label label{name, "checkpoint", bytes, 0};
    host_slot slot{stream == stream_kind::in ? const_cast<void*>(from) : to};
    try {
      const ref<device_event> end = d.make_event();
      if (stream == stream_kind::in)
        d.copy_in({progress_, label}, to, slot, bytes);
      else
        d.copy_out({progress_, label}, slot, from, bytes);
      if (end) {
        d.record(progress_, stream, *end);
        end->wait();
      }
    } catch (...) {
      progress_.fail(named_failure(label, d.where()));
    }
    if (progress_.failed() && is_mine(d)) d.finish(stream);
  }

  /// Brings values of a device to the first process. *Returns* where they are there, until the next call.
  const void* collect(device& from, const void* values, std::int64_t bytes, std::string_view name) {
    if (!is_first_ && !is_mine(from)) return nullptr;
    if (!from.is_host()) {
      copy(from, stream_kind::out, values, staging_, bytes, name);
      values = staging_;
    }
    if (!is_first_) copy(device_at(first_), stream_kind::in, values, nullptr, bytes, name);
    return values;
  }

  /// Brings values from the first process's host to a block of any process. All processes call it.
  void deliver(const void* from, const device_block& block, std::int64_t bytes, std::string_view name) {
    device& to = device_at(block.owner().where());
    if (!is_first_ && !is_mine(to)) return;
    if (!is_first_) {
      void* const into = to.is_host() ? block.data() : staging_;
      copy(device_at(first_), stream_kind::out, nullptr, into, bytes, name);
      from = into;
    }
    if (from != block.data()) copy(to, stream_kind::in, from, block.data(), bytes, name);
  }

  /// *Throws*, in all processes, what has failed in any.
  void finish(agreed_run& together) {
    try {
      if (progress_.failed()) progress_.rethrow();
    } catch (...) {
      together.fail();
    }
    together.agree(nullptr);
  }

  const device_list& devices_;
  place here_, first_;  // a CPU of this process, and that of the first one
  bool is_first_;
  run_state progress_;
  void* staging_ = nullptr;

 private:
  std::int64_t staging_bytes_ = 0;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
