// SPDX-License-Identifier: BSL-1.0
// Whole steps of training on an emulated GPU, forward, backward and update: what the kernels of onto's own move beside
// what they need by the plan. Products and convolutions are the libraries', which are not counted.
#include "access.hpp"

#include "../training/digits.hpp"
#include "../training/perceptron.hpp"

namespace access_counts {

using namespace onto;

namespace {

/// Whether a kernel is one of a library's: it has a product or a convolution.
template <class Plan>
bool is_library(const Plan& p, const plan_step& s) {
  const auto units = p.units.view();
  for (int m = units.first_member[s.node]; m >= 0; m = units.next_member[m])
    if (p.graph[m].kind() == op_kind::matmul || p.graph[m].op->has_flops) return true;
  return false;
}

/// Bytes that a step's own kernels read and write by its plan: in the time of a machine that moves a byte a second.
template <class Plan>
double needed(const Plan& p) {
  const auto t = estimate(p, cost_model{.memory_bandwidth = 1});
  double bytes = 0;
  for (int k = 0; k < t.step_count; ++k)
    if (const timed_step& s = t.steps[k]; s.step.kind == step_kind::kernel && !is_library(p, s.step))
      bytes += s.end - s.begin;
  return bytes;
}

template <class Step, class... Feeds>
void step_of(const std::string& name, const std::string& shape, const Step& step, const Feeds&... feeds) {
  const auto p = plan_of<world<cpu<0>, gpu<0>>>(step);
  session& sess = machine();
  sess.initialize(step);
  (void)sess.run(step, feeds...);
  cuda_emulation::count_accesses(true);
  (void)sess.run(step, feeds...);
  print(name, shape, needed(p));
  print_calls(name + ", " + std::to_string(p.kernels) + " kernels", step, feeds...);
}

template <int N>
tensor<std::int32_t, N> labels() {
  tensor<std::int32_t, N> t;
  for (int k = 0; k < N; ++k) t(k) = k % 10;
  return t;
}

}  // namespace

void training_steps() {
  {
    namespace net = training::perceptron_network;
    tensor<float, 128, 784> x;
    for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<float>(k % 13) - 6;
    step_of("training step of a perceptron", "128x784", net::step, net::x = x, net::y = labels<128>());
  }
  {
    namespace net = training::digits_network;
    tensor<std::uint8_t, 32, 8, 8> x;
    for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<std::uint8_t>(k % 17);
    step_of("training step of digits", "32x8x8", net::step, net::x = x, net::y = labels<32>());
  }
}

}  // namespace access_counts
