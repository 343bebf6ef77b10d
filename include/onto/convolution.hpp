// SPDX-License-Identifier: BSL-1.0
// Convolutions and pooling: conv2d, conv1d, depthwise_conv2d, conv2d_transpose, max_pool2d, avg_pool2d. Beside
// onto.hpp, for programs that have them.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

// First, so that a message of the compiler's names few files.
#include <onto/ops/windows.hpp>

#include <onto/ops/convolution.hpp>

#include <onto/ops/pooling.hpp>

#include <onto/backend/cpu/convolution.hpp>
#include <onto/backend/cpu/pooling.hpp>
#include <onto/backend/cuda/convolution.hpp>
#include <onto/backend/cuda/cudnn/kernels.hpp>
#include <onto/backend/cuda/pooling.hpp>

ONTO_END_HEADER
