// SPDX-License-Identifier: BSL-1.0
// Operands of convolutions and pooling on the CPU: elements next to each other, in the order (batch, height, width,
// channels), as floats or doubles. What lies otherwise is copied.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/gemm.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/kernel/layout.hpp>
#include <onto/runtime/kernel.hpp>
#include <onto/shape/convolution.hpp>

#include <cstdint>

namespace onto::detail {

/// The axes of an operand in the order in which kernels take them.
struct axis_order {
  int axis[max_rank] = {0, 1, 2, 3, 4, 5, 6, 7};

  extents permute(const extents& e) const {
    extents r;
    for (int k = 0; k < e.rank; ++k) r.push_back(e.dims[axis[k]]);
    return r;
  }
  void permute(int rank, const std::int64_t* stride, std::int64_t* to) const {
    for (int k = 0; k < rank; ++k) to[k] = stride[axis[k]];
  }
};

inline axis_order image_order(const window_options& o) {
  if (o.layout == image_layout::nhwc) return {};
  return o.axes == 2 ? axis_order{{0, 2, 3, 1}} : axis_order{{0, 2, 1}};
}
inline axis_order filter_order(const window_options& o) {
  if (o.layout == image_layout::nhwc) return {};
  return o.axes == 2 ? axis_order{{2, 3, 1, 0}} : axis_order{{2, 1, 0}};
}

/// Copies the elements of a layout in its order, those of half precision as floats.
inline void copy_images(thread_pool& pool, const kernel_call& call, const layout& l, std::int64_t size,
                        const operand_view& v, void* to) {
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    if (!is_half_precision(v.type))
      return gather(l, size_of(v.type), v.data, lo, hi - lo, static_cast<char*>(to) + lo * size_of(v.type));
    constexpr std::int64_t some = 2048;
    std::uint16_t gathered[some];
    for (; lo < hi; lo += some) {
      const std::int64_t n = hi - lo < some ? hi - lo : some;
      gather(l, size_of(v.type), v.data, lo, n, gathered);
      call.half_precision->widen(v.type, gathered, n, static_cast<float*>(to) + lo);
    }
  };
  split(pool, size, 1 << 15, body);
}

/// The elements of operand `k` in this order, as `T`, which is float where they are of half precision.
template <class T>
const T* elements_in_order(thread_pool& pool, const kernel_call& call, int k, const axis_order& order,
                           pack_memory& memory) {
  const operand_view& v = call.in[k];
  const extents space = order.permute(call.shapes[k]);
  std::int64_t stride[max_rank];
  order.permute(space.rank, v.stride, stride);
  const layout l{coalesce<1>(space, {stride})};
  if (l.contiguous() && !is_half_precision(v.type)) return static_cast<const T*>(v.data);
  const std::int64_t size = space.size();
  T* const to = memory.get<T>(size + 1);
  copy_images(pool, call, l, size, v, to);
  return to;
}

/// A result whose elements are made in some order, as floats or doubles, and put where they belong at the end.
template <class T>
class result_in_order {
 public:
  result_in_order(const kernel_call& call, const axis_order& order)
      : call_(call), order_(order), direct_(!is_half_precision(call.out.type) && where_made().contiguous()) {
    data = direct_ ? static_cast<T*>(call.out.data)
                   : memory_of_thread<kept_memory::result>().template get<T>(shape().size() + 1);
  }

  /// Puts the elements where they belong.
  void leave(thread_pool& pool) const {
    if (direct_) return;
    const layout l = where_made();
    const int size = size_of(call_.out.type);
    char* const out = static_cast<char*>(call_.out.data);
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      if (!is_half_precision(call_.out.type)) return gather(l, sizeof(T), data, lo, hi - lo, out + lo * size);
      constexpr std::int64_t some = 1024;
      T gathered[some];
      for (; lo < hi; lo += some) {
        const std::int64_t n = hi - lo < some ? hi - lo : some;
        gather(l, sizeof(T), data, lo, n, gathered);
        narrow(gathered, n, out + lo * size);
      }
    };
    split(pool, shape().size(), 1 << 15, body);
  }

  T* data;

 private:
  const extents& shape() const { return call_.shapes[call_.inputs]; }
  /// The result's elements, where they are made.
  layout where_made() const {
    const extents& to = shape();
    std::int64_t inner[max_rank], stride[max_rank];
    contiguous_strides(order_.permute(to), inner);
    for (int k = 0; k < to.rank; ++k) stride[order_.axis[k]] = inner[k];
    return {coalesce<1>(to, {stride})};
  }
  void narrow(const float* from, std::int64_t n, void* to) const {
    call_.half_precision->narrow(call_.out.type, from, n, to);
  }
  static void narrow(const double*, std::int64_t, void*) {}

  const kernel_call& call_;
  axis_order order_;
  bool direct_;
};

}  // namespace onto::detail
