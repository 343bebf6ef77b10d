// SPDX-License-Identifier: BSL-1.0
// How programs on towers scale over 1, 2, 4 and 8 GPUs by a cost model: a line for each, for measure.py. Only plans;
// nothing runs.
#include <onto/ops/all.hpp>
#include <onto/plan/estimate.hpp>

#include <cstdio>

using namespace onto;
namespace hana = boost::hana;

namespace {

template <int... K>
auto world_with(std::integer_sequence<int, K...>) -> world<cpu<0>, gpu<K>...>;
template <int Gpus>
using machine_of = decltype(world_with(std::make_integer_sequence<int, Gpus>{}));
template <int... K>
constexpr auto gpus_of(std::integer_sequence<int, K...>) {
  return hana::tuple_t<gpu<K>...>;
}
template <int Gpus>
constexpr auto gpu_list = gpus_of(std::make_integer_sequence<int, Gpus>{});

/// Where weights are before a run: with the session on the first GPU, or with the caller in host memory.
enum class weights { on_gpu, fed };

/// A perceptron of three layers and its loss; each tower has its rows of the batch, and all have the weights.
template <int Batch, int Gpus, weights Where>
constexpr auto perceptron() {
  constexpr auto tower = [](auto place) {
    constexpr int width = 4096, outputs = 256;
    constexpr int rows = Batch / Gpus, first = rows * place.index;
    constexpr auto x = placeholder<"x", float, Batch, width>;
    constexpr auto t = placeholder<"t", float, Batch, outputs>;
    const auto loss = [&](auto w1, auto w2, auto w3) {
      const auto hidden = relu(matmul(relu(matmul(slice<first, first + rows>(x), w1)), w2));
      const auto error = matmul(hidden, w3) - slice<first, first + rows>(t);
      return mean(error * error);
    };
    if constexpr (Where == weights::on_gpu)
      return loss(variable<"w1", float, width, width>, variable<"w2", float, width, width>,
                  variable<"w3", float, width, outputs>);
    else
      return loss(placeholder<"w1", float, width, width>, placeholder<"w2", float, width, width>,
                  placeholder<"w3", float, width, outputs>);
  };
  return mean(towers(gpu_list<Gpus>, tower));
}

template <int Products>
constexpr auto times(auto first, auto m) {
  if constexpr (Products == 0)
    return first;
  else
    return times<Products - 1>(matmul(first, m), m);
}

/// A^10 + B^10 of 10000 x 10000, each tower some rows of it.
template <int Gpus>
constexpr auto powers() {
  constexpr auto rows_of_sum = [](auto place) {
    constexpr auto a = placeholder<"a", float, 10000, 10000>;
    constexpr auto b = placeholder<"b", float, 10000, 10000>;
    constexpr int rows = 10000 / Gpus, first = rows * place.index;
    return times<9>(slice<first, first + rows>(a), a) + times<9>(slice<first, first + rows>(b), b);
  };
  return concat<0>(towers(gpu_list<Gpus>, rows_of_sum));
}

/// `work`: how much more there is to do than on one GPU.
template <int Gpus, expression E>
void print(const char* program, const E& e, double work, double& one) {
  const auto t = estimate(plan_of<machine_of<Gpus>>(e), h200);
  if (Gpus == 1) one = t.seconds;
  // Of the GPU that is the last to have a result: what it waits for at first, computes, waits for in between.
  double first = 0, last = 0, busy = 0;
  for (int d = 0; d < Gpus; ++d) {
    double begin = t.seconds, end = 0, kernels = 0;
    for (int k = 0; k < t.step_count; ++k) {
      if (t.steps[k].stream != 1 + 3 * d) continue;
      begin = t.steps[k].begin < begin ? t.steps[k].begin : begin;
      end = t.steps[k].end;
      kernels += t.steps[k].end - t.steps[k].begin;
    }
    if (end < last) continue;
    first = begin;
    last = end;
    busy = kernels;
  }
  const double speedup = work * one / t.seconds;
  std::printf("%s\t%d\t%.3f\t%.2f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n", program, Gpus, 1e3 * t.seconds, speedup,
              speedup / Gpus, 1e3 * first, 1e3 * busy, 1e3 * (last - first - busy > 1e-9 ? last - first - busy : 0),
              1e3 * (t.seconds - last));
}

template <int Gpus, int Batch, weights Where>
void strong(const char* program, bool on_host, double& one) {
  constexpr auto loss = perceptron<Batch, Gpus, Where>();
  if (on_host)
    print<Gpus>(program, on<cpu<0>>(loss), 1, one);
  else
    print<Gpus>(program, on<gpu<0>>(loss), 1, one);
}

template <int Batch, weights Where = weights::on_gpu>
void strong_all(const char* program, bool on_host = false) {
  double one = 0;
  strong<1, Batch, Where>(program, on_host, one);
  strong<2, Batch, Where>(program, on_host, one);
  strong<4, Batch, Where>(program, on_host, one);
  strong<8, Batch, Where>(program, on_host, one);
}

}  // namespace

int main() {
  std::puts("program\tgpus\tms\tspeedup\tefficiency\tfirst_ms\tkernels_ms\tidle_ms\tjoin_ms");
  strong_all<65536>("strong: batch 65536, joined on gpu<0>");
  strong_all<65536>("strong: batch 65536, joined on the host", true);
  strong_all<8192>("strong: batch 8192, joined on gpu<0>");
  strong_all<1024>("strong: batch 1024, joined on gpu<0>");
  strong_all<65536, weights::fed>("strong: batch 65536, weights fed from the host");
  double one = 0;
  const char* const weak = "weak: batch 8192 for each GPU, joined on gpu<0>";
  print<1>(weak, on<gpu<0>>(perceptron<8192, 1, weights::on_gpu>()), 1, one);
  print<2>(weak, on<gpu<0>>(perceptron<2 * 8192, 2, weights::on_gpu>()), 2, one);
  print<4>(weak, on<gpu<0>>(perceptron<4 * 8192, 4, weights::on_gpu>()), 4, one);
  print<8>(weak, on<gpu<0>>(perceptron<8 * 8192, 8, weights::on_gpu>()), 8, one);
  const char* const rows = "strong: A^10 + B^10 of 10000 x 10000 by rows, joined on the host";
  print<1>(rows, on<cpu<0>>(powers<1>()), 1, one);
  print<2>(rows, on<cpu<0>>(powers<2>()), 1, one);
  print<4>(rows, on<cpu<0>>(powers<4>()), 1, one);
  print<8>(rows, on<cpu<0>>(powers<8>()), 1, one);
}
