// SPDX-License-Identifier: BSL-1.0
// The emulated NCCL as tests see it.
#pragma once

#include <nccl.h>

namespace cuda_emulation {

struct nccl_counts {
  long sums = 0;      // of one value on one GPU, done
  long copies = 0;    // the same of what all have in the end: side by side, or one's
  long messages = 0;  // sent or received
  long groups = 0;    // that had any
};
/// Those since the last call of this function.
nccl_counts take_nccl_counts();

}  // namespace cuda_emulation
