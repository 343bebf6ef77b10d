// SPDX-License-Identifier: BSL-1.0
// Scans: cumsum, cumprod, cummax, cummin. Beside onto.hpp, for programs that have them: their kernels for GPUs are
// CUB's, which takes nvcc seconds to read.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/indexing.hpp>

#include <onto/backend/cpu/scan.hpp>
#include <onto/backend/cuda/scan.hpp>
#include <onto/ops/scan.hpp>

ONTO_END_HEADER
