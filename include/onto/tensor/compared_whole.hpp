// SPDX-License-Identifier: BSL-1.0
// Whole tensors compared, and what that gives.
#pragma once

#include <cstddef>

namespace onto::detail {

/// What `==` and `!=` of whole tensors give: a bool, which is refused as an operand of an expression, where it would
/// stand for each element.
class compared_whole {
 public:
  explicit compared_whole(bool value) : value_(value) {}
  compared_whole(const compared_whole& o) : value_(o.value_) {}  // so that compilers warn in printf
  compared_whole& operator=(const compared_whole&) = default;
  operator bool() const { return value_; }

 private:
  bool value_;
};

template <class A, class B>
bool same_values(const A& a, const B& b) {
  if (a.shape() != b.shape() || a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (!(a.data()[k] == b.data()[k])) return false;
  return true;
}

}  // namespace onto::detail
