// SPDX-License-Identifier: BSL-1.0
// The main of every unit test program, for Catch2 version 2; version 3 brings its own.
#define CATCH_CONFIG_MAIN
#include "catch.hpp"
