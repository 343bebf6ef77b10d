// SPDX-License-Identifier: BSL-1.0
// A few fixed kernels, for counting their instructions: `kernels NAME RUNS` repeats one prepared program on one thread.
// gate.py runs it under callgrind, with AVX2 and the built-in matrix product, so that the counts are the same wherever
// the compiler is.
#include <onto/onto.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace onto;

namespace {

inline constexpr auto a = placeholder<"a", float, dyn>;
inline constexpr auto b = placeholder<"b", float, dyn>;
inline constexpr auto m = placeholder<"m", float, dyn, dyn>;
inline constexpr auto n = placeholder<"n", float, dyn, dyn>;
inline constexpr auto row = placeholder<"row", float, dyn>;
inline constexpr auto points = placeholder<"points", float, dyn, 3>;
inline constexpr auto tiny = placeholder<"tiny", float, 8>;

// Layers of 2, 8 and 1, a batch of 4: what a step of training costs beside its arithmetic.
inline constexpr auto examples = placeholder<"examples", float, 4, 2>;
inline constexpr auto answers = placeholder<"answers", float, 4, 1>;
constexpr auto w1 = variable<"w1", float, 2, 8>(zeros<float, 2, 8>());
constexpr auto b1 = variable<"b1", float, 8>(zeros<float, 8>());
constexpr auto w2 = variable<"w2", float, 8, 1>(zeros<float, 8, 1>());
constexpr auto b2 = variable<"b2", float, 1>(zeros<float, 1>());
constexpr auto guess = sigmoid(matmul(tanh(matmul(examples, w1) + b1), w2) + b2);
constexpr auto learn = minimize<sgd{.rate = 0.01}>(mean(square(guess - answers)));

tensor<float, dyn> values(int count, float first) {
  tensor<float, dyn> t({count});
  for (int k = 0; k < count; ++k) t(k) = first + static_cast<float>(k % 17) / 16;
  return t;
}
tensor<float, dyn, dyn> matrix(int rows, int columns, float first) {
  tensor<float, dyn, dyn> t({rows, columns});
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) t(i, j) = first + static_cast<float>((i * 7 + j) % 13) / 16;
  return t;
}

const tensor<float, dyn> A = values(4096, 1), B = values(4096, 2), ROW = values(256, 0.5f);
const tensor<float, dyn, dyn> M = matrix(16, 256, 1), N = matrix(16, 256, 2), S = matrix(64, 64, 1),
                              T = matrix(64, 64, 2), POINTS = matrix(1024, 3, 1);
const tensor<float, 8> TINY{1, 2, 3, 4, 5, 6, 7, 8};

/// Repeats a prepared program.
template <class Fetch, class... Feed>
int repeat(int runs, const Fetch& fetch, const Feed&... feeds) {
  session sess{{.cpu_threads = 1}};
  const auto program = sess.prepare(fetch);
  for (int k = 0; k < runs; ++k) program(feeds...);
  return 0;
}

/// Elements one by one, in a function of its own, as a program would have it.
__attribute__((noinline)) int indexing(int runs) {
  tensor<float, dyn, dyn> t = M;
  for (int k = 0; k < runs; ++k)
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 256; ++j) t(i, j) = 0.5f * t(i, j) + N(i, j);
  return t(15, 255) > 0 ? 0 : 1;
}

int run(std::string_view name, int runs) {
  if (name == "map") return repeat(runs, sqrt(a * a + b * b) * a - b / (a + 1) + maximum(b, 0.0f), a = A, b = B);
  if (name == "exp") return repeat(runs, exp(a), a = A);
  if (name == "tanh") return repeat(runs, tanh(a), a = A);
  if (name == "gelu") return repeat(runs, gelu(a), a = A);
  if (name == "sum") return repeat(runs, sum(square(a - b)), a = A, b = B);
  if (name == "argmax") return repeat(runs, argmax<0>(a), a = A);
  if (name == "column sums") return repeat(runs, sum<0>(m), m = M);
  // So many values that threads would share them out.
  if (name == "row sums") return repeat(runs, sum<1>(m), m = matrix(1024, 256, 1));
  if (name == "row argmax") return repeat(runs, argmax<1>(m), m = matrix(1024, 256, 1));
  if (name == "softmax") return repeat(runs, softmax(m), m = M);
  if (name == "short rows") return repeat(runs, softmax(points), points = POINTS);
  if (name == "layer norm") {
    const auto centred = m - mean<-1>(m, keep_extents);
    return repeat(runs, centred * rsqrt(mean<-1>(square(centred), keep_extents) + 1e-5f), m = M);
  }
  if (name == "broadcast") return repeat(runs, relu(m + row), m = M, row = ROW);
  if (name == "transposed") return repeat(runs, m + transpose(n), m = S, n = T);
  if (name == "matmul") return repeat(runs, matmul(m, n), m = S, n = T);
  if (name == "matmul, bias, relu") return repeat(runs, relu(matmul(m, n) + slice<0, 1>(n)), m = S, n = T);
  if (name == "matmul, short rows") return repeat(runs, matmul(points, slice<0, 3>(a)), points = POINTS, a = A);
  if (name == "prepared loop") return repeat(runs, tiny * tiny + tiny, tiny = TINY);
  if (name == "prepared run") return repeat(runs, softmax(tiny * tiny + tiny), tiny = TINY);
  if (name == "session run") {
    session sess{{.cpu_threads = 1}};
    for (int k = 0; k < runs; ++k) sess.run(tiny * tiny + tiny, tiny = TINY);
    return 0;
  }
  if (name == "run told apart") {  // numbers that coincide, or do not, are found anew in each run
    session sess{{.cpu_threads = 1}};
    for (int k = 0; k < runs; ++k) {
      const auto slope = 0.5f * tiny;
      const auto moved = tiny + 2.f * slope;
      sess.run(fetches(sum(moved * 0.25f + 2.f * slope), moved * 0.5f), tiny = TINY);
    }
    return 0;
  }
  if (name == "training step") {
    session sess{{.cpu_threads = 1}};
    sess.initialize(learn);
    const auto step = sess.prepare(learn);
    const tensor<float, 4, 2> in{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    const tensor<float, 4, 1> out{{0}, {1}, {1}, {0}};
    for (int k = 0; k < runs; ++k) step(examples = in, answers = out);
    return 0;
  }
  if (name == "indexing") return indexing(runs);
  std::fprintf(stderr, "kernels: there is no kernel %.*s\n", static_cast<int>(name.size()), name.data());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: kernels NAME RUNS\n");
    return 2;
  }
  return run(argv[1], std::atoi(argv[2]));
}
