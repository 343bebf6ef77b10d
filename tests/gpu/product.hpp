// SPDX-License-Identifier: BSL-1.0
// A matrix product on a GPU beside the same in double on the host, for tests.
#pragma once

#include <onto/backend/cuda/matmul.hpp>

#include <cmath>
#include <initializer_list>
#include <vector>

#include "gpu.hpp"
#include "worse.hpp"

namespace gpu_test {

/// A matrix product on the GPU beside the same in double on the host.
template <class T>
struct product {
  std::vector<T> memory[3];
  operand_view in[3];
  kernel_call call;
  std::size_t shift = 0;        // elements from an aligned address to where each tensor begins
  std::int64_t workspace = -1;  // bytes; -1: as many as it asks for

  product(extents space, int k, std::initializer_list<std::int64_t> a, std::initializer_list<std::int64_t> b,
          std::initializer_list<std::int64_t> c = {}, matmul_form form = {}) {
    const std::initializer_list<std::int64_t> strides[] = {a, b, c};
    for (int o = 0; o < 3; ++o) {
      in[o] = view_of(nullptr, element_of<T>, strides[o]);
      std::int64_t last = 0;
      for (int d = 0; d < space.rank; ++d) {
        const bool row = d == space.rank - 2, column = d == space.rank - 1;
        const int extent = o == 0 && column ? k : o == 1 && row ? k : space[d];
        last += in[o].stride[d] * (extent > 0 ? extent - 1 : 0);
      }
      memory[o] = numbers<T>(static_cast<std::size_t>(last) + 1);
    }
    call.space = space;
    call.inputs = form.beta != 0 ? 3 : 2;
    call.inner = k;
    call.form = form;
  }
  product(const product&) = delete;
  product& operator=(const product&) = delete;

  double at(int operand, const int* index, int row, int column) const {
    const int rank = call.space.rank - 2;
    std::int64_t o = row * in[operand].stride[rank] + column * in[operand].stride[rank + 1];
    for (int d = 0; d < rank; ++d) o += index[d] * in[operand].stride[d];
    return static_cast<double>(memory[operand][static_cast<std::size_t>(o)]);
  }

  std::vector<double> expected() const {
    const int rank = call.space.rank - 2, m = call.space[rank], n = call.space[rank + 1];
    std::vector<double> out;
    int index[max_rank] = {};
    for (std::int64_t batch = 0; batch < batches_of(call.space).size(); ++batch) {
      std::int64_t rest = batch;
      for (int d = rank - 1; d >= 0; --d) {
        index[d] = static_cast<int>(rest % call.space[d]);
        rest /= call.space[d];
      }
      for (int r = 0; r < m; ++r)
        for (int c = 0; c < n; ++c) {
          double sum = 0;
          for (int p = 0; p < call.inner; ++p) sum += at(0, index, r, p) * at(1, index, p, c);
          sum *= call.form.alpha;
          if (call.form.beta != 0) sum += call.form.beta * at(2, index, r, c);
          out.push_back(call.form.relu && sum < 0 ? 0 : sum);
        }
    }
    return out;
  }

  std::vector<T> computed() {
    bench b;
    return computed(b);
  }
  std::vector<T> computed(bench& b) {
    for (int o = 0; o < 3; ++o) {
      T* data = b.reserve<T>(memory[o].size() + shift) + shift;
      b.write(data, memory[o].data(), memory[o].size());
      in[o].data = data;
    }
    const auto size = static_cast<std::size_t>(call.space.size());
    T* out = b.reserve<T>(size + shift) + shift;
    kernel_call c = call;
    c.in = in;
    c.out.data = out;
    if (workspace < 0) {
      b.launch(&cuda_matmul<T>, c, &cuda_matmul_workspace<T>);
    } else {
      c.workspace_bytes = workspace;
      c.workspace = workspace > 0 ? b.reserve<char>(static_cast<std::size_t>(workspace)) : nullptr;
      b.launch(&cuda_matmul<T>, c);
    }
    return b.download(out, size);
  }

  double error() {
    bench b;
    return error(b);
  }
  double error(bench& b) {
    const std::vector<double> exact = expected();
    const std::vector<T> got = computed(b);
    double worst = 0;
    for (std::size_t k = 0; k < exact.size(); ++k)
      worst = worse(worst, std::fabs(static_cast<double>(got[k]) - exact[k]));
    return worst;
  }
};

}  // namespace gpu_test
