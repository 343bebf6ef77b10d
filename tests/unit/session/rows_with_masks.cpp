// SPDX-License-Identifier: BSL-1.0
// Rows whose programs load truth values and integers beside floats: folds and what follows them, at many extents.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdint>

#include "../catch.hpp"

using namespace onto;

namespace {

template <int Rows, int Columns>
struct rows_with_masks {
  tensor<float, Rows, Columns> x;
  tensor<bool, Rows, Columns> m;
  tensor<std::int8_t, Rows, Columns> k;

  rows_with_masks() {
    for (int i = 0; i < Rows * Columns; ++i) {
      x.data()[i] = static_cast<float>(i * 37 % 101) * 0.1f - 5;
      m.data()[i] = i % 3 != 1 || i % Columns == 0;  // something is chosen in each row
      k.data()[i] = static_cast<std::int8_t>(i * 29 % 200 - 100);
    }
  }

  template <class E, class Reference>
  double greatest_error(session& sess, const E& e, Reference reference) {
    const auto y = sess.run(e, placeholder<"x", float, Rows, Columns> = x, placeholder<"m", bool, Rows, Columns> = m,
                            placeholder<"k", std::int8_t, Rows, Columns> = k);
    double most = 0;
    for (int r = 0; r < Rows; ++r)
      for (int c = 0; c < Columns; ++c) {
        const double error = std::fabs(static_cast<double>(y(r, c)) - reference(r, c));
        most = error > most || std::isnan(error) ? error : most;
      }
    return most;
  }

  void check() {
    const auto px = placeholder<"x", float, Rows, Columns>;
    const auto pm = placeholder<"m", bool, Rows, Columns>;
    const auto pk = placeholder<"k", std::int8_t, Rows, Columns>;
    session sess;
    const auto number = [&](int r, int c) { return m(r, c) ? static_cast<double>(x(r, c)) : 0.0; };
    INFO(Rows << " rows of " << Columns);
    CHECK(greatest_error(sess, where(pk > 0, px, 0.f) + softmax(where(pm, px, -1e9f)), [&](int r, int c) {
            double sum = 0;
            for (int j = 0; j < Columns; ++j)
              if (m(r, j)) sum += std::exp(static_cast<double>(x(r, j)));
            const double y = m(r, c) ? std::exp(static_cast<double>(x(r, c))) / sum : 0;
            return y + (k(r, c) > 0 ? static_cast<double>(x(r, c)) : 0.0);
          }) < 3e-6);
    CHECK(greatest_error(sess, px - mean<1>(where(pm, px, 0.f), keep_extents), [&](int r, int c) {
            double sum = 0;
            for (int j = 0; j < Columns; ++j) sum += number(r, j);
            return static_cast<double>(x(r, c)) - sum / Columns;
          }) < 3e-6);
    CHECK(greatest_error(sess, where(pm, px, 0.f) - max<0>(where(pm, px + cast<float>(pk), -500.f), keep_extents),
                         [&](int r, int c) {
                           double most = -500;
                           for (int i = 0; i < Rows; ++i)
                             if (m(i, c))
                               most = std::fmax(most, static_cast<double>(x(i, c) + static_cast<float>(k(i, c))));
                           return number(r, c) - most;
                         }) < 1e-4);
    CHECK(greatest_error(sess, cast<float>(pk) * 0.01f / sum<1>(exp(cast<float>(pk) * 0.01f), keep_extents),
                         [&](int r, int c) {
                           double sum = 0;
                           for (int j = 0; j < Columns; ++j) sum += std::exp(static_cast<double>(k(r, j)) * 0.01);
                           return static_cast<double>(k(r, c)) * 0.01 / sum;
                         }) < 3e-6);
  }
};

}  // namespace

TEST_CASE("rows of several element types", "[session]") {
  rows_with_masks<3, 1>().check();
  rows_with_masks<5, 7>().check();
  rows_with_masks<40, 33>().check();
  rows_with_masks<4, 1000>().check();
}
