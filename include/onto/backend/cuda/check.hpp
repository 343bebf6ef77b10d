// SPDX-License-Identifier: BSL-1.0
// Every status of the CUDA runtime passes through here and becomes an exception that says what was called and what
// happened.
#pragma once

#include <onto/core/error.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

namespace onto::detail {

/// Whether the device is lost to this process: every later call on it fails in the same way. *Source* driver_types.h,
/// the errors after which "the process must be terminated and relaunched"; beside them those of the hardware, of a
/// context that is gone, and the one that says nothing.
inline bool is_lost(cudaError_t status) {
  switch (status) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown: return true;
    default: return false;
  }
}

/// A device is lost to this process; `why` is the toolkit's name for the reason. The status that says so names none.
struct cuda_lost_error : internal_error {
  cuda_lost_error(const std::string& sentence, const char* name) : internal_error(sentence), why(name) {}
  const char* why;
  bool found = false;  // the devices that had part in it were asked which it is
};

[[noreturn]] ONTO_COLD inline void throw_cuda(cudaError_t status, const char* what) {
  // An error that is not the device's end must not be found again by the check after an unrelated launch.
  (void)cudaGetLastError();
  std::string sentence =
      std::string("[onto.cuda] ") + what + " failed: " + cudaGetErrorName(status) + ": " + cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation)
    throw resource_exhausted_error(sentence +
                                   "; the device has no memory left: use smaller tensors, or give this "
                                   "process more of it with session_options::gpu");
  if (is_lost(status))
    throw cuda_lost_error(
        sentence +
            "; the device is lost to this process, and no session of it can use the device again: end the process, "
            "and run it under compute-sanitizer if this was not the hardware",
        cudaGetErrorName(status));
  if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorUnsupportedPtxVersion)
    sentence += "; compile for this device's architecture, as in nvcc -arch=native";
  throw internal_error(sentence);
}

/// *Effects* none where `status` is success. `what` is the call, as the message names it.
/// *Throws* `resource_exhausted_error` where memory ran out, `cuda_lost_error` where the device is gone, else
/// `internal_error`.
inline void cuda_check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw_cuda(status, what);
}

/// For destructors: what fails while something is taken down has nobody left to tell, but must not be found later.
inline void cuda_ignore(cudaError_t status) noexcept {
  if (status != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace onto::detail
