// SPDX-License-Identifier: BSL-1.0
// The one source file of onto::compiled.
#include <onto/compiled.hpp>
