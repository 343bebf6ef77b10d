// SPDX-License-Identifier: BSL-1.0
// A GPU as a device of the runtime: a pool of memory, three streams, and graphs of what went through them. Nothing is
// set up on a GPU before something is issued to it or memory taken.
#pragma once

#include <onto/backend/cuda/guard.hpp>
#include <onto/backend/cuda/workspace.hpp>
#include <onto/runtime/communicator.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace onto::detail {

/// A GPU, or a part of one's memory as a device of its own.
class cuda_device final : public guarded_gpu, private workspace_source {
 public:
  /// `ordinal` is the GPU's number in the CUDA runtime. *Effects* none on the GPU.
  cuda_device(place where, int ordinal, const cuda_facts& facts, memory_limit limit)
      : guarded_gpu(where, ordinal, facts, limit) {}
  explicit cuda_device(place where, int ordinal, memory_limit limit = {})
      : cuda_device(where, ordinal, facts_of_cuda_device(ordinal), limit) {}

  ~cuda_device() override {
    for (const ref<communicator>& c : communicators_) c->abort();
    if (!touched_) return;
    quietly_on(gpu_, [&] {
      streams_.synchronize();
      timings_.close();
      workspace_.drop();
      streams_.close();
      streams_.close_staging();
      pool_.close();
    });
  }

  /// Of the GPU: the same for all devices that share it.
  std::string description() const override {
    return (message("device: ") << gpu_.ordinal() << ", name: " << facts_.name << ", pci bus id: " << facts_.pci_bus_id
                                << ", compute capability: " << facts_.major << "." << facts_.minor)
        .text();
  }

  const void* peer_group() const override {
    static constexpr char cuda = 0;
    return &cuda;
  }

  void trim() override {
    if (!ready_.load(memory_order_acquire)) return;
    workspace_.drop();
    guarded([&] { pool_.trim(); });
  }

  ref<counted> pin(void* memory, std::int64_t bytes) override {
    ref<counted> held;
    guarded([&] { held = pin_host(memory, bytes); });
    return held;
  }

  /// With the GPU current: a library's kernels may need more on one than on another.
  std::size_t ask_workspace(std::size_t (*ask)(const kernel_call&), const kernel_call& call) override {
    std::size_t bytes = 0;
    guarded([&] {
      const asking_on here(streams_.context);
      bytes = ask(call);
    });
    return bytes;
  }

  /// One block for all programs: kernels of the compute stream run one after the other, and a graph that works on this
  /// device is put in the stream's order too.
  ref<counted> workspace_up_to(std::int64_t& bytes, std::int64_t least, std::int64_t beside, void*& data) override {
    const std::int64_t left = pool_.left() - beside, little = least + (bytes - least) / 8;
    if (bytes > left) bytes = little <= left ? little : least;
    ref<counted> held = workspace_.get(*this, bytes, least, data);
    if (held || least <= 0) return held;
    message m("[onto.memory] ");
    write_bytes(write_short(m, where()) << " has no memory left for ", least) << " that kernels work in";
    if (pool_.limit() > 0) write_bytes(m << ", with a limit of ", pool_.limit());
    fail<resource_exhausted_error>(m << "; use smaller tensors or more devices, release prepared programs, or "
                                        "raise session_options::gpu.memory_limit");
  }

  /// From ordinary host memory in pieces through pinned memory; from pinned memory, or of little, directly.
  void copy_in(const work& w, void* to, const host_slot& slot, std::int64_t bytes) override {
    issue(
        w, "copy", stream_kind::in,
        [&](cuda_streams& s, graph_part* part) {
          if (bytes <= 0) return s.in();
          const bool little = bytes <= straight_bytes;
          if (part && little)
            part->copy_little(slot, to, bytes, cudaMemcpyHostToDevice, s.in());
          else if (!part && (little || is_pinned(slot.data, bytes)))
            copy_straight(to, slot.data, bytes, cudaMemcpyHostToDevice, s.in());
          else if (!part || !part->copy_pinned(slot, to, bytes, cudaMemcpyHostToDevice, s.in()))
            s.stage_in(to, slot, bytes);
          return s.in();
        },
        bytes);
  }

  void copy_out(const work& w, const host_slot& slot, const void* from, std::int64_t bytes) override {
    issue(
        w, "copy", stream_kind::out,
        [&](cuda_streams& s, graph_part* part) {
          if (bytes <= 0) return s.out();
          void* const memory = const_cast<void*>(from);
          if (part && bytes <= straight_bytes)
            part->copy_little(slot, memory, bytes, cudaMemcpyDeviceToHost, s.out());
          else if (!part && is_pinned(slot.data, bytes))
            copy_straight(slot.data, from, bytes, cudaMemcpyDeviceToHost, s.out());
          else if (!part || !part->copy_pinned(slot, memory, bytes, cudaMemcpyDeviceToHost, s.out()))
            return s.stage_out(slot, memory, bytes);
          return s.out();
        },
        bytes);
  }

  /// From GPU to GPU directly where the two can reach each other; where not, the driver goes through pinned host
  /// memory.
  void copy_to(const work& w, device& other, void* to, const void* from, std::int64_t bytes) override {
    auto& target = static_cast<cuda_device&>(other);
    issue(w, "copy", stream_kind::out,
          [&](cuda_streams& s, graph_part*) {
            if (bytes <= 0) return s.out();
            target.expect_alive();
            if (target.ordinal() == ordinal()) {
              copy_straight(to, from, bytes, cudaMemcpyDeviceToDevice, s.out());
            } else {
              target.guarded([&] { target.pool_.admit(ordinal()); });
              cuda_check(
                  cudaMemcpyPeerAsync(to, target.ordinal(), from, ordinal(), static_cast<std::size_t>(bytes), s.out()),
                  "cudaMemcpyPeerAsync");
            }
            return s.out();
          },
          bytes, {&target, nullptr});
  }

  void launch(const work& w, const kernel_entry& kernel, const kernel_call& call) override {
    issue(w, "kernel", stream_kind::compute, [&](cuda_streams& s, graph_part* part) {
      const backend_kernel& k = kernel.launch[cuda_slot];
      if (!k.run) fail<internal_error>(message("[onto.cuda] a program without GPU kernels was launched on a GPU"));
      const cudaStream_t stream = s.compute();
      k.run(s.context, call);
      if (!part)
        count_kernel(call);
      else if (!call.continues)
        ++part->kernels;
      return stream;
    });
  }

  ref<device_event> make_event() override { return ref<device_event>(new cuda_event(*this, gpu_)); }

  /// Also in a run that has failed and on a device that is lost: what was issued before must be waited for.
  void record(run_state& run, stream_kind stream, device_event& event) override {
    order(run, stream, nullptr, {},
          [&](cuda_streams& s) { s.record(stream, static_cast<cuda_event&>(event).made(is_recording())); });
  }

  /// *Preconditions* the event is of a device of this peer_group.
  void wait(run_state& run, stream_kind stream, device_event& event) override {
    const auto& known = static_cast<cuda_event&>(event);
    const cudaEvent_t point = known.recorded(is_recording());
    if (!point) return;
    const gpu_partners also{static_cast<guarded_gpu*>(&known.owner()), nullptr};
    order(run, stream, run.trace, also, [&](cuda_streams& s) { s.wait(stream, point); });
  }

  void finish(stream_kind stream) noexcept override {
    if (!ready_.load(memory_order_acquire)) return;
    quietly_on(gpu_, [&] { streams_.finish(stream); });
  }

  /// *Returns* null where the driver refuses, and where this thread is recording already.
  ref<device_graph> record_graph(void (*issue_all)(void* context), void* context) override {
    if (cuda_recording::current() || lost()) return {};
    ref<cuda_graph> graph(new cuda_graph(*this, gpu_));
    const auto refused = [&](auto&& step) {
      try {
        step();
        return false;
      } catch (const cuda_lost_error& e) {
        if (!e.found) (void)find_lost(e, {nullptr, graph.get()});
      } catch (const error&) {
      }
      return true;
    };
    const current_cuda_device current(gpu_);
    struct holder {  // ends the recording however this ends
      cuda_recording* it = nullptr;
      ~holder() { delete it; }
    } recording;
    if (refused([&] { recording.it = new cuda_recording(*graph, *this, ready(), gpu_); })) return {};
    issue_all(context);
    bool done = false;
    if (refused([&] { done = recording.it->finish(); }) || !done) return {};
    return ref<device_graph>(std::move(graph));
  }

#if defined(ONTO_HAS_NCCL)
  const communicators* direct_communicators() const override;  // backend/cuda/nccl.hpp
#endif
  bool has_cuda_memory() const override { return true; }
  /// Has one of its communicators do something, with the GPU current and the stream `out`; of a run, or beside it.
  /// `transfer`: the bytes that it copies to another GPU, or -1.
  template <class Work>
  void communicate(const work* w, const Work& work, std::int64_t transfer = -1) {
    expect_alive();
    if (w) before("communicate");
    guarded([&] {
      mutex_lock lock(streams_.lock_of(stream_kind::out));
      const auto act = [&] {
        work(streams_.out());
        return streams_.out();
      };
      timed({trace_span::copy, where(), stream_kind::out, w ? &w->label : nullptr}, w ? w->run.trace : nullptr, act);
    });
    if (transfer >= 0) count_transfer(transfer);
  }
  void keep(const ref<communicator>& c) { communicators_.push_back(c); }

  /// Blocks until everything issued is done.
  void synchronize() {
    guarded([&] {
      const stream_kind all[] = {stream_kind::in, stream_kind::compute, stream_kind::out};
      for (const stream_kind l : all) {
        cuda_event end(*this, gpu_);
        {
          mutex_lock lock(streams_.lock_of(l));
          streams_.record(l, end.made(false));
        }
        end.wait();
      }
    });
  }

 protected:
  void* take(std::int64_t bytes) override {
    void* memory = nullptr;
    guarded([&] { memory = pool_.take(bytes); });
    return memory;
  }
  void give(void* memory, std::int64_t bytes) noexcept override {
    quietly_on(gpu_, [&] { pool_.give(memory, bytes); });
  }
  std::int64_t reserved() const override { return pool_.reserved(); }
  std::int64_t limit() const override { return pool_.limit(); }
  std::int64_t workspace_bytes() const override { return workspace_bytes_.load(memory_order_relaxed); }

 private:
  void* take_workspace(std::int64_t bytes) override {
    expect_alive();
    before("allocate");
    void* const memory = take(bytes);
    if (memory) workspace_bytes_.fetch_add(bytes, memory_order_relaxed);
    return memory;
  }
  void give_workspace(void* data, std::int64_t bytes) noexcept override {
    give(data, bytes);
    workspace_bytes_.fetch_sub(bytes, memory_order_relaxed);
  }

  static bool is_recording() { return cuda_recording::current() != nullptr; }

  /// Does something to the recording of this thread. A failure ends that: the work is then issued, and tells.
  template <class Work>
  void record_into(cuda_recording& recording, const gpu_partners& also, const Work& work) {
    if (recording.failed()) return;
    try {
      guarded([&] { work(recording.part_of(*this, streams_, gpu_)); }, also);
    } catch (...) {
      recording.fail();
    }
  }

  /// Issues a piece of work for a run; nothing once the run has failed. `work` returns the stream in which it ends.
  template <class Work>
  void issue(const work& w, const char* what, stream_kind l, const Work& work, std::int64_t transfer = -1,
             const gpu_partners& also = {}) {
    if (cuda_recording* recording = cuda_recording::current()) {
      record_into(*recording, also, [&](graph_part& part) {
        expect_alive();
        if (w.run.failed()) return recording->fail();
        (void)work(part.streams, &part);
        if (transfer < 0) return;
        ++part.transfers;
        part.transfer_bytes += transfer;
      });
      return;
    }
    if (w.run.failed()) return;
    try {
      expect_alive();
      before(what);
      const nvtx_range range(w.label.name);
      guarded(
          [&] {
            mutex_lock lock(streams_.lock_of(l));
            timed({transfer < 0 ? trace_span::kernel : trace_span::copy, where(), l, &w.label}, w.run.trace,
                  [&] { return work(streams_, static_cast<graph_part*>(nullptr)); });
          },
          also);
      if (transfer >= 0) count_transfer(transfer);
    } catch (...) {
      w.run.fail(named_failure(w.label, where()));
    }
  }

  /// Puts streams in order.
  template <class Work>
  void order(run_state& run, stream_kind l, trace_sink* trace, const gpu_partners& also, const Work& work) {
    if (cuda_recording* recording = cuda_recording::current())
      return record_into(*recording, also, [&](graph_part& part) { work(part.streams); });
    try {
      guarded(
          [&] {
            mutex_lock lock(streams_.lock_of(l));
            timed({trace_span::wait, where(), l, &wait_label}, trace, [&] {
              work(streams_);
              return streams_.of(l);
            });
          },
          also);
    } catch (...) {
      run.fail(named_failure(work_label{}, where()));
    }
  }

  void wait_for(cudaEvent_t event) override {
    guarded([&] { wait_on_host(event); });
  }
  static void wait_on_host(cudaEvent_t event) {
    const cudaError_t status = cudaEventSynchronize(event);
    cuda_timings::resolve_all();
    cuda_check(status, "waiting for a GPU");
  }

  /// Launches a graph into this device's compute stream, and into the order of its other devices' compute streams:
  /// their kernels share a workspace with those of the graph. Waits for its end.
  void replay(cuda_graph& graph, run_state& run) override {
    static constexpr work_label label{"graph", "a recorded program", 0, 0};
    if (run.failed()) return;
    try {
      for (graph_part* p = graph.parts; p; p = p->next) static_cast<cuda_device&>(p->who).expect_alive();
      before("kernel");
      const nvtx_range range(label.name);
      const auto work = [&] {
        const cudaStream_t stream = streams_.compute();
        {
          const cuda_graph::stream_locks locks(graph);
          graph.before_launch(stream);
          timed({trace_span::kernel, where(), stream_kind::compute, &label}, run.trace, [&] {
            cuda_check(cudaGraphLaunch(graph.program, stream), "cudaGraphLaunch");
            return stream;
          });
          graph.after_launch(stream);
        }
        wait_on_host(graph.end);
        graph.check_others(stream);
      };
      guarded(work, {nullptr, &graph});
      graph.hand_out_results();
      graph.count();
    } catch (...) {
      run.fail(named_failure(label, where()));
    }
  }
  bool adapt(cuda_graph& graph) override {
    for (graph_part* p = graph.parts; p; p = p->next) {
      const current_cuda_device current(p->gpu);
      if (!p->adapt(graph.program)) return false;
    }
    return true;
  }

  atomic<std::int64_t> workspace_bytes_{0};  // before what gives it back
  cuda_workspace workspace_;
  std::vector<ref<communicator>> communicators_;
};

/// A device on the GPU with this number in the CUDA runtime. *Effects* none on the GPU.
ONTO_COLD ONTO_NOINLINE inline device* make_cuda_device(place where, int ordinal, const cuda_facts& facts,
                                                        memory_limit limit) {
  return new cuda_device(where, ordinal, facts, limit);
}

}  // namespace onto::detail

#if defined(ONTO_HAS_NCCL)
#include <onto/backend/cuda/nccl.hpp>
#endif
