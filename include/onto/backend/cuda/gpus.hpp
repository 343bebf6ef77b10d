// SPDX-License-Identifier: BSL-1.0
// The GPUs of this machine for a session: what each is asked for once, and the devices that are made of them.
#pragma once

#include <onto/backend/cuda/device.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class cuda_gpus {
 public:
  template <class Options>
  explicit cuda_gpus(const Options&)
      : count_(find_cuda_devices().count), facts_(new cuda_facts[static_cast<std::size_t>(count_)]) {}

  int count() const { return count_; }
  /// The bytes of one. *Effects* finds out what else there is to know of it.
  std::int64_t memory(int k) {
    cuda_facts& facts = facts_[static_cast<std::size_t>(k)];
    facts = facts_of_cuda_device(k);
    return facts.memory;
  }
  /// *Preconditions* its memory was asked for.
  device* open(place where, int k, memory_limit limit) const {
    return make_cuda_device(where, k, facts_[static_cast<std::size_t>(k)], limit);
  }

 private:
  int count_;
  std::unique_ptr<cuda_facts[]> facts_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
