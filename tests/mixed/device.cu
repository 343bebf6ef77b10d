// SPDX-License-Identifier: BSL-1.0
#include "program.hpp"

mixed::results mixed::by_nvcc() { return run(); }
