// SPDX-License-Identifier: BSL-1.0
// When a GPU did what it was told: pairs of events around the work of a run that is traced, read once both were
// reached. Also the work's names as ranges in NVIDIA's profilers.
#pragma once

#include <onto/backend/cuda/check.hpp>
#include <onto/core/mutex.hpp>
#include <onto/runtime/work.hpp>

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace onto::detail {

/// NVTX, as the toolkit's library has it: its header would put `open` and other names of <fcntl.h> into every program.
struct nvtx_functions {
  int (*push)(const char* name) = nullptr;
  int (*pop)() = nullptr;

  /// Those of a process that a profiler has started (it sets this variable); else none.
  static const nvtx_functions& get() {
    static const nvtx_functions found = std::getenv("NVTX_INJECTION64_PATH") ? load() : nvtx_functions{};
    return found;
  }

 private:
  static nvtx_functions load() {
    void* library = dlopen("libnvtx3interop.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!library) library = dlopen("libnvToolsExt.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!library) return {};
    nvtx_functions f;
    f.push = reinterpret_cast<int (*)(const char*)>(dlsym(library, "nvtxRangePushA"));
    f.pop = reinterpret_cast<int (*)()>(dlsym(library, "nvtxRangePop"));
    return f.push && f.pop ? f : nvtx_functions{};
  }
};

/// A range with a name, in the thread that issues, for as long as it lives. Nothing where no profiler is attached.
class nvtx_range {
 public:
  explicit nvtx_range(std::string_view name) {
    if (!nvtx_functions::get().push) return;
    char text[64];  // with its end marked
    const std::size_t length = name.copy(text, sizeof text - 1);
    text[length] = 0;
    (void)nvtx_functions::get().push(text);
  }
  ~nvtx_range() {
    if (nvtx_functions::get().pop) (void)nvtx_functions::get().pop();
  }
  nvtx_range(const nvtx_range&) = delete;
  nvtx_range& operator=(const nvtx_range&) = delete;
};

/// The measurements of one device. Those that are not read yet are in a list of the process, so that whoever waits for
/// any GPU delivers what all of them have done: a run waits for its end, not for each device that worked for it.
class cuda_timings {
 public:
  struct timing {
    cudaEvent_t begin = nullptr, end = nullptr;
    trace_span span{};
    trace_sink* sink = nullptr;
    timing* next = nullptr;
  };

  cuda_timings() = default;
  cuda_timings(const cuda_timings&) = delete;
  cuda_timings& operator=(const cuda_timings&) = delete;
  ~cuda_timings() { close(); }

  /// Marks the beginning of what is issued next to `stream`. `idle` is a stream of the GPU with nothing in it.
  /// *Preconditions* the GPU is current.
  timing* begin(const trace_span& span, trace_sink& sink, cudaStream_t stream, cudaStream_t idle) {
    mutex_lock lock(registry().guard);
    if (!listed_) {
      next_ = registry().first;
      registry().first = this;
      listed_ = true;
    }
    if (waiting_ >= most_waiting) resolve(false);
    set_clock(sink, idle);
    timing* t = spare_;
    if (t) {
      spare_ = t->next;
    } else {
      t = new timing;
      cudaError_t status = cudaEventCreate(&t->begin);
      if (status == cudaSuccess) status = cudaEventCreate(&t->end);
      if (status != cudaSuccess) {
        discard(t);
        throw_cuda(status, "cudaEventCreate");
      }
    }
    const cudaError_t status = cudaEventRecord(t->begin, stream);
    if (status != cudaSuccess) {
      discard(t);
      throw_cuda(status, "cudaEventRecord");
    }
    t->span = span;
    t->sink = &sink;
    ++waiting_;  // also while it is being issued, so that the clock stays as it is
    return t;
  }

  /// Marks its end. Without a stream the work was not issued after all.
  void end(timing* t, cudaStream_t stream) {
    const cudaError_t status = stream ? cudaEventRecord(t->end, stream) : cudaSuccess;
    mutex_lock lock(registry().guard);
    t->next = nullptr;
    if (stream && status == cudaSuccess) {
      *last_ = t;
      last_ = &t->next;
      return;
    }
    --waiting_;
    t->next = spare_;
    spare_ = t;
    cuda_check(status, "cudaEventRecord");
  }

  /// Hands out what was measured and is over, on every GPU.
  static void resolve_all() noexcept {
    mutex_lock lock(registry().guard);
    for (cuda_timings* t = registry().first; t; t = t->next_) t->resolve(false);
  }

  /// Drops what was not read: who wanted it may be gone.
  void close() noexcept {
    mutex_lock lock(registry().guard);
    resolve(true);
    while (spare_) {
      timing* t = spare_;
      spare_ = t->next;
      discard(t);
    }
    if (base_) cuda_ignore(cudaEventDestroy(base_));
    base_ = nullptr;
    sink_ = nullptr;
    if (!listed_) return;
    cuda_timings** link = &registry().first;
    while (*link != this) link = &(*link)->next_;
    *link = next_;
    listed_ = false;
  }

 private:
  static constexpr int most_waiting = 4096;
  static constexpr std::int64_t good_for = 1000000000;  // nanoseconds

  struct list {
    mutex guard;
    cuda_timings* first = nullptr;
  };
  static list& registry() {
    // Never destroyed: a session of static lifetime may be older than it, and go after it.
    static list& all = *new list;
    return all;
  }

  static void discard(timing* t) noexcept {
    if (t->begin) cuda_ignore(cudaEventDestroy(t->begin));
    if (t->end) cuda_ignore(cudaEventDestroy(t->end));
    delete t;
  }

  /// Takes the time of an event by the sink's clock; the others are measured from it. Again every second where nothing
  /// hangs on the old one: what CUDA measures is a float of milliseconds, good to 60 ns after a second.
  void set_clock(trace_sink& sink, cudaStream_t idle) {
    if (base_ && waiting_ > 0) return;
    if (base_ && sink_ == &sink && sink.now() - base_time_ < good_for) return;
    if (!base_) cuda_check(cudaEventCreate(&base_), "cudaEventCreate");
    cuda_check(cudaEventRecord(base_, idle), "cudaEventRecord");
    cuda_check(cudaEventSynchronize(base_), "cudaEventSynchronize");
    base_time_ = sink.now();
    sink_ = &sink;
  }

  std::int64_t since_base(cudaEvent_t event) const {
    float milliseconds = 0;
    cuda_ignore(cudaEventElapsedTime(&milliseconds, base_, event));
    return base_time_ + static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
  }

  /// Under the registry's lock.
  void resolve(bool drop) noexcept {
    timing** link = &first_;
    while (*link) {
      timing* t = *link;
      const cudaError_t status = drop ? cudaErrorUnknown : cudaEventQuery(t->end);
      if (!drop) cuda_ignore(status);
      if (status == cudaErrorNotReady) {
        link = &t->next;
        continue;
      }
      if (status == cudaSuccess) {
        t->span.begin = since_base(t->begin);
        t->span.end = since_base(t->end);
        // A wait for what was there already is none.
        if (t->span.what != trace_span::wait || t->span.end - t->span.begin >= 1000) t->sink->add(t->span);
      }
      *link = t->next;
      t->next = spare_;
      spare_ = t;
      --waiting_;
    }
    last_ = link;
  }

  bool listed_ = false;
  cuda_timings* next_ = nullptr;
  timing* first_ = nullptr;
  timing** last_ = &first_;
  timing* spare_ = nullptr;
  int waiting_ = 0;
  cudaEvent_t base_ = nullptr;
  std::int64_t base_time_ = 0;
  trace_sink* sink_ = nullptr;
};

}  // namespace onto::detail
