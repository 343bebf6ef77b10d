// SPDX-License-Identifier: BSL-1.0
// What the GPU can do: bytes a second of a large copy, read and written; operations a second of a large matrix product.
#include "gemm.hpp"

using namespace gpu_bench;

namespace {

__global__ void __launch_bounds__(threads) copy_by_hand(const float4* from, float4* to, std::int64_t packs) {
  const std::int64_t step = std::int64_t{gridDim.x} * threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * threads + threadIdx.x; k < packs; k += step) to[k] = __ldg(from + k);
}

void copies(std::int64_t elements) {
  row r{"ceiling", "device-to-device copy", std::to_string(elements), static_cast<double>(elements),
        8.0 * static_cast<double>(elements)};
  attempt(r, [&] {
    const buffer<float> from(elements, 1), to(elements);
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(blocks_for(elements / 4, threads), 1 << 20));
    std::vector<contestant> all{
        {"copy",
         [&](cudaStream_t s, int) {
           check(cudaMemcpyAsync(to.data(), from.data(), to.bytes(), cudaMemcpyDeviceToDevice, s), "copy");
         }},
        {"hand", [&](cudaStream_t s, int) {
           copy_by_hand<<<blocks, threads, 0, s>>>(reinterpret_cast<const float4*>(from.data()),
                                                   reinterpret_cast<float4*>(to.data()), elements / 4);
           check(cudaGetLastError(), "by hand");
         }}};
    (void)measure(r, all);
  });
}

template <class T>
void products(const char* type, bool tf32, int n) {
  const double extent = n;
  row r{"ceiling",
        "matrix product",
        std::to_string(n),
        extent * extent,
        3 * sizeof(T) * extent * extent,
        2 * extent * extent * extent};
  r.type = type;
  r.tolerance = tf32 || sizeof(T) == 2 ? 5e-3 : 1e-5;
  attempt(r, [&] {
    const buffer<T> a(std::int64_t{n} * n, 1), b(std::int64_t{n} * n, 2), out(std::int64_t{n} * n);
    gemm<T> product(n, tf32, false);
    (void)product.choose(a.data(), b.data(), out.data());
    std::vector<contestant> all{
        {"cublaslt", [&](cudaStream_t s, int) { product.launch(s, a.data(), b.data(), out.data()); },
         [&] {
           return error_of(4096, product_reference<T>{a.data(), b.data(), nullptr, out.data(), n});
         },
         product.note()}};
    (void)measure(r, all, 7);
  });
}

void run() {
  for (const std::int64_t elements : {std::int64_t{1} << 26, std::int64_t{1} << 29, std::int64_t{1} << 31})
    copies(elements);
  products<float>("float32", false, 8192);
  products<float>("tf32", true, 8192);
  products<onto::half>("float16", false, 8192);
  products<onto::bfloat16>("bfloat16", false, 8192);
  products<onto::half>("float16", false, 16384);
}

}  // namespace

int main(int argc, char** argv) { return on_gpu(argc, argv, &run); }
