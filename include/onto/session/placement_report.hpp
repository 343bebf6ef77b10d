// SPDX-License-Identifier: BSL-1.0
// Where everything went and why, as a structure that prints: `session::placement(e)`.
#pragma once

#include <onto/device/device_name.hpp>
#include <onto/graph/placer.hpp>

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace onto {

/// A reason in a word that stays the same, for programs that read reports: `requested`, `moved_no_device`.
constexpr std::string_view name_of(placement_reason r) {
  constexpr std::string_view names[] = {
      "free",           "requested",      "consumers", "variable", "moved_no_device", "moved_no_kernel",
      "moved_variable", "missing_device", "no_kernel", "elsewhere"};
  return names[static_cast<int>(r)];
}

/// One node of a placement report.
struct placement_entry {
  std::string name;       ///< unique in the program: `MatMul_1`
  std::string operation;  ///< `MatMul`
  device_name requested;  ///< constrains nothing where nothing was asked for
  device_name assigned;   ///< the full name of a device
  placement_reason reason = placement_reason::free;
  std::string why;  ///< the reason, in words

  /// `MatMul_1: (MatMul): /job:localhost/replica:0/task:0/device:GPU:0`, and for a moved node the request and the
  /// reason.
  std::string to_string() const;
};

/// Where the operations of a program run.
struct placement_report {
  std::vector<placement_entry> nodes;
  /// How many nodes there are beyond those that `plan_of` counts, since unnamed scalars or constants differ where types
  /// are equal.
  int told_apart = 0;

  /// The entry of a node by its name. *Throws* `not_found_error`.
  const placement_entry& at(std::string_view name) const;
  /// How many nodes soft placement moved.
  int moved() const;
  /// A line a node.
  std::string to_string() const;
  /// The same as a JSON document, a line a node: `nodes` with `name operation requested assigned reason why`, where
  /// `requested` is null if nothing was, and `summary` with `total moved`, and `told_apart` if it is not 0.
  std::string to_json() const;
};

template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const placement_report& r) {
  return out << r.to_string();
}

}  // namespace onto

#if ONTO_DEFINITIONS
#include <onto/session/placement_report_definitions.hpp>
#endif
