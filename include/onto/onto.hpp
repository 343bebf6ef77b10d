// SPDX-License-Identifier: BSL-1.0
// onto: tensor programs whose placement is part of their type. This header is all there is to include.
#pragma once

#if defined(__GNUC__) && !defined(__EXCEPTIONS)
#error "[onto.exceptions] onto says by exceptions what is wrong with data; compile with -fexceptions"
#else

#include <onto/core/config.hpp>

ONTO_BEGIN_HEADER

// First what reports mistakes: compilers print the way to it, and this is the shortest.
#include <onto/device/place.hpp>
#include <onto/expr/not_a_value.hpp>
#include <onto/expr/shape_check.hpp>

#include <onto/expr/constant.hpp>
#include <onto/expr/feed_mistake.hpp>
#include <onto/expr/not_a_feed.hpp>

#include <onto/expr/named.hpp>
#include <onto/expr/scope.hpp>

#include <onto/expr/compound_assignment.hpp>
#include <onto/expr/number.hpp>
#include <onto/expr/symbol.hpp>

#include <onto/ops/operation_base.hpp>

#include <onto/ops/gradient.hpp>
#include <onto/ops/learning_rate.hpp>
#include <onto/ops/losses.hpp>
#include <onto/ops/minimize.hpp>
#include <onto/ops/normalization.hpp>
#include <onto/ops/replicas.hpp>

#include <onto/graph/lowering.hpp>
#include <onto/graph/reverse_mode.hpp>
#include <onto/graph/trainable.hpp>
#include <onto/ops/arguments.hpp>
#include <onto/ops/bitwise.hpp>
#include <onto/ops/maker_arguments.hpp>
#include <onto/ops/no_operands.hpp>
#include <onto/ops/operand_count.hpp>
#include <onto/ops/other_headers.hpp>
#include <onto/ops/other_names.hpp>
#include <onto/plan/placeable.hpp>
#include <onto/plan/text.hpp>
#include <onto/session/options.hpp>
#include <onto/session/typed_run.hpp>

#include <onto/session/derive_again.hpp>
#include <onto/session/outputs.hpp>

#include <onto/session/evaluate.hpp>

#include <onto/core/config.hpp>
#include <onto/core/element.hpp>
#include <onto/core/error.hpp>
#include <onto/core/text.hpp>
#include <onto/device/device_name.hpp>
#include <onto/device/place.hpp>
#include <onto/device/world.hpp>
#include <onto/expr/device_guard.hpp>
#include <onto/expr/named.hpp>
#include <onto/expr/scope.hpp>
#include <onto/ops/all.hpp>
#include <onto/plan/estimate.hpp>
#include <onto/plan/plan.hpp>
#include <onto/session/session.hpp>
#include <onto/shape/extents.hpp>
#include <onto/tensor/npy.hpp>
#include <onto/tensor/print.hpp>
#include <onto/tensor/tensor.hpp>
#include <onto/tensor/tensor_ref.hpp>

ONTO_END_HEADER

#endif
