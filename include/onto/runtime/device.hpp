// SPDX-License-Identifier: BSL-1.0
// A device as the runtime sees it: memory, copies and kernels in stream order. Backends answer by deriving; none is
// named here.
#pragma once

#include <onto/core/atomic.hpp>
#include <onto/graph/plan_step.hpp>
#include <onto/runtime/fault_hook.hpp>
#include <onto/runtime/kernel.hpp>
#include <onto/runtime/memory.hpp>
#include <onto/runtime/work.hpp>

#include <cstdint>
#include <string>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// A point in a device's stream that others can wait for. Used again in each run of the program that has it.
class device_event : public counted {
 public:
  /// Blocks the calling thread until everything issued before the point is done.
  virtual void wait() = 0;
  /// Simulated seconds at which the point was reached; only after it was.
  virtual double time() const { return 0; }
};

/// What was issued while a device recorded, to be issued again in one call.
class device_graph : public counted {
 public:
  /// Whether it can copy from and to the memory that its slots have now; where not, it must be recorded again.
  virtual bool adapt() { return true; }
  /// Does all of it for another run, in the compute stream of the device that recorded it, after what was issued there.
  /// Blocks until it is done and its results are in the host's memory; where the run fails it may still be under way.
  virtual void perform(run_state& run) = 0;
};

/// What a device has done since the session was made.
struct device_counters {
  atomic<std::int64_t> kernels{0};
  atomic<std::int64_t> transfers{0};
  atomic<std::int64_t> transfer_bytes{0};
};

struct communicators;

/// One device. What is issued to a stream runs in its order; nothing but `reserve` and an event's `wait` blocks.
/// Labels, calls and slots must live until the run is over.
class device {
 public:
  /// `slot` is where kernels have what is launched here, see kernel_entry.
  explicit device(place where, int slot = kernel_entry::host) : where_(where), slot_(slot) {}
  device(const device&) = delete;
  device& operator=(const device&) = delete;
  virtual ~device() = default;

  place where() const { return where_; }
  /// Makes it a device of a task. *Preconditions* nothing has been asked of it.
  void join(const task_name& task) {
    where_.in_task = true;
    where_.task = &task;
  }
  int slot() const { return slot_; }
  /// `device: 0, name: NVIDIA H200, pci bus id: 0000:05:00.0, compute capability: 9.0`; empty for the CPU.
  virtual std::string description() const = 0;
  /// Whether its memory is the host's, so that the host computes in it directly.
  virtual bool is_host() const { return false; }
  /// What a device that is the host's launches its kernels with; null of others.
  virtual kernel_context* host_context() { return nullptr; }
  /// Devices of one peer_group wait for each other's events and copy to each other's memory without the host.
  virtual const void* peer_group() const = 0;

  /// A block of memory that every stream may use at once.
  /// *Throws* `resource_exhausted_error` where there is not so much memory under the limit.
  ONTO_NOINLINE ref<device_block> reserve(const memory_request& r) {
    try {
      expect_alive();
      before("allocate");
    } catch (...) {
      std::rethrow_exception(named_failure({r.name, r.kind, r.bytes, 0}, where_));
    }
    ref<device_block> b(new device_block(*this, r));
    void* data = take(b->bytes());
    if (!data) throw_exhausted(r);
    b->data_ = data;
    account_.add(b.get());
    return b;
  }
  memory_info memory() const { return {account_.in_use(), account_.peak(), reserved(), limit(), workspace_bytes()}; }
  /// Gives memory that is not in use back to the system.
  virtual void trim() {}
  /// Memory for kernels to work in beside what the plan sets apart for them, of `bytes` or more: one piece for all
  /// programs, since the kernels of a device run one after the other. Counted as `memory().workspace`. Where there is
  /// not so much, or not beside what a program is yet to take, it may be less, down to `least`. *Effects* sets `bytes`
  /// to what it is.
  virtual ref<counted> workspace_up_to(std::int64_t& bytes, std::int64_t least, std::int64_t beside, void*& data) {
    (void)least;
    (void)beside;
    bytes = 0;
    data = nullptr;
    return {};
  }
  /// Bytes that a kernel needs to work in on this device, as a function of its entry says them; 0 where kernels have
  /// what they need.
  virtual std::size_t ask_workspace(std::size_t (*ask)(const kernel_call&), const kernel_call& call) {
    (void)ask;
    (void)call;
    return 0;
  }
  ref<counted> workspace(std::int64_t bytes, void*& data) { return workspace_up_to(bytes, bytes, 0, data); }
  /// Fills a block so that whoever reads what was not written finds out; for tests.
  virtual void poison(void* memory, std::int64_t bytes) {
    (void)memory;
    (void)bytes;
  }

  /// Copies from the host, in the stream `in`.
  virtual void copy_in(const work& w, void* to, const host_slot& host, std::int64_t bytes) = 0;
  /// Copies to the host, in the stream `out`.
  virtual void copy_out(const work& w, const host_slot& host, const void* from, std::int64_t bytes) = 0;
  /// Copies to another device of the peer_group, in this device's stream `out`.
  virtual void copy_to(const work& w, device& other, void* to, const void* from, std::int64_t bytes) = 0;
  /// Runs a kernel, in the stream `compute`.
  virtual void launch(const work& w, const kernel_entry& kernel, const kernel_call& call) = 0;

  virtual ref<device_event> make_event() = 0;
  /// The event is reached when everything issued to the stream so far is done.
  virtual void record(run_state& run, stream_kind stream, device_event& event) = 0;
  /// What is issued to the stream from now on waits for an event of a device of the same peer_group.
  virtual void wait(run_state& run, stream_kind stream, device_event& event) = 0;

  /// Blocks until a stream is empty, when an event that was to tell could not be had.
  virtual void finish(stream_kind stream) noexcept { (void)stream; }

  /// Has `issue` issue work to this device and others of its peer_group, and keeps it instead of doing it.
  /// *Returns* null, where this peer_group or this work cannot be kept.
  virtual ref<device_graph> record_graph(void (*issue)(void* context), void* context) {
    (void)issue;
    (void)context;
    return {};
  }

  /// Lets the devices of the peer_group copy from and to host memory themselves, without a detour through pinned
  /// memory of their own. *Returns* what ends that when it is let go of, before the memory goes; null where it is not
  /// to be had.
  virtual ref<counted> pin(void* memory, std::int64_t bytes) {
    (void)memory;
    (void)bytes;
    return {};
  }

  /// What it copies and adds up values with, together with devices of other tasks and without the hosts; null where it
  /// does not.
  virtual const communicators* direct_communicators() const { return nullptr; }
  /// Whether its memory is CUDA's, which some MPIs read and write.
  virtual bool has_cuda_memory() const { return false; }

  /// Why a device does nothing any more, or null.
  const char* lost() const { return lost_.load(memory_order_acquire); }

  /// *Throws* where a kernel that is launched now would fail before it begins.
  ONTO_INLINE void expect_kernel() {
    expect_alive();
    before("kernel");
  }

  fault_hook fault{};
  device_links links{};  // to those of other tasks
  device_counters counters;

 protected:
  /// Raw memory that every stream may use at once; null where the limit or the device is exhausted.
  virtual void* take(std::int64_t bytes) = 0;
  /// Takes back what nothing uses any more.
  virtual void give(void* memory, std::int64_t bytes) noexcept = 0;
  virtual std::int64_t reserved() const { return account_.in_use(); }
  virtual std::int64_t limit() const { return 0; }
  virtual std::int64_t workspace_bytes() const { return 0; }

  void before(const char* what) {
    if (!fault.before) return;
    try {
      fault.before(fault.context, what);
    } catch (const device_lost& l) {
      lose(l.why);
      expect_alive();
    }
  }
  void lose(const char* why) { lost_.store(why, memory_order_release); }
  ONTO_INLINE void expect_alive() const {
    if (const char* why = lost()) throw_lost(why);
  }
  [[noreturn]] ONTO_COLD ONTO_NOINLINE void throw_lost(const char* why) const {
    message m("[onto.device] ");
    fail<internal_error>(write_short(m, where_)
                         << " was lost (" << why
                         << ") and runs nothing any more; other devices go on. Make a new session, and where that "
                            "does not find the device, a new process");
  }
  void count_kernel(const kernel_call& call) {
    if (!call.continues) counters.kernels.fetch_add(1, memory_order_relaxed);
  }
  void count_transfer(std::int64_t bytes) {
    counters.transfers.fetch_add(1, memory_order_relaxed);
    counters.transfer_bytes.fetch_add(bytes, memory_order_relaxed);
  }

 private:
  friend class device_block;

  [[noreturn]] ONTO_COLD ONTO_NOINLINE void throw_exhausted(const memory_request& r) {
    const memory_info now = memory();
    message m("[onto.memory] ");
    write_bytes(write_short(m, where_) << " has no memory left for ", r.bytes) << " of " << r.kind;
    if (!r.name.empty()) m << " '" << r.name << "'";
    if (r.explain) r.explain(r.context, m, now.limit > 0 ? now.limit - now.in_use - now.workspace : 0);
    write_bytes(m << "; in use ", now.in_use);
    if (now.limit > 0) write_bytes(m << " of a limit of ", now.limit);
    if (now.workspace > 0) write_bytes(m << ", beside ", now.workspace) << " that kernels work in";
    account_.write_holders(m);
    fail<resource_exhausted_error>(m << "; use smaller tensors or more devices, release prepared programs, or raise "
                                        "session_options::gpu.memory_limit");
  }

  place where_;
  int slot_;
  memory_account account_;
  atomic<const char*> lost_{nullptr};
};

inline void device_block::give_back() {
  if (!data_) return;
  owner_.account_.remove(this);
  owner_.give(data_, bytes_);
}

/// The devices of a session, in order of preference, the CPU last; owned.
class device_list {
 public:
  device_list() = default;
  device_list(const device_list&) = delete;
  device_list& operator=(const device_list&) = delete;
  device_list(device_list&& o) noexcept : devices_(o.devices_), places_(o.places_), count_(o.count_) {
    o.devices_ = nullptr;
    o.places_ = nullptr;
    o.count_ = 0;
  }
  device_list& operator=(device_list&& o) noexcept {
    device** const devices = devices_;
    place* const places = places_;
    const int count = count_;
    devices_ = o.devices_;
    places_ = o.places_;
    count_ = o.count_;
    o.devices_ = devices;
    o.places_ = places;
    o.count_ = count;
    return *this;
  }
  ~device_list() {
    for (int d = 0; d < count_; ++d) delete devices_[d];
    delete[] devices_;
    delete[] places_;
  }

  /// Takes over a device. *Throws* `std::bad_alloc`; the device is then gone.
  ONTO_COLD ONTO_NOINLINE void add(device* d) {
    struct owner {
      device* d;
      ~owner() { delete d; }
    } held{d};
    auto** devices = new device*[static_cast<std::size_t>(count_) + 1];
    place* places = nullptr;
    try {
      places = new place[static_cast<std::size_t>(count_) + 1];
    } catch (...) {
      delete[] devices;
      throw;
    }
    for (int k = 0; k < count_; ++k) {
      devices[k] = devices_[k];
      places[k] = places_[k];
    }
    devices[count_] = d;
    places[count_] = d->where();
    delete[] devices_;
    delete[] places_;
    devices_ = devices;
    places_ = places;
    ++count_;
    held.d = nullptr;
  }

  /// Gives a device away. *Preconditions* what is left is only destroyed.
  device* release(int d) {
    device* const given = devices_[d];
    devices_[d] = nullptr;
    return given;
  }

  /// The place of the host, whose memory the caller's is.
  place here() const {
    for (int d = 0; d < count_; ++d)
      if (devices_[d]->is_host()) return host_of(places_[d]);
    return {device_kind::cpu, 0};
  }

  int count() const { return count_; }
  device& operator[](int d) const { return *devices_[d]; }
  const place* places() const { return places_; }
  int index_of(const place& p) const {
    int d = 0;
    while (d < count_ && !(places_[d] == p)) ++d;
    return d;
  }

 private:
  device** devices_ = nullptr;
  place* places_ = nullptr;
  int count_ = 0;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
