// SPDX-License-Identifier: BSL-1.0
// Sums of products by letters: `einsum<"ij,jk->ik">(a, b)`. Beside onto.hpp, for programs that have them.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/ops/einsum.hpp>

ONTO_END_HEADER
