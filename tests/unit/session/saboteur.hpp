// SPDX-License-Identifier: BSL-1.0
// Faults for the tests of failure: a hook that counts the calls of devices and lets one of them fail, and one that
// makes them late.
#pragma once

#include "../words_of.hpp"

#include <onto/onto.hpp>

#include <unistd.h>

#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace onto_test {

using namespace onto;

/// An operation that fails for some values.
struct refuses : elementwise<> {
  static constexpr std::string_view name = "Refuses";
  template <class T>
  static T apply(T value) {
    if (!(value < T(5))) throw std::logic_error("five is too many");
    return value;
  }
};

enum class failure { memory, resources, internal, lost };

/// Lets the call number `at` fail.
struct saboteur {
  std::atomic<int> calls{0};
  int at = -1;
  failure how = failure::internal;
  std::atomic<int> allocations{0}, copies{0}, kernels{0};

  detail::fault_hook hook() {
    return {[](void* self, const char* what) { static_cast<saboteur*>(self)->before(what); }, this};
  }
  void before(const std::string& what) {
    ++(what == "allocate" ? allocations : what == "copy" ? copies : kernels);
    if (calls++ != at) return;
    if (how == failure::memory) throw std::bad_alloc();
    if (how == failure::resources) throw resource_exhausted_error("[onto.memory] there is no more");
    if (how == failure::lost) throw detail::device_lost{"it was pulled out"};
    throw internal_error("[onto.device] the device failed at a " + what);
  }
};

/// Makes some copies and kernels late, by up to 300 microseconds: another order each time.
struct dawdler {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> seed{1};

  detail::fault_hook hook() {
    return {[](void* self, const char* what) { static_cast<dawdler*>(self)->before(what); }, this};
  }
  void before(std::string_view what) {
    if (what == "allocate") return;
    std::uint64_t z = (seed + calls++) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z ^= z >> 27;
    if (z % 3 == 0) usleep(static_cast<useconds_t>(z / 3 % 300));
  }
};

/// Lets a session be without its hook when this is gone.
class injected {
 public:
  template <class Fault>
  injected(session& sess, Fault& fault) : sess_(sess) {
    sess.inject(fault.hook());
  }
  injected(const injected&) = delete;
  injected& operator=(const injected&) = delete;
  ~injected() { sess_.inject({}); }

 private:
  session& sess_;
};

}  // namespace onto_test
