// SPDX-License-Identifier: BSL-1.0
// The backends of a program: a line for each folder.
#pragma once

#include <onto/backend/cpu/kernels.hpp>
#include <onto/runtime/backend.hpp>
#if ONTO_CUDA
#include <onto/backend/cuda/kernels.hpp>
#endif
#if defined(ONTO_BACKEND)
#include ONTO_BACKEND  // the header of a backend of the program's own
#endif

namespace onto::detail {
inline namespace ONTO_ABI {

using backends = decltype(backend_at<0>::list{} + backend_at<1>::list{} + backend_at<2>::list{});
static_assert(kernel_entry::slots == 3);

}  // namespace ONTO_ABI
}  // namespace onto::detail
