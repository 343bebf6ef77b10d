// SPDX-License-Identifier: BSL-1.0
// Row programs for tests of the GPU's row kernels.
#pragma once

#include <onto/kernel/row_phases.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/unary.hpp>

namespace row_programs {

using namespace onto;
using namespace onto::detail;

// softmax(x * scalar): maximum; exponentials, kept, and their sum; its inverse; product.
template <element E>
using softmax_program = row_program<
    1, 1,
    fold_phase<program<instruction<load_input, E, 0>, instruction<load_scalar, E, 0>, instruction<op::mul, E, 0, 1>>,
               row_maximum, false>,
    fold_phase<program<instruction<load_input, E, 0>, instruction<load_scalar, E, 0>, instruction<op::mul, E, 0, 1>,
                       instruction<load_scalar, E, 1>, instruction<row_exp, E, 2, 3>>,
               fold::sum, true>,
    value_phase<program<instruction<load_scalar, E, 2>, instruction<row_inverse, E, 0>>>,
    store_phase<program<instruction<load_input, E, 1>, instruction<load_scalar, E, 3>, instruction<op::mul, E, 0, 1>>>>;

// Layer normalization with a scale for each column, and a factor for each row.
template <element E>
using normal_program = row_program<
    3, 0, value_phase<program<instruction<load_input, E, 2>>>,
    fold_phase<program<instruction<load_input, E, 0>>, fold::mean, false>,
    fold_phase<program<instruction<load_input, E, 0>, instruction<load_scalar, E, 1>, instruction<op::sub, E, 0, 1>,
                       instruction<op::square, E, 2>>,
               fold::mean, false>,
    value_phase<program<instruction<load_scalar, E, 2>, instruction<op::rsqrt, E, 0>>>,
    store_phase<program<instruction<load_input, E, 0>, instruction<load_scalar, E, 1>, instruction<op::sub, E, 0, 1>,
                        instruction<load_scalar, E, 3>, instruction<op::mul, E, 2, 3>, instruction<load_input, E, 1>,
                        instruction<op::mul, E, 4, 5>, instruction<load_scalar, E, 0>, instruction<op::mul, E, 6, 7>>>>;

// Two kept values, the second of the first: x^2, kept; its sum; exp(x^2 - sum of squares), kept; and the sum of x times
// all of them.
template <element E>
using keeping_program = row_program<
    1, 0, fold_phase<program<instruction<load_input, E, 0>, instruction<op::square, E, 0>>, fold::max, true>,
    keep_phase<program<instruction<load_input, E, 1>, instruction<load_scalar, E, 0>, instruction<row_exp, E, 0, 1>>>,
    fold_phase<program<instruction<load_input, E, 2>>, fold::sum, false>,
    store_fold_phase<
        program<instruction<load_input, E, 0>, instruction<load_input, E, 1>, instruction<load_input, E, 2>,
                instruction<op::mul, E, 1, 2>, instruction<load_scalar, E, 1>, instruction<op::add, E, 3, 4>,
                instruction<op::mul, E, 0, 5>>,
        fold::mean>>;

}  // namespace row_programs
