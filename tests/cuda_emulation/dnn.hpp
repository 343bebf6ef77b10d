// SPDX-License-Identifier: BSL-1.0
// The emulated cuDNN as tests see it: which engines it has, what it refuses, and what it was asked to do.
#pragma once

#include <cudnn_graph.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cuda_emulation {

/// A convolution as cuDNN is asked for it.
struct dnn_problem {
  cudnnBackendDescriptorType_t part = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  bool channels_last = true;
  bool bias = false, relu = false;
  std::int64_t alignment = 16;  // bytes, the least that is promised of an operand
};

/// One engine: each computes every convolution that is not refused.
struct dnn_engine {
  std::uint32_t notes = 0;      // bits of cudnnBackendNumericalNote_t
  bool compiles = false;        // when a plan is made
  bool fallback = false;        // proposed in that mode alone
  std::int64_t workspace = 0;   // bytes
  std::int64_t alignment = 16;  // of operands, that it needs
  std::optional<cudnnDataType_t> type{};
  std::int64_t number = 0;  // among all engines of a part

  bool operator==(const dnn_engine&) const = default;
};

/// A row of the table of what is refused: problems that are all that the row says.
struct dnn_refusal {
  std::optional<cudnnBackendDescriptorType_t> part{};
  std::optional<cudnnDataType_t> type{};
  std::optional<bool> epilogue{};

  enum class by : std::uint8_t {
    no_proposal,    ///< the heuristics have none
    the_graph,      ///< the graph is not supported
    the_plan,       ///< no engine can be made a plan
    the_execution,  ///< the plan does not run
  };
  by how = by::no_proposal;

  bool refuses(const dnn_problem& p) const;
};

// For tests to set, while nothing runs.

extern std::vector<dnn_refusal> dnn_refusals;
/// What the library says that it is: 90000 and more of cuDNN 9.
extern std::size_t dnn_version;
/// In the heuristics' order.
extern std::vector<dnn_engine> dnn_engines;
/// Those that there are when a program begins: of each kind one that is not to be used, then two that are.
std::vector<dnn_engine> all_dnn_engines();

/// One convolution that was executed.
struct dnn_call {
  dnn_problem problem;
  dnn_engine engine;
};
/// Those since the last call of this function.
std::vector<dnn_call> take_dnn_calls();
/// Plans made since the last call of this function.
long take_dnn_plans();

}  // namespace cuda_emulation
