// SPDX-License-Identifier: BSL-1.0
// Order: sort, argsort, top_k, unique, quantile, median. Beside onto.hpp, for programs that have them: their kernels
// for GPUs are CUB's, which takes nvcc seconds to read.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/indexing.hpp>
#include <onto/scan.hpp>

#include <onto/backend/cpu/sort.hpp>
#include <onto/backend/cuda/sort.hpp>
#include <onto/ops/quantile.hpp>
#include <onto/ops/sort.hpp>

ONTO_END_HEADER
