// SPDX-License-Identifier: BSL-1.0
// Folds over every axis of what folds rows along every axis: each is what the two are one after the other, of shapes
// that the types know and that the run knows.
#include <onto/onto.hpp>

#include "../catch.hpp"

#include <cmath>
#include <utility>

namespace {

using namespace onto;

/// Rows along an axis that come to something: each keeps its shape.
struct softmax_rows {
  template <int Axis, class E>
  static auto of(const E& x) {
    return softmax<Axis>(x);
  }
};
struct scaled_by_sums {
  template <int Axis, class E>
  static auto of(const E& x) {
    return x * sum<Axis>(square(x), keep_extents);
  }
};

/// And folds of these.
struct sums {
  template <int Axis, class E>
  static auto of(const E& x) {
    return sum<Axis>(x);
  }
};
struct greatest {
  template <int Axis, class E>
  static auto of(const E& x) {
    return max<Axis>(x);
  }
};
struct means_kept {
  template <int Axis, class E>
  static auto of(const E& x) {
    return mean<Axis>(x, keep_extents);
  }
};
struct norms {
  template <int Axis, class E>
  static auto of(const E& x) {
    return norm<Axis>(x);
  }
};

template <class Rows, class Fold, int Along, int Over, class Symbol, class Tensor>
void check_pair(session& sess, const Symbol& x, const Tensor& values) {
  const Tensor between = sess.run(Rows::template of<Along>(x), x = values);
  const auto expected = sess.run(Fold::template of<Over>(x), x = between);
  const auto together = sess.run(Fold::template of<Over>(Rows::template of<Along>(x)), x = values);
  INFO("rows along " << Along << ", folded over " << Over);
  REQUIRE(together.shape() == expected.shape());
  double worst = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const double difference = std::fabs(double(together.data()[k]) - double(expected.data()[k]));
    worst = difference <= worst ? worst : difference;  // NaN is the worst
  }
  CHECK(worst <= 2e-5);
}

template <class Rows, int Rank, class Symbol, class Tensor>
void check_axes(const Symbol& x, const Tensor& values) {
  session sess;
  [&]<int... K>(std::integer_sequence<int, K...>) {
    (check_pair<Rows, sums, K / Rank, K % Rank>(sess, x, values), ...);
    (check_pair<Rows, greatest, K / Rank, K % Rank>(sess, x, values), ...);
    (check_pair<Rows, means_kept, K / Rank, K % Rank>(sess, x, values), ...);
    (check_pair<Rows, norms, K / Rank, K % Rank>(sess, x, values), ...);
  }
  (std::make_integer_sequence<int, Rank * Rank>{});
}

template <class Tensor>
Tensor waves(Tensor t) {
  int k = 0;
  for (float& v : t) v = std::sin(0.7f * static_cast<float>(k++));
  return t;
}

constexpr auto three = placeholder<"three", float, 3, 4, 5>;
constexpr auto open = placeholder<"open", float, dyn, dyn, dyn>;
constexpr auto four = placeholder<"four", float, 2, 3, 4, 5>;

}  // namespace

TEST_CASE("folds over every axis of softmax along every axis", "[rows]") {
  check_axes<softmax_rows, 3>(three, waves(tensor<float, 3, 4, 5>()));
  check_axes<softmax_rows, 3>(open, waves(tensor<float, dyn, dyn, dyn>({5, 3, 4})));
}

TEST_CASE("folds over every axis of what sums along every axis scale", "[rows]") {
  check_axes<scaled_by_sums, 3>(open, waves(tensor<float, dyn, dyn, dyn>({4, 5, 3})));
  check_axes<scaled_by_sums, 3>(open, waves(tensor<float, dyn, dyn, dyn>({40, 30, 3})));
}

TEST_CASE("folds over every axis of four of softmax along every one", "[rows]") {
  check_axes<softmax_rows, 4>(four, waves(tensor<float, 2, 3, 4, 5>()));
}

TEST_CASE("the first element for which a condition holds, and for which it does not", "[session]") {
  constexpr auto x = placeholder<"x", float, dyn, dyn>;
  const tensor<float, dyn, dyn> t{{1, 5, 2}, {7, 0, 9}, {0, 0, 0}};
  const tensor<bool, dyn> b{false, true, true};
  CHECK(evaluate(argmax<1>(x > 1), x = t) == tensor<std::int64_t, dyn>{1, 0, 0});
  CHECK(evaluate(argmax<0>(x > 1), x = t) == tensor<std::int64_t, dyn>{1, 0, 0});
  static_assert(plan_of(argmax<1>(x > 1_c)).kernels == 1);
  CHECK(evaluate(argmin<1>(x > 0, keep_extents), x = t) == tensor<std::int64_t, dyn, 1>{{0}, {1}, {0}});
  CHECK(evaluate(argmax(x > 6), x = t) == tensor<std::int64_t>(3));
  CHECK(evaluate(argmax(b)) == tensor<std::int64_t>(1));
  CHECK(evaluate(argmin(b)) == tensor<std::int64_t>(0));
  session sess{{.simulated_gpus = 1}};
  CHECK(sess.run(on<gpu<0>>(argmax<1>(x > 1)), x = t) == tensor<std::int64_t, dyn>{1, 0, 0});
}
