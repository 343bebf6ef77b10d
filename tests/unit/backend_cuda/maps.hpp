// SPDX-License-Identifier: BSL-1.0
// What the kernels of elementwise programs and copies do, thread after thread on the host.
#pragma once

#include <onto/backend/cuda/copy_operands.hpp>
#include <onto/backend/cuda/map_plan.hpp>

#include "calls.hpp"

namespace calls {

template <class Program>
map_layout layout_of(const kernel_call& call) {
  map_layout m;
  set_layout(m, call, program_operands<Program>::inputs, program_operands<Program>::results, map_bytes<Program>::value);
  return m;
}

template <class Program>
void strided_on_host(const map_layout& m, const std::uint64_t* scalars) {
  strided_map<Program> map{operands_of<Program>(m, scalars), static_cast<std::uint32_t>(m.size), {}};
  short_space_ref(map.space).append(m, all_dimensions(m.rank));
  for (std::uint32_t k = 0; k < map.size; ++k) map_strided(map, k);
}

/// False where the operands are not rows of aligned neighbours. `steps`: of each thread, if not as many as are planned.
template <class Program>
bool coarsened_map_on_host(const map_layout& m, const std::uint64_t* scalars, std::uint32_t steps = 0) {
  if (!has_aligned_packs(m, map_lanes<Program>)) return false;
  coarsened_map<Program> map;
  static_cast<map_operands<Program>&>(map) = operands_of<Program>(m, scalars);
  const std::int64_t threads =
      plan_coarsened_map(m, map_lanes<Program>, coarsened_ahead<Program>, coarsened_map_ref(map));
  if (steps > 0) map.grid.per_thread = steps;
  for (std::int64_t k = 0; k < divide_up(threads, block_threads) * block_threads; ++k)
    run_coarsened(map, static_cast<std::uint32_t>(k));
  return true;
}

template <class Program, int... Slot>
tiled_launch tiled_map_on_host(const map_layout& m, const std::uint64_t* scalars, std::integer_sequence<int, Slot...>) {
  constexpr int lanes = tiled_lanes<Program>;
  struct thread {
    tiled_thread<map_operands<Program>::operands, lanes> place;
    typename input_packs<Program, lanes>::type in;
  };
  tiled_map<Program> map;
  static_cast<map_operands<Program>&>(map) = operands_of<Program>(m, scalars);
  const tiled_launch launch = plan_tiled_map(m, lanes * block_threads, tiled_map_ref(map));
  const auto threads = std::make_unique<thread[]>(block_threads);
  for (std::int64_t block = 0; block < launch.blocks; ++block) {
    std::vector<double> shared(static_cast<std::size_t>(launch.shared) / sizeof(double));
    [[maybe_unused]] char* memory = reinterpret_cast<char*>(shared.data());
    for (int k = 0; k < block_threads; ++k) {
      thread& t = threads[static_cast<std::size_t>(k)];
      place_tiled_thread(map.space, static_cast<std::uint32_t>(block), k, t.place);
      (load_tiled<Program, Slot>(map, t.place, t.in), ...);
      if (map.space.grid.tiled) (transpose_tile<Program, Slot, true>(map, t.place, t.in, memory), ...);
    }
    for (int k = 0; k < block_threads; ++k) {
      thread& t = threads[static_cast<std::size_t>(k)];
      if (map.space.grid.tiled) (transpose_tile<Program, Slot, false>(map, t.place, t.in, memory), ...);
      store_tiled(map, t.place, t.in, result_slots<Program>{}, std::make_integer_sequence<int, lanes>{});
    }
  }
  return launch;
}
template <class Program>
tiled_launch tiled_map_on_host(const map_layout& m, const std::uint64_t* scalars = nullptr) {
  return tiled_map_on_host<Program>(m, scalars, input_slots<Program>{});
}

/// What `cuda_copy` does.
inline void copy_on_host(const kernel_call& call) {
  map_layout copy;
  set_copy(copy, call);
  if (is_one_run(copy)) {
    std::memcpy(call.out.data, call.in[0].data, static_cast<std::size_t>(copy.size * copy.bytes[0]));
    return;
  }
  widen_words(copy);
  if (copy.bytes[0] == 8 && coarsened_map_on_host<copied_words<std::uint64_t>>(copy, nullptr)) return;
  if (copy.bytes[0] == 8)
    tiled_map_on_host<copied_words<std::uint64_t>>(copy);
  else if (copy.bytes[0] == 4)
    tiled_map_on_host<copied_words<std::uint32_t>>(copy);
  else if (copy.bytes[0] == 2)
    tiled_map_on_host<copied_words<std::uint16_t>>(copy);
  else
    tiled_map_on_host<copied_words<std::uint8_t>>(copy);
}

/// What writes a matrix product's addend.
template <class T>
void addend_on_host(const extents& space, const operand_view& from, void* out, double scale, bool relu) {
  using number = computed_of<T>;
  const std::uint64_t scalars[] = {bits_of(static_cast<number>(scale)),
                                   bits_of(relu ? number(0) : -std::numeric_limits<number>::infinity())};
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &from;
  call.out.data = out;
  const map_layout m = layout_of<addend_program<element_of<T>>>(call);
  strided_on_host<addend_program<element_of<T>>>(m, scalars);
}

}  // namespace calls
