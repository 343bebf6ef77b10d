// SPDX-License-Identifier: BSL-1.0
// What GPUs of several tasks do among themselves, by NCCL: collectives, and copies from one to another. In programs
// that define ONTO_HAS_NCCL and link it.
#pragma once

#include <onto/backend/cuda/device.hpp>
#include <onto/graph/device_routes.hpp>
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

/// What plans count on.
constexpr bool nccl_has_what_is_added() {
  for (int t = 0; t <= static_cast<int>(element::text); ++t) {
    ncclDataType_t nccl{};
    if (adds_on_gpus(static_cast<element>(t), 2) != nccl_type(static_cast<element>(t), nccl)) return false;
  }
  return true;
}
static_assert(nccl_has_what_is_added());

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
  void begin(const work& w, const direct_part& part) override {
    ncclDataType_t type{};
    const bool adds = part.what.kind == step_kind::all_reduce || part.what.kind == step_kind::reduce_scatter;
    if (adds && !nccl_type(part.what.type, type))
      fail<internal_error>(message("[onto.cuda] NCCL has no such element type"));
    const bool sends = part.what.kind == step_kind::transfer && part.own == 0;
    const std::int64_t sent = sends ? part.what.values[0].count * size_of(part.what.type) : -1;
    const auto issue = [&](cudaStream_t stream) {
      check(ncclGroupStart(), "ncclGroupStart");
      calls made{*this, part, type, stream};
      for (int k = 0; k < part.what.count; ++k) made.add(part.what.values[k]);
      // What was begun must end before the failure is told, or every later call would be part of it.
      const ncclResult_t ended = ncclGroupEnd();
      check(made.result, made.last);
      check(ended, "ncclGroupEnd");
    };
    device_.communicate(&w, issue, sent);
  }

  bool is_ready() override {
    expect_open();
    ncclResult_t state = ncclSuccess;
    device_.communicate(nullptr, [&](cudaStream_t) {
      check(ncclCommGetAsyncError(all_, &state), "ncclCommGetAsyncError");
      check(state, "what GPUs of several tasks do together");
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
  /// Those between the beginning and the end of a group.
  struct calls {
    const nccl_communicator& with;
    const direct_part& part;
    ncclDataType_t type;
    cudaStream_t stream;
    ncclResult_t result = ncclSuccess;
    const char* last = "";

    void add(const shared_value& v) {
      if (v.count == 0) return;
      switch (part.what.kind) {
        case step_kind::all_reduce:
          return call("ncclAllReduce", [&] {
            return ncclAllReduce(v.from, v.to, static_cast<std::size_t>(v.count), type, ncclSum, with.all_, stream);
          });
        case step_kind::reduce_scatter: return scatter(v);
        case step_kind::all_gather: return gather(v);
        case step_kind::broadcast: return send(0, v.from, v.to ? v.to : const_cast<void*>(v.from), v.count);
        default: break;
      }
      if (part.own == 0)
        call("ncclSend", [&] { return ncclSend(v.from, bytes(v.count), ncclUint8, part.rank[1], with.all_, stream); });
      else
        call("ncclRecv", [&] { return ncclRecv(v.to, bytes(v.count), ncclUint8, part.rank[0], with.all_, stream); });
    }

   private:
    /// Nothing, once a call has failed.
    template <class Call>
    void call(const char* name, const Call& nccl) {
      if (result != ncclSuccess && result != ncclInProgress) return;
      last = name;
      result = nccl();
    }
    std::int64_t size() const { return size_of(part.what.type); }
    std::size_t bytes(std::int64_t count) const { return static_cast<std::size_t>(count * size()); }

    /// Whether each task has as many elements as the others, in the order of the ranks: NCCL's own order.
    bool is_even(const shared_value& v) const {
      for (int t = 0; t < part.what.task_count; ++t) {
        const element_range& r = v.ranges[t];
        if (r.size() != v.ranges[0].size() || r.begin != part.rank[t] * r.size()) return false;
      }
      return true;
    }
    void scatter(const shared_value& v) {
      if (is_even(v) && v.ranges[0].size() > 0)
        return call("ncclReduceScatter", [&] {
          return ncclReduceScatter(v.from, v.to, static_cast<std::size_t>(v.ranges[0].size()), type, ncclSum, with.all_,
                                   stream);
        });
      for (int t = 0; t < part.what.task_count; ++t) {
        const element_range& r = v.ranges[t];
        if (r.size() == 0) continue;
        const char* const from = static_cast<const char*>(v.from) + r.begin * size();
        call("ncclReduce", [&] {
          return ncclReduce(from, t == part.own ? v.to : nullptr, static_cast<std::size_t>(r.size()), type, ncclSum,
                            part.rank[t], with.all_, stream);
        });
      }
    }
    void gather(const shared_value& v) {
      if (is_even(v))
        return call("ncclAllGather", [&] {
          return ncclAllGather(v.from, v.to, bytes(v.ranges[0].size()), ncclUint8, with.all_, stream);
        });
      for (int t = 0; t < part.what.task_count; ++t)
        send(t, v.from, static_cast<char*>(v.to) + v.ranges[t].begin * size(), v.ranges[t].size());
    }
    /// What task `t` has, to all.
    void send(int t, const void* from, void* to, std::int64_t count) {
      if (count == 0) return;
      call("ncclBroadcast",
           [&] { return ncclBroadcast(from, to, bytes(count), ncclUint8, part.rank[t], with.all_, stream); });
    }
  };

  void check(ncclResult_t result, const char* what) const { nccl_check(result, what, all_); }
  void expect_open() const {
    if (!all_) fail<internal_error>(message("[onto.cuda] what GPUs of several tasks do together was given up"));
  }

  cuda_device& device_;
  cuda_gpu gpu_;
  ncclComm_t all_ = nullptr;
  cudaEvent_t end_ = nullptr;
  bool marked_ = false;
};

struct nccl_communicators {
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
  static constexpr communicators table{&hardware, &make_id, NCCL_UNIQUE_ID_BYTES, &join};
};

inline const communicators* cuda_device::direct_communicators() const { return &nccl_communicators::table; }

}  // namespace onto::detail
ONTO_END_RUNS_ONCE
#endif
