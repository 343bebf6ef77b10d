// SPDX-License-Identifier: BSL-1.0
// Programs whose kernels gate.py looks at: one of each way through memory. They are compiled for the GPU and never run.
#include <onto/onto.hpp>

#include <onto/backend/cuda/select_rows.hpp>
#include <onto/backend/cuda/sort_rows.hpp>

namespace {

using onto::dyn;

template <class T>
inline constexpr auto a = onto::placeholder<"a", T, dyn, dyn>;
template <class T>
inline constexpr auto b = onto::placeholder<"b", T, dyn, dyn>;
inline constexpr auto c = onto::placeholder<"c", float, dyn, dyn>;
inline constexpr auto d = onto::placeholder<"d", float, dyn, dyn>;
inline constexpr auto scale = onto::placeholder<"scale", float, dyn>;
inline constexpr auto shift = onto::placeholder<"shift", float, dyn>;

constexpr auto x = a<float>;
constexpr auto centred = x - onto::mean<-1>(x, onto::keep_extents);

/// The compiled program of an expression, with its kernels.
template <class E>
const void* kernels_of(const E&) {
  return &onto::detail::typed_run<E>::program();
}

/// Sorts and selections without what CUB has of them.
template <class Kernel>
const void* kernel(Kernel* k) {
  return reinterpret_cast<const void*>(k);
}
using sorted = onto::detail::sorting<false, false>;
using greatest = onto::detail::sorting<true, true>;

}  // namespace

// The operands' strides choose between the kernels of a map when it runs: a bias, a transposed operand and a slice are
// all here with the first. Rows along another axis have the kernels of rows along the last.
const void* const onto_kernels[] = {
    kernels_of(x + b<float>),
    kernels_of(a<onto::half> - b<onto::half>),
    kernels_of(a<double>* b<double>),
    kernels_of(onto::sqrt((x * x) + c * c) * d - b<float> / (x + 1.0f) + onto::maximum(c, 0.0f)),
    kernels_of(onto::concat<0>(x, b<float>)),
    kernels_of(onto::sum<-1>(x)),
    kernels_of(onto::max<0>(onto::exp(x))),
    kernels_of(onto::argmax<-1>(onto::abs(x))),
    kernels_of(onto::exp(x)),
    kernels_of(onto::max<-1>(x)),
    kernels_of(onto::argmax<-1>(x)),
    kernels_of(onto::sum<-1>(onto::square(x - b<float>))),
    kernels_of(onto::softmax(x)),
    kernels_of(centred* onto::rsqrt(onto::mean<-1>(onto::square(centred), onto::keep_extents) + 1e-5f) * scale + shift),
    kernel(&onto::detail::sort_rows_kernel<sorted, float, onto::detail::few_items>),
    kernel(&onto::detail::sort_rows_kernel<sorted, float, onto::detail::many_items>),
    kernel(&onto::detail::sort_rows_kernel<greatest, float, onto::detail::many_items>),
    kernel(&onto::detail::select_kernel<onto::detail::row_elements<greatest, float>>),
    kernel(&onto::detail::select_kernel<onto::detail::row_candidates>),
};
