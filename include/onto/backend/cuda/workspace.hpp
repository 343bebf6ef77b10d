// SPDX-License-Identifier: BSL-1.0
// The memory that a GPU's kernels work in: one block for all programs, and less of it where memory is short.
#pragma once

#include <onto/core/mutex.hpp>
#include <onto/core/ref.hpp>

#include <cstdint>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Where a workspace has its memory from.
class workspace_source {
 public:
  /// *Returns* null where there is not so much.
  virtual void* take_workspace(std::int64_t bytes) = 0;
  virtual void give_workspace(void* data, std::int64_t bytes) noexcept = 0;

 protected:
  ~workspace_source() = default;
};

/// The workspace of one device. A larger one takes the place of a smaller, which its programs keep.
class cuda_workspace {
 public:
  /// *Returns* `bytes` or more, or where there is not so much an eighth of what is above `least`, or `least`; null
  /// where there is not even that, or where `least` is 0.
  /// *Effects* sets `bytes` and `data` to what it is.
  ref<counted> get(workspace_source& source, std::int64_t& bytes, std::int64_t least, void*& data) {
    const std::int64_t wanted = bytes;
    data = nullptr;
    bytes = 0;
    mutex_lock lock(mutex_);
    // Where no program holds it, its memory is part of what there is.
    if (now_ && now_->bytes < wanted && now_->is_unique()) now_ = {};
    for (std::int64_t amount = wanted; amount > 0;) {
      if (!now_ || now_->bytes < amount) {
        ref<block> larger(new block(source, amount));
        larger->data = source.take_workspace(amount);
        if (larger->data) now_ = larger;
      }
      if (now_ && now_->bytes >= amount) {
        bytes = now_->bytes;
        data = now_->data;
        return ref<counted>(ref<block>(now_));
      }
      if (amount == least) break;
      amount = amount == wanted ? least + (wanted - least) / 8 : least;
    }
    return {};
  }

  /// Gives it back; programs that use it hold it.
  void drop() {
    mutex_lock lock(mutex_);
    now_ = {};
  }

 private:
  struct block final : counted {
    block(workspace_source& s, std::int64_t size) : source(s), bytes(size) {}
    ~block() override {
      if (data) source.give_workspace(data, bytes);
    }
    workspace_source& source;
    std::int64_t bytes;
    void* data = nullptr;
  };

  mutex mutex_;
  ref<block> now_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
