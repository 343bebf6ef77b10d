// SPDX-License-Identifier: BSL-1.0
// Files that are mapped instead of read: `load_npy<float, dyn, dyn>(path, map_file)`. Beside onto.hpp, for programs
// that have them.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/tensor/map_npy.hpp>

ONTO_END_HEADER
