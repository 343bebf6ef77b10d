// SPDX-License-Identifier: BSL-1.0
// The emulated NCCL's declarations, in place of NCCL's own wherever these are.
#pragma once

#include <cuda_runtime_api.h>

#include "../declarations/nccl_types.h"

#include "../declarations/nccl_functions.h"
