// SPDX-License-Identifier: BSL-1.0
// The same program, compiled by nvcc.
#include "main.cpp"
