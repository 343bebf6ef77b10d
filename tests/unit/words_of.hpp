// SPDX-License-Identifier: BSL-1.0
// What a call says that is to fail.
#pragma once

#include <onto/core/error.hpp>

#include <exception>
#include <string>

namespace onto_test {

/// The words of the `Error` that a call throws, or why there are none.
template <class Error = onto::error, class F>
std::string words_of(const F& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "nothing was thrown";
}

}  // namespace onto_test
