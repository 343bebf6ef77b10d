// SPDX-License-Identifier: BSL-1.0
// What horizontal fusion knows of a kernel of maps, or of several that are one by now, and how large one may become.
#pragma once

#include <onto/graph/kernels.hpp>

#include <cstdint>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// A merged kernel loads at most this many values and makes at most this many results: four elements at a time, both
/// together are 128 of the 255 registers of a GPU's thread.
inline constexpr int most_merged = 16;
/// And it has at most this many instructions, the longest program that a GPU computes several elements of at a time.
inline constexpr int most_merged_instructions = 64;
/// Maps of at most this many elements are small: of floats, one reads and writes 0.5 MB, which takes a GPU 0.1 us, and
/// launching it 3 us. The CPU has them in L1 and L2.
inline constexpr std::int64_t small_map = std::int64_t{64} << 10;

/// One kernel, or several that were merged.
struct kernel_group {
  int root = -1;
  int loads[most_merged] = {};  // nodes, views among them
  int load_count = 0;
  int results = 1;
  int size = 0;        // instructions
  bool open = false;   // may be merged
  bool packs = false;  // the CPU computes several elements at a time
  element lane{};      // of this type, beside truth values and narrow integers; else of the result's
  int readers = 0;     // operands elsewhere that are results of this
  bool small = false;
  bool rolls = false;        // reads through rolls
  bool splits = false;       // reads through reshapes that are no strides below: its space is a finer one
  place home{};              // of the variable that it writes, else its request
  int source = -1;           // where extents are not known: the node whose they are
  std::uint64_t update = 0;  // what it computes, if it writes variables: see update_signature
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
