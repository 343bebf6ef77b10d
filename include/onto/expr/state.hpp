// SPDX-License-Identifier: BSL-1.0
// The run-time state of an expression: values of scalars and constants, and the guards that were alive when it was written.
// A small immutable tree beside the type; absent, and so usable in constant expressions, when there is nothing to hold.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/element.hpp>
#include <onto/device/device_name.hpp>
#include <onto/shape/extents.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

namespace onto::detail {

/// One `device_guard` that was alive: what it asks for and the guard outside it. Shared by the expressions written under it.
struct guard_scope {
  std::shared_ptr<const guard_scope> outer;
  device_name name;
  bool cut = false;  // no_device: what is outside does not count
};

/// The innermost guard of this thread.
inline const std::shared_ptr<const guard_scope>*& innermost_guard() {
  static thread_local const std::shared_ptr<const guard_scope>* top = nullptr;
  return top;
}

struct state;

/// A shared reference to a state, or nothing. A literal type: the empty one lives in constant expressions.
class state_ref {
 public:
  constexpr state_ref() = default;
  explicit state_ref(const state* adopted) : p_(adopted) {}
  constexpr state_ref(const state_ref& other) : p_(other.p_) {
    if (p_) retain();
  }
  constexpr state_ref(state_ref&& other) noexcept : p_(other.p_) { other.p_ = nullptr; }
  constexpr state_ref& operator=(state_ref other) noexcept {
    const state* mine = p_;
    p_ = other.p_;
    other.p_ = mine;
    return *this;
  }
  constexpr ~state_ref() {
    if (p_) release();
  }

  constexpr const state* get() const { return p_; }
  constexpr explicit operator bool() const { return p_ != nullptr; }

 private:
  inline void retain() const;
  inline void release() const;

  const state* p_ = nullptr;
};

/// What a node of an expression holds at run time.
struct state {
  mutable std::atomic<int> references{1};
  std::shared_ptr<const guard_scope> guard;
  std::vector<state_ref> children;        // one per operand, empty where no operand has state
  std::uint64_t scalar = 0;               // the bits of a scalar
  std::shared_ptr<const void> values;     // the elements of a constant, row-major
  std::int64_t bytes = 0;
  extents shape{};                        // of a constant
};

inline void state_ref::retain() const { p_->references.fetch_add(1, std::memory_order_relaxed); }

ONTO_COLD inline void state_ref::release() const {
  if (p_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete p_;
}

/// Another reference to a state that is held elsewhere.
inline state_ref shared_state(const state* s) {
  if (s) s->references.fetch_add(1, std::memory_order_relaxed);
  return state_ref{s};
}

ONTO_COLD inline state_ref make_state(const state_ref* const* operands, int count) {
  bool any = innermost_guard() != nullptr;
  for (int k = 0; k < count; ++k) any = any || *operands[k];
  if (!any) return {};
  auto* s = new state;
  if (innermost_guard()) s->guard = *innermost_guard();
  s->children.reserve(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) s->children.push_back(*operands[k]);
  return state_ref{s};
}

/// The state of an operation over operands with the given states.
template <class... Refs>
constexpr state_ref join_states(const Refs&... operands) {
  if (std::is_constant_evaluated()) return {};
  if constexpr (sizeof...(Refs) == 0) {
    return make_state(nullptr, 0);
  } else {
    const state_ref* list[] = {&operands...};
    return make_state(list, static_cast<int>(sizeof...(Refs)));
  }
}

/// The state of a scalar leaf.
template <class T>
inline state_ref scalar_state(T value) {
  auto* s = new state;
  std::memcpy(&s->scalar, &value, sizeof value);
  return state_ref{s};
}

/// The state of a constant with the given elements; a guard that is alive places it.
template <class T>
state_ref constant_state(const T* values, std::int64_t count, const extents& shape) {
  auto* s = new state;
  state_ref owner{s};
  std::shared_ptr<T> copy(new T[static_cast<std::size_t>(count > 0 ? count : 1)], std::default_delete<T[]>());
  for (std::int64_t k = 0; k < count; ++k) copy.get()[k] = values[k];
  s->bytes = count * static_cast<std::int64_t>(sizeof(T));
  s->values = copy;
  s->shape = shape;
  if (innermost_guard()) s->guard = *innermost_guard();
  return owner;
}

/// Whether two states say the same: the same values and the same guards all the way down.
ONTO_COLD inline bool equal_states(const state* a, const state* b) {
  if (a == b) return true;
  if (!a || !b) return false;
  if (a->guard != b->guard || a->scalar != b->scalar || a->bytes != b->bytes || !(a->shape == b->shape)) return false;
  if (a->children.size() != b->children.size()) return false;
  if (a->bytes && std::memcmp(a->values.get(), b->values.get(), static_cast<std::size_t>(a->bytes)) != 0) return false;
  for (std::size_t k = 0; k < a->children.size(); ++k)
    if (!equal_states(a->children[k].get(), b->children[k].get())) return false;
  return true;
}

}  // namespace onto::detail
