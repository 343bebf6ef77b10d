// SPDX-License-Identifier: BSL-1.0
// A library that a program loads and unloads: a variable with a value is made as it is loaded and goes as it is
// unloaded.
#include <onto/onto.hpp>

static const auto w = onto::variable<"w", float, 3>({1.f, 2.f, 3.f});

extern "C" __attribute__((visibility("default"))) int plugin_rank() {
  return static_cast<int>(decltype(w)::facts.shape.rank);
}
