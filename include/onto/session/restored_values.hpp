// SPDX-License-Identifier: BSL-1.0
// Values from a checkpoint that wait for a program that asks for them, and which variables a checkpoint is of.
#pragma once

#include <onto/core/mutex.hpp>
#include <onto/session/variables.hpp>

#include <string>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Values from files that wait, on the host, for a program that reads a variable of their name. Of several processes
/// the first one has them; the others know of them, and have no blocks.
struct restored_values : waiting_values {
  struct value {
    std::string name, file;
    element type = element::float32;
    extents shape{};
    device_block* block = nullptr;
    value* next = nullptr;
  };

  restored_values();
  restored_values(const restored_values&) = delete;
  restored_values& operator=(const restored_values&) = delete;
  ~restored_values() { delete_all(first); }

  static void delete_all(value* v) {
    while (v) {
      value* next = v->next;
      if (v->block) v->block->drop();
      delete v;
      v = next;
    }
  }
  value* find(std::string_view name) const {
    value* v = first;
    while (v && v->name != name) v = v->next;
    return v;
  }
  void remove(value* gone) {
    value** at = &first;
    while (*at && *at != gone) at = &(*at)->next;
    if (!*at) return;
    *at = gone->next;
    gone->next = nullptr;
    delete_all(gone);
  }

  mutex busy;  // one program at a time is handed values; nothing is added meanwhile
  value* first = nullptr;
};

/// The graphs whose variables are meant; none means all variables.
struct variable_filter {
  const graph_view* const* graphs;
  int count;

  /// Whether `name`, and of a known variable its `id`, is of a variable in the graphs.
  bool has(std::string_view name, const std::uint64_t* id) const {
    bool found = count == 0;
    each([&](const graph_node& n) { found = found || (n.name == name && (!id || n.id == *id)); });
    return found;
  }
  template <class Function>
  void each(const Function& f) const {
    for (int k = 0; k < count; ++k)
      for (int n = 0; n < graphs[k]->count; ++n)
        if ((*graphs[k])[n].kind() == op_kind::variable) f((*graphs[k])[n]);
  }
  /// *Throws* `failed_precondition_error` where one of them has no value, or no variable at all has, `any`: a file
  /// without any would take the place of one that has them.
  template <class HasValue>
  void expect_values(const std::string& path, bool any, const HasValue& has_value) const {
    message unset;
    bool several = false;
    each([&](const graph_node& n) {
      if (has_value(n.name)) return;
      several = !unset.empty();
      unset << (several ? ", '" : "'") << n.name << "'";
    });
    if (!unset.empty())
      fail<failed_precondition_error>(message("[onto.checkpoint] ")
                                      << path << (several ? ": variables " : ": variable ") << unset.text()
                                      << (several ? " have no value yet; initialize them first"
                                                  : " has no value yet; initialize it first"));
    if (!any)
      fail<failed_precondition_error>(
          message("[onto.checkpoint] ")
          << path
          << ": no variable of the session has a value; initialize them first, or save the session that has them");
  }
};

/// *Throws* `invalid_argument_error` where a variable cannot have a value that was restored.
ONTO_COLD ONTO_NOINLINE inline void expect_fit(const graph_node& n, const restored_values::value& from) {
  bool fits = n.type == from.type && n.shape.rank == from.shape.rank;
  for (int k = 0; fits && k < n.shape.rank; ++k) fits = n.shape[k] == dyn || n.shape[k] == from.shape[k];
  if (!fits)
    fail<invalid_argument_error>(message("[onto.checkpoint] variable '")
                                 << n.name << "' is " << name_of(n.type) << n.shape << ", and the tensor '" << n.name
                                 << "' of " << from.file << ", which was restored, is " << name_of(from.type)
                                 << from.shape << "; use that type and shape, or initialize the variable");
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
