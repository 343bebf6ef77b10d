// SPDX-License-Identifier: BSL-1.0
// Work that is kept as a CUDA graph: what a program issues once is captured, and replayed in one call.
#pragma once

#include <onto/backend/cuda/event.hpp>
#include <onto/backend/cuda/streams.hpp>

#include <cstdint>
#include <cstring>
#include <memory>  // std::less: <functional> is 0.35 MB that nvcc would read three times

namespace onto::detail {

/// A copy between the host and a device that a graph does.
struct graph_copy {
  graph_copy* next;
  const host_slot* slot;
  void* memory;  // of the device, or pinned memory of the graph's own
  std::int64_t bytes;
  cudaMemcpyKind kind;
  cudaGraphNode_t node;  // of a copy from or to the slot's memory itself
  void* host;            // that memory
};

/// What a graph does on one of its devices, and the host memory that it does it with.
class graph_part {
 public:
  graph_part(device& d, cuda_streams& s, const cuda_gpu& g) : who(d), shared(s), gpu(g), streams(true) {
    // The handles that know the algorithms of the shapes they have met.
    mutex_lock lock(shared.context.blas_mutex);
    streams.context.blas = shared.context.blas;
    streams.context.dnn = shared.context.dnn;
  }
  graph_part(const graph_part&) = delete;
  graph_part& operator=(const graph_part&) = delete;
  ~graph_part() {
    for (graph_copy* list : {little_, large_}) {
      while (list) {
        graph_copy* next_one = list->next;
        delete list;
        list = next_one;
      }
    }
    quietly_on(gpu, [&] {
      if (before) cuda_ignore(cudaEventDestroy(before));
      streams.close();
      streams.close_staging();
      pinned.close();
    });
  }

  /// Copies little by way of pinned memory of the graph's own. What goes in is copied to it before each launch, what
  /// comes out is copied from it by who waits: a host function in the graph takes longer than all the rest.
  void copy_little(const host_slot& slot, void* memory, std::int64_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    void* const own = pinned.take(bytes);
    little_ = new graph_copy{little_, &slot, own, bytes, kind, nullptr, nullptr};
    const bool in = kind == cudaMemcpyHostToDevice;
    copy_straight(in ? memory : own, in ? own : memory, bytes, kind, stream);
  }
  /// Copies from or to the slot's memory where that is pinned. *Returns* false where it is not; it must then be staged.
  bool copy_pinned(const host_slot& slot, void* memory, std::int64_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    large_ = new graph_copy{large_, &slot, memory, bytes, kind, nullptr, slot.data};
    if (!is_pinned(slot.data, bytes)) return false;
    const bool in = kind == cudaMemcpyHostToDevice;
    copy_straight(in ? memory : slot.data, in ? slot.data : memory, bytes, kind, stream);
    large_->node = last_node(stream);
    return true;
  }

  void fill_feeds() const {
    for (const graph_copy* c = little_; c; c = c->next)
      if (c->kind == cudaMemcpyHostToDevice) std::memcpy(c->memory, c->slot->data, static_cast<std::size_t>(c->bytes));
  }
  void hand_out_results() const {
    for (const graph_copy* c = little_; c; c = c->next)
      if (c->kind == cudaMemcpyDeviceToHost) std::memcpy(c->slot->data, c->memory, static_cast<std::size_t>(c->bytes));
  }

  bool has_large() const { return large_ != nullptr; }
  bool has_nodes() const {
    const graph_copy* c = large_;
    while (c && !c->node) c = c->next;
    return c != nullptr;
  }
  /// Has the copies go from and to the memory that the slots have now. *Returns* false where one would have to go
  /// another way than it was recorded. *Preconditions* the GPU is current, and the graph is not under way.
  bool adapt(cudaGraphExec_t program) {
    for (graph_copy* c = large_; c; c = c->next) {
      if (is_pinned(c->slot->data, c->bytes) != (c->node != nullptr)) return false;
      if (!c->node || c->host == c->slot->data) continue;
      const bool in = c->kind == cudaMemcpyHostToDevice;
      void* const now = c->slot->data;
      const cudaError_t status = cudaGraphExecMemcpyNodeSetParams1D(
          program, c->node, in ? c->memory : now, in ? now : c->memory, static_cast<std::size_t>(c->bytes), c->kind);
      cuda_ignore(status);
      if (status != cudaSuccess) return false;
      c->host = now;
    }
    return true;
  }

  device& who;
  cuda_streams& shared;  // the device's own
  const cuda_gpu& gpu;
  std::int64_t kernels = 0, transfers = 0, transfer_bytes = 0;
  cuda_streams streams;  // of the recording; their staging is the graph's own
  pinned_arena pinned;
  cudaEvent_t before = nullptr;  // what was issued to the device's compute stream before the graph
  graph_part* next = nullptr;

 private:
  /// The node that was recorded last in a stream.
  static cudaGraphNode_t last_node(cudaStream_t stream) {
    cudaStreamCaptureStatus status{};
    const cudaGraphNode_t* nodes = nullptr;
    const cudaGraphEdgeData* edges = nullptr;
    std::size_t count = 0;
    cuda_check(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, &edges, &count),
               "cudaStreamGetCaptureInfo");
    if (status != cudaStreamCaptureStatusActive || count != 1)
      throw_cuda(cudaErrorStreamCaptureInvalidated, "recording a copy");
    return nodes[0];
  }

  graph_copy* little_ = nullptr;
  graph_copy* large_ = nullptr;
};

class cuda_graph final : public device_graph {
 public:
  cuda_graph(cuda_owner& owner, const cuda_gpu& gpu) : owner_(owner), gpu_(gpu) {}
  ~cuda_graph() override {
    // Its host functions must not outlive the memory they work in.
    quietly_on(gpu_, [&] {
      if (end) {
        cuda_ignore(cudaEventSynchronize(end));
        cuda_ignore(cudaEventDestroy(end));
      }
      if (program) cuda_ignore(cudaGraphExecDestroy(program));
      if (nodes) cuda_ignore(cudaGraphDestroy(nodes));
    });
    while (parts) {
      graph_part* next = parts->next;
      delete parts;
      parts = next;
    }
  }

  void perform(run_state& run) override { owner_.replay(*this, run); }
  bool adapt() override {
    const graph_part* p = parts;
    while (p && !p->has_large()) p = p->next;
    return !p || owner_.adapt(*this);
  }

  /// Holds the compute streams of all its devices, taken in the order of their addresses.
  class stream_locks {
   public:
    explicit stream_locks(const cuda_graph& graph) : graph_(graph) {
      const std::less<const cuda_streams*> before;
      const cuda_streams* last = nullptr;
      for (;;) {
        cuda_streams* next = nullptr;
        for (graph_part* p = graph.parts; p; p = p->next)
          if (before(last, &p->shared) && (!next || before(&p->shared, next))) next = &p->shared;
        if (!next) break;
        next->lock_of(stream_kind::compute).lock();
        last = next;
      }
    }
    stream_locks(const stream_locks&) = delete;
    stream_locks& operator=(const stream_locks&) = delete;
    ~stream_locks() {
      for (graph_part* p = graph_.parts; p; p = p->next) p->shared.lock_of(stream_kind::compute).unlock();
    }

   private:
    const cuda_graph& graph_;
  };

  /// Before a launch into `stream`: copies little feeds, and lets the compute streams of its other devices go first.
  /// Kernels there may share a workspace with the graph's.
  void before_launch(cudaStream_t stream) {
    for (graph_part* p = parts; p; p = p->next) {
      p->fill_feeds();
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
  /// Once its end was reached: a GPU that was lost while it did its part is not told of by the end, which is another's.
  void check_others(cudaStream_t stream) const {
    for (const graph_part* p = parts; p; p = p->next)
      if (p->shared.compute() != stream) cuda_check(cudaEventQuery(p->before), "a graph's work on another GPU");
  }
  /// Once it is done.
  void hand_out_results() const {
    for (const graph_part* p = parts; p; p = p->next) p->hand_out_results();
  }
  void count() const {
    for (const graph_part* p = parts; p; p = p->next) {
      device_counters& c = p->who.counters;
      c.kernels.fetch_add(p->kernels, memory_order_relaxed);
      c.transfers.fetch_add(p->transfers, memory_order_relaxed);
      c.transfer_bytes.fetch_add(p->transfer_bytes, memory_order_relaxed);
    }
  }

  cudaGraphExec_t program = nullptr;
  cudaGraph_t nodes = nullptr;  // what the program was made from, where copies of it may change
  cudaEvent_t end = nullptr;    // of the last launch
  graph_part* parts = nullptr;  // one for each device

 private:
  cuda_owner& owner_;
  const cuda_gpu& gpu_;
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
  cuda_recording(cuda_graph& graph, device& who, cuda_streams& shared, const cuda_gpu& gpu) : graph_(graph), gpu_(gpu) {
    graph_.parts = new graph_part(who, shared, gpu);
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
    quietly_on(gpu_, [&] { close(); });
  }

  /// Something cannot be recorded: nothing more is, and there will be no graph.
  void fail() { failed_ = true; }
  bool failed() const { return failed_; }

  /// What the graph does on a device.
  graph_part& part_of(device& who, cuda_streams& shared, const cuda_gpu& gpu) {
    for (graph_part* p = graph_.parts; p; p = p->next)
      if (&p->who == &who) return *p;
    auto* p = new graph_part(who, shared, gpu);
    p->next = graph_.parts;
    graph_.parts = p;
    p->streams.begin_at(fork_);
    return *p;
  }

  /// Ends it. *Returns* whether there is a graph. *Preconditions* the GPU it began on is current.
  bool finish() {
    if (!failed_) {
      for (graph_part* p = graph_.parts; p; p = p->next) {
        const current_cuda_device there(p->gpu);
        p->streams.join(origin_);
      }
    }
    open_ = false;
    cudaGraph_t captured = nullptr;
    cudaError_t status = cudaStreamEndCapture(origin_, &captured);
    if (status == cudaSuccess && !failed_) status = cudaGraphInstantiate(&graph_.program, captured, 0);
    cuda_ignore(status);
    bool changes = false;
    for (const graph_part* p = graph_.parts; p; p = p->next) changes = changes || p->has_nodes();
    if (changes)
      graph_.nodes = captured;
    else if (captured)
      cuda_ignore(cudaGraphDestroy(captured));
    if (status != cudaSuccess || failed_) return false;
    cuda_check(cudaEventCreateWithFlags(&graph_.end, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    for (graph_part* p = graph_.parts; p; p = p->next) {
      const current_cuda_device there(p->gpu);
      cuda_check(cudaEventCreateWithFlags(&p->before, cudaEventDisableTiming), "cudaEventCreateWithFlags");
      {
        mutex_lock lock(p->shared.context.blas_mutex);
        if (!p->shared.context.blas) p->shared.context.blas = p->streams.context.blas;
        if (!p->shared.context.dnn) p->shared.context.dnn = p->streams.context.dnn;
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
  const cuda_gpu& gpu_;
  cudaEvent_t fork_ = nullptr;
  cudaStream_t origin_ = nullptr;
  bool open_ = false;
  bool failed_ = false;
};

}  // namespace onto::detail
