// SPDX-License-Identifier: BSL-1.0
// A block of a transformer: attention and a perceptron, each behind a layer norm and added to what came in.
#include <Eigen/Dense>
#include <unsupported/Eigen/SpecialFunctions>

#include <cmath>
#include <cstdio>

constexpr int length = 16, width = 32, heads = 4, inner = 4 * width;

template <int Rows, int Columns>
using matrix = Eigen::Matrix<float, Rows, Columns, Eigen::RowMajor>;

template <int Rows, int Columns>
matrix<Rows, Columns> waves(float seed, float size) {
  matrix<Rows, Columns> t;
  for (int i = 0; i < t.size(); ++i) t.data()[i] = size * std::sin(seed + 1.3f * static_cast<float>(i));
  return t;
}

matrix<length, width> layer_norm(const matrix<length, width>& t) {
  const matrix<length, width> centered = t.colwise() - t.rowwise().mean();
  const Eigen::Array<float, length, 1> variance = centered.array().square().rowwise().mean();
  return centered.array().colwise() * (variance + 1e-5f).rsqrt();
}

struct weights {
  matrix<width, width> q = waves<width, width>(1.f, 0.2f), k = waves<width, width>(2.f, 0.2f),
                       v = waves<width, width>(3.f, 0.2f), o = waves<width, width>(4.f, 0.2f);
  matrix<width, inner> w1 = waves<width, inner>(5.f, 0.2f);
  matrix<inner, width> w2 = waves<inner, width>(6.f, 0.1f);
};

matrix<length, width> attention(const matrix<length, width>& t, const weights& w) {
  constexpr int part = width / heads;
  const matrix<length, width> q = t * w.q, k = t * w.k, v = t * w.v;
  const float scale = 1.f / std::sqrt(static_cast<float>(part));
  matrix<length, width> mixed;
  for (int h = 0; h < heads; ++h) {
    matrix<length, length> scores = scale * q.middleCols<part>(h * part) * k.middleCols<part>(h * part).transpose();
    scores = (scores.colwise() - scores.rowwise().maxCoeff()).array().exp().matrix().eval();
    scores = (scores.array().colwise() / scores.rowwise().sum().array()).matrix().eval();
    mixed.middleCols<part>(h * part) = scores * v.middleCols<part>(h * part);
  }
  return mixed * w.o;
}

matrix<length, width> perceptron(const matrix<length, width>& t, const weights& w) {
  const Eigen::Array<float, length, inner, Eigen::RowMajor> h = t * w.w1;
  return (h * (1.f + (h / std::sqrt(2.f)).erf()) / 2.f).matrix() * w.w2;
}

int main() {
  const weights w;
  const matrix<length, width> x = waves<length, width>(0.f, 1.f);
  const matrix<length, width> middle = x + attention(layer_norm(x), w);
  const matrix<length, width> out = middle + perceptron(layer_norm(middle), w);
  for (int i = 0; i < length; i += 3)
    std::printf("%.4f %.4f %.4f %.4f\n", double(out(i, 0)), double(out(i, 7)), double(out(i, 19)), double(out(i, 31)));
}
