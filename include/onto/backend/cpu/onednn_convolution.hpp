// SPDX-License-Identifier: BSL-1.0
// Convolutions of floats through oneDNN, in programs that define ONTO_HAS_ONEDNN and link it: called on one thread for
// some of the images, so that the session's threads do the work. For versions 2 and 3 of oneDNN.
#pragma once

#include <onto/backend/cpu/image_epilogue.hpp>
#include <onto/backend/cpu/onednn.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/core/atomic.hpp>
#include <onto/kernel/convolution.hpp>

#if defined(ONTO_HAS_ONEDNN)

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

namespace onto::detail {

#if DNNL_VERSION_MAJOR >= 3
using onednn_layout = const_dnnl_memory_desc_t;
#else
using onednn_layout = const dnnl_memory_desc_t*;
#endif

/// The order of a tensor's elements, as oneDNN describes it.
class onednn_order {
 public:
  /// `strides`: null where oneDNN may choose.
  onednn_order(int rank, const std::int64_t* extents, const std::int64_t* strides) {
#if DNNL_VERSION_MAJOR >= 3
    made_ = (strides ? dnnl_memory_desc_create_with_strides(&order_, rank, extents, dnnl_f32, strides)
                     : dnnl_memory_desc_create_with_tag(&order_, rank, extents, dnnl_f32, dnnl_format_tag_any)) ==
            dnnl_success;
#else
    made_ =
        (strides ? dnnl_memory_desc_init_by_strides(&order_, rank, extents, dnnl_f32, strides)
                 : dnnl_memory_desc_init_by_tag(&order_, rank, extents, dnnl_f32, dnnl_format_tag_any)) == dnnl_success;
#endif
  }
  onednn_order(const onednn_order&) = delete;
  onednn_order& operator=(const onednn_order&) = delete;
#if DNNL_VERSION_MAJOR >= 3
  ~onednn_order() { dnnl_memory_desc_destroy(order_); }
  onednn_layout get() const { return order_; }
#else
  onednn_layout get() const { return &order_; }
#endif
  explicit operator bool() const { return made_; }

 private:
#if DNNL_VERSION_MAJOR >= 3
  dnnl_memory_desc_t order_ = nullptr;
#else
  dnnl_memory_desc_t order_{};
#endif
  bool made_;
};

/// oneDNN on this thread.
struct onednn_thread {
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;

  onednn_thread() {
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) == dnnl_success)
      dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
  }
  onednn_thread(const onednn_thread&) = delete;
  onednn_thread& operator=(const onednn_thread&) = delete;
  ~onednn_thread() {
    if (stream) dnnl_stream_destroy(stream);
    if (engine) dnnl_engine_destroy(engine);
  }
};

/// A convolution of one form, or its gradient by the image: the primitive, and the filter in the order that it likes.
class onednn_convolution {
 public:
  onednn_convolution(const onednn_thread& on, const convolution_form& f) : form(f), on_(on) { ready_ = make(); }
  onednn_convolution(const onednn_convolution&) = delete;
  onednn_convolution& operator=(const onednn_convolution&) = delete;
  ~onednn_convolution() {
    for (dnnl_memory_t m : {in_, out_, given_, filter_})
      if (m) dnnl_memory_destroy(m);
    for (dnnl_primitive_t p : {primitive_, turn_})
      if (p) dnnl_primitive_destroy(p);
  }

  /// `filter`: null where it is that of the run before. *Returns* whether it was computed.
  bool run(const float* in, const float* filter, float* out) const {
    if (!ready_) return false;
    const bool forward = form.part == convolution_part::forward;
    dnnl_memory_set_data_handle(in_, const_cast<float*>(in));
    dnnl_memory_set_data_handle(out_, out);
    dnnl_memory_set_data_handle(given_, const_cast<float*>(filter));
    const dnnl_exec_arg_t turning[] = {{DNNL_ARG_FROM, given_}, {DNNL_ARG_TO, filter_}};
    const dnnl_exec_arg_t arguments[] = {{forward ? DNNL_ARG_SRC : DNNL_ARG_DIFF_DST, in_},
                                         {DNNL_ARG_WEIGHTS, filter_},
                                         {forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_SRC, out_}};
    return (!filter || dnnl_primitive_execute(turn_, on_.stream, 2, turning) == dnnl_success) &&
           dnnl_primitive_execute(primitive_, on_.stream, 3, arguments) == dnnl_success &&
           dnnl_stream_wait(on_.stream) == dnnl_success;
  }

  const convolution_form form;

 private:
  bool make() {
    const convolution_form& f = form;
    const std::int64_t channels = f.image_channels, results = f.result_channels, in = f.filter_channels(),
                       out = results / f.groups;
    const std::int64_t image[] = {f.batch, channels, f.image[0], f.image[1]};
    const std::int64_t image_strides[] = {f.image[0] * f.image[1] * channels, 1, f.image[1] * channels, channels};
    const std::int64_t result[] = {f.batch, results, f.result[0], f.result[1]};
    const std::int64_t result_strides[] = {f.result[0] * f.result[1] * results, 1, f.result[1] * results, results};
    // Groups are an axis of their own, where there are several.
    const std::int64_t filter[] = {f.groups, out, in, f.filter[0], f.filter[1]};
    const std::int64_t filter_strides[] = {out, 1, results, f.filter[1] * in * results, in * results};
    const int skip = f.groups == 1 ? 1 : 0;
    const onednn_order x(4, image, image_strides), y(4, result, result_strides),
        w(5 - skip, filter + skip, filter_strides + skip), any(5 - skip, filter + skip, nullptr);
    if (!on_.stream || !x || !y || !w || !any) return false;
    const std::int64_t dilation[] = {f.dilation[0] - 1, f.dilation[1] - 1};
    dnnl_primitive_desc_t forward = nullptr, wanted = nullptr, turn = nullptr;
    bool good = describe(&forward, convolution_part::forward, x, any, y, dilation, nullptr);
    if (good && f.part == convolution_part::image_gradient)
      good = describe(&wanted, convolution_part::image_gradient, x, any, y, dilation, forward);
    const dnnl_primitive_desc_t used = wanted ? wanted : forward;
    if (good) {
      const onednn_layout liked = dnnl_primitive_desc_query_md(used, dnnl_query_weights_md, 0);
      const bool is_forward = f.part == convolution_part::forward;
      good =
          dnnl_primitive_create(&primitive_, used) == dnnl_success &&
          dnnl_reorder_primitive_desc_create(&turn, w.get(), on_.engine, liked, on_.engine, nullptr) == dnnl_success &&
          dnnl_primitive_create(&turn_, turn) == dnnl_success &&
          remember(&in_, is_forward ? x.get() : y.get(), DNNL_MEMORY_NONE) &&
          remember(&out_, is_forward ? y.get() : x.get(), DNNL_MEMORY_NONE) &&
          remember(&given_, w.get(), DNNL_MEMORY_NONE) && remember(&filter_, liked, DNNL_MEMORY_ALLOCATE);
    }
    for (dnnl_primitive_desc_t d : {forward, wanted, turn})
      if (d) dnnl_primitive_desc_destroy(d);
    return good;
  }

  bool remember(dnnl_memory_t* m, onednn_layout order, void* memory) {
    return dnnl_memory_create(m, order, on_.engine, memory) == dnnl_success;
  }

  bool describe(dnnl_primitive_desc_t* d, convolution_part part, const onednn_order& x, const onednn_order& w,
                const onednn_order& y, const std::int64_t* dilation, dnnl_primitive_desc_t hint) {
    const convolution_form& f = form;
#if DNNL_VERSION_MAJOR >= 3
    if (part == convolution_part::forward)
      return dnnl_convolution_forward_primitive_desc_create(
                 d, on_.engine, dnnl_forward_training, dnnl_convolution_direct, x.get(), w.get(), nullptr, y.get(),
                 f.stride, dilation, f.before, f.after, nullptr) == dnnl_success;
    return dnnl_convolution_backward_data_primitive_desc_create(d, on_.engine, dnnl_convolution_direct, x.get(),
                                                                w.get(), y.get(), f.stride, dilation, f.before, f.after,
                                                                hint, nullptr) == dnnl_success;
#else
    dnnl_convolution_desc_t c;
    const dnnl_status_t said =
        part == convolution_part::forward
            ? dnnl_dilated_convolution_forward_desc_init(&c, dnnl_forward_training, dnnl_convolution_direct, x.get(),
                                                         w.get(), nullptr, y.get(), f.stride, dilation, f.before,
                                                         f.after)
            : dnnl_dilated_convolution_backward_data_desc_init(&c, dnnl_convolution_direct, x.get(), w.get(), y.get(),
                                                               f.stride, dilation, f.before, f.after);
    return said == dnnl_success && dnnl_primitive_desc_create(d, &c, nullptr, on_.engine, hint) == dnnl_success;
#endif
  }

  const onednn_thread& on_;
  dnnl_primitive_t primitive_ = nullptr, turn_ = nullptr;
  dnnl_memory_t in_ = nullptr, out_ = nullptr, given_ = nullptr, filter_ = nullptr;
  bool ready_ = false;
};

/// The convolution of a form on this thread. So many are kept: making one takes as long as some runs.
inline const onednn_convolution& onednn_convolution_of(const convolution_form& f) {
  constexpr std::size_t most = 32;
  struct kept_convolutions {
    onednn_thread on;
    std::deque<std::unique_ptr<onednn_convolution>> all;
  };
  static thread_local kept_convolutions kept;
  for (const auto& c : kept.all)
    if (c->form == f) return *c;
  if (kept.all.size() == most) kept.all.pop_front();
  kept.all.push_back(std::make_unique<onednn_convolution>(kept.on, f));
  return *kept.all.back();
}

/// Below this a convolution is as fast without oneDNN.
inline constexpr std::int64_t onednn_convolution_pays = std::int64_t{1} << 22;

/// An epilogue goes over so many bytes of a result while they are in a cache. It is the built-in product's, so that NaN
/// stays and any factor and addend will do.
inline constexpr std::int64_t finished_bytes = std::int64_t{512} << 10;

/// A convolution, or its gradient by the image, of images (batch, height, width, channels), and its epilogue. *Returns*
/// whether it was computed: oneDNN does not have to have all of them.
inline bool convolve_with_onednn(thread_pool& pool, const convolution_form& f, const float* in, const float* filter,
                                 float* out, const image_epilogue<float>& epilogue) {
  if (f.flops() < onednn_convolution_pays || f.batch < pool.size()) return false;
  if (epilogue.addend.data == out) return false;  // it would be gone
  const bool forward = f.part == convolution_part::forward;
  const std::int64_t parts = pool.size(), of_image = f.image_size() / f.batch, of_result = f.result_size() / f.batch;
  const std::int64_t of_in = forward ? of_image : of_result, of_out = forward ? of_result : of_image,
                     channels = forward ? f.result_channels : f.image_channels, pixels = of_out / channels;
  const std::int64_t finished = finished_bytes / (of_out * std::int64_t{sizeof(float)}) + 1;
  atomic<bool> good{true};
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    const one_openmp_thread alone;
    const std::int64_t end = f.batch * hi / parts;
    convolution_form part = f;
    part.batch = 0;
    for (std::int64_t n = f.batch * lo / parts; n < end; n += part.batch) {
      const std::int64_t most = epilogue.any() && finished < end - n ? finished : end - n;
      const bool turned = part.batch == most;
      part.batch = most;
      if (!onednn_convolution_of(part).run(in + n * of_in, turned ? nullptr : filter, out + n * of_out))
        good.store(false);
      else if (epilogue.any())
        epilogue.finish(out, channels, n * pixels, most * pixels, out + n * of_out, channels);
    }
  };
  split(pool, parts, 1, body);
  return good.load();
}

}  // namespace onto::detail

#endif
