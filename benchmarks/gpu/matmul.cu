// SPDX-License-Identifier: BSL-1.0
// relu(a @ b + bias) beside the fastest algorithm that cublasLt has for the same call.
#include "gemm.hpp"
#include "program.hpp"

using namespace gpu_bench;

namespace {

using onto::dyn;

template <class T>
inline constexpr auto a = onto::on<onto::gpu<0>>(onto::variable<"a", T, dyn, dyn>);
template <class T>
inline constexpr auto b = onto::on<onto::gpu<0>>(onto::variable<"b", T, dyn, dyn>);
template <class T>
inline constexpr auto bias = onto::on<onto::gpu<0>>(onto::variable<"bias", T, dyn>);

template <class T>
void layer(const char* type, bool tf32, int n) {
  const double extent = n;
  row r;
  r.family = "matmul";
  r.name = "relu(a @ b + bias)";
  r.shape = std::to_string(n);
  r.type = type;
  r.size = extent * extent;
  r.bytes = static_cast<double>(sizeof(T)) * (3 * extent * extent + extent);
  r.flops = 2 * extent * extent * extent;
  r.tolerance = tf32 || sizeof(T) == 2 ? 5e-3 : 1e-5;
  r.sets = std::min(4, sets_for(r.bytes));
  attempt(r, [&] {
    const std::int64_t size = std::int64_t{n} * n;
    std::vector<buffer<T>> left, right, out;
    for (int k = 0; k < r.sets; ++k) {
      left.emplace_back(size, static_cast<std::uint64_t>(10 + k));
      right.emplace_back(size, static_cast<std::uint64_t>(20 + k));
      out.emplace_back(size);
    }
    const buffer<T> add(n, 3);
    const auto layer = onto::on<onto::gpu<0>>(onto::relu(onto::matmul(a<T>, b<T>) + bias<T>));
    const auto fill = [&](machine& m, int set) {
      m.set(a<T>, left[static_cast<std::size_t>(set)], n, n);
      m.set(b<T>, right[static_cast<std::size_t>(set)], n, n);
      m.set(bias<T>, add);
    };
    const onto::math_mode math = tf32 ? onto::math_mode::tf32 : onto::math_mode::full;
    const program_sets program(layer, r.sets, fill, math), tuned(layer, r.sets, fill, math, true);
    gemm<T> product(n, tf32, true);
    (void)product.choose(left[0].data(), right[0].data(), out[0].data(), add.data());
    const auto wrong_by = [&](const T* result) {
      return error_of(4096, product_reference<T>{left[0].data(), right[0].data(), add.data(), result, n});
    };
    std::vector<contestant> all{
        program.as_contestant([&] { return wrong_by(program.template result<T>()); }),
        tuned.as_contestant([&] { return wrong_by(tuned.template result<T>()); }, "onto, tuned"),
        {"cublaslt",
         [&](cudaStream_t s, int set) {
           const auto k = static_cast<std::size_t>(set);
           product.launch(s, left[k].data(), right[k].data(), out[k].data(), add.data());
         },
         [&] { return wrong_by(out[0].data()); }, product.note()}};
    (void)measure(r, all, 11);
  });
}

void run() {
  for (const int n : {8192, 4096, 2048, 1024, 256}) {
    layer<float>("float32", false, n);
    layer<float>("tf32", true, n);
    layer<onto::half>("float16", false, n);
  }
}

}  // namespace

int main(int argc, char** argv) { return on_gpu(argc, argv, &run); }
