// SPDX-License-Identifier: BSL-1.0
// The variables of a session: each with its device, its shape and its last complete value.
#pragma once

#include <onto/graph/graph.hpp>
#include <onto/runtime/device.hpp>

#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class agreed_run;
class session_core;
struct meaning;

/// A variable, from the first time that a program names it.
struct variable {
  std::uint64_t id = 0;
  std::string_view name{};
  element type = element::float32;
  extents declared{};  // the shape that programs say
  extents shape{};     // that of the value
  place where{};
  device_block* value = nullptr;  // null until initialized
  bool restored = false;          // and other sessions that have it, too, do not know of it yet
  variable* next = nullptr;
};

/// Values that a session was given by name, for variables that no program has asked for yet. Without virtual functions,
/// whose table every program would hold.
struct waiting_values {
  /// Gives values to variables of a program that have none, in all processes together. *Returns* whether there were
  /// any.
  bool (*hand_over)(waiting_values& from, session_core& to, const meaning& program, agreed_run& together);
  void (*destroy)(waiting_values* all);
};

/// A list of variables; whoever has the session locked may use it.
class variable_list {
 public:
  variable_list() = default;
  variable_list(const variable_list&) = delete;
  variable_list& operator=(const variable_list&) = delete;
  ~variable_list() {
    if (waiting) waiting->destroy(waiting);
    while (first_) {
      variable* next = first_->next;
      if (first_->value) first_->value->drop();
      delete first_;
      first_ = next;
    }
  }

  variable* first() const { return first_; }

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
    v->name = n.name;
    v->type = n.type;
    v->declared = n.shape;
    v->shape = n.shape;
    v->next = first_;
    first_ = v;
    return *v;
  }

  waiting_values* waiting = nullptr;  // until a checkpoint is restored; owned

 private:
  variable* first_ = nullptr;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
