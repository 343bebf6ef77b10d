// SPDX-License-Identifier: BSL-1.0
// An array for as long as a function needs it, while compiling too.
#pragma once

#include <onto/core/config.hpp>

#include <cstddef>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// `count` values that begin as `T{}`.
template <class T>
class scratch_array {
 public:
  constexpr explicit scratch_array(int count) : data_(new T[static_cast<std::size_t>(count) + 1]{}) {}
  constexpr scratch_array(int count, const T& value) : scratch_array(count) {
    for (int k = 0; k < count; ++k) data_[k] = value;
  }
  scratch_array(const scratch_array&) = delete;
  scratch_array& operator=(const scratch_array&) = delete;
  constexpr ~scratch_array() { delete[] data_; }
  constexpr T* get() const { return data_; }

 private:
  T* data_;
};

}  // namespace onto::detail
ONTO_END_RUNS_ONCE
