// SPDX-License-Identifier: BSL-1.0
// A way for tests to make devices fail.
#pragma once

namespace onto::detail {

/// A device is gone for good. Thrown by a device, or by a fault hook to take one away.
struct device_lost {
  const char* why = "the device is gone";
};

/// Called before every allocation, copy and kernel, on the thread that does it; for tests that make them fail. A hook
/// that throws `device_lost` takes the device away.
struct fault_hook {
  void (*before)(void* context, const char* what) = nullptr;
  void* context = nullptr;
};

}  // namespace onto::detail
