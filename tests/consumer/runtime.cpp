// SPDX-License-Identifier: BSL-1.0
// The runtime of a program that is built without CMake.
#include <onto/compiled.hpp>
