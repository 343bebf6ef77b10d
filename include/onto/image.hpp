// SPDX-License-Identifier: BSL-1.0
// Pictures as tensors of bytes: load_pgm, load_ppm, save_pgm, save_ppm. Beside onto.hpp, for programs that have them.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/tensor/image.hpp>

ONTO_END_HEADER
