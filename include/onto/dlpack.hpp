// SPDX-License-Identifier: BSL-1.0
// Tensors of NumPy, PyTorch, JAX and others, taken and given without a copy: from_dlpack, dlpack_view, to_dlpack.
// Beside onto.hpp, for programs that have them.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/tensor/dlpack.hpp>

ONTO_END_HEADER
