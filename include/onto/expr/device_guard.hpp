// SPDX-License-Identifier: BSL-1.0
// `device_guard`: a placement scope as an object, known at run time.
#pragma once

#include <onto/device/device_name.hpp>
#include <onto/expr/state.hpp>

#include <memory>
#include <string_view>

namespace onto {

struct no_device_t {
  explicit no_device_t() = default;
};

/// Cuts a guard off from the scopes outside it: `device_guard g{no_device}`.
inline constexpr no_device_t no_device{};

/// Places the operations that are written while it lives, on its thread. Guards and `on` scopes nest; the inner one wins field by field.
class device_guard {
 public:
  template <place_type Device>
  explicit device_guard(Device) : device_guard(device_name(Device{}), false) {}
  /// *Throws* `invalid_argument_error` where `name` is not a device name.
  explicit device_guard(std::string_view name) : device_guard(device_name::parse(name), false) {}
  explicit device_guard(const device_name& name) : device_guard(name, false) {}
  explicit device_guard(no_device_t) : device_guard(device_name{}, true) {}

  device_guard(const device_guard&) = delete;
  device_guard(device_guard&&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  device_guard& operator=(device_guard&&) = delete;

  ~device_guard() { detail::innermost_guard() = outer_; }

 private:
  device_guard(const device_name& name, bool cut) : outer_(detail::innermost_guard()) {
    auto scope = std::make_shared<detail::guard_scope>();
    if (outer_) scope->outer = *outer_;
    scope->name = name;
    scope->cut = cut;
    scope_ = std::move(scope);
    detail::innermost_guard() = &scope_;
  }

  const std::shared_ptr<const detail::guard_scope>* outer_;
  std::shared_ptr<const detail::guard_scope> scope_;
};

}  // namespace onto
