// SPDX-License-Identifier: BSL-1.0
// Memory of emulated devices, and pinned memory of the host. An address of device memory is in a range where nothing
// can be read or written; the bytes are elsewhere, at a fixed distance, and only what goes through here gets there. No
// address is given out twice, so that whoever uses memory that was freed is found out.
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <set>

#include "emulator.hpp"

namespace cuda_emulation {
namespace {

constexpr std::size_t device_span = std::size_t{1} << 38;  // addresses of a device
constexpr int most_devices = 8;
constexpr std::size_t alignment = 512;  // of allocations, as pools have it
constexpr std::int64_t pool_unit = std::int64_t{2} << 20;
constexpr std::size_t poisoned_edge = std::size_t{8} << 20;

struct allocation {
  std::size_t bytes;
  std::size_t used;  // of them: whoever allocated may have rounded up
  int device;
  pool_state* pool;
  bool pending;
  bool given_up;  // its stream has been told to free it: the pool may count on it
};

struct memory_state {
  char* addresses;      // what programs see
  std::ptrdiff_t away;  // from there to the bytes
  std::map<const char*, allocation> live;
  std::size_t next[most_devices] = {};
  device_state devices[most_devices];
  std::map<const char*, std::size_t> pinned;
  std::set<const char*> registered;  // those of `pinned` that are the caller's
  std::int64_t pinned_total = 0;
  const char* last_begin = nullptr;  // of the allocation that was looked up last
  const allocation* last = nullptr;

  memory_state() {
    const auto reserve = [](int protection) {
      void* p =
          mmap(nullptr, device_span * most_devices, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p == MAP_FAILED) throw std::bad_alloc();
      return static_cast<char*>(p);
    };
    addresses = reserve(PROT_NONE);
    away = reserve(PROT_READ | PROT_WRITE) - addresses;
  }
};

memory_state& state() {
  static memory_state& s = *new memory_state;
  return s;
}

std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

const allocation* find(const void* p, std::size_t bytes, const char*& begin) {
  memory_state& s = state();
  const char* at = static_cast<const char*>(p);
  const auto holds = [&](const char* first, const allocation& a) {
    return at >= first && at + bytes <= first + a.used;
  };
  if (s.last && holds(s.last_begin, *s.last)) {
    begin = s.last_begin;
    return s.last;
  }
  auto found = s.live.upper_bound(at);
  if (found == s.live.begin()) return nullptr;
  --found;
  if (!holds(found->first, found->second)) return nullptr;
  s.last_begin = begin = found->first;
  return s.last = &found->second;
}

std::string number_of_bytes(std::size_t n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }

/// Why nothing is at an address, as far as can be said.
std::string story_of(const void* p) {
  memory_state& s = state();
  const char* at = static_cast<const char*>(p);
  auto next = s.live.upper_bound(at);
  if (next == s.live.begin()) return "where nothing is allocated";
  const auto before = std::prev(next);
  const std::size_t distance = static_cast<std::size_t>(at - before->first);
  const std::size_t used = before->second.used;
  if (distance < used) return "across the end of an allocation of " + number_of_bytes(used);
  if (distance < used + 4096)
    return number_of_bytes(distance - used) + " past the end of an allocation of " + number_of_bytes(used);
  return "where nothing is allocated, or no more";
}

[[nodiscard]] bool refuse(const std::string& sentence) {
  if (in_kernel()) kernel_violation(sentence);
  violation(sentence);
  return false;
}

}  // namespace

bool has_device(int ordinal) { return ordinal >= 0 && ordinal < current_machine().devices; }
device_state& device_at(int ordinal) { return state().devices[ordinal]; }

bool is_device_address(const void* p) {
  const char* at = static_cast<const char*>(p);
  return at >= state().addresses && at < state().addresses + device_span * most_devices;
}

void* allocate(int device, pool_state* pool, std::int64_t bytes, bool pending) {
  memory_state& s = state();
  const std::int64_t size = round_up(bytes, alignment);
  const std::int64_t memory = current_machine().memory;
  if (bytes > memory) return nullptr;
  device_state& d = s.devices[device];
  if (pool) {
    const std::int64_t wanted = round_up(pool->used + size, pool_unit);
    if (pool->most > 0 && wanted > round_up(pool->most, pool_unit)) return nullptr;
    if (wanted > pool->reserved) {
      if (d.used + wanted - pool->reserved > memory) return nullptr;
      d.used += wanted - pool->reserved;
      pool->reserved = wanted;
    }
    pool->used += size;
  } else {
    if (d.used + size > memory) return nullptr;
    d.used += size;
  }
  // A gap between any two, so that no run of addresses leads from one into the next.
  const std::size_t gap = 4096 + alignment * any_below(8);
  const auto span = static_cast<std::size_t>(size) + gap;
  if (s.next[device] + span > device_span) {
    violation("the emulator has no addresses left on device " + std::to_string(device));
    return nullptr;
  }
  char* p = s.addresses + static_cast<std::size_t>(device) * device_span + s.next[device] + gap;
  p -= reinterpret_cast<std::uintptr_t>(p) % alignment;
  s.next[device] += span;
  s.live[p] = {static_cast<std::size_t>(bytes), static_cast<std::size_t>(bytes), device, pool, pending, false};
  s.last = nullptr;
  if (!pending) open_memory(p);
  note_object(pool ? "pool allocations" : "allocations", 1);
  return p;
}

/// Fills it with ones: not numbers, and indices of nothing. Of large ones the edges.
void open_memory(void* memory) {
  memory_state& s = state();
  const auto found = s.live.find(static_cast<const char*>(memory));
  if (found == s.live.end()) return;
  found->second.pending = false;
  char* bytes = static_cast<char*>(memory) + s.away;
  const std::size_t n = found->second.bytes;
  const std::size_t edge = n < poisoned_edge ? n : poisoned_edge;
  std::memset(bytes, 0xff, edge);
  std::memset(bytes + n - edge, 0xff, edge);
}

bool release(void* memory) {
  memory_state& s = state();
  const auto found = s.live.find(static_cast<const char*>(memory));
  if (found == s.live.end()) return false;
  const allocation a = found->second;
  const std::int64_t size = round_up(static_cast<std::int64_t>(a.bytes), alignment);
  if (!a.pool)
    s.devices[a.device].used -= size;
  else
    (a.given_up ? a.pool->leaving : a.pool->used) -= size;
  if (a.pool && a.pool->destroyed) trim(*a.pool, 0);
  s.live.erase(found);
  s.last = nullptr;
  const std::uintptr_t page = 4096;
  const auto first =
      (reinterpret_cast<std::uintptr_t>(memory) + static_cast<std::uintptr_t>(s.away) + page - 1) / page * page;
  const auto end =
      (reinterpret_cast<std::uintptr_t>(memory) + static_cast<std::uintptr_t>(s.away) + a.bytes) / page * page;
  if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
  note_object(a.pool ? "pool allocations" : "allocations", -1);
  return true;
}

bool give_up(void* memory) {
  const auto found = state().live.find(static_cast<const char*>(memory));
  if (found == state().live.end() || found->second.given_up) return false;
  found->second.given_up = true;
  if (pool_state* pool = found->second.pool) {
    const std::int64_t size = round_up(static_cast<std::int64_t>(found->second.bytes), alignment);
    pool->used -= size;
    pool->leaving += size;
  }
  return true;
}

int device_of(const void* memory) {
  const char* begin = nullptr;
  const allocation* a = find(memory, 1, begin);
  return a ? a->device : -1;
}

void trim(pool_state& pool, std::int64_t keep) {
  const std::int64_t least = round_up(pool.used + pool.leaving, pool_unit);
  const std::int64_t wanted = keep > least ? keep : least;
  if (wanted >= pool.reserved) return;
  state().devices[pool.device].used -= pool.reserved - wanted;
  pool.reserved = wanted;
}

void* device_bytes(const void* p, std::size_t bytes, const char* what, int device) {
  memory_state& s = state();
  const char* begin = nullptr;
  const allocation* a = find(p, bytes > 0 ? bytes : 1, begin);
  const auto tells = [&] { return std::string(what) + " of " + number_of_bytes(bytes); };
  if (!a) {
    (void)refuse(tells() + (is_device_address(p) ? ", " + story_of(p) : ", at an address of no device"));
    return nullptr;
  }
  if (a->pending) {
    (void)refuse(tells() + " of memory that its stream has not allocated yet");
    return nullptr;
  }
  if (device >= 0 && a->device != device) {
    bool may = false;
    if (a->pool)
      for (int reader : a->pool->readers) may = may || reader == device;
    if (!may) {
      (void)refuse(tells() + " by device " + std::to_string(device) + " of memory of device " +
                   std::to_string(a->device) + ", which it may not reach");
      return nullptr;
    }
  }
  return const_cast<char*>(static_cast<const char*>(p)) + s.away;
}

void* any_bytes(const void* p, std::size_t bytes, const char* what, int device) {
  if (is_device_address(p)) return device_bytes(p, bytes, what, device);
  return const_cast<void*>(p);
}

void* allocate_pinned(std::size_t bytes) {
  memory_state& s = state();
  void* p = mmap(nullptr, bytes > 0 ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  std::memset(p, 0xff, bytes);
  s.pinned[static_cast<const char*>(p)] = bytes;
  s.pinned_total += static_cast<std::int64_t>(bytes);
  note_object("pinned allocations", 1);
  return p;
}

bool release_pinned(void* memory) {
  memory_state& s = state();
  const auto found = s.pinned.find(static_cast<const char*>(memory));
  if (found == s.pinned.end() || s.registered.count(found->first) > 0) return false;
  // The addresses stay taken: who comes too late must find nothing there.
  mmap(memory, found->second > 0 ? found->second : 1, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  s.pinned_total -= static_cast<std::int64_t>(found->second);
  s.pinned.erase(found);
  note_object("pinned allocations", -1);
  return true;
}

bool register_pinned(void* memory, std::size_t bytes) {
  constexpr std::uintptr_t page = 4096;
  memory_state& s = state();
  const auto first = reinterpret_cast<std::uintptr_t>(memory) / page,
             last = (reinterpret_cast<std::uintptr_t>(memory) + bytes - 1) / page;
  for (const auto& [begin, size] : s.pinned) {
    const auto at = reinterpret_cast<std::uintptr_t>(begin);
    if (at / page <= last && (at + size - 1) / page >= first) return false;
  }
  s.pinned[static_cast<const char*>(memory)] = bytes;
  s.registered.insert(static_cast<const char*>(memory));
  note_object("registered host memory", 1);
  return true;
}
bool unregister_pinned(void* memory) {
  memory_state& s = state();
  if (s.registered.erase(static_cast<const char*>(memory)) == 0) return false;
  s.pinned.erase(static_cast<const char*>(memory));
  note_object("registered host memory", -1);
  return true;
}

bool is_pinned_range(const void* p, std::size_t bytes) {
  memory_state& s = state();
  const char* at = static_cast<const char*>(p);
  auto found = s.pinned.upper_bound(at);
  if (found == s.pinned.begin()) return false;
  --found;
  return at + bytes <= found->first + found->second;
}

void use_only(void* memory, std::int64_t bytes) {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  const auto found = state().live.find(static_cast<const char*>(memory));
  if (found == state().live.end() || static_cast<std::size_t>(bytes) > found->second.bytes)
    return violation("what is said to be used is no allocation, or more than it");
  found->second.used = static_cast<std::size_t>(bytes);
  state().last = nullptr;
}
std::int64_t pinned_bytes() {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  return state().pinned_total;
}

bool is_touched(int ordinal) {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  return device_at(ordinal).touched;
}
void forget_use(int ordinal) {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  device_at(ordinal).touched = false;
}

}  // namespace cuda_emulation
