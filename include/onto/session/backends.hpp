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

#include <utility>

namespace onto::detail {
inline namespace ONTO_ABI {

template <int... Slots>
auto list_backends(std::integer_sequence<int, Slots...>)
    -> decltype((backend_list<>{} + ... + typename backend_at<Slots>::list{}));
using backends = decltype(list_backends(std::make_integer_sequence<int, kernel_entry::slots>{}));

}  // namespace ONTO_ABI
}  // namespace onto::detail
