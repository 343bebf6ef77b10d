// SPDX-License-Identifier: BSL-1.0
// A point in a GPU's stream that the host and other streams can wait for.
#pragma once

#include <onto/backend/cuda/current.hpp>
#include <onto/runtime/device.hpp>

namespace onto::detail {

class cuda_event;
class cuda_graph;

/// What events and graphs ask of the device that they are of.
class cuda_owner {
 public:
  virtual void wait_for(cudaEvent_t event) = 0;
  virtual void replay(cuda_graph& graph, run_state& run) = 0;
  virtual bool adapt(cuda_graph& graph) = 0;

 protected:
  ~cuda_owner() = default;
};

/// Made on the GPU when it is first recorded. What was last recorded for a graph is an edge of that graph, and no point
/// in a stream: waiting for it is done with when the graph's end was waited for, and does nothing.
class cuda_event final : public device_event {
 public:
  cuda_event(cuda_owner& owner, const cuda_gpu& gpu) : owner_(owner), gpu_(gpu) {}
  ~cuda_event() override {
    if (event_) quietly_on(gpu_, [&] { cuda_ignore(cudaEventDestroy(event_)); });
  }

  cuda_owner& owner() const { return owner_; }

  /// *Throws* what the GPU has met with since.
  void wait() override {
    if (event_ && !in_graph_) owner_.wait_for(event_);
  }

  /// To wait for in a stream; null where there is nothing to wait for.
  cudaEvent_t recorded(bool recording) const { return in_graph_ && !recording ? nullptr : event_; }

  /// To record, in a stream or for a graph. *Preconditions* its GPU is current.
  cudaEvent_t made(bool recording) {
    if (!event_) cuda_check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    in_graph_ = recording;
    return event_;
  }

 private:
  cuda_owner& owner_;
  const cuda_gpu& gpu_;
  bool in_graph_ = false;
  cudaEvent_t event_ = nullptr;
};

}  // namespace onto::detail
