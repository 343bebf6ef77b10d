// SPDX-License-Identifier: BSL-1.0
// The kernels of a program of onto alone: it is prepared and run once as a user would, with its operands in variables
// on the GPU; then the launches that the session made are made again in a stream of the benchmark's, with the same
// operands and grids, without the copies of the feeds and the result.
#pragma once

#include <onto/onto.hpp>
#include <onto/session/core.hpp>
#include <onto/session/devices.hpp>
#include <onto/session/environment.hpp>

#include "bench.hpp"

namespace gpu_bench {

template <class T>
inline constexpr auto incoming = onto::placeholder<"incoming", T, onto::dyn, onto::dyn>;
template <class T>
inline constexpr auto incoming_row = onto::placeholder<"incoming_row", T, onto::dyn>;

/// Host memory that copies go through.
inline void* pinned_memory(std::size_t bytes) {
  struct block {
    void* data = nullptr;
    std::size_t bytes = 0;
    ~block() { (void)cudaFreeHost(data); }
  };
  static block kept;
  if (kept.bytes < bytes) {
    (void)cudaFreeHost(kept.data);
    kept.data = nullptr;
    kept.bytes = 0;
    check(cudaMallocHost(&kept.data, bytes), "cudaMallocHost");
    kept.bytes = bytes;
  }
  return kept.data;
}

/// A session, with its core at hand.
class machine {
 public:
  explicit machine(onto::math_mode math = onto::math_mode::full, bool tune = false) : core_(make(math, tune)) {}

  template <class E, class... Symbols>
  auto run(const E& e, const onto::feed<Symbols>&... feeds) {
    const onto::detail::state* const states[] = {e.state.get()};
    return onto::detail::typed_run<E>::template run<true>(*core_, nullptr, states, feeds...);
  }

  /// Gives a variable of two axes the values of a buffer. What comes back to the host is one row.
  template <class V, class T>
  void set(const V& variable, const buffer<T>& values, int rows, int columns) {
    void* host = pinned_memory(values.bytes());
    check(cudaMemcpy(host, values.data(), values.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    const onto::tensor_ref<T, onto::dyn, onto::dyn> data(static_cast<const T*>(host), {rows, columns});
    (void)run(onto::slice<0, 1>(onto::assign(variable, incoming<T>)), incoming<T> = data);
  }
  /// And one of one axis.
  template <class V, class T>
  void set(const V& variable, const buffer<T>& values) {
    void* host = pinned_memory(values.bytes());
    check(cudaMemcpy(host, values.data(), values.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    const onto::tensor_ref<T, onto::dyn> data(static_cast<const T*>(host), {static_cast<int>(values.size())});
    (void)run(onto::slice<0, 1>(onto::assign(variable, incoming_row<T>)), incoming_row<T> = data);
  }

  onto::detail::session_core& core() const { return *core_; }

 private:
  static onto::detail::ref<onto::detail::session_core> make(onto::math_mode math, bool tune) {
    onto::session_options options;
    options.math = math;
    options.tune_matmul = tune;
    return onto::detail::ref<onto::detail::session_core>(new onto::detail::session_core(
        onto::detail::find_devices(onto::detail::apply_environment(options), onto::detail::gpu_finders), options));
  }
  onto::detail::ref<onto::detail::session_core> core_;
};

/// What a prepared program launches on the GPU.
class kernels {
 public:
  /// Prepares the program and runs it once. *Preconditions* all its operands are variables of the machine.
  template <class E>
  kernels(machine& m, const E& e) {
    using typed = onto::detail::typed_run<E>;
    const onto::detail::state* const states[] = {e.state.get()};
    try {
      program_ = m.core().prepare(typed::program(), states);
      (void)typed::template run<true>(m.core(), program_.get(), nullptr);
    } catch (const onto::resource_exhausted_error& error) {
      throw no_room(error.what());
    }
    const onto::detail::bound_program& bound = *program_->bound;
    std::size_t result_bytes = 0;
    for (int k = 0; k < bound.counts.steps; ++k) {
      const onto::detail::bound_step& step = bound.steps[k];
      if (step.step.kind != onto::step_kind::kernel) continue;
      result_bytes = static_cast<std::size_t>(bound.values[step.step.value].bytes);
      if (step.stream == 0) throw std::runtime_error("a kernel of the program runs on the host");
      for (int c = 0; c < step.call_count; ++c) calls_.push_back({step.kernel, &step.calls[c].call});
    }
    if (calls_.empty()) throw std::runtime_error("the program has no kernel");
    // What a launch from here does not write is found.
    check(cudaMemset(result<char>(), 0xff, result_bytes), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaMemset");
  }
  kernels(const kernels&) = delete;
  kernels& operator=(const kernels&) = delete;

  void launch(cudaStream_t s) {
    context_.stream = s;
    for (const call& c : calls_) c.entry->launch[onto::detail::cuda_slot].run(context_, *c.given);
  }
  /// Where the last kernel writes.
  template <class T>
  T* result() const {
    return static_cast<T*>(calls_.back().given->out.data);
  }
  std::string note() const { return std::to_string(calls_.size()) + (calls_.size() == 1 ? " kernel" : " kernels"); }

 private:
  struct call {
    const onto::detail::kernel_entry* entry;
    const onto::detail::kernel_call* given;
  };
  onto::detail::ref<onto::detail::prepared_program> program_;
  onto::detail::gpu_context context_;
  std::vector<call> calls_;
};

/// One program on several sets of operands, each in a session of its own.
template <class E>
class program_sets {
 public:
  /// `fill(machine, set)` gives the variables their values.
  template <class Fill>
  program_sets(const E& e, int sets, const Fill& fill, onto::math_mode math = onto::math_mode::full,
               bool tune = false) {
    for (int k = 0; k < sets; ++k) {
      machines_.emplace_back(new machine(math, tune));
      try {
        fill(*machines_.back(), k);
      } catch (const onto::resource_exhausted_error& error) {
        throw no_room(error.what());
      }
      programs_.emplace_back(new kernels(*machines_.back(), e));
    }
  }
  contestant as_contestant(std::function<double()> error, const char* who = "onto") const {
    return {who, [this](cudaStream_t s, int set) { programs_[static_cast<std::size_t>(set)]->launch(s); },
            std::move(error), programs_[0]->note()};
  }
  template <class T>
  T* result() const {
    return programs_[0]->template result<T>();
  }

 private:
  std::vector<std::unique_ptr<machine>> machines_;
  std::vector<std::unique_ptr<kernels>> programs_;
};

}  // namespace gpu_bench
