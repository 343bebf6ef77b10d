// SPDX-License-Identifier: BSL-1.0
// Elements by number: take, gather, embedding, take_along_axis, dynamic_slice, update_slice, scatter, scatter_add,
// segment_sum, bincount, histogram, searchsorted, extent. Beside onto.hpp, for programs that have them: scatters on
// GPUs sort with CUB, which takes nvcc seconds to read.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/backend/cpu/indexing.hpp>
#include <onto/backend/cpu/scatter.hpp>
#include <onto/backend/cpu/searchsorted.hpp>
#include <onto/backend/cuda/grouped.hpp>
#include <onto/backend/cuda/indexing.hpp>
#include <onto/backend/cuda/take.hpp>
#include <onto/ops/histogram.hpp>
#include <onto/ops/indexing.hpp>
#include <onto/ops/indexing_braces.hpp>

ONTO_END_HEADER
