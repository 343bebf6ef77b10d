// SPDX-License-Identifier: BSL-1.0
// Data in batches for training: batches. Beside onto.hpp, for programs that have them.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/session/batches.hpp>

ONTO_END_HEADER
