// SPDX-License-Identifier: BSL-1.0
// Compares what a program prints with a file under tests/golden. ONTO_UPDATE_GOLDEN=1 writes the file instead.
#pragma once

#include "unit/catch.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace onto_test {

/// The first line in which two texts differ, with both versions of it.
inline std::string first_difference(const std::string& expected, const std::string& got) {
  std::istringstream left(expected), right(got);
  std::string a, b;
  for (int line = 1;; ++line) {
    const bool more_left = static_cast<bool>(std::getline(left, a));
    const bool more_right = static_cast<bool>(std::getline(right, b));
    if (!more_left && !more_right) return "they differ in the newline at the end";
    if (more_left != more_right || a != b)
      return "line " + std::to_string(line) + "\n  expected: " + (more_left ? a : "(end of text)") +
             "\n  got:      " + (more_right ? b : "(end of text)");
  }
}

/// Checks that `text` equals tests/golden/<name>.txt. The test case carries the tag `[golden]`.
inline void golden(const std::string& name, std::string_view text) {
  const std::filesystem::path path = std::filesystem::path(ONTO_TESTS_DIR) / "golden" / (name + ".txt");
  std::string got(text);
  if (!got.empty() && got.back() != '\n') got += '\n';
  if (const char* update = std::getenv("ONTO_UPDATE_GOLDEN"); update && *update == '1') {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << got;
  }
  INFO("golden file tests/golden/" << name << ".txt; ONTO_UPDATE_GOLDEN=1 ./run test golden writes it");
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  std::ostringstream expected;
  expected << file.rdbuf();
  if (expected.str() != got)
    FAIL_CHECK(first_difference(expected.str(), got));
  else
    SUCCEED();
}

}  // namespace onto_test

using onto_test::golden;
