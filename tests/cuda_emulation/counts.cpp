// SPDX-License-Identifier: BSL-1.0
// How kernels go through memory, counted as a profiler on hardware counts: the 32-byte sectors that the threads of a
// warp touch with one instruction, and the passes that its shared memory takes.
#include <algorithm>
#include <array>
#include <utility>

#include "emulator.hpp"

namespace cuda_emulation {
namespace {

/// What one thread does with one instruction. Lanes do the same together that stand at the same place in the code for
/// the same time.
struct access {
  int warp, lane;
  const void* site;
  int turn;
  bool store, shared;
  std::uintptr_t address;
  std::size_t bytes;
};

struct count_state {
  bool on = false;
  std::map<std::string, kernel_counts> kernels;
  kernel_counts* now = nullptr;
  std::vector<access> accesses;                                 // of the block that runs
  std::vector<std::vector<std::pair<const void*, int>>> turns;  // of each thread: how often it was at a place
};

count_state& state() {
  static count_state& s = *new count_state;
  return s;
}

using accesses = std::vector<access>::const_iterator;

std::int64_t sectors_of(accesses begin, accesses end, std::vector<std::uintptr_t>& scratch) {
  scratch.clear();
  for (accesses a = begin; a != end; ++a)
    for (std::uintptr_t s = a->address / 32; s <= (a->address + a->bytes - 1) / 32; ++s) scratch.push_back(s);
  std::sort(scratch.begin(), scratch.end());
  return std::unique(scratch.begin(), scratch.end()) - scratch.begin();
}

/// Passes beyond the fewest that 32 banks of 4 bytes need. With 8 and 16 bytes a lane, the halves and quarters of a
/// warp go one after the other.
std::int64_t conflicts_of(accesses begin, accesses end, std::vector<std::uintptr_t>& scratch) {
  std::size_t widest = 4;
  for (accesses a = begin; a != end; ++a) widest = std::max(widest, a->bytes);
  const int together = static_cast<int>(32 / (widest / 4));
  std::int64_t extra = 0;
  for (int group = 0; group < 32; group += together) {
    scratch.clear();
    for (accesses a = begin; a != end; ++a)
      if (a->lane >= group && a->lane < group + together)
        for (std::uintptr_t w = a->address / 4; w <= (a->address + a->bytes - 1) / 4; ++w) scratch.push_back(w);
    if (scratch.empty()) continue;
    std::sort(scratch.begin(), scratch.end());
    scratch.erase(std::unique(scratch.begin(), scratch.end()), scratch.end());
    std::array<int, 32> passes{};
    for (const std::uintptr_t w : scratch) ++passes[w % 32];
    extra += *std::max_element(passes.begin(), passes.end()) - 1;
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
  s.turns.resize(static_cast<std::size_t>(s.now->threads));
}

void note_access(const void* site, const void* address, std::size_t bytes, bool store, bool shared) {
  count_state& s = state();
  if (!s.now) return;
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  auto& turns = s.turns[thread];
  auto turn = std::find_if(turns.begin(), turns.end(), [&](const auto& t) { return t.first == site; });
  if (turn == turns.end()) turn = turns.insert(turns.end(), {site, 0});
  s.accesses.push_back({static_cast<int>(thread / 32), static_cast<int>(thread % 32), site, turn->second++, store,
                        shared, reinterpret_cast<std::uintptr_t>(address), bytes});
}

void note_block_end(std::size_t shared_bytes) {
  count_state& s = state();
  if (!s.now) return;
  kernel_counts& k = *s.now;
  k.shared_bytes = std::max(k.shared_bytes, static_cast<std::int64_t>(shared_bytes));
  const auto key = [](const access& a) { return std::tuple(a.warp, a.site, a.turn); };
  std::sort(s.accesses.begin(), s.accesses.end(), [&](const access& a, const access& b) { return key(a) < key(b); });
  std::vector<std::uintptr_t> scratch;
  for (accesses begin = s.accesses.begin(); begin != s.accesses.end();) {
    accesses end = begin;
    std::int64_t bytes = 0;
    for (; end != s.accesses.end() && key(*end) == key(*begin); ++end) bytes += static_cast<std::int64_t>(end->bytes);
    if (begin->shared) {
      ++k.shared_requests;
      k.bank_conflicts += conflicts_of(begin, end, scratch);
    } else if (begin->store) {
      ++k.store_requests;
      k.store_bytes += bytes;
      k.store_sectors += sectors_of(begin, end, scratch);
    } else {
      ++k.load_requests;
      k.load_bytes += bytes;
      k.load_sectors += sectors_of(begin, end, scratch);
      k.widest_load = std::max(k.widest_load, static_cast<std::int64_t>(begin->bytes));
    }
    begin = end;
  }
  s.accesses.clear();
  for (auto& turns : s.turns) turns.clear();
}

}  // namespace cuda_emulation
