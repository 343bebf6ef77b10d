// SPDX-License-Identifier: BSL-1.0
// A GPU that is set up when something is first done with it, and what is done with it: with the GPU current, timed
// where the run is traced, and with an answer to which GPU is lost where one is.
#pragma once

#include <onto/backend/cuda/facts.hpp>
#include <onto/backend/cuda/graph.hpp>
#include <onto/backend/cuda/pool.hpp>
#include <onto/backend/cuda/timing.hpp>
#include <onto/core/atomic.hpp>

namespace onto::detail {

class guarded_gpu;

/// The other devices that a piece of work has to do with.
struct gpu_partners {
  guarded_gpu* other = nullptr;
  const cuda_graph* graph = nullptr;
};

class guarded_gpu : public device, protected cuda_owner {
 public:
  int ordinal() const { return gpu_.ordinal(); }
  const cuda_facts& facts() const { return facts_; }

 protected:
  guarded_gpu(place where, int ordinal, const cuda_facts& facts, memory_limit limit)
      : device(where, cuda_slot), gpu_(ordinal), facts_(facts), pool_(where, gpu_, limit, facts_), streams_(false) {}

  /// Sets up what was not. The GPU is current.
  cuda_streams& ready() {
    if (ready_.load(memory_order_acquire)) return streams_;
    mutex_lock lock(mutex_);
    touched_ = true;
    pool_.open();
    (void)streams_.compute();
    (void)streams_.in();
    (void)streams_.out();
    ready_.store(true, memory_order_release);
    return streams_;
  }

  /// Does something with the GPU set up and current. Where a GPU is lost, finds out which.
  template <class Work>
  void guarded(const Work& work, const gpu_partners& also = {}) {
    try {
      const current_cuda_device current(gpu_);
      (void)ready();
      work();
    } catch (const cuda_lost_error& e) {
      if (e.found) throw;
      throw find_lost(e, also);
    }
  }

  /// A status that says that a GPU is lost names none, and a call may have to do with several: each is asked, and those
  /// that say so are lost from now on. *Returns* the error, with the devices in its sentence.
  ONTO_COLD ONTO_NOINLINE cuda_lost_error find_lost(const cuda_lost_error& e, const gpu_partners& also) {
    message m(e.what());
    const char* word = "; what is lost is ";
    const auto ask = [&](guarded_gpu& d) {
      if (&d != this && !d.ready_.load(memory_order_acquire)) return;
      if (!d.is_gone(e)) return;
      write_short(m << word, d.where());
      word = " and ";
    };
    ask(*this);
    if (also.other && also.other != this) ask(*also.other);
    for (graph_part* p = also.graph ? also.graph->parts : nullptr; p; p = p->next)
      if (&p->who != this) ask(static_cast<guarded_gpu&>(p->who));
    cuda_lost_error named(m.text(), e.why);
    named.found = true;
    return named;
  }

  /// Asks the GPU itself: every call on one that is lost says so. Before there is anything to ask with, what failed was
  /// its own setting up.
  bool is_gone(const cuda_lost_error& e) {
    const char* why = e.why;
    if (ready_.load(memory_order_acquire)) {
      cudaError_t status = cudaSuccess;
      try {
        const current_cuda_device current(gpu_);
        status = cudaStreamSynchronize(pool_.idle_stream());
        if (status != cudaSuccess) cuda_ignore(status);
        why = cudaGetErrorName(status);
      } catch (const cuda_lost_error& own) {
        why = own.why;
        status = cudaErrorUnknown;
      } catch (const error&) {
      }
      if (!is_lost(status)) return false;
    }
    lose(why);
    return true;
  }

  /// Work that is timed while it is issued. *Effects* none without a trace.
  template <class Work>
  void timed(const trace_span& span, trace_sink* sink, const Work& work) {
    if (!sink) {
      (void)work();
      return;
    }
    cuda_timings::timing* t = timings_.begin(span, *sink, streams_.of(span.stream), pool_.idle_stream());
    cudaStream_t done = nullptr;
    try {
      done = work();
    } catch (...) {
      timings_.end(t, nullptr);
      throw;
    }
    timings_.end(t, done);
  }

  cuda_gpu gpu_;
  cuda_facts facts_;
  mutex mutex_;  // while it is set up
  bool touched_ = false;
  atomic<bool> ready_{false};
  cuda_pool pool_;
  cuda_streams streams_;
  cuda_timings timings_;
};

}  // namespace onto::detail
