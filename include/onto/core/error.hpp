// SPDX-License-Identifier: BSL-1.0
// The exceptions onto throws. Each carries one sentence: what is wrong, and what to do.
#pragma once

#include <onto/core/config.hpp>

#include <stdexcept>
#include <string>

namespace onto {

/// Everything onto throws derives from this.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The program or its data asks for something that is wrong in itself: a shape, a name, a device that is not there.
struct invalid_argument_error : error {
  using error::error;
};

/// The request is right, but not yet: a variable that was not initialized.
struct failed_precondition_error : error {
  using error::error;
};

/// Memory of a device, or another bounded resource, is used up.
struct resource_exhausted_error : error {
  using error::error;
};

/// A file or a name that does not exist.
struct not_found_error : error {
  using error::error;
};

/// A device or a library failed, or onto is wrong.
struct internal_error : error {
  using error::error;
};

}  // namespace onto
