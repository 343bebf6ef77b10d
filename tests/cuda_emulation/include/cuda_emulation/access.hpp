// SPDX-License-Identifier: BSL-1.0
// What device code asks of an emulated GPU for each access to memory. Pointers of kernels are addresses that nothing
// can be read at: these functions check an access and say where the bytes are.
#pragma once

#include <cstddef>

namespace cuda_emulation {

/// Where the `bytes` that a thread reads at `p` are. Outside a kernel, and for memory of the host, `p` itself.
const void* readable(const void* p, std::size_t bytes, std::size_t alignment);
/// The same for bytes that are written.
void* writable(void* p, std::size_t bytes, std::size_t alignment);

/// The same for bytes that a thread reads and writes in one, of 4 or 8 bytes: threads that do only that at an address
/// do not race with each other.
void* atomic(void* p, std::size_t bytes, std::size_t alignment);

/// A block's array of static shared memory; `name` is one address for each array of a kernel.
void* shared_array(const void* name, std::size_t bytes, std::size_t alignment);
/// A block's dynamic shared memory.
void* dynamic_shared();

/// In a kernel: it takes so much time. *Effects* none on the host's clock until somebody waits.
void spin_nanoseconds(long long duration);
/// In a kernel: it ends with an error that takes the device away.
[[noreturn]] void trap();

}  // namespace cuda_emulation
