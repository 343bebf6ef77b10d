// SPDX-License-Identifier: BSL-1.0
// onto's side of the comparison with Python's array libraries: the rows of peers.py, as prepared programs, asked by
// benchmarks/beside.
#include <onto/onto.hpp>

#include "../beside/answer.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>

using namespace onto;

namespace {

/// Numbers between -0.5 and 0.5 times `scale`, and `offset` on top.
template <int... Dims>
tensor<float, Dims...> numbers(const std::array<int, sizeof...(Dims)>& shape, int seed, double scale = 1,
                               double offset = 0) {
  tensor<float, Dims...> t(shape);
  for (std::size_t k = 0; k < t.size(); ++k) t.data()[k] = beside::number(k, seed, scale, offset);
  return t;
}

template <int N>
constexpr auto matpow(auto m) {
  if constexpr (N == 1)
    return m;
  else
    return matmul(m, matpow<N - 1>(m));
}

using matrix = tensor<float, dyn, dyn>;

using beside::row;

double total(const auto& result) {
  double sum = 0;
  for (std::size_t k = 0; k < result.size(); ++k) sum += static_cast<double>(result.data()[k]);
  return sum;
}

/// A row of a prepared program and its feeds, which live as long as the row.
template <class Step, class Call>
row make(Step step, Call call) {
  auto shared = std::make_shared<Step>(std::move(step));
  return {[shared, call] { call(*shared); }, [shared, call] { return total(call(*shared)); }};
}

std::map<std::string, row> all_rows(session& sess) {
  std::map<std::string, row> rows;
  static constexpr auto a = placeholder<"a", float, dyn, dyn>;
  static constexpr auto b = placeholder<"b", float, dyn, dyn>;
  static constexpr auto c = placeholder<"c", float, dyn, dyn>;
  static constexpr auto d = placeholder<"d", float, dyn, dyn>;

  {
    static constexpr auto x = placeholder<"x", float, 8>;
    static constexpr auto y = placeholder<"y", float, 8>;
    const auto X = numbers<8>({8}, 1), Y = numbers<8>({8}, 2);
    rows["a + 1.5 b/8"] = make(sess.prepare(x + 1.5_c * y), [X, Y](auto& step) { return step(x = X, y = Y); });
  }
  {
    static constexpr auto x = placeholder<"x", float, 2, 3>;
    static constexpr auto y = placeholder<"y", float, 3, 2>;
    const auto X = numbers<2, 3>({2, 3}, 1);
    const auto Y = numbers<3, 2>({3, 2}, 2);
    rows["a b/2x3"] = make(sess.prepare(matmul(x, y)), [X, Y](auto& step) { return step(x = X, y = Y); });
    // The guide's towers: the same product in each, their sum on the CPU. What is written once runs once, so each has
    // operands of its own.
    static constexpr auto z = placeholder<"z", float, 2, 3>;
    static constexpr auto w = placeholder<"w", float, 3, 2>;
    const auto Z = numbers<2, 3>({2, 3}, 3);
    const auto W = numbers<3, 2>({3, 2}, 4);
    rows["two towers/2x3"] = make(sess.prepare(add_n(matmul(x, y), matmul(z, w))),
                                  [X, Y, Z, W](auto& step) { return step(x = X, y = Y, z = Z, w = W); });
  }
  for (int n : {512}) {
    const double scale = 3.4 / std::sqrt(n);
    const matrix A = numbers<dyn, dyn>({n, n}, 1, scale), B = numbers<dyn, dyn>({n, n}, 2, scale),
                 C = numbers<dyn, dyn>({n, n}, 3, scale), D = numbers<dyn, dyn>({n, n}, 4, scale);
    rows["two towers/" + std::to_string(n)] =
        make(sess.prepare(add_n(matmul(a, b), matmul(c, d))),
             [A, B, C, D](auto& step) { return step(a = A, b = B, c = C, d = D); });
  }
  for (int n : {100, 256, 1024}) {
    const double scale = 3.4 / std::sqrt(n);
    const matrix A = numbers<dyn, dyn>({n, n}, 1, scale), B = numbers<dyn, dyn>({n, n}, 2, scale);
    rows["A^10 + B^10/" + std::to_string(n)] =
        make(sess.prepare(add_n(matpow<10>(a), matpow<10>(b))), [A, B](auto& step) { return step(a = A, b = B); });
  }
  for (int n : {1000, 1000000}) {
    const matrix A = numbers<dyn, dyn>({1, n}, 1, 1, 0.5), B = numbers<dyn, dyn>({1, n}, 2),
                 C = numbers<dyn, dyn>({1, n}, 3), D = numbers<dyn, dyn>({1, n}, 4);
    rows["chain/" + std::to_string(n)] = make(sess.prepare(sqrt(a * a + b * b) * c - d / (a + 1_c) + maximum(b, 0_c)),
                                              [A, B, C, D](auto& step) { return step(a = A, b = B, c = C, d = D); });
  }
  {
    const matrix X = numbers<dyn, dyn>({4096, 1024}, 1, 8);
    rows["softmax/4096x1024"] = make(sess.prepare(softmax(a)), [X](auto& step) { return step(a = X); });
  }
  {
    static constexpr auto w1 = placeholder<"w1", float, 784, 512>;
    static constexpr auto w2 = placeholder<"w2", float, 512, 512>;
    static constexpr auto w3 = placeholder<"w3", float, 512, 10>;
    static constexpr auto v1 = placeholder<"v1", float, 512>;
    static constexpr auto v2 = placeholder<"v2", float, 512>;
    static constexpr auto v3 = placeholder<"v3", float, 10>;
    const matrix X = numbers<dyn, dyn>({256, 784}, 1);
    const auto W1 = numbers<784, 512>({784, 512}, 2, 0.1);
    const auto W2 = numbers<512, 512>({512, 512}, 3, 0.1);
    const auto W3 = numbers<512, 10>({512, 10}, 4, 0.1);
    const auto V1 = numbers<512>({512}, 5), V2 = numbers<512>({512}, 6);
    const auto V3 = numbers<10>({10}, 7);
    const auto hidden = relu(matmul(relu(matmul(a, w1) + v1), w2) + v2);
    rows["perceptron/256x784"] =
        make(sess.prepare(softmax(matmul(hidden, w3) + v3)), [X, W1, W2, W3, V1, V2, V3](auto& step) {
          return step(a = X, w1 = W1, w2 = W2, w3 = W3, v1 = V1, v2 = V2, v3 = V3);
        });
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  session sess{{.log = nullptr, .cpu_threads = argc > 1 ? std::atoi(argv[1]) : 1}};
  beside::rows rows;
  for (auto& [name, made] : all_rows(sess)) rows[name] = [made] { return made; };
  return beside::answer(rows);
}
