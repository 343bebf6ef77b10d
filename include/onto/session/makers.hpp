// SPDX-License-Identifier: BSL-1.0
// What only programs have whose options say so: the code of simulated GPUs, and that of a trace.
#pragma once

#include <onto/session/options.hpp>

#include <concepts>
#include <string>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

namespace detail {
/// A simulated GPU, number `index` of a session, which is `physical` of the machine or a part of it.
ONTO_RUNTIME device* make_simulated_gpu(int index, int physical, const memory_limit& limit, const cost_model& model);

/// A trace in a file.
ONTO_RUNTIME trace_sink* make_trace(const std::string& path);
}  // namespace detail

template <std::convertible_to<int> Count>
constexpr simulated_gpu_count::simulated_gpu_count(Count count)
    : count_(static_cast<int>(count)), make_(&detail::make_simulated_gpu) {}

template <std::convertible_to<std::string> Path>
trace_path::trace_path(Path&& path) noexcept : path_(static_cast<Path&&>(path)), make_(&detail::make_trace) {}

}  // namespace onto
ONTO_END_RUNS_ONCE
