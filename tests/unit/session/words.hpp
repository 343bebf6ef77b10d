// SPDX-License-Identifier: BSL-1.0
// Words of NumPy's in programs, each beside NumPy's result (tests/conformance/words.tsv), found by the word's own text.
#pragma once

#include "numpy_table.hpp"

namespace onto_test {

/// Runs words over two feeds and counts them.
class numpy_words {
 public:
  /// `name`: of the operands, in the table; `words`: as many are in it beside `feeds`, and none is left out.
  numpy_words(const std::string& name, int words, int feeds = 2) : table_(read_numpy("words.tsv", name)), left_(words) {
    REQUIRE(table_.size() == static_cast<std::size_t>(words + feeds));
  }
  ~numpy_words() { CHECK(left_ == 0); }

  template <class Tensor>
  void fill(const std::string& what, Tensor& x) const {
    fill_from(table_, what, x);
  }
  template <class Result>
  void check(const std::string& what, const Result& got, double tolerance = 0) {
    --left_;
    check_numpy(table_, what, got, tolerance);
  }

 private:
  numpy_table table_;
  int left_;
};

}  // namespace onto_test
