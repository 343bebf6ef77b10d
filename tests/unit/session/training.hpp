// SPDX-License-Identifier: BSL-1.0
// What PyTorch makes of a few numbers (tests/conformance/training.py), and the perceptron that it trained.
#pragma once

#include <onto/onto.hpp>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "../catch.hpp"

namespace onto_test {

/// The numbers of a row.
inline const std::vector<double>& expected(const std::string& name) {
  static const auto rows = [] {
    std::map<std::string, std::vector<double>> all;
    std::ifstream file(ONTO_TESTS_DIR "/conformance/training.tsv");
    std::string line;
    while (std::getline(file, line)) {
      const std::size_t tab = line.find('\t');
      std::vector<double>& row = all[line.substr(0, tab)];
      const char* at = line.c_str() + tab;
      for (char* end = nullptr;; at = end) {
        const double v = std::strtod(at, &end);
        if (end == at) break;
        row.push_back(v);
      }
    }
    return all;
  }();
  const auto found = rows.find(name);
  INFO(name);
  REQUIRE(found != rows.end());
  return found->second;
}

/// A tensor whose elements are a function of their number.
template <int... Dims, class F>
onto::tensor<double, Dims...> table(F f) {
  onto::tensor<double, Dims...> t;
  for (std::size_t k = 0; k < t.size(); ++k) t.data()[k] = f(static_cast<double>(k));
  return t;
}

}  // namespace onto_test
