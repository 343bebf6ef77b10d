// SPDX-License-Identifier: BSL-1.0
// All operations.
#pragma once

#include <onto/ops/activation.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/assign.hpp>
#include <onto/ops/call.hpp>
#include <onto/ops/compare.hpp>
#include <onto/ops/concat.hpp>
#include <onto/ops/generate.hpp>
#include <onto/ops/logic.hpp>
#include <onto/ops/matmul.hpp>
#include <onto/ops/random.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/ops/softmax.hpp>
#include <onto/ops/towers.hpp>
#include <onto/ops/unary.hpp>
#include <onto/ops/view.hpp>
