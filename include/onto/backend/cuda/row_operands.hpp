// SPDX-License-Identifier: BSL-1.0
// What the threads of a row kernel know, and how it is found from a call. Plain arithmetic.
#pragma once

#include <onto/backend/cuda/operands.hpp>
#include <onto/backend/cuda/row_facts.hpp>
#include <onto/backend/cuda/row_grid.hpp>

#include <cstddef>
#include <cstdint>

namespace onto::detail {

/// What a row kernel reads. Names no program, as strided_inputs.
template <int Inputs, int Scalars>
struct row_inputs {
  static constexpr int inputs = Inputs;
  static constexpr int scalars = Scalars;

  operand_values<Inputs, Scalars> values;
  strided_space<Inputs + 1> rows;  // where rows begin in the inputs, and in the result
  std::int64_t step[Inputs + 1];   // from one element of a row to the next
};

template <class RowProgram>
struct row_operands : row_inputs<row_facts<RowProgram>::inputs, row_facts<RowProgram>::scalars> {
  using facts = row_facts<RowProgram>;

  row_grid grid;
  std::int64_t row_count;  // that this launch goes over
  std::int64_t first_row;
  std::int64_t count;                                // elements of a row
  std::int64_t blocks;                               // that are launched
  int pack_step;                                     // between the packs of neighbouring threads
  int lane_step;                                     // between the elements of one
  bool in_packs[facts::inputs + 1];                  // whether an operand's elements are accessed in packs
  bool same[facts::inputs > 0 ? facts::inputs : 1];  // whether an input is the same for all rows
  bool any_same;
  int at[facts::slot_count > 0 ? facts::slot_count : 1];  // where slots are in shared memory
  int states_at;                                          // and what threads hand each other
  void* out;
  void* partials;        // of split rows: the states of the pieces, of two folds in turn
  std::uint64_t* given;  // and what earlier launches found for each row
};

/// Where slots are in shared memory, for one pack of one thread. What whole rows keep takes the place of an input that
/// is not read any more. *Returns* the bytes of all.
template <class RowProgram>
std::int64_t assign_slots(row_operands<RowProgram>& r, bool keeps) {
  using facts = row_facts<RowProgram>;
  constexpr auto& table = facts::table;
  bool taken[facts::slot_count > 0 ? facts::slot_count : 1] = {};
  std::int64_t bytes = 0;
  const auto append = [&](int slot) {
    r.at[slot] = static_cast<int>(bytes);
    bytes += table.size[slot] * facts::lanes;
  };
  for (int k = 0; k < facts::inputs; ++k)
    if (table.staged[k]) append(k);
  for (int k = facts::inputs; keeps && k < facts::slot_count; ++k) {
    const int phase = RowProgram::phase_of_kept(k - facts::inputs);
    int place = 0;
    while (place < facts::inputs && !(table.staged[place] && !taken[place] && !r.same[place] &&
                                      table.size[place] == table.size[k] && table.last[place] <= phase))
      ++place;
    if (place < facts::inputs) {
      taken[place] = true;
      r.at[k] = r.at[place];
    } else {
      append(k);
    }
  }
  return bytes;
}

/// Whether elements of rows may be accessed in packs. An operand that has one element for a whole row is not asked.
template <class RowProgram>
bool has_packed_rows(const row_operands<RowProgram>& r) {
  using facts = row_facts<RowProgram>;
  constexpr int lanes = facts::lanes;
  if (r.count % lanes != 0) return false;
  for (int k = 0; k <= facts::inputs; ++k) {
    const bool is_result = k == facts::inputs;
    if (is_result ? facts::stores_fold() : !facts::table.elements[k] || r.step[k] == 0) continue;
    const void* const data = is_result ? r.out : r.values.data[k];
    const int size = is_result ? facts::result_size() : facts::table.size[k];
    if (!lies_in_packs(data, size, lanes, r.step[k], r.rows.stride[k], r.rows.rank)) return false;
  }
  return true;
}

/// Blocks of whole rows that are launched. Each reads what is the same for all rows once: so few that all of them read
/// little of it beside the rows, and as many on each multiprocessor.
template <class RowProgram>
std::int64_t whole_row_blocks(const row_operands<RowProgram>& r) {
  using facts = row_facts<RowProgram>;
  std::int64_t same = 0, own = facts::stores_fold() ? 0 : facts::result_size();
  for (int k = 0; k < facts::inputs; ++k)
    if (facts::table.elements[k]) (r.same[k] ? same : own) += facts::table.size[k];
  if (same == 0) return r.grid.blocks;
  const std::int64_t most = r.row_count * own / (25 * same) / few_blocks * few_blocks;
  return least(r.grid.blocks, greatest(most, few_blocks));
}

/// `axis`: along which rows lie. `most_shared`: bytes of shared memory that a block may have; 0: rows are split.
/// *Preconditions* there are rows, and they have elements.
template <class RowProgram>
row_operands<RowProgram> row_operands_of(const kernel_call& call, int axis, std::int64_t most_shared) {
  using facts = row_facts<RowProgram>;
  constexpr int inputs = facts::inputs;
  const dimension_set along = 1u << static_cast<unsigned>(axis);
  const dimension_set rows = all_dimensions(call.space.rank) & ~along;
  operand_view operands[inputs + 1];
  for (int k = 0; k < inputs; ++k) operands[k] = call.in[k];
  if (!facts::stores_fold()) contiguous_strides(call.space, operands[inputs].stride);
  row_operands<RowProgram> r{};
  r.values = operand_values_of<inputs, facts::scalars>(call);
  r.rows = collapse<inputs + 1>(call.space, rows, operands);
  for (int k = 0; k <= inputs; ++k) r.step[k] = operands[k].stride[axis];
  r.row_count = size_of_dimensions(call.space, rows);
  r.count = call.space[axis];
  r.out = call.out.data;
  const bool packed = has_packed_rows(r);
  const bool neighbours = packed || folds_along_memory(r.rows, collapse<inputs + 1>(call.space, along, operands));
  std::int64_t smallest = facts::result_size();
  for (int k = 0; k < inputs; ++k) {
    bool is_same = facts::table.staged[k] && r.row_count > 1;
    for (const std::int64_t stride : r.rows.stride[k]) is_same = is_same && stride == 0;
    r.same[k] = is_same;
    if (facts::table.elements[k]) smallest = least(smallest, facts::table.size[k]);
  }
  std::int64_t bytes = assign_slots(r, true);
  const std::int64_t sector = neighbours ? 1 : least(32 / smallest, most_rows_together);
  const row_shape shape{r.row_count, r.count,      neighbours,
                        packed,      facts::lanes, static_cast<int>(least(power_of_two_from(r.row_count), sector)),
                        bytes};
  r.grid = arrange_register_rows(shape, packed && most_shared > 0 ? facts::packs_held() : 0);
  const bool in_registers =
      r.grid.in_registers && is_worth_whole(shape, r.grid) && r.grid.blocks <= most_register_blocks;
  if (!in_registers) r.grid = arrange_whole_rows(shape);
  if (!in_registers && !fits_whole(shape, r.grid, most_shared)) {
    bytes = assign_slots(r, false);
    r.grid = arrange_split_rows(shape, bytes, most_shared);
  }
  r.blocks = r.grid.split || in_registers ? r.grid.blocks : whole_row_blocks(r);
  for (int k = 0; k < facts::slot_count; ++k) r.at[k] *= static_cast<int>(r.grid.packs);
  r.states_at = static_cast<int>(bytes * r.grid.packs);
  r.pack_step = packed ? facts::lanes : 1;
  r.lane_step = packed ? 1 : r.grid.depth;
  for (int k = 0; k <= inputs; ++k) r.in_packs[k] = packed && r.step[k] == 1;
  for (int k = 0; k < inputs; ++k) {
    if (r.grid.split || in_registers) r.same[k] = false;
    r.any_same = r.any_same || r.same[k];
  }
  return r;
}

template <class RowProgram>
std::int64_t shared_bytes_of(const row_operands<RowProgram>& r) {
  return r.states_at + 2 * partial_bytes * states_of_block(r.grid);
}

/// Split rows that are in the works at one time.
template <class RowProgram>
std::int64_t rows_at_once(const row_operands<RowProgram>& r) {
  return least(r.row_count, most_split_rows);
}

/// Bytes of device memory that a row program works in beside its operands: none where its rows are not split.
template <class RowProgram>
std::int64_t row_workspace(const row_operands<RowProgram>& r) {
  if (!r.grid.split) return 0;
  return rows_at_once(r) * (2 * partial_bytes * r.grid.pieces + 8 * row_facts<RowProgram>::given);
}

}  // namespace onto::detail
