// SPDX-License-Identifier: BSL-1.0
// A point in a GPU's stream that the host and other streams can wait for.
#pragma once

#include <onto/backend/cuda/facts.hpp>
#include <onto/runtime/device.hpp>

namespace onto::detail {

class cuda_event;
class cuda_graph;

/// What events and graphs ask of the device that they are of.
class cuda_owner {
 public:
  virtual void wait_for(cudaEvent_t event) = 0;
  virtual void replay(cuda_graph& graph, run_state& run) = 0;

 protected:
  ~cuda_owner() = default;
};

/// Made on the GPU when it is first recorded. While it was last recorded for a graph it must not be waited for: wait
/// for an event that was recorded after the graph's launch.
class cuda_event final : public device_event {
 public:
  cuda_event(cuda_owner& owner, int ordinal) : owner_(owner), ordinal_(ordinal) {}
  ~cuda_event() override {
    if (event_) quietly_on(ordinal_, [&] { cuda_ignore(cudaEventDestroy(event_)); });
  }

  /// *Throws* what the GPU has met with since.
  void wait() override {
    if (event_) owner_.wait_for(event_);
  }

  /// Null where it was never recorded: there is nothing to wait for.
  cudaEvent_t recorded() const { return event_; }

  /// To record. *Preconditions* its GPU is current.
  cudaEvent_t made() {
    if (!event_) cuda_check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    return event_;
  }

 private:
  cuda_owner& owner_;
  int ordinal_;
  cudaEvent_t event_ = nullptr;
};

}  // namespace onto::detail
