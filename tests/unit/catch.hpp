// SPDX-License-Identifier: BSL-1.0
// Catch2, version 2 (Debian's) or 3: the same words in every test. `Approx` is found without its namespace.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
