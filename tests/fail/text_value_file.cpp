// SPDX-License-Identifier: BSL-1.0
// Files of arrays hold numbers.
// FAIL: \[onto\.text\] files and other libraries' arrays hold numbers; serialize\(t\), of <onto/text\.hpp>
#include <onto/tensor/npy.hpp>

#ifdef ONTO_TWIN
#define ELEMENT float
#else
#define ELEMENT onto::text
#endif

void save(const onto::tensor<ELEMENT, 2>& t) { onto::save_npy("t.npy", t); }
