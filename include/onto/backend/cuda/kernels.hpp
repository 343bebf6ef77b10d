// SPDX-License-Identifier: BSL-1.0
// All kernels of the CUDA backend.
#pragma once

#include <onto/backend/cuda/copy.hpp>
#include <onto/backend/cuda/map.hpp>
#include <onto/backend/cuda/matmul.hpp>
#include <onto/backend/cuda/reduce.hpp>
#include <onto/backend/cuda/row.hpp>
#include <onto/backend/cuda/softmax.hpp>
