// SPDX-License-Identifier: BSL-1.0
// The emulated machine as tests see it: which GPUs it has, in which order it does things, what it is to fail at, and
// what it found wrong.
//
// The emulator is a CUDA runtime and a cublasLt for tests. Streams keep what is issued to them until somebody waits,
// and then run any piece that may run, chosen at random: an order that no event asks for is soon another one. Kernels
// run one block after another, their threads in random order. Memory of a device is at addresses that nothing can be
// read at directly; it is filled with ones when it is allocated and gone when it is freed.
//
// Environment: ONTO_EMULATED_GPUS (3), ONTO_EMULATION_SEED (1).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuda_emulation {

struct machine {
  int devices = 3;
  bool peer_access = true;
  std::vector<std::pair<int, int>> apart{};  // GPUs of which the first cannot reach the memory of the second
  bool pools = true;
  std::int64_t memory = std::int64_t{4} << 30;  // bytes of the first device; each further one says 1 MiB less
};
/// Another machine. *Preconditions* nothing of the old one is in use.
void set_machine(const machine& m);
const machine& current_machine();

void set_seed(std::uint64_t seed);
std::uint64_t seed();

/// What was used wrongly since the last call: a sentence each, with the kernel, block and thread where there is one.
std::vector<std::string> take_violations();
/// Records one, and prints it.
void violation(const std::string& sentence);

/// The `nth` call from now on (1: the next) of this function of the runtime, or of any where `name` is empty, returns
/// `status` and does nothing; `for_good`: and each one after it.
void fail_call(std::string_view name, long nth, cudaError_t status, bool for_good = false);
/// No call fails any more. *Returns* how many did.
long clear_faults();

/// Calls of each function of the runtime since the last `reset_calls`, those that tell nothing (error names) aside.
std::map<std::string, long> calls();
long calls_made();
void reset_calls();

/// A device is gone, at once or when that many more calls were made: what was issued to it is not done, and every call
/// that concerns it returns `status`.
void lose_device(int ordinal, cudaError_t status, long after_calls = 0);
/// It is there again, as after a new start of the process.
void revive_device(int ordinal);
/// Whether something was set up on a device.
bool is_touched(int ordinal);
/// As if the process had never used it.
void forget_use(int ordinal);

/// Objects that were made and not destroyed: streams, events, graphs, allocations of each kind.
std::map<std::string, long> live_objects();
/// Those that are there now may stay.
void forget_objects();
/// Of an allocation that was rounded up only so many bytes are used: what touches the rest is wrong.
void use_only(void* memory, std::int64_t bytes);
/// Bytes of pinned memory that is held.
std::int64_t pinned_bytes();

/// Host functions that were issued, and are not done.
long host_functions_left();
/// Does everything that was issued and may be done. What waits for something that never comes stays.
void drain();

/// How kernels went through memory while counting was on.
struct kernel_counts {
  long launches = 0;
  long blocks = 0;
  std::int64_t threads = 0;
  std::int64_t shared_bytes = 0;                       // of a block, the most
  std::int64_t load_requests = 0, store_requests = 0;  // of warps, to global memory
  std::int64_t load_bytes = 0, store_bytes = 0;        // that their threads asked for
  std::int64_t load_sectors = 0, store_sectors = 0;    // of 32 bytes that they touched
  std::int64_t widest_load = 0;                        // bytes of one thread's load
  std::int64_t shared_requests = 0;
  std::int64_t bank_conflicts = 0;  // passes of shared memory beyond those that the bytes need
};
void count_accesses(bool on);
/// By kernel name; emptied.
std::map<std::string, kernel_counts> take_counts();

}  // namespace cuda_emulation
