// SPDX-License-Identifier: BSL-1.0
// A device's memory as it is accounted for: what is in use, by whom, the most there was, and the limit.
#pragma once

#include <onto/core/message.hpp>
#include <onto/core/mutex.hpp>
#include <onto/core/ref.hpp>
#include <onto/graph/memory.hpp>
#include <onto/runtime/memory_info.hpp>

#include <cstdint>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class device;

/// How much of a GPU's memory a device may take.
struct memory_limit {
  std::int64_t bytes = 0;  // 0: all there is
  bool growth = true;      // false: all of `bytes` is taken when the device is first used
};

/// `1536 bytes`, `24.0 MiB`.
ONTO_COLD ONTO_NOINLINE inline message& write_bytes(message& m, std::int64_t bytes) {
  constexpr std::string_view units[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 10240) {
    m << bytes << " bytes";
  } else {
    int unit = 0;
    std::int64_t tenths = bytes / 1024 * 10 + bytes % 1024 * 10 / 1024;
    while (unit < 3 && tenths >= 10240) {
      tenths /= 1024;
      ++unit;
    }
    m << tenths / 10 << "." << tenths % 10 << " " << units[unit];
  }
  return m;
}

/// Who wants memory and what for: in the error where there is none.
struct memory_request {
  std::int64_t bytes = 0;
  std::string_view kind;  // "variable", "program"
  std::string_view name;  // must live as long as the block
  /// Says which operation is the first that does not fit, where `free` bytes are left.
  void (*explain)(const void* context, message& m, std::int64_t free) = nullptr;
  const void* context = nullptr;
};

/// A block of a device's memory, given back when the last user is gone and nothing uses it any more.
class device_block : public counted {
 public:
  ~device_block() override { give_back(); }
  void* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  const device& owner() const { return owner_; }

 private:
  friend class memory_account;
  friend class device;
  void give_back();  // not the destructor's text: a virtual function outside keeps its class in every object file
  device_block(device& d, const memory_request& r)
      : owner_(d), bytes_(rounded(r.bytes)), kind_(r.kind), name_(r.name) {}

  device& owner_;
  void* data_ = nullptr;
  std::int64_t bytes_;
  std::string_view kind_, name_;
  device_block* next_ = nullptr;
  device_block** link_ = nullptr;
};

/// The blocks of one device.
class memory_account {
 public:
  void add(device_block* b) {
    mutex_lock lock(mutex_);
    b->next_ = first_;
    b->link_ = &first_;
    if (first_) first_->link_ = &b->next_;
    first_ = b;
    in_use_ += b->bytes_;
    if (in_use_ > peak_) peak_ = in_use_;
  }
  void remove(device_block* b) noexcept {
    mutex_lock lock(mutex_);
    *b->link_ = b->next_;
    if (b->next_) b->next_->link_ = b->link_;
    in_use_ -= b->bytes_;
  }
  std::int64_t in_use() const {
    mutex_lock lock(mutex_);
    return in_use_;
  }
  std::int64_t peak() const {
    mutex_lock lock(mutex_);
    return peak_;
  }

  /// The largest blocks, in words.
  ONTO_COLD ONTO_NOINLINE void write_holders(message& m) const {
    mutex_lock lock(mutex_);
    const device_block* before = nullptr;
    for (int k = 0; k < 3; ++k) {
      const device_block* largest = nullptr;
      for (const device_block* b = first_; b; b = b->next_)
        if (comes_after(before, b) && (!largest || comes_after(b, largest))) largest = b;
      if (!largest) break;
      m << (k ? ", " : "; the largest holders: ") << largest->kind_;
      if (!largest->name_.empty()) m << " '" << largest->name_ << "'";
      write_bytes(m << " ", largest->bytes_);
      before = largest;
    }
  }

 private:
  // By size, then by address: an order in which every block has its place.
  static bool comes_after(const device_block* a, const device_block* b) {
    return !a || a->bytes_ > b->bytes_ || (a->bytes_ == b->bytes_ && a > b);
  }

  mutable mutex mutex_;
  device_block* first_ = nullptr;
  std::int64_t in_use_ = 0;
  std::int64_t peak_ = 0;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
