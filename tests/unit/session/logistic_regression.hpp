// SPDX-License-Identifier: BSL-1.0
// A newcomer's first training: logistic regression in several spellings, beside plain loops in double; and what its
// steps are made of, numbers of several types in one kernel and values that are the same everywhere.
#pragma once

#include <onto/onto.hpp>

#include "catch.hpp"

#include <cmath>
#include <cstdint>

namespace logistic_regression {

using namespace onto;

inline constexpr int rows = 5, features = 3;

template <int Rows, bool Vector>
struct model {
  static constexpr auto inputs() { return placeholder<"x", float, Rows, features>; }
  static constexpr auto labels() {
    if constexpr (Vector)
      return placeholder<"y", float, Rows>;
    else
      return placeholder<"y", float, Rows, 1>;
  }
  static constexpr auto weights() {
    if constexpr (Vector)
      return variable<"w", float, features>(zeros<float, features>());
    else
      return variable<"w", float, features, 1>(zeros<float, features, 1>());
  }
  static constexpr auto bias() { return variable<"b", float>(zeros<float>()); }
  static constexpr auto loss() { return mean(sigmoid_cross_entropy(matmul(inputs(), weights()) + bias(), labels())); }
};

/// The same loss, written with operators, which stretch labels of one element.
struct stretching : model<dyn, false> {
  static constexpr auto loss() {
    const auto scores = matmul(inputs(), weights()) + bias();
    return mean(softplus(scores) - scores * labels());
  }
};

// The product with its bias, the loss; the gradient of the scores, its sum; each parameter, with one the step's count.
// Where only the run knows whether the labels are stretched, one sum more.
template <int Rows, bool Vector>
inline constexpr int kernels = plan_of(minimize<sgd{.rate = 0.1}>(model<Rows, Vector>::loss())).kernels;
static_assert(kernels<rows, false> == 6 && kernels<rows, true> == 6);
static_assert(kernels<dyn, false> == 7 && kernels<dyn, true> == 7);
// Adam: two products are gradients, the step's numbers are one kernel, all parameters another.
static_assert(plan_of(minimize<adam{}>(model<rows, true>::loss())).kernels == 7);

inline float input(int row, int feature) { return std::sin(static_cast<float>(row * features + feature)); }

/// Plain descent. `label` of a row.
template <class Label>
void descend(double* w, double& b, const Label& label) {
  double by_w[features] = {}, by_b = 0;
  for (int r = 0; r < rows; ++r) {
    double score = b;
    for (int k = 0; k < features; ++k) score += w[k] * static_cast<double>(input(r, k));
    const double by_score = (1 / (1 + std::exp(-score)) - label(r)) / rows;
    for (int k = 0; k < features; ++k) by_w[k] += by_score * static_cast<double>(input(r, k));
    by_b += by_score;
  }
  for (int k = 0; k < features; ++k) w[k] -= 0.1 * by_w[k];
  b -= 0.1 * by_b;
}

template <class Model, class X, class Y, class Place, class Label>
void check_model(Model, session& s, const X& xs, const Y& ys, const Place& place, const Label& label) {
  const auto step = minimize(sgd{.rate = 0.1}, place(Model::loss()));
  s.initialize(step);
  auto learn = s.prepare(step);
  double w[features] = {}, b = 0;
  for (int k = 0; k < 4; ++k) {
    learn(Model::inputs() = xs, Model::labels() = ys);
    descend(w, b, label);
  }
  const auto learned = s.run(Model::weights());
  for (int k = 0; k < features; ++k) CHECK(static_cast<double>(learned.data()[k]) == Approx(w[k]).margin(1e-5));
  CHECK(static_cast<double>(static_cast<float>(s.run(Model::bias()))) == Approx(b).margin(1e-5));
}

/// `make_session`: one session a model, whose variables have the same names. `place` puts a loss somewhere.
template <class MakeSession, class Place>
void check_models(const MakeSession& make_session, const Place& place) {
  tensor<float, rows, features> xs;
  tensor<float, dyn, features> open({rows, features});
  tensor<float, rows, 1> column;
  tensor<float, rows> row;
  tensor<float, dyn, 1> open_column({rows, 1}), one({1, 1});
  tensor<float, dyn> open_row({rows});
  one.data()[0] = 1;
  for (int r = 0; r < rows; ++r) {
    column.data()[r] = row.data()[r] = open_column.data()[r] = open_row.data()[r] = static_cast<float>(r % 2);
    for (int k = 0; k < features; ++k) xs.data()[r * features + k] = open.data()[r * features + k] = input(r, k);
  }
  const auto parity = [](int r) { return static_cast<double>(r % 2); };
  const auto with = [&](auto m, const auto& x, const auto& y, const auto& label) {
    session s{make_session()};
    check_model(m, s, x, y, place, label);
  };
  with(model<rows, false>{}, xs, column, parity);
  with(model<rows, true>{}, xs, row, parity);
  with(model<dyn, false>{}, open, open_column, parity);
  with(model<dyn, true>{}, open, open_row, parity);
  with(stretching{}, open, open_column, parity);
  with(stretching{}, open, one, [](int) { return 1.; });  // one label for all: the run finds out
}

inline constexpr auto count = variable<"count", std::int64_t>(zeros<std::int64_t>());
inline constexpr auto share = variable<"share", float>(zeros<float>());
inline constexpr auto exact = variable<"exact", double>(zeros<double>());

/// Numbers of three types, of which two come from the first: one kernel.
template <class Place>
void check_numbers(session& s, const Place& place) {
  const auto next = assign_add(count, 1_c);
  const auto step =
      place(fetches(next, assign(exact, 1_c / cast<double>(next)), assign(share, cast<float>(next) / 4_c)));
  s.run(initialize(count, share, exact));
  for (int k = 1; k < 4; ++k) {
    s.run(step);
    CHECK(static_cast<std::int64_t>(s.run(count)) == k);
    CHECK(static_cast<double>(s.run(exact)) == 1. / k);
    CHECK(static_cast<float>(s.run(share)) == static_cast<float>(k) / 4);
  }
}
static_assert(plan_of(group(sum(share), assign(exact, 1_c / cast<double>(assign_add(count, 1_c))),
                            assign(share, cast<float>(assign_add(count, 1_c)) / 4_c)))
                  .kernels == 2);  // and the sum, which is a copy of a variable

inline constexpr auto open_row = placeholder<"open_row", float, dyn>;

/// Values that are the same everywhere, made where they are read: in maps, folds and rows, stretched and turned.
template <class Place>
void check_uniform(session& s, const Place& place) {
  const tensor<float, dyn> r{1, 2, 3};
  CHECK(static_cast<float>(s.run(place(sum(ones<float, 4>())))) == 4.f);
  CHECK(s.run(place(sum<0>(fill<float, 4, 2>(2.5f)))) == tensor<float, 2>{10, 10});
  CHECK(s.run(place(open_row + ones<float, 1>()), open_row = r) == tensor<float, dyn>{2, 3, 4});
  CHECK(s.run(place(max<0>(open_row * fill<float, 4, 1>(2.f))), open_row = r) == tensor<float, dyn>{2, 4, 6});
  CHECK(static_cast<float>(s.run(place(mean(open_row * zeros<float>())), open_row = r)) == 0.f);
  CHECK(s.run(place(softmax(ones<float, 2, 4>()))) == tensor<float, 2, 4>{{.25, .25, .25, .25}, {.25, .25, .25, .25}});
  CHECK(s.run(place(transpose(ones<float, 2, 3>()) + ones<float, 1>())) == tensor<float, 3, 2>{{2, 2}, {2, 2}, {2, 2}});
}

}  // namespace logistic_regression
