// SPDX-License-Identifier: BSL-1.0
// A step of data-parallel training on 8 to 1,024 GPUs by a cost model, PROGRAM on BATCH examples for each GPU: lines
// for cluster.py. Only plans; nothing runs. The plan is one of two towers, which stand for all: what a tower does hangs
// on their number by one factor and by its all-reduces alone.
#include <onto/cluster_model.hpp>

#include "../../examples/cifar10/model.hpp"

#include <cstdio>
#include <cstdlib>

using namespace onto;
namespace hana = boost::hana;

namespace {

template <int K>
using gpu_of_task = task<"worker", K, gpu<0>>;

// ---- the CIFAR-10 network of the tutorial, with its decay -------------------------------------------------

struct cifar10_step {
  /// A parameter without the place that the example gives it.
  template <class W>
  static constexpr auto bare(const W& w) {
    return detail::symbol_of(w);
  }
  template <int Batch>
  static constexpr auto loss = [](auto place) {
    const auto read = [=](const auto& w) { return replica(place, bare(w)); };
    const auto decay = [=](const auto& w) { return sum(square(read(w))) * c<0.004 / 2>; };
    const auto loss_of = [=](const auto& x, const auto& y) {
      return softmax_cross_entropy<reduction::sum>(cifar10::scores(x, read), y) * c<1.0 / Batch> +
             decay(cifar10::parameters::local3) + decay(cifar10::parameters::local4);
    };
    if constexpr (place.index == 0)
      return loss_of(placeholder<"x_0", float, Batch, cifar10::input, cifar10::input, 3>,
                     placeholder<"y_0", std::int32_t, Batch>);
    else
      return loss_of(placeholder<"x_1", float, Batch, cifar10::input, cifar10::input, 3>,
                     placeholder<"y_1", std::int32_t, Batch>);
  };
};

// ---- a block of a transformer: width 1024 in 16 heads, 4096 inside, sequences of 1024 ---------------------

struct transformer_step {
  static constexpr int length = 1024, width = 1024, heads = 16, inner = 4 * width;

  template <fixed_string Name, int... Dims>
  static constexpr auto parameter(auto place) {
    return replica(place, variable<Name, float, Dims...>(zeros<float, Dims...>()));
  }
  template <int Sequences>
  static constexpr auto in_heads(const auto& t) {
    return permute<0, 2, 1, 3>(reshape<Sequences, length, heads, width / heads>(t));
  }
  template <int Sequences>
  static constexpr auto block(auto place, const auto& x) {
    const auto norm = [](const auto& t, const auto& gain, const auto& shift) { return layer_norm(t, gain, shift); };
    const auto t = norm(x, parameter<"gain1", width>(place), parameter<"shift1", width>(place));
    const auto q = in_heads<Sequences>(matmul(t, parameter<"wq", width, width>(place)));
    const auto k = in_heads<Sequences>(matmul(t, parameter<"wk", width, width>(place)));
    const auto v = in_heads<Sequences>(matmul(t, parameter<"wv", width, width>(place)));
    const auto mixed = matmul(softmax(0.125_c * matmul(q, permute<0, 1, 3, 2>(k))), v);
    const auto attention =
        matmul(reshape<Sequences * length, width>(permute<0, 2, 1, 3>(mixed)), parameter<"wo", width, width>(place));
    const auto middle = x + attention;
    const auto behind = norm(middle, parameter<"gain2", width>(place), parameter<"shift2", width>(place));
    const auto inside = gelu(matmul(behind, parameter<"w1", width, inner>(place)) + parameter<"b1", inner>(place));
    return middle + matmul(inside, parameter<"w2", inner, width>(place)) + parameter<"b2", width>(place);
  }
  template <int Sequences>
  static constexpr auto loss = [](auto place) {
    constexpr int rows = Sequences * length;
    if constexpr (place.index == 0)
      return mean_squared_error(block<Sequences>(place, placeholder<"x_0", float, rows, width>),
                                placeholder<"y_0", float, rows, width>);
    else
      return mean_squared_error(block<Sequences>(place, placeholder<"x_1", float, rows, width>),
                                placeholder<"y_1", float, rows, width>);
  };
};

// ---- what is printed --------------------------------------------------------------------------------------

/// Milliseconds of a step, and what would be saved if something cost nothing.
template <class Plan>
void print(const char* links, const Plan& p, const cluster_model& model, int gpus) {
  const auto milliseconds = [&](const cluster_model& m) { return 1e3 * estimate(p, m, gpus).seconds; };
  const double all = milliseconds(model);
  const auto without = [&](auto change) {
    cluster_model m = model;
    change(m);
    return all - milliseconds(m);
  };
  const double launches = without([](cluster_model& m) { m.device.kernel_latency = 0; });
  const double arithmetic = without([](cluster_model& m) { m.device.flops = m.device.host_flops = 0; });
  const double memory = without([](cluster_model& m) { m.device.memory_bandwidth = 0; });
  const double hosts = without(
      [](cluster_model& m) { m.device.host_bandwidth = m.device.host_memory_bandwidth = m.device.copy_latency = 0; });
  const auto free_links = [](cluster_model& m) {
    m.node_bandwidth = m.node_latency = m.network_bandwidth = m.network_latency = 0;
  };
  const double network = without(free_links);
  const double notes = without([](cluster_model& m) { m.note = 0; });
  // The same kernels where nothing is exchanged: adding and collecting cost nothing either.
  cluster_model lone = model;
  free_links(lone);
  lone.note = 0;
  const double one = 1e3 * estimate(p, lone, 0).seconds;
  std::printf("%s\t%d\t%d\t%d\t%d\t%.3f\t%d\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n", links, gpus, BATCH,
              p.kernels / 2, p.all_reduces, 1e-6 * static_cast<double>(p.all_reduce_bytes), p.messages, one, all,
              launches, arithmetic, memory, hosts, network, notes);
}

constexpr auto two = hana::tuple_t<gpu_of_task<0>, gpu_of_task<1>>;

}  // namespace

/// usage: cluster GPUS...
int main(int argc, char** argv) {
  const auto& p = plan_of(minimize<sgd{.rate = 0.1}>(towers(two, PROGRAM::loss<BATCH>)));
  for (int k = 1; k < argc; ++k) {
    const int gpus = std::atoi(argv[k]);
    print("direct", p, h200_nodes, gpus);
    print("through the hosts", p, h200_nodes_through_hosts, gpus);
  }
}
