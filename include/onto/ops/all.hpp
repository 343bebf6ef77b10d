// SPDX-License-Identifier: BSL-1.0
// All operations.
#pragma once

#include <onto/ops/activation.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/assign.hpp>
#include <onto/ops/axes_of_one.hpp>
#include <onto/ops/bitwise.hpp>
#include <onto/ops/call.hpp>
#include <onto/ops/compare.hpp>
#include <onto/ops/concat.hpp>
#include <onto/ops/data.hpp>
#include <onto/ops/generate.hpp>
#include <onto/ops/gradient.hpp>
#include <onto/ops/initializers.hpp>
#include <onto/ops/like.hpp>
#include <onto/ops/logic.hpp>
#include <onto/ops/losses.hpp>
#include <onto/ops/matmul.hpp>
#include <onto/ops/matrix.hpp>
#include <onto/ops/minimize.hpp>
#include <onto/ops/normalization.hpp>
#include <onto/ops/pad.hpp>
#include <onto/ops/random.hpp>
#include <onto/ops/rearrange.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/ops/replicas.hpp>
#include <onto/ops/rounding.hpp>
#include <onto/ops/softmax.hpp>
#include <onto/ops/statistics.hpp>
#include <onto/ops/towers.hpp>
#include <onto/ops/unary.hpp>
#include <onto/ops/view.hpp>
