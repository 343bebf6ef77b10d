// SPDX-License-Identifier: BSL-1.0
// A backend has the kernels that it says, and no others.
#include <onto/runtime/backend.hpp>

using namespace onto;
using namespace onto::detail;

namespace {

void run(kernel_context&, const kernel_call&) {}

struct copier {
  static constexpr int slot = kernel_entry::own;
};

}  // namespace

template <>
struct onto::detail::backend_kernels<copier> : no_kernels {
  template <int>
  static constexpr backend_kernel copy() {
    return {&run};
  }
};
template <>
struct onto::detail::backend_at<copier::slot> {
  using list = backend_list<copier>;
};

// A kind that a backend does not name it has not.
static_assert(backend_kernels<copier>::copy<4>().run == &run);
static_assert(backend_kernels<copier>::matmul<float>().run == nullptr);
static_assert(backend_kernels<copier>::softmax<float>().run == nullptr);

// Nor any, where it cannot run the operations.
static_assert(kernels_if<true, copier>::copy<4>().run == &run);
static_assert(kernels_if<false, copier>::copy<4>().run == nullptr);

// The list of backends is of those whose folders are included, in the order of their slots.
template <class A, class B>
constexpr bool same = false;
template <class A>
constexpr bool same<A, A> = true;
static_assert(same<decltype(backend_at<0>::list{} + backend_at<1>::list{} + backend_at<copier::slot>::list{}),
                   backend_list<copier>>);
static_assert(same<decltype(backend_list<int>{} + backend_list<copier>{}), backend_list<int, copier>>);

// A kernel of nobody is nowhere.
static_assert(kernel_entry{}.launch[kernel_entry::host].run == nullptr);
static_assert(kernel_entry::own < kernel_entry::slot_count);
