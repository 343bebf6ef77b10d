// SPDX-License-Identifier: BSL-1.0
// NumPy's .npz archives: npz_file, load_npz, save_npz. Beside onto.hpp, for programs that have them.
#pragma once

#include <onto/onto.hpp>

#include <onto/tensor/npz.hpp>
