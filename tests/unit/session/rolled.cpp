// SPDX-License-Identifier: BSL-1.0
// Maps read rolled operands where they are, around the end of an axis: stencils with periodic boundaries, beside plain
// loops. Of each kind of element, of rows shorter and longer than what is read at once, on the CPU and on simulated
// GPUs, and of operands that are views, rows, or rolled twice.
#include <onto/convolution.hpp>

#include "../catch.hpp"
#include "gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

using namespace onto;

namespace {

int around(int k, int n) { return (k % n + n) % n; }

template <class T>
tensor<T, dyn, dyn> numbers(int rows, int columns) {
  tensor<T, dyn, dyn> t({rows, columns});
  for (int k = 0; k < rows * columns; ++k) t.data()[k] = static_cast<T>((k * 37 + k / 7) % 11);
  return t;
}

/// `e` of the placeholder that is `from` is at (i, j) what `at(i, j)` says.
template <class E, class S, class T, class F>
void check_elements(session& sess, const E& e, const S& symbol, const tensor<T, dyn, dyn>& from, F at) {
  const auto got = sess.run(e, symbol = from);
  const int rows = static_cast<int>(got.shape()[0]), columns = static_cast<int>(got.shape()[1]);
  int wrong = 0;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      if (static_cast<double>(got(i, j)) != static_cast<double>(at(i, j))) ++wrong;
  INFO(rows << " x " << columns);
  CHECK(wrong == 0);
}

template <class T, class Place>
void check_stencil(session& sess, int rows, int columns) {
  constexpr auto u = placeholder<"u", T, dyn, dyn>;
  const auto t = numbers<T>(rows, columns);
  const auto at = [&](int i, int j) { return t(around(i, rows), around(j, columns)); };
  const auto stencil = on<Place>(roll<1, 0>(u) + roll<-1, 0>(u) + roll<3, 1>(u) + roll<-2, 1>(roll<5, 0>(u)) * u);
  static_assert(plan_of(on<Place>(roll<1, 0>(u) + roll<-1, 0>(u) + roll<3, 1>(u) * u)).kernels == 1);
  check_elements(sess, stencil, u, t, [&](int i, int j) {
    return static_cast<T>(at(i - 1, j) + at(i + 1, j) + at(i, j - 3) + static_cast<T>(at(i - 5, j + 2) * at(i, j)));
  });
}

template <class T>
void check_type() {
  session sess{{.simulated_gpus = 1, .cpu_threads = 2}};
  constexpr int shapes[][2] = {{1, 1},   {1, 5},    {2, 1},   {2, 2},    {3, 4},     {7, 33},
                               {16, 16}, {40, 100}, {5, 600}, {64, 513}, {3, 20000}, {9000, 3}};
  for (const auto& s : shapes) {
    check_stencil<T, cpu<0>>(sess, s[0], s[1]);
    check_stencil<T, gpu<0>>(sess, s[0], s[1]);
  }
}

}  // namespace

TEST_CASE("maps read rolled operands of each kind of element", "[session][roll]") {
  check_type<float>();
  check_type<double>();
  check_type<half>();
  check_type<std::uint8_t>();
  check_type<std::int64_t>();
}

TEST_CASE("operands that are views are rolled", "[session][roll]") {
  session sess{{.simulated_gpus = 1, .cpu_threads = 2}};
  constexpr auto u = placeholder<"u", float, dyn, dyn>;
  for (const int n : {1, 2, 5, 40, 520}) {
    const int columns = n + 3;
    const auto t = numbers<float>(n, columns);
    const auto at = [&](int i, int j) { return t(around(i, n), around(j, columns)); };
    const auto turned = roll<2, 1>(transpose(u)) - transpose(u);
    check_elements(sess, turned, u, t, [&](int i, int j) { return at(j - 2, i) - at(j, i); });
    check_elements(sess, on<gpu<0>>(turned), u, t, [&](int i, int j) { return at(j - 2, i) - at(j, i); });
    // A part of the columns, rolled within itself.
    const auto some = slice<range<>, range<1, to_end>>(u);
    check_elements(sess, roll<1, 1>(some) * 2 + some, u, t,
                   [&](int i, int j) { return t(i, 1 + around(j - 1, columns - 1)) * 2 + t(i, 1 + j); });
    // Every other column, backwards.
    const auto apart = slice<range<>, range<to_end, to_begin, -2>>(u);
    const int kept = (columns + 1) / 2;
    check_elements(sess, on<gpu<0>>(roll<1, 1>(apart) - apart), u, t, [&](int i, int j) {
      return t(i, columns - 1 - 2 * around(j - 1, kept)) - t(i, columns - 1 - 2 * j);
    });
    check_elements(sess, roll<1, 1>(apart) - apart, u, t, [&](int i, int j) {
      return t(i, columns - 1 - 2 * around(j - 1, kept)) - t(i, columns - 1 - 2 * j);
    });
    // What is made in the same kernel, and a roll that is read through a view, which lies in memory.
    check_elements(sess, roll<1, 0>(u * u) + 1, u, t, [&](int i, int j) { return at(i - 1, j) * at(i - 1, j) + 1; });
    check_elements(sess, roll<1, 0>(u * u + roll<1, 1>(roll<2, 0>(u))) - roll<-1, 1>(roll<-1, 0>(u)), u, t,
                   [&](int i, int j) { return at(i - 1, j) * at(i - 1, j) + at(i - 3, j - 1) - at(i + 1, j + 1); });
    check_elements(sess, transpose(roll<1, 0>(u)) + transpose(u), u, t,
                   [&](int i, int j) { return at(j - 1, i) + at(j, i); });
    check_elements(sess, slice<range<>, range<0, 2>>(roll<1, 1>(u)) * 2, u, t,
                   [&](int i, int j) { return 2 * at(i, j - 1); });
  }
}

TEST_CASE("a roll is read by itself and by another roll in one kernel", "[session][roll][variables]") {
  // The sum of eight neighbours, of which corners are rolls of rolls that are neighbours, too.
  constexpr auto neighbours = [](const auto& f) {
    const auto up = roll<-1, 0>(f);
    const auto down = roll<1, 0>(f);
    const auto left = roll<-1, 1>(f);
    return up + down + left + roll<1, 1>(f) + roll<-1, 1>(up) + roll<1, 1>(up) + roll<-1, 1>(down) + roll<1, 1>(down);
  };
  constexpr auto u = placeholder<"u", float, dyn, dyn>;
  static_assert(plan_of(neighbours(u)).kernels == 1);
  static_assert(plan_of(sum(u * neighbours(u))).kernels == 2);
  static_assert(plan_of(neighbours(u * u)).kernels == 2);
  constexpr auto w = variable<"w", float, dyn, dyn>;
  for (const int rows : {1, 2, 5, 70}) {
    session sess{{.simulated_gpus = 1, .cpu_threads = 2}};
    const int columns = rows * 9 - 2;
    const auto t = numbers<float>(rows, columns);
    const auto around_it = [&](int i, int j, auto at) {
      float all = 0;
      for (int k = 0; k < 9; ++k)
        if (k != 4) all += at(t(around(i + k / 3 - 1, rows), around(j + k % 3 - 1, columns)));
      return all;
    };
    const auto itself = [](float v) { return v; };
    check_elements(sess, neighbours(u), u, t, [&](int i, int j) { return around_it(i, j, itself); });
    check_elements(sess, on<gpu<0>>(neighbours(u)), u, t, [&](int i, int j) { return around_it(i, j, itself); });
    check_elements(sess, neighbours(u * u), u, t,
                   [&](int i, int j) { return around_it(i, j, [](float v) { return v * v; }); });
    float total = 0;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) total += t(i, j) * around_it(i, j, itself);
    CHECK(sess.run(sum(u * neighbours(u)), u = t) == Approx(total));
    // A new value does not lie where the old one is read.
    sess.run(assign(w, t));
    sess.run(assign(w, w + neighbours(w)));
    const auto next = sess.run(w);
    int wrong = 0;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        if (next(i, j) != t(i, j) + around_it(i, j, itself)) ++wrong;
    CHECK(wrong == 0);
    // A view of the roll, a fetch of it, and two kernels that read it: it is a copy there.
    const auto up = roll<-1, 0>(u);
    const auto [a, b, c] = sess.run(fetches(up + roll<1, 1>(up), up, transpose(up) + 1), u = t);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        const float above = t(around(i + 1, rows), j);
        if (a(i, j) != above + t(around(i + 1, rows), around(j - 1, columns)) || b(i, j) != above ||
            c(j, i) != above + 1)
          ++wrong;
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a rolled row and a rolled column are stretched", "[session][roll]") {
  constexpr auto row = placeholder<"row", double, dyn>;
  constexpr auto column = placeholder<"column", double, dyn, 1>;
  for (const int n : {1, 3, 70, 700}) {
    tensor<double, dyn> r({n});
    tensor<double, dyn, 1> c({n, 1});
    for (int k = 0; k < n; ++k) {
      r(k) = k * k % 17;
      c(k, 0) = 3 * k % 13;
    }
    session sess{{.simulated_gpus = 1}};
    const auto both = sess.run(roll<1, 0>(row) - roll<2, 0>(column), row = r, column = c);
    const auto there = sess.run(on<gpu<0>>(roll<1, 0>(row) - roll<2, 0>(column)), row = r, column = c);
    int wrong = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const double wanted = r(around(j - 1, n)) - c(around(i - 2, n), 0);
        if (both(i, j) != wanted || there(i, j) != wanted) ++wrong;
      }
    INFO(n);
    CHECK(wrong == 0);
  }
}

TEST_CASE("the axis between others is rolled", "[session][roll]") {
  constexpr auto image = placeholder<"image", std::uint8_t, dyn, dyn, 3>;
  constexpr int height = 30, width = 200;
  tensor<std::uint8_t, dyn, dyn, 3> t({height, width, 3});
  for (int k = 0; k < height * width * 3; ++k) t.data()[k] = static_cast<std::uint8_t>(k * 31 % 251);
  session sess{{.simulated_gpus = 1}};
  const auto [left, up] =
      sess.run(fetches(maximum(image, roll<-1, 1>(image)), on<gpu<0>>(maximum(roll<1, 0>(image), roll<50, 1>(image)))),
               image = t);
  int wrong = 0;
  for (int i = 0; i < height; ++i)
    for (int j = 0; j < width; ++j)
      for (int k = 0; k < 3; ++k) {
        if (left(i, j, k) != std::max(t(i, j, k), t(i, around(j + 1, width), k))) ++wrong;
        if (up(i, j, k) != std::max(t(around(i - 1, height), j, k), t(i, around(j - 50, width), k))) ++wrong;
      }
  CHECK(wrong == 0);
}

TEST_CASE("a step of two fields is two results of one kernel, each fed back", "[session][roll][variables]") {
  // Gray and Scott's reaction with diffusion, beside loops in double.
  constexpr int n = 48;
  const auto laplacian = [](const auto& f) {
    return roll<1, 0>(f) + roll<-1, 0>(f) + roll<1, 1>(f) + roll<-1, 1>(f) - 4 * f;
  };
  tensor<double, n, n> a, b;
  for (int k = 0; k < n * n; ++k) {
    a.data()[k] = 1 - 0.5 * (k % 5 == 0);
    b.data()[k] = 0.25 * (k % 7 == 0);
  }
  std::vector<double> u(a.data(), a.data() + n * n), v(b.data(), b.data() + n * n);
  constexpr auto U = variable<"U", double, n, n>;
  constexpr auto V = variable<"V", double, n, n>;
  const auto reaction = U * V * V;
  const auto step = group(assign(U, U + 0.16 * laplacian(U) - reaction + 0.035 * (1 - U)),
                          assign(V, V + 0.08 * laplacian(V) + reaction - 0.1 * V));
  session sess;
  sess.run(group(assign(U, a), assign(V, b)));
  for (int k = 0; k < 10; ++k) {
    sess.run(step);
    std::vector<double> nu(n * n), nv(n * n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const auto at = [&](const std::vector<double>& f, int di, int dj) {
          return f[static_cast<std::size_t>(around(i + di, n) * n + around(j + dj, n))];
        };
        const auto lap = [&](const std::vector<double>& f) {
          return at(f, -1, 0) + at(f, 1, 0) + at(f, 0, -1) + at(f, 0, 1) - 4 * at(f, 0, 0);
        };
        const double x = at(u, 0, 0), y = at(v, 0, 0);
        nu[static_cast<std::size_t>(i * n + j)] = x + 0.16 * lap(u) - x * y * y + 0.035 * (1 - x);
        nv[static_cast<std::size_t>(i * n + j)] = y + 0.08 * lap(v) + x * y * y - 0.1 * y;
      }
    u = nu;
    v = nv;
  }
  const auto [x, y] = sess.run(fetches(U, V));
  double off = 0;
  for (int k = 0; k < n * n; ++k)
    off = std::max(off, std::abs(x.data()[k] - u[static_cast<std::size_t>(k)]) +
                            std::abs(y.data()[k] - v[static_cast<std::size_t>(k)]));
  CHECK(off < 1e-12);
}

TEST_CASE("what is no map reads a roll from memory", "[session][roll]") {
  constexpr auto u = placeholder<"u", double, dyn, dyn>;
  const auto t = numbers<double>(6, 9);
  double wanted = 0;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 9; ++j) wanted += t(i, j) * t(i, around(j - 1, 9));
  session sess{{.simulated_gpus = 1}};
  CHECK(sess.run(sum(u * roll<1, 1>(u)), u = t) == Approx(wanted));
  CHECK(sess.run(on<gpu<0>>(sum(u * roll<1, 1>(u))), u = t) == Approx(wanted));
  const auto product = sess.run(matmul(transpose(u), roll<2, 0>(u)), u = t);
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) {
      double sum = 0;
      for (int k = 0; k < 6; ++k) sum += t(k, i) * t(around(k - 2, 6), j);
      CHECK(product(i, j) == Approx(sum));
    }
  CHECK(sess.run(roll<-2, 1>(u), u = t)(3, 8) == t(3, 1));
}

TEST_CASE("products and convolutions read rolled operands and addends, whatever follows in their kernel", "[roll]") {
  constexpr auto u = placeholder<"u", float, dyn, dyn>;
  constexpr auto w = placeholder<"w", float, dyn, dyn>;
  constexpr auto b = placeholder<"b", float, dyn>;
  constexpr auto state = variable<"state", float, 5, 5>(zeros<float, 5, 5>());
  const auto t = numbers<float>(5, 5), m = numbers<float>(5, 5);
  const tensor<float, dyn> row{3, -1, 4, 1, -5};
  const auto rolled_t = evaluate(roll<2, 0>(u), u = t);
  const auto rolled_row = evaluate(roll<1>(b), b = row);
  session s{{.simulated_gpus = 1}};
  s.run(initialize(state));
  const auto same = [&](const auto& of_rolled, const auto& of_copies) {
    const auto wanted = s.run(of_copies, u = rolled_t, w = m, b = rolled_row);
    CHECK(s.run(of_rolled, u = t, w = m, b = row) == wanted);
    CHECK(s.run(on<gpu<0>>(of_rolled), u = t, w = m, b = row) ==
          s.run(on<gpu<0>>(of_copies), u = rolled_t, w = m, b = rolled_row));
    auto step = s.prepare(of_rolled);
    CHECK(step(u = t, w = m, b = row) == wanted);
    CHECK(step(u = t, w = m, b = row) == wanted);
  };
  const auto r = roll<2, 0>(u);
  const auto rb = roll<1>(b);
  same(matmul(r, w) + rb, matmul(u, w) + b);
  same(relu(matmul(r, w)), relu(matmul(u, w)));
  same(2.f * matmul(w, r) - rb, 2.f * matmul(w, u) - b);
  same(matmul(w, transpose(w)) + r, matmul(w, transpose(w)) + u);
  same(relu(matmul(r, rb) + rb), relu(matmul(u, b) + b));
  same(matmul(w, roll<1>(rb)) * 3.f, matmul(w, roll<1>(b)) * 3.f);
  same(assign(state, matmul(r, w)), assign(state, matmul(u, w)));
  same(gradient(sum(square(matmul(r, w) + rb)), w), gradient(sum(square(matmul(u, w) + b)), w));
  constexpr auto image = placeholder<"image", float, 1, 4, 4, 1>;
  constexpr auto filter = placeholder<"filter", float, 3, 3, 1, 1>;
  tensor<float, 1, 4, 4, 1> picture;
  for (int k = 0; k < 16; ++k) picture.data()[k] = static_cast<float>(k * k % 7);
  tensor<float, 3, 3, 1, 1> weights;
  for (int k = 0; k < 9; ++k) weights.data()[k] = static_cast<float>(k);
  const tensor<float, 1, 4, 4, 1> turned = s.run(roll<1, 2>(image), image = picture);
  CHECK(s.run(conv2d(roll<1, 2>(image), filter) + 1.f, image = picture, filter = weights) ==
        s.run(conv2d(image, filter) + 1.f, image = turned, filter = weights));
}

TEST_CASE("what folds a map of rolls folds its result: the rolls are no copies", "[session][roll]") {
  constexpr auto s = placeholder<"s", double, dyn, dyn>;
  constexpr auto row = placeholder<"row", double, dyn>;
  // The energy of a field of spins, and what rows vary by.
  const auto energy = -sum(s * (roll<-1, 0>(s) + roll<-1, 1>(s)));
  const auto variation = mean<1>(square(s - roll<1, 1>(s)));
  const auto weights = softmax<1>(s + 0.5 * roll<1, 0>(s));
  const auto turned = transpose(roll<1, 0>(s) * roll<1, 1>(s)) + transpose(s);
  // A row alone is rolled: what it is stretched to lies nowhere.
  const auto stretched = sum<0>(s * roll<2>(row));
  const auto made = std::tuple{energy, variation, weights, turned, stretched};
  static_assert(plan_of(energy).kernels == 3 && plan_of(variation).kernels == 2 && plan_of(weights).kernels == 2);
  static_assert(plan_of(turned).kernels == 2 && plan_of(stretched).kernels == 2);
  session sess{{.simulated_gpus = 1, .cpu_threads = 2}};
  const int rows = 7, columns = 600;
  const auto t = numbers<double>(rows, columns);
  tensor<double, dyn> r({columns});
  for (int k = 0; k < columns; ++k) r(k) = k % 5 - 1;
  const auto at = [&](int i, int j) { return t(around(i, rows), around(j, columns)); };
  const auto check = [&](const auto& got) {
    const auto& [e, v, w, u, x] = got;
    double total = 0;
    int wrong = 0;
    for (int i = 0; i < rows; ++i) {
      double varied = 0, all = 0;
      for (int j = 0; j < columns; ++j) {
        total -= at(i, j) * (at(i + 1, j) + at(i, j + 1));
        varied += (at(i, j) - at(i, j - 1)) * (at(i, j) - at(i, j - 1)) / columns;
        all += std::exp(at(i, j) + 0.5 * at(i - 1, j));
        if (u(j, i) != at(i - 1, j) * at(i, j - 1) + at(i, j)) ++wrong;
      }
      CHECK(v(i) == Approx(varied));
      for (int j = 0; j < columns; ++j)
        if (w(i, j) != Approx(std::exp(at(i, j) + 0.5 * at(i - 1, j)) / all)) ++wrong;
    }
    for (int j = 0; j < columns; ++j) {
      double folded = 0;
      for (int i = 0; i < rows; ++i) folded += at(i, j) * r(around(j - 2, columns));
      if (x(j) != Approx(folded).margin(1e-12)) ++wrong;
    }
    CHECK(e == Approx(total));
    CHECK(wrong == 0);
  };
  std::apply([&](const auto&... e) { check(sess.run(fetches(e...), s = t, row = r)); }, made);
  std::apply([&](const auto&... e) { check(sess.run(fetches(on<gpu<0>>(e)...), s = t, row = r)); }, made);
}

namespace {

/// Rolls in and beside what folds rows along `Fold`, each beside the same of tensors that are rolled already.
template <class Place, int Along, int Fold, class X, class Y>
void check_beside_rows(session& sess, const X& x, const Y& y) {
  const int rows = 7, columns = 40;
  tensor<double, dyn, dyn> t({rows, columns}), u({rows, columns});
  for (int k = 0; k < rows * columns; ++k) t.data()[k] = std::sin(k), u.data()[k] = std::cos(2 * k);
  const tensor<double, dyn, dyn> r = sess.run(roll<2, Along>(x), x = t);
  const auto agree = [&](const auto& e, const auto& expected_of) {
    const auto got = sess.run(on<Place>(e), x = t, y = u), expected = sess.run(expected_of, x = r, y = u);
    double worst = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const double difference = std::fabs(got.data()[k] - expected.data()[k]);
      worst = difference <= worst ? worst : difference;  // NaN is the worst
    }
    INFO("rolled along " << Along << ", rows along " << Fold);
    CHECK(worst < 1e-12);
  };
  const auto rolled = roll<2, Along>(x);
  agree(rolled - mean<Fold>(rolled, keep_extents), x - mean<Fold>(x, keep_extents));
  agree(rolled / norm<Fold>(rolled, keep_extents), x / norm<Fold>(x, keep_extents));
  agree(var<Fold>(rolled), var<Fold>(x));
  agree(softmax<Fold>(rolled + y), softmax<Fold>(x + y));
  agree(softmax<Fold>(y) - rolled, softmax<Fold>(y) - x);
  agree(rolled - softmax<Fold>(y), x - softmax<Fold>(y));
  agree(y - mean<Fold>(y, keep_extents) + rolled, y - mean<Fold>(y, keep_extents) + x);
  agree(rolled * 3 - max<Fold>(y, keep_extents) * exp(rolled), x * 3 - max<Fold>(y, keep_extents) * exp(x));
  agree(exp(rolled - mean<Fold>(y + rolled, keep_extents)), exp(x - mean<Fold>(y + x, keep_extents)));
}

template <class Place, class X, class Y>
void check_each_axis_beside_rows(session& sess, const X& x, const Y& y) {
  check_beside_rows<Place, 0, 0>(sess, x, y);
  check_beside_rows<Place, 0, 1>(sess, x, y);
  check_beside_rows<Place, 1, 0>(sess, x, y);
  check_beside_rows<Place, 1, 1>(sess, x, y);
}

}  // namespace

TEST_CASE("kernels of rows read rolls from memory, whatever comes first", "[session][roll]") {
  session sess{{.simulated_gpus = 1, .cpu_threads = 2}};
  constexpr auto x = placeholder<"x", double, dyn, dyn>;
  constexpr auto y = placeholder<"y", double, dyn, dyn>;
  constexpr auto w = placeholder<"w", double, 7, 40>;
  check_each_axis_beside_rows<cpu<0>>(sess, x, y);
  check_each_axis_beside_rows<cpu<0>>(sess, w, y);
  check_each_axis_beside_rows<gpu<0>>(sess, x, y);
  // A map that reads a roll is no part of the rows; a roll that the fold reads, too, is made once for both.
  static_assert(plan_of(y - mean<1>(y, keep_extents) + roll<1, 0>(x)).kernels == 2);
  static_assert(plan_of(roll<1, 0>(x) - mean<1>(roll<1, 0>(x), keep_extents)).kernels == 2);
}

TEST_CASE("rolls of extents in types are evaluated without a session", "[evaluate][roll]") {
  constexpr auto u = placeholder<"u", float, 4, 6>;
  tensor<float, 4, 6> t;
  for (int k = 0; k < 24; ++k) t.data()[k] = static_cast<float>(k * k % 31);
  const auto at = [&](int i, int j) { return t(around(i, 4), around(j, 6)); };
  const auto check = [&](const tensor<float, 4, 6>& got) {
    int wrong = 0;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 6; ++j)
        if (got(i, j) != at(i - 1, j) - 2 * at(i, j + 1) + at(i, j)) ++wrong;
    CHECK(wrong == 0);
  };
  check(evaluate(roll<1, 0>(u) - 2 * roll<-1, 1>(u) + u, u = t));
  check(evaluate(roll<1, 0>(t) - 2 * roll<-1, 1>(t) + t));
  tensor<float, 4, 6> out;
  evaluate_to(out, roll<1, 0>(u) - 2 * roll<-1, 1>(u) + u, u = t);
  check(out);
  // Kernels of several rolls, beside one that has none, and a roll that is a copy.
  CHECK(evaluate(sum(roll<1, 0>(u) * roll<2, 1>(u) + u) + sum(roll<1, 0>(u)), u = t) ==
        Approx(session{}.run(sum(roll<1, 0>(u) * roll<2, 1>(u)) + 2 * sum(u), u = t)()));
}

TEST_CASE("texts are rolled", "[session][roll][text]") {
  constexpr auto words = placeholder<"words", text, dyn>;
  session sess;
  CHECK(sess.run(roll<1, 0>(words), words = {"a", "b", "c"}) == tensor<text, dyn>{"c", "a", "b"});
  CHECK(sess.run(words == roll<1, 0>(words), words = {"a", "a", "b"}) == tensor<bool, dyn>{false, true, false});
}

TEST_CASE("a roll is undone on the way back", "[session][roll][gradient]") {
  using onto_test::check_both;
  CHECK_BOTH(roll<1, 0>(e) * e);
  CHECK_BOTH(roll<-2, 1>(e) + square(roll<1, 1>(e)) * roll<3, 0>(e));
  CHECK_BOTH(sum<0>(roll<5, 0>(e) * e));
  // A roll on the way back meets the rows of a softmax.
  CHECK_BOTH(sin(roll<-5, 0>(softmax<1>(e) + e)));
  CHECK_BOTH(roll<1, 1>(e) - mean<1>(roll<1, 1>(e), keep_extents));
}
