// SPDX-License-Identifier: BSL-1.0
// How a matrix product is put to cublasLt: transposes, batches, addends, checked on the host.
#include <onto/backend/cuda/matmul_plan.hpp>

#include "catch.hpp"
#include "maps.hpp"

using namespace calls;

namespace {

/// A matrix product over host memory, its operands wherever the strides say.
struct product {
  std::vector<double> memory[3];
  operand_view in[3];
  kernel_call call;

  product(const product&) = delete;
  product& operator=(const product&) = delete;
  product(extents space, int k, std::initializer_list<std::int64_t> a, std::initializer_list<std::int64_t> b,
          std::initializer_list<std::int64_t> c = {}, double beta = 0) {
    const std::initializer_list<std::int64_t> strides[] = {a, b, c};
    for (int o = 0; o < 3; ++o) {
      memory[o].resize(4096);
      for (std::size_t i = 0; i < 4096; ++i)
        memory[o][i] = static_cast<double>((i * 37 + static_cast<std::size_t>(o) * 11) % 101) - 50;
      in[o] = view_of(memory[o].data(), strides[o]);
      in[o].type = element::float64;
    }
    call.space = space;
    call.inputs = beta != 0 ? 3 : 2;
    call.in = in;
    call.inner = k;
    call.form.beta = beta;
  }

  double at(int operand, const int* index, int row, int column) const {
    const int rank = call.space.rank - 2;
    std::int64_t o = row * in[operand].stride[rank] + column * in[operand].stride[rank + 1];
    for (int d = 0; d < rank; ++d) o += index[d] * in[operand].stride[d];
    return memory[operand][static_cast<std::size_t>(o)];
  }

  /// The product as its definition says.
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
          double sum = call.form.beta == 0 ? 0 : call.form.beta * at(2, index, r, c);
          for (int p = 0; p < call.inner; ++p) sum += at(0, index, r, p) * at(1, index, p, c);
          out.push_back(sum);
        }
    }
    return out;
  }

  std::vector<double> packed(int operand, std::int64_t rows, std::int64_t columns) const {
    const packing copy(batches_of(call.space), rows, columns, in[operand].stride);
    const operand_view from = in[operand];
    std::vector<double> to(static_cast<std::size_t>(copy.space.size()));
    kernel_call c;
    c.space = copy.space;
    c.in = &from;
    c.out = contiguous_view(to.data(), copy.space);
    copy_on_host(c);
    return to;
  }

  /// The product as BLAS would compute the plan.
  std::vector<double> planned() const {
    const matmul_plan plan = plan_matmul(call);
    const int rank = call.space.rank - 2;
    std::vector<double> a_copy, b_copy, out(static_cast<std::size_t>(call.space.size()), 1e300);
    const double* a = memory[0].data();
    const double* b = memory[1].data();
    if (plan.a.packed) a_copy = packed(0, call.space[rank], plan.k), a = a_copy.data();
    if (plan.b.packed) b_copy = packed(1, plan.k, plan.n), b = b_copy.data();
    if (plan.a.packed) CHECK(static_cast<std::int64_t>(a_copy.size()) == plan.a_packed);
    if (plan.b.packed) CHECK(static_cast<std::int64_t>(b_copy.size()) == plan.b_packed);
    // As cublasLt demands.
    CHECK(plan.a.leading >= (plan.a.transposed ? plan.m : plan.k));
    CHECK(plan.b.leading >= (plan.b.transposed ? plan.k : plan.n));
    if (plan.addend == addend_form::matrix) CHECK(plan.addend_leading >= plan.n);
    if (plan.addend == addend_form::copied) {
      addend_on_host<double>(call.space, in[2], out.data(), 1, false);
    }
    for (std::int64_t batch = 0; batch < plan.batches(); ++batch) {
      std::int64_t rest = batch, at_a = 0, at_b = 0, at_c = 0, at_out = 0;
      for (int d = plan.batch_rank - 1; d >= 0; --d) {
        const std::int64_t index = rest % plan.batch[d];
        rest /= plan.batch[d];
        at_a += index * plan.a_batch[d], at_b += index * plan.b_batch[d];
        at_c += index * plan.c_batch[d], at_out += index * plan.out_batch[d];
      }
      for (std::int64_t r = 0; r < plan.m; ++r)
        for (std::int64_t c = 0; c < plan.n; ++c) {
          double& to = out[static_cast<std::size_t>(at_out + r * plan.n + c)];
          double sum = 0;
          const double* addend = memory[2].data() + at_c;
          if (plan.addend == addend_form::copied) sum = call.form.beta * to;
          if (plan.addend == addend_form::matrix) sum = call.form.beta * addend[r * plan.addend_leading + c];
          if (plan.addend == addend_form::bias) sum = memory[2][static_cast<std::size_t>(c)];
          for (std::int64_t p = 0; p < plan.k; ++p)
            sum += a[at_a + (plan.a.transposed ? p * plan.a.leading + r : r * plan.a.leading + p)] *
                   b[at_b + (plan.b.transposed ? c * plan.b.leading + p : p * plan.b.leading + c)];
          to = sum;
        }
    }
    return out;
  }
};

}  // namespace

TEST_CASE("matrices are read as they lie, transposed, or packed", "[cuda][matmul]") {
  const auto form = [](std::int64_t r, std::int64_t c, std::int64_t rs, std::int64_t cs) {
    return matrix_form_of(r, c, rs, cs);
  };
  CHECK_FALSE(form(3, 4, 4, 1).transposed);
  CHECK(form(3, 4, 9, 1).leading == 9);
  CHECK(form(3, 4, 1, 3).transposed);
  CHECK(form(3, 4, 1, 8).leading == 8);
  CHECK(form(3, 4, 8, 2).packed);
  CHECK(form(3, 4, 0, 1).packed);
  CHECK(form(3, 4, 1, 0).packed);
  CHECK(form(3, 4, 1, 1).packed);
  CHECK(form(1, 4, 0, 1).leading == 4);
  CHECK(form(1, 4, 0, 3).transposed);
  CHECK(form(1, 4, 0, 3).leading == 3);
  CHECK(form(4, 1, 3, 0).leading == 3);
  CHECK_FALSE(form(4, 1, 3, 0).packed);
  CHECK(form(4, 1, 0, 0).packed);
  CHECK_FALSE(form(1, 1, 0, 0).packed);
  CHECK(form(1, 1, 0, 0).leading == 1);
}

TEST_CASE("planned products are the products", "[cuda][matmul]") {
  SECTION("plain") {
    product p(shape_of({3, 4}), 5, {5, 1}, {4, 1});
    CHECK(plan_matmul(p.call).batch_rank == 0);
    CHECK(p.planned() == p.expected());
  }
  SECTION("both transposed") {
    product p(shape_of({3, 4}), 5, {1, 3}, {1, 5});
    CHECK((plan_matmul(p.call).a.transposed && plan_matmul(p.call).b.transposed));
    CHECK(p.planned() == p.expected());
  }
  SECTION("slices with steps are packed") {
    product p(shape_of({3, 4}), 5, {20, 2}, {16, 3});
    CHECK((plan_matmul(p.call).a.packed && plan_matmul(p.call).b.packed));
    CHECK(p.planned() == p.expected());
  }
  SECTION("a batch over shared weights is one product with more rows") {
    product p(shape_of({2, 6, 3, 4}), 5, {90, 15, 5, 1}, {0, 0, 4, 1});
    const matmul_plan plan = plan_matmul(p.call);
    CHECK(plan.batch_rank == 0);
    CHECK(plan.m == 36);
    CHECK(p.planned() == p.expected());
  }
  SECTION("a packed batch over shared weights") {
    product p(shape_of({2, 6, 3, 4}), 5, {300, 45, 15, 2}, {0, 0, 4, 1});
    CHECK(plan_matmul(p.call).m == 36);
    CHECK(p.planned() == p.expected());
  }
  SECTION("a batch of rows") {
    product p(shape_of({6, 1, 4}), 5, {7, 0, 1}, {0, 4, 1});
    CHECK(plan_matmul(p.call).m == 6);
    CHECK(plan_matmul(p.call).a.leading == 7);
    CHECK(p.planned() == p.expected());
  }
  SECTION("a batch of pairs") {
    product p(shape_of({2, 3, 3, 4}), 5, {45, 15, 5, 1}, {60, 20, 4, 1});
    CHECK(plan_matmul(p.call).batch_rank == 1);
    CHECK(p.planned() == p.expected());
  }
  SECTION("batches broadcast on either side") {
    product p(shape_of({2, 3, 3, 4}), 5, {0, 15, 5, 1}, {20, 0, 4, 1});
    CHECK(plan_matmul(p.call).batch_rank >= 1);
    CHECK(p.planned() == p.expected());
    product q(shape_of({2, 3, 3, 4}), 5, {15, 0, 5, 1}, {0, 20, 4, 1});
    CHECK(plan_matmul(q.call).batch_rank == 2);
    CHECK(q.planned() == q.expected());
  }
  SECTION("a broadcast operand is packed once") {
    product p(shape_of({6, 3, 4}), 5, {0, 20, 2}, {20, 4, 1});
    CHECK(plan_matmul(p.call).a_packed == 15);
    CHECK(p.planned() == p.expected());
  }
  SECTION("vectors and thin matrices") {
    for (int m : {1, 2})
      for (int n : {1, 3})
        for (int k : {1, 4})
          for (std::int64_t far : {std::int64_t{0}, std::int64_t{1}, std::int64_t{13}}) {
            INFO(m << " x " << k << " x " << n << ", " << far);
            product p(shape_of({m, n}), k, {far, 1}, {1, far});
            CHECK(p.planned() == p.expected());
            product q(shape_of({5, m, n}), k, {17, 1, far}, {0, far, 1});
            CHECK(q.planned() == q.expected());
          }
  }
}

TEST_CASE("addends are read in place, as a bias, or copied", "[cuda][matmul]") {
  const auto check = [](const product& p, addend_form wanted) {
    CHECK(plan_matmul(p.call).addend == wanted);
    CHECK(p.planned() == p.expected());
  };
  const extents space = shape_of({3, 4}), batched = shape_of({2, 3, 4});
  check({space, 5, {5, 1}, {4, 1}}, addend_form::none);
  check({space, 5, {5, 1}, {4, 1}, {4, 1}, 1}, addend_form::matrix);
  check({space, 5, {5, 1}, {4, 1}, {9, 1}, -2}, addend_form::matrix);
  check({space, 5, {5, 1}, {4, 1}, {0, 1}, 1}, addend_form::bias);
  check({space, 5, {5, 1}, {4, 1}, {0, 1}, 3}, addend_form::copied);
  check({space, 5, {5, 1}, {4, 1}, {1, 0}, 1}, addend_form::copied);
  check({space, 5, {5, 1}, {4, 1}, {0, 0}, 1}, addend_form::copied);
  check({space, 5, {5, 1}, {4, 1}, {1, 3}, 2}, addend_form::copied);
  check({shape_of({1, 4}), 5, {5, 1}, {4, 1}, {0, 1}, 3}, addend_form::matrix);
  check({batched, 5, {15, 5, 1}, {0, 4, 1}, {12, 4, 1}, 1}, addend_form::matrix);
  check({batched, 5, {15, 5, 1}, {20, 4, 1}, {0, 4, 1}, 1}, addend_form::matrix);
  check({batched, 5, {15, 5, 1}, {0, 4, 1}, {0, 0, 1}, 1}, addend_form::bias);
  check({batched, 5, {15, 5, 1}, {20, 4, 1}, {0, 0, 1}, 1}, addend_form::bias);
  check({batched, 5, {15, 5, 1}, {0, 4, 1}, {4, 0, 1}, 1}, addend_form::copied);
  check({batched, 5, {15, 5, 1}, {0, 4, 1}, {0, 4, 1}, 1}, addend_form::matrix);
  check({shape_of({6, 1, 4}), 5, {5, 0, 1}, {0, 4, 1}, {9, 0, 1}, 1}, addend_form::matrix);
  check({shape_of({6, 1, 4}), 5, {5, 0, 1}, {0, 4, 1}, {0, 0, 1}, 1}, addend_form::bias);
  check({shape_of({3, 1}), 5, {5, 1}, {1, 1}, {1, 0}, 1}, addend_form::matrix);
}

TEST_CASE("products are cut into blocks that fit, with rows of 16 bytes", "[cuda][matmul]") {
  const block_plan whole = plan_blocks(33, 50, 20, 4, 1 << 20);
  CHECK(whole.rows == 33);
  CHECK(whole.columns == 50);
  CHECK(whole.a_leading == 20);
  CHECK(whole.b_leading == 52);
  for (std::size_t size : {2, 4, 8})
    for (std::size_t bytes : {1000, 3000, 10000, 100000})
      for (std::int64_t m : {1, 7, 100})
        for (std::int64_t n : {1, 9, 130})
          for (std::int64_t k : {1, 13}) {
            INFO(m << " x " << k << " x " << n << " of " << size << " bytes in " << bytes);
            const block_plan p = plan_blocks(m, n, k, size, bytes);
            REQUIRE(p.rows > 0);
            CHECK(p.rows <= m);
            CHECK(p.columns <= n);
            CHECK(p.end <= bytes);
            CHECK(p.a_leading >= k);
            CHECK(p.b_leading >= p.columns);
            CHECK(p.out_leading >= p.columns);
            for (std::int64_t leading : {p.a_leading, p.b_leading, p.out_leading})
              CHECK(static_cast<std::size_t>(leading) * size % 16 == 0);
            CHECK(p.b_at % 256 == 0);
            CHECK(p.out_at % 256 == 0);
            CHECK(p.end % 256 == 0);
            CHECK(p.b_at >= static_cast<std::size_t>(p.rows * p.a_leading) * size);
            CHECK(p.out_at >= p.b_at + static_cast<std::size_t>(k * p.b_leading) * size);
            CHECK(p.end >= p.out_at + static_cast<std::size_t>(p.rows * p.out_leading) * size);
          }
  CHECK(plan_blocks(2, 2, 1000, 8, 10000).rows == 0);
  CHECK(plan_blocks(5, 5, 5, 8, 0).rows == 0);
}
