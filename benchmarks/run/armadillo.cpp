// SPDX-License-Identifier: BSL-1.0
// Armadillo with OpenMP and OpenBLAS. It stores columns: our row-major matrices are its transposed ones, our rows its
// columns. Memory is given to it, so assignment allocates nothing.
#define ARMA_USE_OPENMP
#define ARMA_NO_DEBUG
#define ARMA_DONT_USE_WRAPPER
#include "bench.hpp"

#include <armadillo>

#include <memory>

namespace {

using arma::fmat;
using arma::fvec;
using arma::uword;
using bench::input;
using bench::output;
using bench::problem;
using bench::scratch;

uword u(std::int64_t n) { return static_cast<uword>(n); }
fvec vector_at(const float* data, std::int64_t n) { return fvec(const_cast<float*>(data), u(n), false, true); }
/// The transpose of a row-major matrix of so many rows and columns.
fmat matrix_at(const float* data, std::int64_t rows, std::int64_t cols) {
  return fmat(const_cast<float*>(data), u(cols), u(rows), false, true);
}

/// Armadillo's objects over given memory become copies when they are captured, so functions hold them by pointer.
template <class T>
std::shared_ptr<T> kept(T&& t) {
  return std::make_shared<T>(t.memptr(), t.n_rows, t.n_cols, false, true);
}
template <>
std::shared_ptr<fvec> kept(fvec&& t) {
  return std::make_shared<fvec>(t.memptr(), t.n_elem, false, true);
}
auto in(int k, const problem& p) { return kept(vector_at(input(k, p.n()), p.n())); }
auto out(const problem& p) { return kept(vector_at(output(p.n()), p.n())); }
auto mat(const float* data, std::int64_t rows, std::int64_t cols) { return kept(matrix_at(data, rows, cols)); }

void add_maps() {
  bench::add("armadillo", "triad",
             [](const problem& p) { return [a = in(0, p), b = in(1, p), r = out(p)] { *r = *a + 1.5f * *b; }; });
  bench::add("armadillo", "chain", [](const problem& p) {
    return [a = in(0, p), b = in(1, p), c = in(2, p), d = in(3, p), r = out(p), p] {
      *r = arma::sqrt(*a % *a + *b % *b) % *c - *d / (*a + 1.0f) +
           arma::clamp(*b, 0.0f, std::numeric_limits<float>::max());
    };
  });
  bench::add("armadillo", "exp", [](const problem& p) { return [a = in(0, p), r = out(p)] { *r = arma::exp(*a); }; });
  bench::add("armadillo", "tanh", [](const problem& p) { return [a = in(0, p), r = out(p)] { *r = arma::tanh(*a); }; });
  bench::add("armadillo", "gelu", [](const problem& p) {
    return [a = in(0, p), r = out(p)] {
      *r = 0.5f * *a % (arma::tanh(0.7978845608f * (*a + 0.044715f * (*a % *a % *a))) + 1.0f);
    };
  });
  bench::add("armadillo", "rowadd", [](const problem& p) {
    return [x = mat(input(0, p.n()), p.rows, p.cols), row = kept(vector_at(input(1, p.cols), p.cols)),
            r = mat(output(p.n()), p.rows, p.cols)] {
      *r = x->each_col() + *row;
      r->clamp(0.0f, std::numeric_limits<float>::max());
    };
  });
  bench::add("armadillo", "sliced", [](const problem& p) {
    return [x = mat(input(0, 2 * p.n()), p.rows, 2 * p.cols), y = mat(input(1, p.n()), p.rows, p.cols),
            r = mat(output(p.n()), p.rows, p.cols),
            even = arma::uvec(arma::regspace<arma::uvec>(0, 2, u(2 * p.cols) - 1))] { *r = x->rows(even) + *y; };
  });
  bench::add("armadillo", "transposed", [](const problem& p) {
    return [a = mat(input(0, p.n()), p.rows, p.cols), b = mat(input(1, p.n()), p.rows, p.cols),
            r = mat(output(p.n()), p.rows, p.cols)] { *r = *a + b->t(); };
  });
}

void add_reductions() {
  bench::add("armadillo", "sqdiff", [](const problem& p) {
    return [a = in(0, p), b = in(1, p)] { return arma::accu(arma::square(*a - *b)); };
  });
  bench::add("armadillo", "argmax", [](const problem& p) { return [a = in(0, p)] { return a->index_max(); }; });
  bench::add("armadillo", "softmax", [](const problem& p) {
    return [x = mat(input(0, p.n()), p.rows, p.cols), r = mat(output(p.n()), p.rows, p.cols)] {
      for (uword k = 0; k < x->n_cols; ++k) {
        fvec to(r->colptr(k), r->n_rows, false, true);
        const fvec from(x->colptr(k), x->n_rows, false, true);
        to = arma::exp(from - from.max());
        to /= arma::accu(to);
      }
    };
  });
  bench::add("armadillo", "layernorm", [](const problem& p) {
    return [x = mat(input(0, p.n()), p.rows, p.cols), gamma = kept(vector_at(input(1, p.cols), p.cols)),
            beta = kept(vector_at(input(2, p.cols), p.cols)), r = mat(output(p.n()), p.rows, p.cols)] {
      for (uword k = 0; k < x->n_cols; ++k) {
        fvec to(r->colptr(k), r->n_rows, false, true);
        const fvec from(x->colptr(k), x->n_rows, false, true);
        const float mean = arma::mean(from);
        const float scale = 1 / std::sqrt(arma::var(from, 1) + 1e-5f);
        to = (from - mean) * scale % *gamma + *beta;
      }
    };
  });
}

void add_products() {
  // (A B)' = B' A'.
  const auto three = [](const problem& p) {
    struct {
      std::shared_ptr<fmat> a, b, r;
    } m{mat(input(0, p.n()), p.rows, p.rows), mat(input(1, p.n()), p.rows, p.rows), mat(output(p.n()), p.rows, p.rows)};
    return m;
  };
  bench::add("armadillo", "matmul", [=](const problem& p) { return [m = three(p)] { *m.r = *m.b * *m.a; }; });
  bench::add("armadillo", "matmul_tn", [=](const problem& p) { return [m = three(p)] { *m.r = *m.b * m.a->t(); }; });
  bench::add("armadillo", "matmul_nt", [=](const problem& p) { return [m = three(p)] { *m.r = m.b->t() * *m.a; }; });
  bench::add("armadillo", "matmul_tt",
             [=](const problem& p) { return [m = three(p)] { *m.r = m.b->t() * m.a->t(); }; });
  bench::add("armadillo", "matmul_bias_relu", [=](const problem& p) {
    return [m = three(p), bias = kept(vector_at(input(2, p.rows), p.rows))] {
      *m.r = *m.b * *m.a;
      m.r->each_col() += *bias;
      m.r->clamp(0.0f, std::numeric_limits<float>::max());
    };
  });
  bench::add("armadillo", "headline", [=](const problem& p) {
    return [m = three(p), t0 = mat(scratch(0, p.n()), p.rows, p.rows), t1 = mat(scratch(1, p.n()), p.rows, p.rows)] {
      const auto power9 = [&](const fmat& x) {
        *t0 = x * x;
        for (int k = 3; k <= 9; ++k) {
          if (k % 2)
            *t1 = *t0 * x;
          else
            *t0 = *t1 * x;
        }
      };
      power9(*m.a);
      *m.r = *t1 * *m.a;
      power9(*m.b);
      *m.r += *t1 * *m.b;
    };
  });
  bench::add("armadillo", "perceptron", [](const problem& p) {
    return [x = mat(input(0, 256 * 784), 256, 784), w1 = mat(input(1, 784 * 512), 784, 512),
            w2 = mat(input(2, 512 * 512), 512, 512), w3 = mat(input(3, 512 * 10), 512, 10),
            wide = kept(vector_at(input(4, 512), 512)), narrow = kept(vector_at(input(4, 512), 10)),
            h1 = mat(scratch(0, 256 * 512), 256, 512), h2 = mat(scratch(1, 256 * 512), 256, 512),
            r = mat(output(p.n()), 256, 10)] {
      constexpr float most = std::numeric_limits<float>::max();
      *h1 = *w1 * *x;
      h1->each_col() += *wide;
      h1->clamp(0.0f, most);
      *h2 = *w2 * *h1;
      h2->each_col() += *wide;
      h2->clamp(0.0f, most);
      *r = *w3 * *h2;
      r->each_col() += *narrow;
      for (uword k = 0; k < r->n_cols; ++k) {
        fvec to(r->colptr(k), r->n_rows, false, true);
        to = arma::exp(to - to.max());
        to /= arma::accu(to);
      }
    };
  });
}

void add_tiny() {
  bench::add("armadillo", "tiny_triad", [](const problem&) {
    using fixed = fvec::fixed<8>;
    return [a = fixed(input(0, 8)), b = fixed(input(1, 8)), out = output(8)] {
      fvec r(out, 8, false, true);
      r = a + 1.5f * b;
    };
  });
  bench::add("armadillo", "tiny_matmul", [](const problem&) {
    using fixed = fmat::fixed<4, 4>;
    return [a = fixed(input(0, 16)), b = fixed(input(1, 16)), c = fixed(input(2, 16)), d = fixed(input(3, 16)),
            out = output(16)] {
      fmat r(out, 4, 4, false, true);
      r = d * c * b * a;
    };
  });
}

void register_cases() {
  add_maps();
  add_reductions();
  add_products();
  add_tiny();
  bench::say_version("armadillo", arma::arma_version::as_string());
}
const bench::peer registered(register_cases);

}  // namespace
