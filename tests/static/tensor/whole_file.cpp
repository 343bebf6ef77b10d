// SPDX-License-Identifier: BSL-1.0
// The names of the system's functions for files stay a program's own.
#include <onto/tensor/whole_file.hpp>

namespace {

constexpr int open = 1, creat = 2, flock = 3, fcntl = 4;
static_assert(open + creat + flock + fcntl == 10);

}  // namespace
