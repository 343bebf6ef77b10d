// SPDX-License-Identifier: BSL-1.0
// What is wrong with the memory that a caller gives for results.
#pragma once

#include <onto/core/message.hpp>
#include <onto/shape/extents.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_output(const extents& given, const extents& result) {
  fail<invalid_argument_error>(message("[onto.run]")
                               << " an output of shape " << given << " is given for a result of shape " << result
                               << "; give one of that shape, or as many elements");
}

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_shared_outputs() {
  fail<invalid_argument_error>(message("[onto.run] two outputs of a run share memory; give each memory of its own"));
}

/// One tensor for two results: its memory may be another for each, where they differ in shape.
ONTO_NOINLINE inline void throw_if_repeated(const void* const* given, int count) {
  for (int k = 0; k < count; ++k)
    for (int j = 0; j < k; ++j)
      if (given[j] == given[k]) throw_shared_outputs();
}

}  // namespace onto::detail
ONTO_END_RUNS_ONCE
