// SPDX-License-Identifier: BSL-1.0
// Work that is kept as a CUDA graph: what a program issues once is captured, and replayed in one call.
#pragma once

#include <onto/backend/cuda/event.hpp>
#include <onto/backend/cuda/streams.hpp>

#include <cstdint>
#include <cstring>

namespace onto::detail {

/// What a graph does on one of its devices, and the host memory that it does it with.
class graph_part {
 public:
  graph_part(device& d, cuda_streams& s, int gpu) : who(d), shared(s), ordinal(gpu), streams(true) {
    // The handle that knows the algorithms of the shapes it has met.
    mutex_lock lock(shared.context.blas_mutex);
    streams.context.blas = shared.context.blas;
  }
  graph_part(const graph_part&) = delete;
  graph_part& operator=(const graph_part&) = delete;
  ~graph_part() {
    while (feeds_) {
      feed* next_one = feeds_->next;
      delete feeds_;
      feeds_ = next_one;
    }
    quietly_on(ordinal, [&] {
      if (before) cuda_ignore(cudaEventDestroy(before));
      streams.close();
      streams.close_staging();
      pinned.close();
    });
  }

  /// *Returns* pinned memory into which the slot's is copied whenever the graph is launched. For little data: a host
  /// function in the graph would take longer than all the rest of the copy.
  void* feed_from(const host_slot& slot, std::int64_t bytes) {
    void* to = pinned.take(bytes);
    feeds_ = new feed{feeds_, &slot, to, bytes};
    return to;
  }
  bool has_feeds() const { return feeds_ != nullptr; }
  void fill_feeds() const {
    for (const feed* f = feeds_; f; f = f->next)
      std::memcpy(f->pinned, f->slot->data, static_cast<std::size_t>(f->bytes));
  }

  device& who;
  cuda_streams& shared;  // the device's own
  int ordinal;
  std::int64_t kernels = 0, transfers = 0, transfer_bytes = 0;
  cuda_streams streams;  // of the recording; their staging is the graph's own
  pinned_arena pinned;
  cudaEvent_t before = nullptr;  // what was issued to the device's compute stream before the graph
  graph_part* next = nullptr;

 private:
  struct feed {
    feed* next;
    const host_slot* slot;
    void* pinned;
    std::int64_t bytes;
  };
  feed* feeds_ = nullptr;
};

class cuda_graph final : public device_graph {
 public:
  cuda_graph(cuda_owner& owner, int ordinal) : owner_(owner), ordinal_(ordinal) {}
  ~cuda_graph() override {
    // Its host functions must not outlive the memory they work in.
    quietly_on(ordinal_, [&] {
      if (end) {
        cuda_ignore(cudaEventSynchronize(end));
        cuda_ignore(cudaEventDestroy(end));
      }
      if (program) cuda_ignore(cudaGraphExecDestroy(program));
    });
    while (parts) {
      graph_part* next = parts->next;
      delete parts;
      parts = next;
    }
  }

  void launch(run_state& run) override { owner_.replay(*this, run); }

  /// Holds the compute lanes of all its devices, taken in the order of their addresses.
  class turn {
   public:
    explicit turn(const cuda_graph& graph) : graph_(graph) {
      const cuda_streams* last = nullptr;
      for (;;) {
        cuda_streams* next = nullptr;
        for (graph_part* p = graph.parts; p; p = p->next)
          if (&p->shared > last && (!next || &p->shared < next)) next = &p->shared;
        if (!next) break;
        next->lock_of(lane::compute).lock();
        last = next;
      }
    }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() {
      for (graph_part* p = graph_.parts; p; p = p->next) p->shared.lock_of(lane::compute).unlock();
    }

   private:
    const cuda_graph& graph_;
  };

  /// Before a launch into `stream`: copies little feeds, and lets the compute streams of its other devices go first.
  /// Kernels there may share a workspace with the graph's.
  void before_launch(cudaStream_t stream) {
    for (graph_part* p = parts; p; p = p->next) {
      if (p->has_feeds()) {
        // Long over: who changes what a graph reads has waited for it.
        cuda_check(cudaEventSynchronize(end), "waiting for a GPU");
        p->fill_feeds();
      }
      if (p->shared.compute() == stream) continue;
      cuda_check(cudaEventRecord(p->before, p->shared.compute()), "cudaEventRecord");
      cuda_check(cudaStreamWaitEvent(stream, p->before, 0), "cudaStreamWaitEvent");
    }
  }
  /// After a launch: the other compute streams go on once it is done.
  void after_launch(cudaStream_t stream) {
    cuda_check(cudaEventRecord(end, stream), "cudaEventRecord");
    for (graph_part* p = parts; p; p = p->next)
      if (p->shared.compute() != stream)
        cuda_check(cudaStreamWaitEvent(p->shared.compute(), end, 0), "cudaStreamWaitEvent");
  }
  void count() const {
    for (const graph_part* p = parts; p; p = p->next) {
      device_counters& c = p->who.counters;
      c.kernels.fetch_add(p->kernels, std::memory_order_relaxed);
      c.transfers.fetch_add(p->transfers, std::memory_order_relaxed);
      c.transfer_bytes.fetch_add(p->transfer_bytes, std::memory_order_relaxed);
    }
  }

  cudaGraphExec_t program = nullptr;
  cudaEvent_t end = nullptr;    // of the last launch
  graph_part* parts = nullptr;  // one for each device

 private:
  cuda_owner& owner_;
  int ordinal_;
};

/// While it lives, what this thread issues to GPUs goes into a graph.
///
/// Each device gets streams that only the recording knows: other threads go on in the devices' own. The streams begin
/// at one event and are joined at the end, and events between them become the graph's edges.
class cuda_recording {
 public:
  /// The recording of this thread, or null.
  static cuda_recording*& current() {
    static thread_local cuda_recording* on_this_thread = nullptr;
    return on_this_thread;
  }

  /// *Preconditions* the GPU is current, and this thread is not recording.
  cuda_recording(cuda_graph& graph, device& who, cuda_streams& shared, int ordinal) : graph_(graph), ordinal_(ordinal) {
    graph_.parts = new graph_part(who, shared, ordinal);
    cuda_streams& streams = graph_.parts->streams;
    cuda_check(cudaEventCreateWithFlags(&fork_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    try {
      origin_ = streams.compute();
      // Relaxed, since the first use of a kernel or of a library may load code or take memory for itself. That is no
      // part of the graph, but the other modes take it for a mistake.
      cuda_check(cudaStreamBeginCapture(origin_, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
      open_ = true;
      cuda_check(cudaEventRecord(fork_, origin_), "cudaEventRecord");
    } catch (...) {
      close();
      throw;
    }
    streams.begin_at(fork_);
    current() = this;
  }
  cuda_recording(const cuda_recording&) = delete;
  cuda_recording& operator=(const cuda_recording&) = delete;
  ~cuda_recording() {
    current() = nullptr;
    quietly_on(ordinal_, [&] { close(); });
  }

  /// Something cannot be recorded: nothing more is, and there will be no graph.
  void fail() { failed_ = true; }
  bool failed() const { return failed_; }

  /// What the graph does on a device.
  graph_part& part_of(device& who, cuda_streams& shared, int ordinal) {
    for (graph_part* p = graph_.parts; p; p = p->next)
      if (&p->who == &who) return *p;
    auto* p = new graph_part(who, shared, ordinal);
    p->next = graph_.parts;
    graph_.parts = p;
    p->streams.begin_at(fork_);
    return *p;
  }

  /// Ends it. *Returns* whether there is a graph. *Preconditions* the GPU it began on is current.
  bool finish() {
    if (!failed_) {
      for (graph_part* p = graph_.parts; p; p = p->next) {
        const current_cuda_device there(p->ordinal);
        p->streams.join(origin_);
      }
    }
    open_ = false;
    cudaGraph_t captured = nullptr;
    cudaError_t status = cudaStreamEndCapture(origin_, &captured);
    if (status == cudaSuccess && !failed_) status = cudaGraphInstantiate(&graph_.program, captured, 0);
    cuda_ignore(status);
    if (captured) cuda_ignore(cudaGraphDestroy(captured));
    if (status != cudaSuccess || failed_) return false;
    cuda_check(cudaEventCreateWithFlags(&graph_.end, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    for (graph_part* p = graph_.parts; p; p = p->next) {
      const current_cuda_device there(p->ordinal);
      cuda_check(cudaEventCreateWithFlags(&p->before, cudaEventDisableTiming), "cudaEventCreateWithFlags");
      {
        mutex_lock lock(p->shared.context.blas_mutex);
        if (!p->shared.context.blas) p->shared.context.blas = p->streams.context.blas;
      }
      p->streams.close();
    }
    return true;
  }

 private:
  void close() noexcept {
    if (open_) {
      cudaGraph_t captured = nullptr;
      cuda_ignore(cudaStreamEndCapture(origin_, &captured));
      if (captured) cuda_ignore(cudaGraphDestroy(captured));
    }
    open_ = false;
    if (fork_) cuda_ignore(cudaEventDestroy(fork_));
    fork_ = nullptr;
  }

  cuda_graph& graph_;
  int ordinal_;
  cudaEvent_t fork_ = nullptr;
  cudaStream_t origin_ = nullptr;
  bool open_ = false;
  bool failed_ = false;
};

}  // namespace onto::detail
