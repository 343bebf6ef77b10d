// SPDX-License-Identifier: BSL-1.0
// Text that grows, in plain memory: every program that appends to a std::string compiles some thirty functions of its.
#pragma once

#include <onto/core/config.hpp>

#include <cstddef>
#include <cstring>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Characters, and a zero behind them.
class text_buffer {
 public:
  text_buffer() = default;
  text_buffer(const text_buffer&) = delete;
  text_buffer& operator=(const text_buffer&) = delete;
  ~text_buffer() { delete[] data_; }

  const char* data() const { return size_ ? data_ : ""; }
  std::size_t size() const { return size_; }

  void put(char c, int times = 1) {
    if (times > 0) std::memset(more(static_cast<std::size_t>(times)), c, static_cast<std::size_t>(times));
  }
  void put(const char* s, int count) {
    if (count > 0) std::memcpy(more(static_cast<std::size_t>(count)), s, static_cast<std::size_t>(count));
  }
  void drop_spaces() {
    while (size_ > 0 && data_[size_ - 1] == ' ') data_[--size_] = '\0';
  }

 private:
  char* more(std::size_t count) {
    if (size_ + count >= room_) {
      const std::size_t room = 2 * (size_ + count) + 64;
      char* const moved = new char[room];
      if (size_) std::memcpy(moved, data_, size_);
      delete[] data_;
      data_ = moved;
      room_ = room;
    }
    char* const at = data_ + size_;
    size_ += count;
    data_[size_] = '\0';
    return at;
  }

  char* data_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
};

}  // namespace onto::detail
ONTO_END_RUNS_ONCE
