// SPDX-License-Identifier: BSL-1.0
// Variables of towers that are all the same: each has a name from that of the first tower's.
#pragma once

#include <onto/session/variables.hpp>

#include <string>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// "w/average" of "w/replica_1/average", as `replica` makes names; "" of a name that is none of a replica.
ONTO_COLD ONTO_NOINLINE inline std::string original_of(std::string_view name) {
  constexpr std::string_view mark = "/replica_";
  const std::size_t at = name.find(mark);
  if (at == std::string_view::npos) return {};
  std::size_t end = at + mark.size();
  const std::size_t digits = end;
  while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
  if (end == digits || (end < name.size() && name[end] != '/')) return {};
  return std::string(name.substr(0, at)) + std::string(name.substr(end));
}

/// Whether there is a value of which a variable of that name would be a replica.
ONTO_COLD ONTO_NOINLINE inline bool has_original(const variable* first, std::string_view name) {
  const std::string original = original_of(name);
  if (original.empty()) return false;
  for (const variable* v = first; v; v = v->next)
    if (v->value && v->name == original) return true;
  return false;
}

}  // namespace onto::detail
ONTO_END_RUNS_ONCE
