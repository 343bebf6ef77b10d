// SPDX-License-Identifier: BSL-1.0
// What a comparison of whole tensors gives.
#pragma once

namespace onto::detail {

/// What `==` and `!=` of whole tensors give: a bool, which is refused as an operand of an expression, where it would
/// stand for each element.
class compared_whole {
 public:
  explicit compared_whole(bool value) : value_(value) {}
  compared_whole(const compared_whole& o) : value_(o.value_) {}  // printf is refused
  compared_whole& operator=(const compared_whole&) = default;
  operator bool() const { return value_; }

 private:
  bool value_;
};

}  // namespace onto::detail
