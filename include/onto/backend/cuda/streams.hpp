// SPDX-License-Identifier: BSL-1.0
// The streams of a GPU and what goes through them: kernels in one, copies to the GPU in another, copies from it in a
// third, and beside the copies' streams those in which the host's part of them runs.
#pragma once

#include <onto/backend/cuda/context.hpp>
#include <onto/backend/cuda/staging.hpp>

#include <cstdint>

namespace onto::detail {

/// A set of streams: a device's own, or those of a recording on it, which lead into a graph. Each is made when it is
/// first asked for. *Preconditions* the GPU is current; what is issued to a stream is issued under the stream's lock.
class cuda_streams {
 public:
  explicit cuda_streams(bool recording) : up_(false, recording), down_(true, recording) {
    context.recording = recording;
  }
  cuda_streams(const cuda_streams&) = delete;
  cuda_streams& operator=(const cuda_streams&) = delete;
  ~cuda_streams() {
    close();
    close_staging();
  }

  /// Streams that are made from now on begin at this event, which makes them part of its recording.
  void begin_at(cudaEvent_t fork) { fork_ = fork; }

  /// Held while a piece of work is issued, so that the kernels of one call, which may share a workspace, lie side by
  /// side in their stream however many threads issue.
  mutex& lock_of(stream_kind l) { return locks_[static_cast<int>(l)]; }

  cudaStream_t of(stream_kind l) { return l == stream_kind::compute ? compute() : l == stream_kind::in ? in() : out(); }
  cudaStream_t compute() { return made(context.stream); }
  cudaStream_t in() { return made(in_); }
  cudaStream_t out() { return made(out_); }

  /// Copies from ordinary host memory.
  void stage_in(void* to, const host_slot& slot, std::int64_t bytes) {
    if (!fill_) {
      // The host's part may begin once the stream is past what it was made to wait for.
      made(fill_);
      follow(fill_, in());
    }
    unfilled_ = true;
    up_.pass(fill_, in(), slot, to, bytes);
    unfilled_ = false;
  }
  /// Copies to ordinary host memory. *Returns* the stream in which the copy ends.
  cudaStream_t stage_out(const host_slot& slot, void* from, std::int64_t bytes) {
    (void)made(drain_);
    undrained_ = true;
    down_.pass(out(), drain_, slot, from, bytes);
    return drain_;
  }
  /// The event is reached when all of the stream is done, the host's part of it too.
  void record(stream_kind l, cudaEvent_t event) {
    if (l == stream_kind::in && unfilled_) {
      follow(in(), fill_);
      unfilled_ = false;
    }
    if (l == stream_kind::out && undrained_) {
      follow(out(), drain_);
      undrained_ = false;
    }
    cuda_check(cudaEventRecord(event, of(l)), "cudaEventRecord");
  }
  void wait(stream_kind l, cudaEvent_t event) {
    cuda_check(cudaStreamWaitEvent(of(l), event, 0), "cudaStreamWaitEvent");
    if (l == stream_kind::in && fill_) cuda_check(cudaStreamWaitEvent(fill_, event, 0), "cudaStreamWaitEvent");
  }

  /// Makes `origin` wait for all of them.
  void join(cudaStream_t origin) {
    const cudaStream_t all[] = {context.stream, fill_, in_, out_, drain_};
    for (const cudaStream_t s : all)
      if (s && s != origin) follow(origin, s);
  }

  /// Waits for the streams of a kind, the host's part of copies too. Asked again where the driver refuses: what was
  /// issued works in memory that goes when this returns.
  void finish(stream_kind l) noexcept {
    const cudaStream_t all[] = {l == stream_kind::compute ? context.stream
                                : l == stream_kind::in    ? fill_
                                                          : out_,
                                l == stream_kind::compute ? nullptr
                                : l == stream_kind::in    ? in_
                                                          : drain_};
    for (const cudaStream_t s : all) {
      if (!s) continue;
      const cudaError_t status = cudaStreamSynchronize(s);
      cuda_ignore(status);
      if (status != cudaSuccess) cuda_ignore(cudaDeviceSynchronize());
    }
  }

  void synchronize() noexcept {
    const cudaStream_t all[] = {context.stream, fill_, in_, out_, drain_};
    for (const cudaStream_t s : all)
      if (s) cuda_ignore(cudaStreamSynchronize(s));
  }
  /// Nothing is issued to the streams any more; what was is done, or kept in a graph.
  void close() noexcept {
    context.blas = {};
    context.dnn = {};
    cudaStream_t* const all[] = {&context.stream, &fill_, &in_, &out_, &drain_};
    for (cudaStream_t* s : all) {
      if (*s) cuda_ignore(cudaStreamDestroy(*s));
      *s = nullptr;
    }
  }
  void close_staging() noexcept {
    up_.close();
    down_.close();
  }

  gpu_context context;  // of the compute stream

 private:
  cudaStream_t made(cudaStream_t& stream) {
    if (stream) return stream;
    cudaStream_t s = nullptr;
    cuda_check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    const cudaError_t status = fork_ ? cudaStreamWaitEvent(s, fork_, 0) : cudaSuccess;
    if (status != cudaSuccess) {
      cuda_ignore(cudaStreamDestroy(s));
      throw_cuda(status, "cudaStreamWaitEvent");
    }
    return stream = s;
  }

  mutex locks_[stream_kinds];
  cudaEvent_t fork_ = nullptr;
  cudaStream_t fill_ = nullptr, in_ = nullptr, out_ = nullptr, drain_ = nullptr;
  bool unfilled_ = false;   // a copy was given up: its host's part may go on after what is in `in`
  bool undrained_ = false;  // the host's part of a copy may go on after what is in `out`
  staging_ring up_, down_;
};

}  // namespace onto::detail
