// SPDX-License-Identifier: BSL-1.0
// The GPUs of this machine: which there are, and each as a device of the runtime with a stream and a pool of memory.
// Nothing is set up on a GPU before something is issued to it.
#pragma once

#include <onto/backend/cuda/context.hpp>

#include <cstdint>
#include <cstring>
#include <exception>
#include <string>

namespace onto::detail {

/// How many GPUs there are; where there are none, why.
struct cuda_presence {
  int count = 0;
  std::string reason;
};

/// Asks the driver. A machine without a driver or without a GPU has none, which is no error.
inline cuda_presence find_cuda_devices() {
  cuda_presence p;
  const cudaError_t status = cudaGetDeviceCount(&p.count);
  if (status == cudaSuccess) {
    if (p.count == 0) p.reason = "no GPU is visible";
    return p;
  }
  (void)cudaGetLastError();
  return {0, cudaGetErrorString(status)};
}

/// What is known of a GPU without using it.
struct cuda_facts {
  std::string name;
  std::string pci_bus_id;
  int major = 0, minor = 0;
  std::int64_t memory = 0;  // bytes
  bool has_pools = false;
};

inline cuda_facts facts_of_cuda_device(int ordinal) {
  cudaDeviceProp properties;
  cuda_check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  char bus[32] = {};
  cuda_check(cudaDeviceGetPCIBusId(bus, static_cast<int>(sizeof bus), ordinal), "cudaDeviceGetPCIBusId");
  int pools = 0;
  cuda_check(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, ordinal), "cudaDeviceGetAttribute");
  return {
      properties.name, bus, properties.major, properties.minor, static_cast<std::int64_t>(properties.totalGlobalMem),
      pools != 0};
}

/// Whether something has been set up on a GPU already. Through the driver, since the runtime would set it up to answer.
inline bool is_in_use(int ordinal) {
  using query = int (*)(int, unsigned*, int*);
  static const query is_active = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &entry, 7000, cudaEnableDefault, &found);
    cuda_ignore(status);
    return status == cudaSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<query>(entry) : nullptr;
  }();
  unsigned flags = 0;
  int active = 1;
  return !is_active || is_active(ordinal, &flags, &active) != 0 || active != 0;
}

/// Makes a GPU current on this thread for as long as it lives. A GPU that was current but never used is not made
/// current again, since that alone would take memory on it.
class current_cuda_device {
 public:
  explicit current_cuda_device(int ordinal) {
    cuda_check(cudaGetDevice(&previous_), "cudaGetDevice");
    changed_ = previous_ != ordinal;
    if (changed_) cuda_check(cudaSetDevice(ordinal), "cudaSetDevice");
  }
  current_cuda_device(const current_cuda_device&) = delete;
  current_cuda_device& operator=(const current_cuda_device&) = delete;
  ~current_cuda_device() {
    if (changed_ && is_in_use(previous_)) cuda_ignore(cudaSetDevice(previous_));
  }

 private:
  int previous_ = 0;
  bool changed_ = false;
};

/// A point in a GPU's stream.
class cuda_event final : public device_event {
 public:
  cuda_event(int ordinal, cudaStream_t stream) : ordinal_(ordinal) {
    cuda_check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    const cudaError_t status = cudaEventRecord(event_, stream);
    if (status == cudaSuccess) return;
    cuda_ignore(cudaEventDestroy(event_));
    throw_cuda(status, "cudaEventRecord");
  }
  ~cuda_event() override { cuda_ignore(cudaEventDestroy(event_)); }

  void wait() override {
    const current_cuda_device current(ordinal_);
    cuda_check(cudaEventSynchronize(event_), "waiting for a GPU");
  }
  cudaEvent_t get() const { return event_; }

 private:
  int ordinal_;
  cudaEvent_t event_ = nullptr;
};

/// How much of a GPU's memory a device may take.
struct cuda_memory {
  std::int64_t limit = 0;  // bytes; 0: all of it
  bool growth = true;      // false: the limit is taken at once
};

/// A GPU, or a part of one's memory as a device of its own.
class cuda_device final : public device {
 public:
  /// `ordinal` is the GPU's number in the CUDA runtime. *Effects* none on the GPU.
  cuda_device(place where, int ordinal, cuda_memory memory = {})
      : device(where), ordinal_(ordinal), memory_(memory), facts_(facts_of_cuda_device(ordinal)) {}

  ~cuda_device() override {
    if (!pool_ && !context_.stream) return;
    int previous = ordinal_;
    cuda_ignore(cudaGetDevice(&previous));
    cuda_ignore(cudaSetDevice(ordinal_));
    if (context_.stream) cuda_ignore(cudaStreamSynchronize(context_.stream));
    context_.blas = {};
    if (context_.stream) cuda_ignore(cudaStreamDestroy(context_.stream));
    if (pool_) cuda_ignore(cudaMemPoolDestroy(pool_));
    if (previous != ordinal_ && is_in_use(previous)) cuda_ignore(cudaSetDevice(previous));
  }

  int ordinal() const { return ordinal_; }
  const cuda_facts& facts() const { return facts_; }

  std::string description() const override {
    return "device: " + std::to_string(ordinal_) + ", name: " + facts_.name + ", pci bus id: " + facts_.pci_bus_id +
           ", compute capability: " + std::to_string(facts_.major) + "." + std::to_string(facts_.minor);
  }

  const void* family() const override {
    static constexpr char cuda = 0;
    return &cuda;
  }

  void* allocate(std::int64_t bytes) override {
    before("allocate");
    const current_cuda_device current(ordinal_);
    const cudaStream_t stream = ready().stream;
    const auto size = static_cast<std::size_t>(bytes > 0 ? bytes : 1);
    void* memory = nullptr;
    cudaError_t status = take(&memory, size, stream);
    if (status == cudaErrorMemoryAllocation) {
      // What is still to be freed in the stream's order may be enough.
      (void)cudaGetLastError();
      cuda_check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      status = take(&memory, size, stream);
    }
    if (status == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      throw resource_exhausted_error("[onto.cuda] GPU " + std::to_string(where().index) + " (" + facts_.name +
                                     ") has no memory left for " + std::to_string(bytes) +
                                     " bytes; use smaller tensors or another device, or give this process more of its "
                                     "memory with session_options::gpu");
    }
    cuda_check(status, "allocating GPU memory");
    return memory;
  }

  void deallocate(void* memory, std::int64_t) noexcept override {
    if (!memory) return;
    try {
      const current_cuda_device current(ordinal_);
      cuda_ignore(pool_ ? cudaFreeAsync(memory, context_.stream) : cudaFree(memory));
    } catch (...) {  // the GPU is lost, and its memory with it
    }
  }

  void copy_in(run_state& run, void* to, const void* memory, std::int64_t bytes) override {
    issue(run, "copy", [&](gpu_context& context) { copy(context, to, memory, bytes, cudaMemcpyHostToDevice); });
  }

  void copy_out(run_state& run, void* memory, const void* from, std::int64_t bytes) override {
    issue(run, "copy", [&](gpu_context& context) { copy(context, memory, from, bytes, cudaMemcpyDeviceToHost); });
  }

  /// *Preconditions* `other` is of this family, and this device's stream waits for what was issued there before: the
  /// memory is its own only from a point of its stream on.
  void copy_to(run_state& run, device& other, void* to, const void* from, std::int64_t bytes) override {
    issue(run, "copy", [&](gpu_context& context) {
      auto& target = static_cast<cuda_device&>(other);
      if (target.ordinal_ == ordinal_) return copy(context, to, from, bytes, cudaMemcpyDeviceToDevice);
      target.admit(ordinal_);
      cuda_check(
          cudaMemcpyPeerAsync(to, target.ordinal_, from, ordinal_, static_cast<std::size_t>(bytes), context.stream),
          "cudaMemcpyPeerAsync");
      count_transfer(bytes);
    });
  }

  void launch(run_state& run, const kernel_entry& kernel, const kernel_call& call) override {
    issue(run, "kernel", [&](gpu_context& context) {
      if (!kernel.on_gpu) throw internal_error("[onto.cuda] a program without GPU kernels was launched on a GPU");
      kernel.on_gpu(context, call);
      count_kernel(call);
    });
  }

  ref<device_event> record() override {
    const current_cuda_device current(ordinal_);
    return ref<device_event>(new cuda_event(ordinal_, ready().stream));
  }

  /// *Preconditions* the event is of a device of this family.
  void wait(const ref<device_event>& event) override {
    if (!event) return;
    const current_cuda_device current(ordinal_);
    cuda_check(cudaStreamWaitEvent(ready().stream, static_cast<const cuda_event&>(*event).get(), 0),
               "cudaStreamWaitEvent");
  }

  /// Blocks until everything issued is done.
  void synchronize() {
    const current_cuda_device current(ordinal_);
    cuda_check(cudaStreamSynchronize(ready().stream), "waiting for a GPU");
  }

 private:
  /// Sets up the stream and the pool where that was not done. The GPU is current.
  gpu_context& ready() {
    mutex_lock lock(mutex_);
    if (ready_) return context_;
    if (facts_.has_pools && !pool_) make_pool();
    if (!context_.stream)
      cuda_check(cudaStreamCreateWithFlags(&context_.stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    if (pool_ && !memory_.growth && memory_.limit > 0) {
      void* all = nullptr;
      cuda_check(cudaMallocFromPoolAsync(&all, static_cast<std::size_t>(memory_.limit), pool_, context_.stream),
                 "taking the GPU memory that session_options::gpu asks for");
      cuda_check(cudaFreeAsync(all, context_.stream), "cudaFreeAsync");
    }
    ready_ = true;
    return context_;
  }

  void make_pool() {
    cudaMemPoolProps properties;
    std::memset(&properties, 0, sizeof properties);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = ordinal_;
    properties.maxSize = static_cast<std::size_t>(memory_.limit);
    cuda_check(cudaMemPoolCreate(&pool_, &properties), "cudaMemPoolCreate");
    // What was freed stays with the session: giving it back and taking it again costs milliseconds.
    std::uint64_t keep = ~std::uint64_t{0};
    cuda_check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep), "cudaMemPoolSetAttribute");
  }

  cudaError_t take(void** memory, std::size_t bytes, cudaStream_t stream) {
    return pool_ ? cudaMallocFromPoolAsync(memory, bytes, pool_, stream) : cudaMalloc(memory, bytes);
  }

  /// Lets another GPU write to this one's memory directly, where the two can.
  void admit(int ordinal) {
    mutex_lock lock(mutex_);
    const std::uint64_t bit = std::uint64_t{1} << (ordinal & 63);
    if (!pool_ || (admitted_ & bit)) return;
    int can = 0;
    cuda_check(cudaDeviceCanAccessPeer(&can, ordinal, ordinal_), "cudaDeviceCanAccessPeer");
    if (can) {
      cudaMemAccessDesc access{};
      access.location.type = cudaMemLocationTypeDevice;
      access.location.id = ordinal;
      access.flags = cudaMemAccessFlagsProtReadWrite;
      cuda_check(cudaMemPoolSetAccess(pool_, &access, 1), "cudaMemPoolSetAccess");
    }
    admitted_ |= bit;
  }

  void copy(gpu_context& context, void* to, const void* from, std::int64_t bytes, cudaMemcpyKind kind) {
    if (bytes > 0)
      cuda_check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, context.stream), "cudaMemcpyAsync");
    count_transfer(bytes);
  }

  /// Issues something for a run; nothing once the run has failed.
  template <class Work>
  void issue(run_state& run, const char* what, const Work& work) {
    if (run.failed()) return;
    try {
      before(what);
      const current_cuda_device current(ordinal_);
      work(ready());
    } catch (...) {
      run.fail(std::current_exception());
    }
  }

  int ordinal_;
  cuda_memory memory_;
  cuda_facts facts_;
  mutex mutex_;
  bool ready_ = false;
  std::uint64_t admitted_ = 0;
  cudaMemPool_t pool_ = nullptr;
  gpu_context context_;
};

/// Adds all GPUs, in the driver's order; none on a machine without a driver or a GPU.
ONTO_COLD ONTO_NOINLINE inline void add_cuda_devices(device_list& devices) {
  const int count = find_cuda_devices().count;
  for (int k = 0; k < count; ++k) devices.add(new cuda_device(place{device_kind::gpu, k}, k));
}

}  // namespace onto::detail
