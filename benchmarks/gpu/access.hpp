// SPDX-License-Identifier: BSL-1.0
// What the programs that count accesses on emulated GPUs share: a session, data, and a row's line of JSON for each of
// its kernels.
#pragma once

#include <onto/onto.hpp>

#include <cstdio>
#include <string>

#include "control.hpp"

namespace access_counts {

inline onto::session& machine() {
  static onto::session sess{{.allow_soft_placement = true}};
  return sess;
}

/// Prints what was counted since `cuda_emulation::count_accesses(true)`. `needed`: the bytes of what is read and
/// written, once.
inline void print(const std::string& name, const std::string& shape, double needed) {
  cuda_emulation::count_accesses(false);
  for (const auto& [kernel, c] : cuda_emulation::take_counts())
    std::printf(
        "{\"row\": \"%s\", \"shape\": \"%s\", \"needed\": %.0f, \"kernel\": \"%s\", \"launches\": %ld, \"blocks\": "
        "%ld, "
        "\"threads\": %lld, \"shared\": %lld, \"loaded\": %lld, \"stored\": %lld, \"load_sectors\": %lld, "
        "\"store_sectors\": %lld, \"widest\": %lld, \"shared_requests\": %lld, \"conflicts\": %lld}\n",
        name.c_str(), shape.c_str(), needed, kernel.c_str(), c.launches, c.blocks, static_cast<long long>(c.threads),
        static_cast<long long>(c.shared_bytes), static_cast<long long>(c.load_bytes),
        static_cast<long long>(c.store_bytes), static_cast<long long>(c.load_sectors),
        static_cast<long long>(c.store_sectors), static_cast<long long>(c.widest_load),
        static_cast<long long>(c.shared_requests), static_cast<long long>(c.bank_conflicts));
  std::fflush(stdout);
}

/// The calls of the CUDA runtime that a run of a prepared program makes once it is recorded.
template <class E, class... Feeds>
void print_calls(const std::string& name, const E& e, const Feeds&... feeds) {
  const auto step = machine().prepare(e);
  for (int run = 0; run < 4; ++run) (void)step(feeds...);
  cuda_emulation::reset_calls();
  (void)step(feeds...);
  std::printf("{\"replay\": \"%s\"", name.c_str());
  for (const auto& [call, count] : cuda_emulation::calls()) std::printf(", \"%s\": %ld", call.c_str(), count);
  std::printf("}\n");
}

/// Steps of training: access_training.cpp.
void training_steps();

}  // namespace access_counts
