// SPDX-License-Identifier: BSL-1.0
// Without exceptions a mistake in data could not be said.
// FAIL: \[onto\.exceptions\] onto says by exceptions what is wrong with data; compile with -fexceptions
// FLAGS: -fno-exceptions
// ONLY: g++ clang++
// LINES: 4
#include <onto/onto.hpp>

int main() {}
