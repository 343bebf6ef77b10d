// SPDX-License-Identifier: BSL-1.0
// Fused kernels as flat programs stand in the layer of kernels.
#pragma once

#include <onto/kernel/program.hpp>
