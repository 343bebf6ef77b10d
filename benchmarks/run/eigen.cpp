// SPDX-License-Identifier: BSL-1.0
// Eigen: the Tensor module with its devices for maps and sums, the dense module for products and for rows, where it is
// the faster of the two; noalias() and given memory throughout.
#define EIGEN_USE_THREADS
#include "bench.hpp"

#include <unsupported/Eigen/CXX11/Tensor>

#include <memory>

namespace {

using bench::input;
using bench::output;
using bench::problem;
using bench::scratch;
using index_type = Eigen::Index;

using array = Eigen::TensorMap<Eigen::Tensor<float, 1, Eigen::RowMajor>, Eigen::Aligned16>;
using const_array = Eigen::TensorMap<const Eigen::Tensor<const float, 1, Eigen::RowMajor>, Eigen::Aligned16>;
using grid = Eigen::TensorMap<Eigen::Tensor<float, 2, Eigen::RowMajor>, Eigen::Aligned16>;
using const_grid = Eigen::TensorMap<const Eigen::Tensor<const float, 2, Eigen::RowMajor>, Eigen::Aligned16>;
using scalar = Eigen::TensorMap<Eigen::Tensor<float, 0, Eigen::RowMajor>>;
using dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using matrix = Eigen::Map<dense, Eigen::Aligned64>;
using const_matrix = Eigen::Map<const dense, Eigen::Aligned64>;
using row_vector = Eigen::Map<const Eigen::RowVectorXf, Eigen::Aligned64>;

Eigen::ThreadPoolDevice& device_of_all() {
  static Eigen::ThreadPool pool(bench::all_threads());
  static Eigen::ThreadPoolDevice device(&pool, bench::all_threads());
  return device;
}

/// out = e on the device for so many threads.
template <class Out, class E>
void assign(Out& out, const E& e, int threads) {
  static Eigen::DefaultDevice one;
  if (threads == 1)
    out.device(one) = e;
  else
    out.device(device_of_all()) = e;
}

const_array in(int k, const problem& p) { return {input(k, p.n()), p.n()}; }
array out(const problem& p) { return {output(p.n()), p.n()}; }
const_matrix mat(int k, index_type rows, index_type cols) { return {input(k, rows * cols), rows, cols}; }

void add_maps() {
  bench::add("eigen", "triad", [](const problem& p) {
    return [a = in(0, p), b = in(1, p), r = out(p), p]() mutable { assign(r, a + 1.5f * b, p.threads); };
  });
  bench::add("eigen", "chain", [](const problem& p) {
    return [a = in(0, p), b = in(1, p), c = in(2, p), d = in(3, p), r = out(p), p]() mutable {
      assign(r, (a * a + b * b).sqrt() * c - d / (a + 1.0f) + b.cwiseMax(0.0f), p.threads);
    };
  });
  bench::add("eigen", "exp", [](const problem& p) {
    return [a = in(0, p), r = out(p), p]() mutable { assign(r, a.exp(), p.threads); };
  });
  bench::add("eigen", "tanh", [](const problem& p) {
    return [a = in(0, p), r = out(p), p]() mutable { assign(r, a.tanh(), p.threads); };
  });
  bench::add("eigen", "gelu", [](const problem& p) {
    return [a = in(0, p), r = out(p), p]() mutable {
      assign(r, 0.5f * a * (((a + 0.044715f * a * a * a) * 0.7978845608f).tanh() + 1.0f), p.threads);
    };
  });
  bench::add("eigen", "rowadd", [](const problem& p) {
    const const_grid x(input(0, p.n()), p.rows, p.cols), row(input(1, p.cols), 1, p.cols);
    return [x, row, r = grid(output(p.n()), p.rows, p.cols), p]() mutable {
      assign(r, (x + row.broadcast(Eigen::array<index_type, 2>{p.rows, 1})).cwiseMax(0.0f), p.threads);
    };
  });
  bench::add("eigen", "sliced", [](const problem& p) {
    const const_grid x(input(0, 2 * p.n()), p.rows, 2 * p.cols), y(input(1, p.n()), p.rows, p.cols);
    return [x, y, r = grid(output(p.n()), p.rows, p.cols), p]() mutable {
      assign(r, x.stride(Eigen::array<index_type, 2>{1, 2}) + y, p.threads);
    };
  });
  bench::add("eigen", "transposed", [](const problem& p) {
    const const_grid a(input(0, p.n()), p.rows, p.cols), b(input(1, p.n()), p.rows, p.cols);
    return [a, b, r = grid(output(p.n()), p.rows, p.cols), p]() mutable {
      assign(r, a + b.shuffle(Eigen::array<index_type, 2>{1, 0}), p.threads);
    };
  });
}

void add_reductions() {
  bench::add("eigen", "sqdiff", [](const problem& p) {
    return [a = in(0, p), b = in(1, p), r = scalar(output(1)), p]() mutable {
      assign(r, (a - b).square().sum(), p.threads);
      return r.data()[0];
    };
  });
  bench::add("eigen", "argmax", [](const problem& p) {
    return [x = row_vector(input(0, p.n()), p.n())] {
      index_type where = 0;
      x.maxCoeff(&where);
      return where;
    };
  });
  // Rows with the dense module, shared out over the pool as its documentation shows.
  const auto over_rows = [](const problem& p, const auto& each) {
    if (p.threads == 1) {
      for (index_type i = 0; i < p.rows; ++i) each(i);
    } else {
      device_of_all().parallelFor(p.rows, Eigen::TensorOpCost(4096, 4096, 4096), [&](index_type lo, index_type hi) {
        for (index_type i = lo; i < hi; ++i) each(i);
      });
    }
  };
  bench::add("eigen", "softmax", [over_rows](const problem& p) {
    return [x = mat(0, p.rows, p.cols), r = matrix(output(p.n()), p.rows, p.cols), p, over_rows]() mutable {
      over_rows(p, [&](index_type i) {
        r.row(i).array() = (x.row(i).array() - x.row(i).maxCoeff()).exp();
        r.row(i) *= 1 / r.row(i).sum();
      });
    };
  });
  bench::add("eigen", "layernorm", [over_rows](const problem& p) {
    return [x = mat(0, p.rows, p.cols), gamma = row_vector(input(1, p.cols), p.cols),
            beta = row_vector(input(2, p.cols), p.cols), r = matrix(output(p.n()), p.rows, p.cols), p,
            over_rows]() mutable {
      over_rows(p, [&](index_type i) {
        const float mean = x.row(i).mean();
        const float scale = 1 / std::sqrt((x.row(i).array() - mean).square().mean() + 1e-5f);
        r.row(i).array() = (x.row(i).array() - mean) * scale * gamma.array() + beta.array();
      });
    };
  });
}

void add_products() {
  bench::add("eigen", "matmul", [](const problem& p) {
    return [a = mat(0, p.rows, p.rows), b = mat(1, p.rows, p.rows),
            r = matrix(output(p.n()), p.rows, p.rows)]() mutable { r.noalias() = a * b; };
  });
  bench::add("eigen", "matmul_tn", [](const problem& p) {
    return [a = mat(0, p.rows, p.rows), b = mat(1, p.rows, p.rows),
            r = matrix(output(p.n()), p.rows, p.rows)]() mutable { r.noalias() = a.transpose() * b; };
  });
  bench::add("eigen", "matmul_nt", [](const problem& p) {
    return [a = mat(0, p.rows, p.rows), b = mat(1, p.rows, p.rows),
            r = matrix(output(p.n()), p.rows, p.rows)]() mutable { r.noalias() = a * b.transpose(); };
  });
  bench::add("eigen", "matmul_tt", [](const problem& p) {
    return [a = mat(0, p.rows, p.rows), b = mat(1, p.rows, p.rows),
            r = matrix(output(p.n()), p.rows, p.rows)]() mutable { r.noalias() = a.transpose() * b.transpose(); };
  });
  bench::add("eigen", "matmul_bias_relu", [](const problem& p) {
    return [a = mat(0, p.rows, p.rows), b = mat(1, p.rows, p.rows), bias = row_vector(input(2, p.rows), p.rows),
            r = matrix(output(p.n()), p.rows, p.rows)]() mutable {
      r.noalias() = a * b;
      r = (r.rowwise() + bias).cwiseMax(0.0f);
    };
  });
  bench::add("eigen", "headline", [](const problem& p) {
    const index_type n = p.rows;
    return [a = mat(0, n, n), b = mat(1, n, n), r = matrix(output(p.n()), n, n), t0 = matrix(scratch(0, p.n()), n, n),
            t1 = matrix(scratch(1, p.n()), n, n)]() mutable {
      const auto power9 = [&](const const_matrix& m) {
        t0.noalias() = m * m;
        for (int k = 3; k <= 9; ++k) {
          if (k % 2)
            t1.noalias() = m * t0;
          else
            t0.noalias() = m * t1;
        }
      };
      power9(a);
      r.noalias() = a * t1;
      power9(b);
      r.noalias() += b * t1;
    };
  });
  bench::add("eigen", "perceptron", [](const problem& p) {
    return [x = mat(0, 256, 784), w1 = mat(1, 784, 512), w2 = mat(2, 512, 512), w3 = mat(3, 512, 10),
            wide = row_vector(input(4, 512), 512), narrow = row_vector(input(4, 512), 10),
            h1 = matrix(scratch(0, 256 * 512), 256, 512), h2 = matrix(scratch(1, 256 * 512), 256, 512),
            r = matrix(output(p.n()), 256, 10)]() mutable {
      h1.noalias() = x * w1;
      h1 = (h1.rowwise() + wide).cwiseMax(0.0f);
      h2.noalias() = h1 * w2;
      h2 = (h2.rowwise() + wide).cwiseMax(0.0f);
      r.noalias() = h2 * w3;
      r.rowwise() += narrow;
      for (index_type i = 0; i < 256; ++i) {
        r.row(i).array() = (r.row(i).array() - r.row(i).maxCoeff()).exp();
        r.row(i) *= 1 / r.row(i).sum();
      }
    };
  });
}

void add_tiny() {
  bench::add("eigen", "tiny_triad", [](const problem&) {
    using fixed = Eigen::Map<const Eigen::Array<float, 8, 1>, Eigen::Aligned64>;
    return [a = fixed(input(0, 8)), b = fixed(input(1, 8)),
            r = Eigen::Map<Eigen::Array<float, 8, 1>, Eigen::Aligned64>(output(8))]() mutable { r = a + 1.5f * b; };
  });
  bench::add("eigen", "tiny_matmul", [](const problem&) {
    using fixed = Eigen::Matrix<float, 4, 4, Eigen::RowMajor>;
    using in4 = Eigen::Map<const fixed, Eigen::Aligned64>;
    return [a = in4(input(0, 16)), b = in4(input(1, 16)), c = in4(input(2, 16)), d = in4(input(3, 16)),
            r = Eigen::Map<fixed, Eigen::Aligned64>(output(16))]() mutable { r.noalias() = a * b * c * d; };
  });
}

void register_cases() {
  add_maps();
  add_reductions();
  add_products();
  add_tiny();
  bench::on_threads(Eigen::setNbThreads);
  bench::say_version("eigen", std::to_string(EIGEN_WORLD_VERSION) + '.' + std::to_string(EIGEN_MAJOR_VERSION) + '.' +
                                  std::to_string(EIGEN_MINOR_VERSION));
}
const bench::peer registered(register_cases);

}  // namespace
