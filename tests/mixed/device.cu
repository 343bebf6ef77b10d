// SPDX-License-Identifier: BSL-1.0
// The half of the mixed program that nvcc compiles.
#include "program.hpp"

mixed::results mixed::by_nvcc() { return run(); }
