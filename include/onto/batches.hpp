// SPDX-License-Identifier: BSL-1.0
// Data in batches for training: batches. Beside onto.hpp, for programs that have them.
#pragma once

#include <onto/onto.hpp>

#include <onto/session/batches.hpp>
