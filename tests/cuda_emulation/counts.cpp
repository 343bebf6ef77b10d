// SPDX-License-Identifier: BSL-1.0
// How kernels go through memory, counted as a profiler on hardware counts: the 32-byte sectors that the threads of a
// warp touch with one instruction, and the passes that its shared memory takes.
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "emulator.hpp"

namespace cuda_emulation {
namespace {

/// What the lanes of a warp do with one instruction: the same place in the code, reached for the same time.
struct request_key {
  int warp;
  const void* site;
  int turn;
  auto operator<=>(const request_key&) const = default;
};
struct request {
  bool store, shared;
  std::vector<std::pair<std::uintptr_t, std::size_t>> lanes;  // address and bytes
};

struct count_state {
  bool on = false;
  std::map<std::string, kernel_counts> kernels;
  kernel_counts* now = nullptr;
  std::map<request_key, request> requests;           // of the block that runs
  std::map<std::pair<int, const void*>, int> turns;  // of each thread and instruction
};

count_state& state() {
  static count_state& s = *new count_state;
  return s;
}

std::size_t sectors_of(const request& r) {
  std::set<std::uintptr_t> sectors;
  for (const auto& [address, bytes] : r.lanes)
    for (std::uintptr_t s = address / 32; s <= (address + bytes - 1) / 32; ++s) sectors.insert(s);
  return sectors.size();
}

/// Passes beyond the fewest that 32 banks of 4 bytes need. Lanes with 8 and 16 bytes go in halves and quarters of a
/// warp.
std::size_t conflicts_of(const request& r) {
  std::size_t widest = 4;
  for (const auto& lane : r.lanes) widest = std::max(widest, lane.second);
  const std::size_t together = 32 / (widest / 4);
  std::size_t extra = 0;
  for (std::size_t first = 0; first < r.lanes.size(); first += together) {
    std::map<std::size_t, std::set<std::uintptr_t>> words;  // of each bank
    for (std::size_t k = first; k < std::min(first + together, r.lanes.size()); ++k)
      for (std::uintptr_t w = r.lanes[k].first / 4; w <= (r.lanes[k].first + r.lanes[k].second - 1) / 4; ++w)
        words[w % 32].insert(w);
    std::size_t most = 1;
    for (const auto& bank : words) most = std::max(most, bank.second.size());
    extra += most - 1;
  }
  return extra;
}

}  // namespace

void count_accesses(bool on) {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  state().on = on;
}

std::map<std::string, kernel_counts> take_counts() {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  return std::exchange(state().kernels, {});
}

void note_kernel(const kernel_launch& kernel) {
  count_state& s = state();
  s.now = nullptr;
  if (!s.on) return;
  s.now = &s.kernels[kernel.name];
  ++s.now->launches;
  s.now->blocks += static_cast<long>(std::size_t{kernel.grid.x} * kernel.grid.y * kernel.grid.z);
  s.now->threads = std::int64_t{kernel.block.x} * kernel.block.y * kernel.block.z;
}

void note_access(const void* site, const void* address, std::size_t bytes, bool store, bool shared) {
  count_state& s = state();
  if (!s.now) return;
  const index3& t = threadIdx;
  const int thread = static_cast<int>(t.x + blockDim.x * (t.y + blockDim.y * t.z));
  request& r = s.requests[{thread / 32, site, s.turns[{thread, site}]++}];
  r.store = store;
  r.shared = shared;
  // Lanes come in random order; the halves of a warp are told apart by lane.
  r.lanes.emplace_back(reinterpret_cast<std::uintptr_t>(address), bytes);
}

void note_block_end(std::size_t shared_bytes) {
  count_state& s = state();
  if (!s.now) return;
  kernel_counts& k = *s.now;
  k.shared_bytes = std::max(k.shared_bytes, static_cast<std::int64_t>(shared_bytes));
  for (auto& [key, r] : s.requests) {
    std::int64_t bytes = 0;
    for (const auto& lane : r.lanes) bytes += static_cast<std::int64_t>(lane.second);
    if (r.shared) {
      std::sort(r.lanes.begin(), r.lanes.end());
      ++k.shared_requests;
      k.bank_conflicts += static_cast<std::int64_t>(conflicts_of(r));
    } else if (r.store) {
      ++k.store_requests;
      k.store_bytes += bytes;
      k.store_sectors += static_cast<std::int64_t>(sectors_of(r));
    } else {
      ++k.load_requests;
      k.load_bytes += bytes;
      k.load_sectors += static_cast<std::int64_t>(sectors_of(r));
      for (const auto& lane : r.lanes) k.widest_load = std::max(k.widest_load, static_cast<std::int64_t>(lane.second));
    }
  }
  s.requests.clear();
  s.turns.clear();
}

}  // namespace cuda_emulation
