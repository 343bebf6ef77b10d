// SPDX-License-Identifier: BSL-1.0
// Which of cuDNN's engines computes a convolution: the first of those that its heuristics propose that is as exact as
// asked, keeps to the memory there is, and can be made a plan. Needs no GPU where the device is described.
#pragma once

#include <onto/backend/cuda/cudnn/graph.hpp>
#include <onto/core/ref.hpp>

#if defined(ONTO_HAS_CUDNN)

namespace onto::detail {

constexpr std::uint32_t cudnn_notes() { return 0; }
/// A bit for each.
template <class... More>
constexpr std::uint32_t cudnn_notes(cudnnBackendNumericalNote_t first, More... more) {
  return std::uint32_t{1} << static_cast<int>(first) | cudnn_notes(more...);
}

/// Notes of engines that are not used for a form.
constexpr std::uint32_t refused_notes(const cudnn_form& form) {
  // Transforms lose digits: a convolution is to be as exact as a sum of products.
  std::uint32_t refused = cudnn_notes(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, CUDNN_NUMERICAL_NOTE_FFT,
                                      CUDNN_NUMERICAL_NOTE_WINOGRAD, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
                                      CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13);
  // Tensor cores multiply floats as TF32, which has 10 bits of fraction.
  if (form.of.type == element::float32 && !form.tf32)
    refused |= cudnn_notes(CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
  if (form.deterministic) refused |= cudnn_notes(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
  return refused;
}

/// Engines that do what none of their notes says, by the number that they have for a part.
struct unnoted_engine {
  convolution_part part;
  std::int64_t number;
  std::uint32_t notes;
};
/// Measured on an H100 with cuDNN 9.19: the kernels of this one are Winograd's, and filters of 5 x 5 are wrong by 1e-3.
inline constexpr unnoted_engine unnoted_engines[] = {
    {convolution_part::filter_gradient, 17, cudnn_notes(CUDNN_NUMERICAL_NOTE_WINOGRAD)}};

/// Whether an engine does what is refused.
ONTO_COLD inline bool is_refused(const cudnn_descriptor& engine, const cudnn_form& form) {
  const std::uint32_t refused = refused_notes(form);
  if (engine.has_note<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, refused)) return true;
  const std::int64_t number = engine.number(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  for (const unnoted_engine& e : unnoted_engines)
    if (e.part == form.of.part && e.number == number && (e.notes & refused) != 0) return true;
  return false;
}

/// A plan that can be executed, with all that it was made of.
class cudnn_plan final : public counted {
 public:
  cudnn_plan(cudnn_graph graph, cudnn_descriptor configuration, cudnn_descriptor plan)
      : graph_(std::move(graph)), configuration_(std::move(configuration)), plan_(std::move(plan)) {
    workspace = plan_.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  }
  cudnnBackendDescriptor_t get() const { return plan_.get(); }

  std::int64_t workspace = 0;       // bytes
  std::int64_t configurations = 0;  // that cuDNN proposed
  bool compiles = false;            // the engine is compiled when the plan is made

 private:
  cudnn_graph graph_;
  cudnn_descriptor configuration_;
  cudnn_descriptor plan_;
};

/// *Returns* a plan that needs at most `most` bytes of workspace; null where cuDNN has none.
ONTO_COLD inline ref<cudnn_plan> find_cudnn_plan(const cudnn_target& target, const cudnn_form& form,
                                                 std::int64_t most) {
  cudnn_graph graph(target, form);
  if (!graph.is_supported()) return {};
  std::vector<cudnn_descriptor> proposals;
  // B first: on an H100 its first exact engine takes up to half as long as that of A, whose order is that of TF32.
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    cudnn_descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.whole());
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
    if (target.described) heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *target.described);
    if (!heuristics.is_supported("asking cuDNN's heuristics")) continue;
    for (cudnn_descriptor& c : heuristics.list(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR))
      proposals.push_back(std::move(c));
  }
  // Compiling an engine takes a second: those that are there come first.
  for (const bool compiles : {false, true})
    for (cudnn_descriptor& c : proposals) {
      cudnn_descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
      c.get_descriptor(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
      if (is_refused(engine, form)) continue;
      constexpr std::uint32_t compiled = 1u << CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
      if (engine.has_note<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, compiled) != compiles) continue;
      cudnn_descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      if (target.handle) plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, target.handle);
      if (target.described) plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *target.described);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, c);
      if (!plan.is_supported("making a plan of a convolution")) continue;
      if (plan.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) > most) continue;
      ref<cudnn_plan> found(new cudnn_plan(std::move(graph), std::move(c), std::move(plan)));
      found->configurations = static_cast<std::int64_t>(proposals.size());
      found->compiles = compiles;
      return found;
    }
  return {};
}

}  // namespace onto::detail

#endif
