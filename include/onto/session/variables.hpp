// SPDX-License-Identifier: BSL-1.0
// The variables of a session: each with its device, its shape and its last complete value.
#pragma once

#include <onto/graph/graph.hpp>
#include <onto/runtime/device.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// A variable, from the first time that a program names it.
struct variable {
  std::uint64_t id = 0;
  extents shape{};
  place where{};
  device_block* value = nullptr;  // null until initialized
  variable* next = nullptr;
};

/// A list of variables; whoever has the session locked may use it.
class variable_list {
 public:
  variable_list() = default;
  variable_list(const variable_list&) = delete;
  variable_list& operator=(const variable_list&) = delete;
  ~variable_list() {
    while (first_) {
      variable* next = first_->next;
      if (first_->value) first_->value->drop();
      delete first_;
      first_ = next;
    }
  }

  variable* find(std::uint64_t id) const {
    variable* v = first_;
    while (v && v->id != id) v = v->next;
    return v;
  }

  /// The variable of a node; made where it is new.
  variable& of(const graph_node& n) {
    if (variable* v = find(n.id)) return *v;
    auto* v = new variable;
    v->id = n.id;
    v->shape = n.shape;
    v->next = first_;
    first_ = v;
    return *v;
  }

 private:
  variable* first_ = nullptr;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
