// SPDX-License-Identifier: BSL-1.0
// A map's operands brought next to each other, run by run: those of views are gathered, half and bfloat16 become
// floats, and what is rolled is read in parts.
#pragma once

#include <onto/backend/cpu/map_in_place.hpp>
#include <onto/backend/cpu/rolled.hpp>

#include <cstddef>
#include <cstdint>

namespace onto::detail {

/// Whether the elements of an operand are used where they are.
ONTO_INLINE bool in_place(const rolled_layout& l, element type) {
  return l.contiguous() && !l.rolls && !is_half_precision(type);
}

/// How the operands of a map are read, and in which runs: pieces `[k * unit, (k + 1) * unit)` of the space, each in
/// runs of `step` elements.
struct map_plan {
  const kernel_call& call;
  copy_function copy;
  std::int64_t total;
  small_array<rolled_layout, 8> in;
  std::int64_t bytes = 0;  // to stage, per element
  bool widens = false;     // whether elements have to be gathered before they become floats
  std::int64_t unit;
  std::int64_t step;

  map_plan(const kernel_call& c, copy_function copies);
  map_plan(const map_plan&) = delete;

  ONTO_INLINE std::int64_t runs_per_unit() const { return (unit + step - 1) / step; }
  ONTO_INLINE std::int64_t runs() const { return (total / unit) * runs_per_unit(); }
};

/// What one thread needs to read the operands: pointers to them, and room for those that have to be gathered.
class map_stage {
 public:
  /// For runs of at most `most` elements.
  map_stage(const map_plan& plan, std::int64_t most);

  /// Elements `[first, first + count)` of operand `i`, next to each other.
  ONTO_NOINLINE const void* read(int i, std::int64_t first, std::int64_t count) {
    const rolled_layout& l = plan_.in[i];
    const operand_view& v = plan_.call.in[i];
    if (l.uniform()) return slots_[i];
    const void* there = nullptr;
    if (l.rolls) {
      const rolled_cursor from(l, first);
      if (from.count() < count || l.inner_stride() != 1) return gather_operand(i, first, count, &from);
      there = advance(static_cast<const void*>(v.data), from.offset, v.type);
    } else if (l.contiguous()) {
      there = advance(static_cast<const void*>(v.data), first, v.type);
    } else if (l.inner_stride() == 1 && first % l.inner_extent() + count <= l.inner_extent()) {
      there = advance(static_cast<const void*>(v.data), offset_of(l.rank, l.extent, l.stride[0], first), v.type);
    }
    if (!there) return gather_operand(i, first, count);
    if (!is_half_precision(v.type)) return there;
    plan_.call.half_precision->widen(v.type, there, count, reinterpret_cast<float*>(slots_[i]));
    return slots_[i];
  }

  /// Where elements `[first, first + count)` of every operand are, next to each other.
  const void* const* locate(std::int64_t first, std::int64_t count) {
    for (int i = 0; i < plan_.call.inputs; ++i) pointers_[i] = read(i, first, count);
    return pointers_.data();
  }

  /// Evaluates the program for elements `[first, first + count)`, in the type it computes in.
  void run(span_function span, std::int64_t first, std::int64_t count, void* out) {
    span({locate(first, count), out, first, count, plan_.call.scalars, results_.data() + 1});
  }

  /// The same, in the type and at the place of the call's results.
  void store(span_function span, std::int64_t first, std::int64_t count) {
    const kernel_call& c = plan_.call;
    for (int i = 0; i <= c.more_outputs; ++i)
      results_[i] = is_half_precision(output_of(c, i).type) ? result_slots_[i] : target(output_of(c, i), first);
    run(span, first, count, results_[0]);
    for (int i = 0; i <= c.more_outputs; ++i) {
      const operand_view& out = output_of(c, i);
      if (is_half_precision(out.type))
        c.half_precision->narrow(out.type, static_cast<const float*>(results_[i]), count, target(out, first));
    }
  }

 private:
  static ONTO_INLINE constexpr std::int64_t round_up(std::int64_t n) { return (n + 63) / 64 * 64; }

  static void* target(const operand_view& out, std::int64_t first) { return advance(out.data, first, out.type); }

  /// Gathers elements of operand `i` into its slot; of a rolled one, from a cursor on.
  char* gather_operand(int i, std::int64_t first, std::int64_t count, const rolled_cursor* from = nullptr) {
    const operand_view& v = plan_.call.in[i];
    char* const to = is_half_precision(v.type) ? gathered_ : slots_[i];
    if (from)
      gather_rolled(*from, plan_.in[i], size_of(v.type), v.data, count, to, plan_.copy);
    else
      gather(plan_.in[i], size_of(v.type), v.data, first, count, to, plan_.copy);
    if (is_half_precision(v.type))
      plan_.call.half_precision->widen(v.type, to, count, reinterpret_cast<float*>(slots_[i]));
    return slots_[i];
  }

  const map_plan& plan_;
  small_array<const void*, 16> pointers_;
  small_array<char*, 16> slots_;
  small_array<void*, 16> results_;
  small_array<char*, 16> result_slots_;
  small_array<char, 16384> buffer_;
  char* gathered_;
};

inline map_plan::map_plan(const kernel_call& c, copy_function copies)
    : call(c), copy(copies), total(c.space.size()), in(c.inputs), unit(total), step(total) {
  std::int64_t inner = total, transposed = 0;
  for (int i = 0; i < c.inputs; ++i) {
    const rolled_layout& l = in[i] = layout_of_operand(c.space, c.in[i]);
    if (in_place(l, c.in[i].type)) continue;
    bytes += size_of(computed_as(c.in[i].type));
    if (l.contiguous() && !l.rolls) continue;
    widens = widens || is_half_precision(c.in[i].type);
    if (l.uniform()) continue;
    if (l.inner_extent() < inner) inner = l.inner_extent();
    if (l.rank > 1 && l.inner_stride() != 0 && l.inner_stride() != 1 && l.stride[0][l.rank - 2] == 1 &&
        transposed < l.inner_extent())
      transposed = l.inner_extent();
  }
  for (int i = 0; i <= c.more_outputs; ++i)
    if (is_half_precision(output_of(c, i).type)) bytes += size_of(element::float32);
  if (bytes == 0) return;
  const std::int64_t held = bytes + (widens ? 2 : 0);
  const std::int64_t most = 16384 / held < 64 ? 64 : 16384 / held / 64 * 64;
  if (transposed > 0 && 16 * transposed * bytes <= 256 << 10) {
    // Sixteen rows of a transposed operand at a time: each cache line that is touched is used whole.
    step = 16 * transposed;
    while (2 * step <= most) step *= 2;
  } else if (inner >= 512 && inner < total) {
    // By rows: an operand that repeats, or whose rows lie apart, is then read where it is.
    unit = inner;
    const std::int64_t runs = (inner + most - 1) / most;
    step = (inner + runs - 1) / runs;
  } else {
    step = most;
  }
  if (step > total) step = total;
}

inline map_stage::map_stage(const map_plan& plan, std::int64_t most)
    : plan_(plan),
      pointers_(plan.call.inputs),
      slots_(plan.call.inputs),
      results_(plan.call.more_outputs + 1),
      result_slots_(plan.call.more_outputs + 1),
      buffer_((plan.bytes + (plan.widens ? 2 : 0)) * round_up(most)) {
  char* at = buffer_.data();
  for (int i = 0; i < plan.call.inputs; ++i) {
    if (in_place(plan.in[i], plan.call.in[i].type)) continue;
    slots_[i] = at;
    at += size_of(computed_as(plan.call.in[i].type)) * round_up(most);
  }
  for (int i = 0; i <= plan.call.more_outputs; ++i) {
    if (!is_half_precision(output_of(plan.call, i).type)) continue;
    result_slots_[i] = at;
    at += size_of(element::float32) * round_up(most);
  }
  gathered_ = at;
  for (int i = 0; i < plan.call.inputs; ++i)
    if (plan.in[i].uniform()) gather_operand(i, 0, most);
}

}  // namespace onto::detail
