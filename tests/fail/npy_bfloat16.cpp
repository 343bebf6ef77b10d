// SPDX-License-Identifier: BSL-1.0
// NumPy has no bfloat16, so no .npy file can hold it.
// FAIL: \[onto\.npy\] NumPy has no bfloat16
#include <onto/tensor/npy.hpp>

#ifdef ONTO_TWIN
#define ELEMENT half
#else
#define ELEMENT bfloat16
#endif

void save(const onto::tensor<onto::ELEMENT, 2>& t) { onto::save_npy("t.npy", t); }
