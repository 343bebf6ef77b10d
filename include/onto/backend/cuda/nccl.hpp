// SPDX-License-Identifier: BSL-1.0
// Sums of values of several tasks' GPUs by NCCL, in programs that define ONTO_HAS_NCCL and link it.
#pragma once

#include <onto/backend/cuda/device.hpp>
#include <onto/runtime/communicator.hpp>

#if defined(ONTO_HAS_NCCL)
#if !__has_include(<nccl.h>)
#error "[onto.cuda] ONTO_HAS_NCCL is defined, and nccl.h is not found; add NCCL's folder with -I"
#endif
#include <nccl.h>

#include <cstring>

static_assert(NCCL_VERSION_CODE >= 21400, "[onto.cuda] communicators that do not block need NCCL 2.14 or later");

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// *Throws* `internal_error` with NCCL's own words, where a call has failed. `all` may be null.
ONTO_COLD inline void nccl_check(ncclResult_t result, const char* what, ncclComm_t all) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  message m("[onto.cuda] ");
  m << what << " failed: " << ncclGetErrorString(result);
  // Of a communicator, or where there is none yet, of the last call at all.
  const char* const words = ncclGetLastError(all);
  if (words && *words) m << ": " << words;
  fail<internal_error>(m << "; NCCL_DEBUG=INFO in the environment has it say more");
}

/// NCCL's name for a type; false where it has none.
constexpr bool nccl_type(element type, ncclDataType_t& out) {
  switch (type) {
    case element::float32: out = ncclFloat32; return true;
    case element::float64: out = ncclFloat64; return true;
    case element::float16: out = ncclFloat16; return true;
    case element::bfloat16: out = ncclBfloat16; return true;
    case element::int8: out = ncclInt8; return true;
    case element::uint8: out = ncclUint8; return true;
    case element::int32: out = ncclInt32; return true;
    case element::uint32: out = ncclUint32; return true;
    case element::int64: out = ncclInt64; return true;
    case element::uint64: out = ncclUint64; return true;
    default: return false;
  }
}

class nccl_communicator final : public communicator {
 public:
  explicit nccl_communicator(cuda_device& d) : device_(d), gpu_(d.ordinal()) {}
  ~nccl_communicator() override { abort(); }

  /// *Preconditions* the id is NCCL's, and all tasks call this.
  void open(const std::string& id, int tasks, int rank) {
    ncclUniqueId words;
    std::memcpy(words.internal, id.data(), sizeof words.internal);
    (void)gpu_.context();  // what is taken down later is taken down with the GPU current
    device_.communicate(nullptr, [&](cudaStream_t) {
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.blocking = 0;
      check(ncclCommInitRankConfig(&all_, tasks, words, rank, &config), "ncclCommInitRankConfig");
      cuda_check(cudaEventCreateWithFlags(&end_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    });
  }
  void all_reduce(const work& w, element type, const shared_value* values, int count) override {
    ncclDataType_t nccl{};
    if (!nccl_type(type, nccl)) fail<internal_error>(message("[onto.cuda] NCCL has no such element type"));
    device_.communicate(&w, [&](cudaStream_t stream) {
      check(ncclGroupStart(), "ncclGroupStart");
      ncclResult_t result = ncclSuccess;
      for (int k = 0; k < count && (result == ncclSuccess || result == ncclInProgress); ++k)
        if (values[k].count > 0)
          result = ncclAllReduce(values[k].from, values[k].to, static_cast<std::size_t>(values[k].count), nccl, ncclSum,
                                 all_, stream);
      // What was begun must end before the failure is told, or every later call would be part of it.
      const ncclResult_t ended = ncclGroupEnd();
      check(result, "ncclAllReduce");
      check(ended, "ncclGroupEnd");
    });
  }

  bool is_ready() override {
    expect_open();
    ncclResult_t state = ncclSuccess;
    device_.communicate(nullptr, [&](cudaStream_t) {
      check(ncclCommGetAsyncError(all_, &state), "ncclCommGetAsyncError");
      check(state, "a sum over GPUs of several tasks");
    });
    return state == ncclSuccess;
  }

  void mark() override {
    device_.communicate(nullptr,
                        [&](cudaStream_t stream) { cuda_check(cudaEventRecord(end_, stream), "cudaEventRecord"); });
    marked_ = true;
  }

  bool is_done() override {
    if (!marked_) return true;
    if (!is_ready()) return false;
    cudaError_t status = cudaSuccess;
    device_.communicate(nullptr, [&](cudaStream_t) {
      status = cudaEventQuery(end_);
      if (status == cudaErrorNotReady)
        cuda_ignore(status);
      else
        cuda_check(status, "cudaEventQuery");
    });
    if (status == cudaSuccess) marked_ = false;
    return !marked_;
  }

  /// NCCL's own end, too: ncclCommDestroy may wait for the others.
  void abort() noexcept override {
    quietly_on(gpu_, [&] {
      if (all_) (void)ncclCommAbort(all_);
      if (end_) cuda_ignore(cudaEventDestroy(end_));
    });
    all_ = nullptr;
    end_ = nullptr;
  }

 private:
  void check(ncclResult_t result, const char* what) const { nccl_check(result, what, all_); }
  void expect_open() const {
    if (!all_) fail<internal_error>(message("[onto.cuda] a sum over GPUs of several tasks was given up"));
  }

  cuda_device& device_;
  cuda_gpu gpu_;
  ncclComm_t all_ = nullptr;
  cudaEvent_t end_ = nullptr;
  bool marked_ = false;
};

struct nccl_sums {
  /// Sums of half and bfloat16 are rounded after each addition: of two terms that is once, as everywhere.
  static bool adds(element type, int tasks) {
    ncclDataType_t nccl{};
    const bool is_short = type == element::float16 || type == element::bfloat16;
    return nccl_type(type, nccl) && (!is_short || tasks == 2);
  }
  static std::string hardware(const device& d) { return static_cast<const cuda_device&>(d).facts().pci_bus_id; }
  static std::string make_id(device& d) {
    ncclUniqueId id;
    static_cast<cuda_device&>(d).communicate(
        nullptr, [&](cudaStream_t) { nccl_check(ncclGetUniqueId(&id), "ncclGetUniqueId", nullptr); });
    return {id.internal, sizeof id.internal};
  }
  static ref<communicator> join(device& d, const std::string& id, int tasks, int rank) {
    auto& gpu = static_cast<cuda_device&>(d);
    auto* const made = new nccl_communicator(gpu);
    ref<communicator> held(made);
    gpu.keep(held);
    made->open(id, tasks, rank);
    return held;
  }
  static constexpr communicators table{&adds, &hardware, &make_id, NCCL_UNIQUE_ID_BYTES, &join};
};

inline const communicators* cuda_device::sums_with_others() const { return &nccl_sums::table; }

}  // namespace onto::detail
ONTO_END_RUNS_ONCE
#endif
