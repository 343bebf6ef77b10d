// SPDX-License-Identifier: BSL-1.0
// Written by gradients.py: random programs, whose losses and gradients are in gradients.tsv.
#pragma once

#include <onto/sort.hpp>

#include <type_traits>

namespace onto_test {

using namespace onto;

template <int N>
struct gradient_program;

/// Values have numbers, by which whoever takes a program puts each somewhere.
template <int K>
inline constexpr std::integral_constant<int, K> number{};

template <>
struct gradient_program<0> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, sort<0>(x));
    const auto v4 = put(number<4>, expand_dims<0>(v3));
    const auto v5 = put(number<5>, v4 + x);
    const auto v6 = put(number<6>, relu(v4));
    const auto v7 = put(number<7>, log_softmax<2>(v6));
    const auto v8 = put(number<8>, matmul(v3, transpose(v3)) * 0.4_c);
    const auto v9 = put(number<9>, concat<0>(v8, v8));
    const auto v10 = put(number<10>, expand_dims<0>(v9));
    const auto v11 = put(number<11>, sort<1>(v3, descending));
    const auto v12 = put(number<12>, sort<2>(v6));
    const auto v13 = put(number<13>, abs(v6));
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v5)) + mean(sin(v7)) + mean(sin(v10)) +
           mean(sin(v11)) + mean(sin(v12)) + mean(sin(v13));
  }
};

template <>
struct gradient_program<1> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, sigmoid(x));
    const auto v4 = put(number<4>, mean<0>(w, keep_extents));
    const auto v5 = put(number<5>, matmul(v3, transpose(v3)) * 0.4_c);
    const auto v6 = put(number<6>, cummax<0>(v5));
    const auto v7 = put(number<7>, concat<0>(v6, v6));
    const auto v8 = put(number<8>, expand_dims<0>(v7));
    const auto v9 = put(number<9>, matmul(v8, transpose(v7)) * 0.4_c);
    const auto v10 = put(number<10>, matmul(v8, v5) * 0.4_c);
    const auto v11 = put(number<11>, take<2>(v10, constant({1, 0, 1})));
    const auto v12 = put(number<12>, cumsum<2>(v10, reverse));
    const auto v13 = put(number<13>, cumsum<2>(v12, reverse));
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v4)) + mean(sin(v9)) + mean(sin(v11)) + mean(sin(v13));
  }
};

template <>
struct gradient_program<2> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, cummax<0>(w));
    const auto v4 = put(number<4>, abs(w));
    const auto v5 = put(number<5>, flip<1>(w));
    const auto v6 = put(number<6>, transpose(v4));
    const auto v7 = put(number<7>, v6 + stop_gradient(tanh(v6)));
    const auto v8 = put(number<8>, flip<1>(v7));
    const auto v9 = put(number<9>, slice<0, -1>(v7));
    const auto v10 = put(number<10>, matmul(v3, transpose(v3)) * 0.4_c);
    const auto v11 = put(number<11>, cumsum<1>(v5, reverse));
    const auto v12 = put(number<12>, transpose(v8));
    const auto v13 = put(number<13>, matmul(v9, transpose(v8)) * 0.4_c);
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v10)) + mean(sin(v11)) + mean(sin(v12)) +
           mean(sin(v13));
  }
};

template <>
struct gradient_program<3> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, flip<0>(y));
    const auto v4 = put(number<4>, maximum(y, x));
    const auto v5 = put(number<5>, exp(v3 * 0.3_c));
    const auto v6 = put(number<6>, v3 + v5);
    const auto v7 = put(number<7>, logsumexp<0>(v6, keep_extents));
    const auto v8 = put(number<8>, max<1>(v4, keep_extents));
    const auto v9 = put(number<9>, cumsum<1>(x, reverse));
    const auto v10 = put(number<10>, sort<0>(v6, descending));
    const auto v11 = put(number<11>, sigmoid(w));
    const auto v12 = put(number<12>, cumprod<0>(v8));
    const auto v13 = put(number<13>, where(v12 > v5, sin(v12), v5 * v5));
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v7)) + mean(sin(v9)) + mean(sin(v10)) +
           mean(sin(v11)) + mean(sin(v13));
  }
};

template <>
struct gradient_program<4> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, take<0>(w, constant({1, 0, 1})));
    const auto v4 = put(number<4>, min<0>(v3));
    const auto v5 = put(number<5>, matmul(v3, transpose(w)) * 0.4_c);
    const auto v6 = put(number<6>, sort<0>(v3));
    const auto v7 = put(number<7>, exp(v6 * 0.3_c));
    const auto v8 = put(number<8>, v7 / (square(v4) + 1.0_c));
    const auto v9 = put(number<9>, sort<0>(v3));
    const auto v10 = put(number<10>, logsumexp<0>(y, keep_extents));
    const auto v11 = put(number<11>, -v9 * 0.7_c);
    const auto v12 = put(number<12>, matmul(v3, transpose(v7)) * 0.4_c);
    const auto v13 = put(number<13>, logsumexp<1>(v9, keep_extents));
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v5)) + mean(sin(v8)) + mean(sin(v10)) +
           mean(sin(v11)) + mean(sin(v12)) + mean(sin(v13));
  }
};

template <>
struct gradient_program<5> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, sin(w));
    const auto v4 = put(number<4>, concat<0>(v3, v3));
    const auto v5 = put(number<5>, matmul(v4, transpose(w)) * 0.4_c);
    const auto v6 = put(number<6>, min<1>(v5));
    const auto v7 = put(number<7>, max<1>(v5, keep_extents));
    const auto v8 = put(number<8>, transpose(v4));
    const auto v9 = put(number<9>, slice<1, to_end>(v8));
    const auto v10 = put(number<10>, min<1>(v8));
    const auto v11 = put(number<11>, -v10 * 0.7_c);
    const auto v12 = put(number<12>, cummax<0>(v8));
    const auto v13 = put(number<13>, cummax<0>(v10));
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v6)) + mean(sin(v7)) + mean(sin(v9)) + mean(sin(v11)) +
           mean(sin(v12)) + mean(sin(v13));
  }
};

template <>
struct gradient_program<6> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, sigmoid(w));
    const auto v4 = put(number<4>, sort<1>(x, descending));
    const auto v5 = put(number<5>, w + v3);
    const auto v6 = put(number<6>, -v4 * 0.7_c);
    const auto v7 = put(number<7>, exp(y * 0.3_c));
    const auto v8 = put(number<8>, mean<0>(v4, keep_extents));
    const auto v9 = put(number<9>, cumprod<1>(v6));
    const auto v10 = put(number<10>, log_softmax<0>(v4));
    const auto v11 = put(number<11>, minimum(v8, v7));
    const auto v12 = put(number<12>, concat<0>(v6, v11));
    const auto v13 = put(number<13>, v3 + stop_gradient(tanh(v3)));
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v5)) + mean(sin(v9)) + mean(sin(v10)) +
           mean(sin(v12)) + mean(sin(v13));
  }
};

template <>
struct gradient_program<7> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, prod<0>(y, keep_extents));
    const auto v4 = put(number<4>, y / (square(v3) + 1.0_c));
    const auto v5 = put(number<5>, slice<0, -1>(v4));
    const auto v6 = put(number<6>, concat<0>(v4, v4));
    const auto v7 = put(number<7>, max<0>(v6, keep_extents));
    const auto v8 = put(number<8>, concat<0>(v3, y));
    const auto v9 = put(number<9>, sort<0>(v6));
    const auto v10 = put(number<10>, v8 - v3);
    const auto v11 = put(number<11>, slice<0, -1>(v8));
    const auto v12 = put(number<12>, v9 - v6);
    const auto v13 = put(number<13>, concat<0>(v12, v9));
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v5)) + mean(sin(v7)) + mean(sin(v10)) +
           mean(sin(v11)) + mean(sin(v13));
  }
};

template <>
struct gradient_program<8> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, recompute(tanh(y * 0.5_c)));
    const auto v4 = put(number<4>, v3 / (square(y) + 1.0_c));
    const auto v5 = put(number<5>, slice<0, -1>(v4));
    const auto v6 = put(number<6>, mean<0>(v3, keep_extents));
    const auto v7 = put(number<7>, sort<0>(v5, descending));
    const auto v8 = put(number<8>, relu(v7));
    const auto v9 = put(number<9>, cumprod<0>(v8));
    const auto v10 = put(number<10>, sigmoid(v3));
    const auto v11 = put(number<11>, clip(v3, -0.4_c, 0.4_c));
    const auto v12 = put(number<12>, concat<0>(v8, v5));
    const auto v13 = put(number<13>, v10 + v4);
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v6)) + mean(sin(v9)) + mean(sin(v11)) +
           mean(sin(v12)) + mean(sin(v13));
  }
};

template <>
struct gradient_program<9> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, relu(w));
    const auto v4 = put(number<4>, exp(w * 0.3_c));
    const auto v5 = put(number<5>, concat<0>(v4, v4));
    const auto v6 = put(number<6>, matmul(v3, transpose(v3)) * 0.4_c);
    const auto v7 = put(number<7>, cummax<1>(v4));
    const auto v8 = put(number<8>, mean<1>(v7, keep_extents));
    const auto v9 = put(number<9>, exp(v3 * 0.3_c));
    const auto v10 = put(number<10>, cumprod<0>(v7));
    const auto v11 = put(number<11>, concat<0>(v7, w));
    const auto v12 = put(number<12>, matmul(v11, transpose(v4)) * 0.4_c);
    const auto v13 = put(number<13>, mean<0>(v12, keep_extents));
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v5)) + mean(sin(v6)) + mean(sin(v8)) + mean(sin(v9)) +
           mean(sin(v10)) + mean(sin(v13));
  }
};

template <>
struct gradient_program<10> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, concat<0>(w, w));
    const auto v4 = put(number<4>, concat<0>(w, v3));
    const auto v5 = put(number<5>, logsumexp<1>(w, keep_extents));
    const auto v6 = put(number<6>, -v5 * 0.7_c);
    const auto v7 = put(number<7>, concat<0>(v5, v5));
    const auto v8 = put(number<8>, cumprod<0>(v6));
    const auto v9 = put(number<9>, sum<0>(v7));
    const auto v10 = put(number<10>, v6 - v5);
    const auto v11 = put(number<11>, cumsum<0>(v6, reverse));
    const auto v12 = put(number<12>, sigmoid(v9));
    const auto v13 = put(number<13>, where(v8 > v11, sin(v8), v11 * v11));
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v4)) + mean(sin(v10)) + mean(sin(v12)) +
           mean(sin(v13));
  }
};

template <>
struct gradient_program<11> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, matmul(w, transpose(w)) * 0.4_c);
    const auto v4 = put(number<4>, concat<0>(v3, v3));
    const auto v5 = put(number<5>, v3 + stop_gradient(tanh(v3)));
    const auto v6 = put(number<6>, concat<0>(v3, v3));
    const auto v7 = put(number<7>, max<0>(y, keep_extents));
    const auto v8 = put(number<8>, take<1>(w, constant({1, 0, 1})));
    const auto v9 = put(number<9>, minimum(v7, v8));
    const auto v10 = put(number<10>, where(v7 > w, sin(v7), w * w));
    const auto v11 = put(number<11>, v9 + stop_gradient(tanh(v9)));
    const auto v12 = put(number<12>, cummax<1>(v11));
    const auto v13 = put(number<13>, matmul(v12, v8) * 0.4_c);
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v4)) + mean(sin(v5)) + mean(sin(v6)) + mean(sin(v10)) +
           mean(sin(v13));
  }
};

template <>
struct gradient_program<12> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, log_softmax<0>(y));
    const auto v4 = put(number<4>, sort<0>(v3, descending));
    const auto v5 = put(number<5>, v4 + v3);
    const auto v6 = put(number<6>, cumsum<0>(v5));
    const auto v7 = put(number<7>, concat<0>(v6, v6));
    const auto v8 = put(number<8>, flip<0>(v4));
    const auto v9 = put(number<9>, slice<0, -1>(v7));
    const auto v10 = put(number<10>, take<0>(v8, constant({1, 0, 1})));
    const auto v11 = put(number<11>, concat<0>(v8, v5));
    const auto v12 = put(number<12>, atan2(v8, square(v6) + 1.0_c));
    const auto v13 = put(number<13>, prod<0>(v10, keep_extents));
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v9)) + mean(sin(v11)) + mean(sin(v12)) +
           mean(sin(v13));
  }
};

template <>
struct gradient_program<13> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, cumsum<0>(y, reverse));
    const auto v4 = put(number<4>, slice<0, -1>(w));
    const auto v5 = put(number<5>, cummax<1>(v4));
    const auto v6 = put(number<6>, logsumexp<0>(v3, keep_extents));
    const auto v7 = put(number<7>, min<0>(w));
    const auto v8 = put(number<8>, slice<0, -1>(v5));
    const auto v9 = put(number<9>, v8 - v7);
    const auto v10 = put(number<10>, concat<0>(v7, v6));
    const auto v11 = put(number<11>, min<0>(v7));
    const auto v12 = put(number<12>, v6 * v4);
    const auto v13 = put(number<13>, slice<1, to_end>(v4));
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v9)) + mean(sin(v10)) + mean(sin(v11)) +
           mean(sin(v12)) + mean(sin(v13));
  }
};

template <>
struct gradient_program<14> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, logsumexp<0>(x, keep_extents));
    const auto v4 = put(number<4>, cummax<0>(x));
    const auto v5 = put(number<5>, cummax<0>(y));
    const auto v6 = put(number<6>, log_softmax<1>(v3));
    const auto v7 = put(number<7>, log_softmax<1>(v6));
    const auto v8 = put(number<8>, log_softmax<1>(v7));
    const auto v9 = put(number<9>, concat<0>(v8, v6));
    const auto v10 = put(number<10>, matmul(v9, transpose(v8)) * 0.4_c);
    const auto v11 = put(number<11>, slice<1, to_end>(v9));
    const auto v12 = put(number<12>, sum<0>(v4));
    const auto v13 = put(number<13>, min<0>(v9));
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v5)) + mean(sin(v10)) + mean(sin(v11)) +
           mean(sin(v12)) + mean(sin(v13));
  }
};

template <>
struct gradient_program<15> {
  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {
    const auto v3 = put(number<3>, cumsum<1>(w));
    const auto v4 = put(number<4>, cumsum<0>(v3, reverse));
    const auto v5 = put(number<5>, cumsum<0>(v4, reverse));
    const auto v6 = put(number<6>, exp(v5 * 0.3_c));
    const auto v7 = put(number<7>, sum<0>(x));
    const auto v8 = put(number<8>, concat<0>(v5, v6));
    const auto v9 = put(number<9>, cummax<1>(v8));
    const auto v10 = put(number<10>, cummax<0>(v6));
    const auto v11 = put(number<11>, max<1>(v8, keep_extents));
    const auto v12 = put(number<12>, clip(v7, -0.4_c, 0.4_c));
    const auto v13 = put(number<13>, concat<0>(v8, v5));
    return mean(sin(x)) + mean(sin(y)) + mean(sin(w)) + mean(sin(v9)) + mean(sin(v10)) + mean(sin(v11)) +
           mean(sin(v12)) + mean(sin(v13));
  }
};

inline constexpr int gradient_programs = 16;

}  // namespace onto_test
