// SPDX-License-Identifier: BSL-1.0
// NumPy's .npz archives: npz_file, load_npz, save_npz. Beside onto.hpp, for programs that have them.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/tensor/npz.hpp>

ONTO_END_HEADER
