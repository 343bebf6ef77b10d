// SPDX-License-Identifier: BSL-1.0
// Tables that NumPy wrote (tests/conformance), and results beside them. A line is the type of the operands, what is
// computed, the type of the result (and its shape, in brackets), and its values.
#pragma once

#include <onto/onto.hpp>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "../catch.hpp"

namespace onto_test {

using namespace onto;

struct numpy_row {
  std::string type;
  std::vector<std::string> values;
};
using numpy_table = std::map<std::string, numpy_row>;

/// The lines of a table for operands of this type.
inline numpy_table read_numpy(const std::string& name, const std::string& operands) {
  std::ifstream file(ONTO_TESTS_DIR "/conformance/" + name);
  numpy_table t;
  for (std::string text; std::getline(file, text);) {
    std::istringstream in(text);
    std::string type, what;
    std::getline(in, type, '\t');
    if (type != operands) continue;
    std::getline(in, what, '\t');
    auto& row = t[what];
    std::getline(in, row.type, '\t');
    for (std::string value; in >> value;) row.values.push_back(value);
  }
  return t;
}

template <class T>
T number(const std::string& text) {
  if constexpr (std::is_same_v<T, std::uint64_t>)
    return std::strtoull(text.c_str(), nullptr, 10);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::strtoll(text.c_str(), nullptr, 10));
  else
    return static_cast<T>(std::strtod(text.c_str(), nullptr));
}

inline std::string numpy_name(element e) {
  const std::string name(name_of(e));
  return name == "float" ? "float32" : name == "double" ? "float64" : name == "half" ? "float16" : name;
}

/// A tensor of the values of a line.
template <class Tensor>
void fill_from(const numpy_table& t, const std::string& what, Tensor& x) {
  REQUIRE(t.count(what) == 1);
  const auto& values = t.at(what).values;
  REQUIRE(values.size() == x.size());
  for (std::size_t k = 0; k < values.size(); ++k)
    x.data()[k] = number<std::remove_cvref_t<decltype(*x.data())>>(values[k]);
}

/// *Preconditions* `tolerance` is relative, of floating-point results.
template <class Result>
void check_numpy(const numpy_table& t, const std::string& what, const Result& got, double tolerance = 0) {
  INFO(what);
  REQUIRE(t.count(what) == 1);
  const auto& [type, values] = t.at(what);
  using T = std::remove_cvref_t<decltype(*got.data())>;
  std::string described = numpy_name(element_of<T>);
  if (type.find('[') != std::string::npos) described += to_string(got.extent_values());
  CHECK(described == type);
  REQUIRE(values.size() == got.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    INFO("element " << k);
    const T wanted = number<T>(values[k]), g = got.data()[k];
    const bool same = g == wanted || (wanted != wanted && g != g);
    if (tolerance > 0) {
      const auto w = static_cast<double>(wanted);
      if (!same) CHECK(std::abs(static_cast<double>(g) - w) <= tolerance * (1 + std::abs(w)));
    } else {
      CHECK(same);
    }
  }
}

}  // namespace onto_test
