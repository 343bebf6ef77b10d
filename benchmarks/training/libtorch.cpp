// SPDX-License-Identifier: BSL-1.0
// libtorch's side of ./run bench training: the rows of peers.py in PyTorch's C++ words. usage: PROGRAM THREADS
#include <torch/torch.h>

#include "../beside/answer.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

namespace F = torch::nn::functional;
using torch::Tensor;
using tensors = std::vector<Tensor>;

constexpr int compared_steps = 5, sequences = 4, length = 128, width = 256, heads = 4, inner = 4 * width;

Tensor numbers(std::vector<std::int64_t> shape, int seed, double scale = 1, double offset = 0) {
  Tensor t = torch::empty(shape);
  for (std::int64_t k = 0; k < t.numel(); ++k)
    t.data_ptr<float>()[k] = beside::number(static_cast<std::size_t>(k), seed, scale, offset);
  return t;
}
Tensor labels(std::int64_t n) {
  const Tensor k = torch::arange(n, torch::kLong);
  return (k * 7 + k.div(10, "floor")).remainder(10);
}

/// Held as torch's modules do: (out, in), (out, in, height, width) with channels last.
Tensor parameter(const Tensor& t) {
  const Tensor held = t.dim() == 4   ? t.permute({3, 2, 0, 1}).contiguous(torch::MemoryFormat::ChannelsLast)
                      : t.dim() == 2 ? t.t().contiguous()
                                     : t.clone();
  return held.requires_grad_();
}

Tensor conv(const Tensor& x, const Tensor& filter, const Tensor& bias) {
  return torch::relu(F::conv2d(x, filter, F::Conv2dFuncOptions().bias(bias).padding(torch::kSame)));
}
Tensor dense(const Tensor& x, const Tensor& w, const Tensor& b) { return torch::linear(x, w, b); }

Tensor tiny(const tensors& p, const Tensor& x, const Tensor& y) {
  return torch::mse_loss(torch::sigmoid(dense(torch::tanh(dense(x, p[0], p[1])), p[2], p[3])), y);
}
Tensor perceptron(const tensors& p, const Tensor& x, const Tensor& y) {
  const Tensor hidden = torch::relu(dense(torch::relu(dense(x, p[0], p[1])), p[2], p[3]));
  return torch::cross_entropy_loss(dense(hidden, p[4], p[5]), y);
}
Tensor digits(const tensors& p, const Tensor& x, const Tensor& y) {
  const Tensor first = conv(x.unsqueeze(1).to(torch::kFloat) * (1.0 / 16), p[0], p[1]);
  const Tensor second = torch::max_pool2d(conv(first, p[2], p[3]), 2);
  const Tensor flat = second.permute({0, 2, 3, 1}).reshape({-1, 512});
  return torch::cross_entropy_loss(dense(torch::relu(dense(flat, p[4], p[5])), p[6], p[7]), y);
}
Tensor normalized(const Tensor& x) {
  return F::local_response_norm(x, F::LocalResponseNormFuncOptions(9).alpha(0.001).beta(0.75).k(1.0));
}
Tensor pooled(const Tensor& x) { return torch::max_pool2d(x, 3, 2, 0, 1, true); }
Tensor cifar10(const tensors& p, const Tensor& x, const Tensor& y) {
  const Tensor first = normalized(pooled(conv(x, p[0], p[1])));
  const Tensor second = pooled(normalized(conv(first, p[2], p[3])));
  const Tensor local3 = torch::relu(dense(second.permute({0, 2, 3, 1}).reshape({-1, 2304}), p[4], p[5]));
  const Tensor local4 = torch::relu(dense(local3, p[6], p[7]));
  const Tensor decay = (p[4].square().sum() + p[6].square().sum()) * 0.002;
  return torch::cross_entropy_loss(dense(local4, p[8], p[9]), y) + decay;
}
Tensor transformer(const tensors& p, const Tensor& x, const Tensor& y) {
  const auto in_heads = [](const Tensor& t) {
    return t.view({sequences, length, heads, width / heads}).transpose(1, 2);
  };
  const Tensor t = torch::layer_norm(x, {width}, p[8], p[9]);
  const Tensor mixed = torch::scaled_dot_product_attention(in_heads(dense(t, p[0], {})), in_heads(dense(t, p[1], {})),
                                                           in_heads(dense(t, p[2], {})));
  const Tensor middle = x + dense(mixed.transpose(1, 2).reshape({-1, width}), p[3], {});
  const Tensor more = dense(torch::layer_norm(middle, {width}, p[10], p[11]), p[4], p[5]);
  return torch::mse_loss(middle + dense(torch::gelu(more), p[6], p[7]), y);
}

using loss_function = Tensor (*)(const tensors&, const Tensor&, const Tensor&);

beside::row row_of(loss_function loss_of, const tensors& values, const Tensor& x, const Tensor& y, bool adam = false) {
  tensors parameters;
  for (const Tensor& v : values) parameters.push_back(parameter(v));
  std::shared_ptr<torch::optim::Optimizer> optimizer;
  if (adam)
    optimizer = std::make_shared<torch::optim::Adam>(parameters, torch::optim::AdamOptions(1e-3));
  else
    optimizer = std::make_shared<torch::optim::SGD>(parameters, torch::optim::SGDOptions(0.01));
  const auto step = [=] {
    optimizer->zero_grad();
    const Tensor loss = loss_of(parameters, x, y);
    loss.backward();
    optimizer->step();
    return static_cast<double>(loss.item<float>());
  };
  return {step, [step] {
            for (int k = 1; k < compared_steps; ++k) step();
            return step();
          }};
}

beside::rows all_rows() {
  const auto zeros = [](std::int64_t n) { return torch::zeros({n}); };
  beside::rows rows;
  rows["tiny perceptron"] = [=] {
    return row_of(tiny, {numbers({2, 8}, 3, 2), zeros(8), numbers({8, 1}, 4, 2), zeros(1)}, numbers({4, 2}, 1, 2),
                  numbers({4, 1}, 2));
  };
  rows["perceptron"] = [=] {
    return row_of(perceptron,
                  {numbers({784, 512}, 2, 0.1), zeros(512), numbers({512, 512}, 3, 0.1), zeros(512),
                   numbers({512, 10}, 4, 0.1), zeros(10)},
                  numbers({128, 784}, 1), labels(128));
  };
  rows["digits"] = [=] {
    return row_of(digits,
                  {numbers({3, 3, 1, 16}, 2, 1.6), zeros(16), numbers({3, 3, 16, 32}, 3, 0.4), zeros(32),
                   numbers({512, 64}, 4, 0.2), zeros(64), numbers({64, 10}, 5, 0.5), zeros(10)},
                  (numbers({32, 8, 8}, 1, 16) + 8.5).to(torch::kByte), labels(32), true);
  };
  rows["cifar10"] = [=] {
    return row_of(cifar10,
                  {numbers({5, 5, 3, 64}, 2, 0.17), zeros(64), numbers({5, 5, 64, 64}, 3, 0.17), torch::full({64}, 0.1),
                   numbers({2304, 384}, 4, 0.14), torch::full({384}, 0.1), numbers({384, 192}, 5, 0.14),
                   torch::full({192}, 0.1), numbers({192, 10}, 6, 0.018), zeros(10)},
                  numbers({128, 24, 24, 3}, 1, 3.4).permute({0, 3, 1, 2}), labels(128));
  };
  rows["transformer block"] = [=] {
    tensors p;
    for (int k = 0; k < 4; ++k) p.push_back(numbers({width, width}, 3 + k, 0.2));
    for (const Tensor& t : {numbers({width, inner}, 7, 0.2), zeros(inner), numbers({inner, width}, 8, 0.1),
                            zeros(width), torch::ones({width}), zeros(width), torch::ones({width}), zeros(width)})
      p.push_back(t);
    return row_of(transformer, p, numbers({sequences * length, width}, 1, 2),
                  numbers({sequences * length, width}, 2, 2));
  };
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  torch::set_num_threads(argc > 1 ? std::atoi(argv[1]) : 1);
  return beside::answer(all_rows());
}
