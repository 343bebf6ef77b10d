// SPDX-License-Identifier: BSL-1.0
// Feeds that do not lie row by row: column-major matrices of Eigen's, std::mdspan, memory with strides. Beside
// onto.hpp, for programs that have them.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/tensor/strided_ref.hpp>

ONTO_END_HEADER
