// SPDX-License-Identifier: BSL-1.0
// What the other side must not change is said by the newer of DLPack's structures alone.
// FAIL: \[onto\.dlpack\] DLManagedTensor cannot say that values are read-only
#include <onto/dlpack.hpp>

using namespace onto;

#ifdef ONTO_TWIN
using structure = dlpack::DLManagedTensorVersioned;
#else
using structure = dlpack::DLManagedTensor;
#endif

structure* given(const shared_tensor<float, dyn>& t) { return to_dlpack<structure>(t); }
