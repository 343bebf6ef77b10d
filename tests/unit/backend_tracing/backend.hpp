// SPDX-License-Identifier: BSL-1.0
// A backend that onto does not know: GPUs made of host memory that write down what they are asked to do, and have the
// CPU's kernels do it. A program has it with `#define ONTO_BACKEND "backend_tracing/backend.hpp"`.
#pragma once

#include <onto/backend/cpu/kernels.hpp>
#include <onto/runtime/backend.hpp>
#include <onto/runtime/device.hpp>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace tracing {

using namespace onto;
using namespace onto::detail;

/// A kernel that was launched.
struct launched {
  std::string kind;
  std::string operation;  // at its root
  extents space;
  int inputs = 0;
};
inline std::vector<launched> launches;
inline int gpus_there = 1;

// [device]
/// What the kernels are launched with.
struct threads : kernel_context {
  thread_pool pool{1};
};

struct reached : device_event {
  void wait() override {}
};

/// Does at once what it is given.
class gpu_of_host_memory final : public device {
 public:
  gpu_of_host_memory(place where, int number, memory_limit limit)
      : device(where, kernel_entry::own), number_(number), limit_(limit) {}

  std::string description() const override { return "device: " + std::to_string(number_) + ", name: tracing GPU"; }
  const void* peer_group() const override { return this; }

  void copy_in(const work&, void* to, const host_slot& host, std::int64_t bytes) override {
    copy(to, host.data, bytes);
  }
  void copy_out(const work&, const host_slot& host, const void* from, std::int64_t bytes) override {
    copy(host.data, from, bytes);
  }
  void copy_to(const work&, device&, void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }
  void launch(const work& w, const kernel_entry& kernel, const kernel_call& call) override {
    try {
      kernel.launch[slot()].run(threads_, call);
      count_kernel(call);
    } catch (...) {
      w.run.fail(named_failure(w.label, where()));
    }
  }

  ref<device_event> make_event() override { return ref<device_event>(new reached); }
  void record(run_state&, stream_kind, device_event&) override {}
  void wait(run_state&, stream_kind, device_event& event) override { event.wait(); }

 protected:
  void* take(std::int64_t bytes) override { return std::malloc(static_cast<std::size_t>(bytes)); }
  void give(void* memory, std::int64_t) noexcept override { std::free(memory); }
  std::int64_t limit() const override { return limit_.bytes; }

 private:
  void copy(void* to, const void* from, std::int64_t bytes) {
    if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
    count_transfer(bytes);
  }
  int number_;
  memory_limit limit_;
  threads threads_;
};

/// Those that there are.
struct gpus {
  template <class Options>
  explicit gpus(const Options&) {}
  int count() const { return gpus_there; }
  std::int64_t memory(int) const { return std::int64_t{1} << 30; }
  device* open(place where, int k, memory_limit limit) const { return new gpu_of_host_memory(where, k, limit); }
};
// [device]

// [kernels]
struct backend {
  static constexpr int slot = kernel_entry::own;
  static constexpr bool runs_host_code = true;
  static constexpr bool computes_in_floats = true;
  using gpus = tracing::gpus;
};

enum class kind { map, reduce, row, matmul, copy };
inline constexpr const char* kind_names[] = {"map", "reduce", "row", "matmul", "copy"};

/// One of the CPU's kernels, written down.
template <kind Kind, void (*Run)(kernel_context&, const kernel_call&)>
void trace(kernel_context& context, const kernel_call& call) {
  launches.push_back(
      {kind_names[static_cast<int>(Kind)], std::string(call.op ? call.op->name : ""), call.space, call.inputs});
  Run(static_cast<threads&>(context).pool, call);
}

}  // namespace tracing

template <>
struct onto::detail::backend_at<tracing::backend::slot> {
  using list = backend_list<tracing::backend>;
};

/// It has kernels of rows along the last axis, and no softmax but these.
template <>
struct onto::detail::backend_kernels<tracing::backend> : no_kernels {
  using cpu = backend_kernels<cpu_backend>;

  template <class Program, extent_of_kernel Extent, int Sizes, bool Views>
  static constexpr backend_kernel map() {
    return {&tracing::trace<tracing::kind::map, cpu::map<Program, Extent, Sizes, Views>().run>};
  }
  template <class Program, fold F, bool All, extent_of_kernel Extent, int Sizes, bool Views>
  static constexpr backend_kernel reduce() {
    return {&tracing::trace<tracing::kind::reduce, cpu::reduce<Program, F, All, Extent, Sizes, Views>().run>};
  }
  template <class RowProgram, row_order Order>
  static constexpr backend_kernel rows() {
    if constexpr (Order == row_order::across_memory)
      return {};
    else
      return {&tracing::trace<tracing::kind::row, cpu::rows<RowProgram, Order>().run>};
  }
  template <class T>
  static constexpr backend_kernel matmul() {
    return {&tracing::trace<tracing::kind::matmul, cpu::matmul<T>().run>};
  }
  template <int Sizes>
  static constexpr backend_kernel copy() {
    return {&tracing::trace<tracing::kind::copy, cpu::copy<Sizes>().run>};
  }
};
// [kernels]
