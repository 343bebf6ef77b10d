// SPDX-License-Identifier: BSL-1.0
// The run-time state of an expression: values of scalars and constants, and the guards that were alive when it was
// written. A small immutable tree beside the type; absent, and so usable in constant expressions, when there is nothing
// to hold.
#pragma once

#include <onto/core/atomic.hpp>
#include <onto/core/config.hpp>
#include <onto/core/element.hpp>
#include <onto/device/place.hpp>
#include <onto/expr/state_blocks.hpp>
#include <onto/shape/extents.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

struct guard_scope;

/// What nested scopes ask for together.
struct scope_request {
  place where{};
  bool foreign = false;  // a device that no process can have: of another kind, or of a replica
  std::string text;      // the canonical name; empty: nothing
};

/// One scope on the way down to an operation: a guard or an `on`.
struct scope_step {
  const guard_scope* guard = nullptr;
  place where{};
};

/// One `device_guard` that was alive, and the guard outside it. Shared by the expressions written under it. What it
/// does is behind pointers, so that a program without guards does not compile it.
struct guard_scope {
  mutable atomic<int> references{1};
  const guard_scope* outer = nullptr;
  void (*combine)(const scope_step* steps, int count, scope_request& out) = nullptr;
  bool (*equal)(const guard_scope*, const guard_scope*) = nullptr;
  void (*destroy)(const guard_scope*) = nullptr;
};

inline void retain(const guard_scope* g) {
  if (g) g->references.fetch_add(1, memory_order_relaxed);
}
ONTO_COLD inline void release(const guard_scope* g) {
  while (g && g->references.fetch_sub(1, memory_order_acq_rel) == 1) {
    const guard_scope* outer = g->outer;
    g->destroy(g);
    g = outer;
  }
}

/// The innermost guard of this thread.
ONTO_INLINE const guard_scope*& innermost_guard() {
  static thread_local const guard_scope* top = nullptr;
  return top;
}

/// What can be done with data of the program's, a tensor or a vector, whatever its type.
struct data_object {
  const void* (*values)(const void* object);
  extents (*shape)(const void* object);
  void (*destroy)(const void* object);  // null where it is not ours
  bool (*same)(const void* object,
               const void* other) = nullptr;  // of constants: whether shapes and values are the same
};

}  // namespace onto::detail
ONTO_END_RUNS_ONCE

// What each expression passes through, so optimized.
namespace onto::detail {

/// What a node of an expression holds at run time. The children's pointers and a constant's elements follow it in
/// memory.
struct state {
  mutable atomic<int> references{1};
  const guard_scope* guard = nullptr;
  int child_count = 0;
  bool guards = false;               // this or what is below was written under a guard
  const state** children = nullptr;  // one per operand, null where it has no state
  std::uint64_t scalar = 0;          // the bits of a scalar
  const void* values = nullptr;      // the elements of a constant, row-major
  std::int64_t bytes = 0;
  extents shape{};  // of a constant
  const data_object* refers_to =
      nullptr;                   // of a leaf that is data of the program's: not its values, but where they are
  const void* object = nullptr;  // and whose
};

/// The values of a constant, or of data as it is now.
ONTO_INLINE const void* values_of(const state& s) { return s.refers_to ? s.refers_to->values(s.object) : s.values; }
ONTO_INLINE extents shape_of(const state& s) { return s.refers_to ? s.refers_to->shape(s.object) : s.shape; }

inline void retain(const state* s) {
  if (s) s->references.fetch_add(1, memory_order_relaxed);
}

/// How far behind a state's beginning its elements are, after the pointers to its children.
ONTO_INLINE constexpr std::size_t head_of_state(int children) {
  constexpr std::size_t align = alignof(std::max_align_t);
  return (sizeof(state) + static_cast<std::size_t>(children) * sizeof(state*) + align - 1) / align * align;
}
ONTO_INLINE constexpr bool fits_state_block(int children, std::int64_t bytes) {
  return is_state_block(head_of_state(children) + static_cast<std::size_t>(bytes));
}

ONTO_NOINLINE inline void release(const state* s) {
  if (!s) return;
  // The only reference is nobody else's to copy, and no instruction that locks is needed to give it up.
  if (s->references.load(memory_order_acquire) != 1 && s->references.fetch_sub(1, memory_order_acq_rel) != 1) return;
  for (int k = 0; k < s->child_count; ++k) release(s->children[k]);
  if (s->guard) release(s->guard);
  if (s->refers_to && s->refers_to->destroy) s->refers_to->destroy(s->object);
  const bool is_block = fits_state_block(s->child_count, s->bytes);
  s->~state();
  if (is_block)
    keep_state_block(const_cast<state*>(s));
  else
    std::free(const_cast<state*>(s));
}

/// A state with room for children, whose pointers are to be set, and elements behind it.
ONTO_NOINLINE inline state* new_state(int children, std::int64_t bytes, bool guarded) {
  const bool is_block = fits_state_block(children, bytes);
  // Few elements may lie anywhere, more are read in cache lines; aligned_alloc takes longer than malloc.
  const std::size_t align = is_block || bytes == 0 ? alignof(std::max_align_t) : 64;
  const std::size_t head = (head_of_state(children) + align - 1) / align * align;
  const std::size_t size = (head + static_cast<std::size_t>(bytes) + align - 1) / align * align;
  void* memory = is_block ? take_state_block() : bytes > 0 ? std::aligned_alloc(align, size) : std::malloc(size);
  if (!memory) throw std::bad_alloc();
  auto* s = ::new (memory) state;
  s->child_count = children;
  s->children = reinterpret_cast<const state**>(s + 1);
  s->values = static_cast<char*>(memory) + head;
  s->bytes = bytes;
  if (const guard_scope* const guard = guarded ? innermost_guard() : nullptr) {
    s->guard = guard;
    s->guards = true;
    retain(guard);
  }
  return s;
}

/// A shared reference to a state, or nothing. A literal type: the empty one lives in constant expressions.
class state_ref {
 public:
  constexpr state_ref() = default;
  explicit state_ref(const state* adopted) : p_(adopted) {}
  constexpr state_ref(const state_ref& other) : p_(other.p_) {
    if (p_) retain(p_);
  }
  constexpr state_ref(state_ref&& other) noexcept : p_(other.p_) { other.p_ = nullptr; }
  constexpr state_ref& operator=(state_ref other) noexcept {
    const state* mine = p_;
    p_ = other.p_;
    other.p_ = mine;
    return *this;
  }
  constexpr ~state_ref() {
    if (p_) release(p_);
  }

  ONTO_INLINE constexpr const state* get() const { return p_; }
  constexpr explicit operator bool() const { return p_ != nullptr; }

 private:
  const state* p_ = nullptr;
};

/// In place of a `state_ref` that is always empty.
struct no_state {
  ONTO_INLINE constexpr const state* get() const { return nullptr; }
  constexpr explicit operator bool() const { return false; }
};

/// Another reference to a state that is held elsewhere.
inline state_ref shared_state(const state* s) {
  retain(s);
  return state_ref{s};
}

ONTO_NOINLINE inline const state* make_state(const state* const* operands, int count) {
  state* s = new_state(count, 0, true);
  for (int k = 0; k < count; ++k) {
    s->children[k] = operands[k];
    if (!operands[k]) continue;
    s->guards = s->guards || operands[k]->guards;
    retain(operands[k]);
  }
  return s;
}

/// The state of an operation over operands with the given states.
template <class... States>
ONTO_INLINE constexpr state_ref join_states(const States*... operands) {
  if (__builtin_is_constant_evaluated() || (!innermost_guard() && (... && !operands))) return {};
  const state* list[] = {operands..., nullptr};
  return state_ref{make_state(list, static_cast<int>(sizeof...(States)))};
}

/// The state of a scalar leaf.
template <class T>
state_ref scalar_state(T value) {
  state* s = new_state(0, 0, false);
  std::memcpy(&s->scalar, &value, sizeof value);
  return state_ref{s};
}

/// The state of a constant with the given elements; a guard that is alive places it.
ONTO_COLD ONTO_NOINLINE inline state_ref constant_state(const void* values, std::int64_t bytes, const extents& shape) {
  state* s = new_state(0, bytes, true);
  if (bytes > 0) std::memcpy(const_cast<void*>(s->values), values, static_cast<std::size_t>(bytes));
  s->shape = shape;
  return state_ref{s};
}

}  // namespace onto::detail
