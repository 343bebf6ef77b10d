// SPDX-License-Identifier: BSL-1.0
// A program's own globals may have any names: no local of ours is warned of for them, in any of the headers. Warnings
// are errors here, -Wshadow with them, which is g++'s; nvcc has nothing to say of it.
#if !defined(__CUDACC__)
#include <onto/batches.hpp>
#include <onto/convolution.hpp>
#include <onto/dlpack.hpp>
#include <onto/einsum.hpp>
#include <onto/image.hpp>
#include <onto/indexing.hpp>
#include <onto/map_file.hpp>
#include <onto/npz.hpp>
#include <onto/onto.hpp>
#include <onto/safetensors.hpp>
#include <onto/scan.hpp>
#include <onto/sort.hpp>
#include <onto/strided.hpp>
#include <onto/text.hpp>

using namespace onto;

#define NAMED(name) [[maybe_unused]] constexpr auto name = placeholder<#name, float, dyn, dyn>;
// clang-format off
NAMED(a) NAMED(b) NAMED(d) NAMED(e) NAMED(f) NAMED(g) NAMED(h) NAMED(i) NAMED(j) NAMED(k) NAMED(m) NAMED(n) NAMED(p) NAMED(q) NAMED(r) NAMED(s) NAMED(t) NAMED(u) NAMED(v) NAMED(w) NAMED(x) NAMED(y) NAMED(z)
NAMED(after) NAMED(at) NAMED(batch) NAMED(before) NAMED(best) NAMED(bias) NAMED(bins) NAMED(block) NAMED(column) NAMED(columns) NAMED(cost) NAMED(count) NAMED(counts) NAMED(data) NAMED(depth) NAMED(done) NAMED(edge) NAMED(factor) NAMED(first) NAMED(from) NAMED(height) NAMED(high) NAMED(image) NAMED(in) NAMED(inner) NAMED(input) NAMED(kept) NAMED(kernel) NAMED(key) NAMED(label) NAMED(labels) NAMED(lane) NAMED(last) NAMED(left) NAMED(length) NAMED(level) NAMED(line) NAMED(loss) NAMED(low) NAMED(many) NAMED(mask) NAMED(most) NAMED(names) NAMED(next) NAMED(node) NAMED(now) NAMED(number) NAMED(numbers) NAMED(one) NAMED(out) NAMED(output) NAMED(part) NAMED(position) NAMED(previous) NAMED(price) NAMED(rate) NAMED(result) NAMED(right) NAMED(row) NAMED(rows) NAMED(scale) NAMED(seed) NAMED(shift) NAMED(source) NAMED(step) NAMED(target) NAMED(threads) NAMED(to) NAMED(total) NAMED(value) NAMED(values) NAMED(weights) NAMED(width) NAMED(work) NAMED(worst)
// clang-format on
#undef NAMED

                                                    constexpr auto ids = placeholder<"ids", int, dyn>;
constexpr auto picture = placeholder<"picture", float, dyn, 8, 8, 1>;
constexpr auto filter = variable<"filter", float, 3, 3, 1, 2>(glorot_uniform<float, 3, 3, 1, 2>(1_c));
constexpr auto penalty = mean(square(max_pool2d<window<2>>(relu(conv2d<same>(picture, filter)))));

/// Never called: that it compiles without a warning is what is asked.
[[maybe_unused]] static void uses(session& sess, const tensor<float, dyn, dyn>& A, const tensor<int, dyn>& I,
                                  const tensor<float, dyn, 8, 8, 1>& P) {
  static_cast<void>(sess.run(fetches(cumsum(x), sort(x), argsort(x), top_k<2>(x).values, segment_sum<3>(x, ids),
                                     take<0>(x, ids), scatter_add(x, ids, y), softmax(x), concat<0>(x, y),
                                     histogram<3>(x, 0, 1), argmax<0>(x), einsum<"ij,kj->ik">(x, y), cummax(x)),
                             x = A, y = A, ids = I));
  static_cast<void>(sess.run(fetches(dropout(x, 0.5, 1), var<0>(x), logsumexp<0>(x), matmul(x, y)), x = A, y = A));
  static_cast<void>(sess.prepare(minimize(adam{.rate = 0.01}, penalty)).operator()(picture = P));
  static_cast<void>(evaluate(transpose(x) + log_softmax(y), x = A, y = A));
  save_npz("numbers.npz", {{"a", A}});
  static_cast<void>(load_npz<float, dyn, dyn>("numbers.npz", "a"));
  static_cast<void>(load_npy<float, dyn, dyn>("numbers.npy", map_file));
  sess.save("variables.safetensors");
  static_cast<void>(from_dlpack<float, dyn, dyn>(to_dlpack(sess.run(x + 1, x = A))));
}
#endif
