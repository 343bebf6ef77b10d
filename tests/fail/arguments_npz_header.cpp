// SPDX-License-Identifier: BSL-1.0
// Archives have a header of their own.
// FAIL: \[onto\.include\] write load_npz<float, dyn>\(.*a\.npz.*w.*\) with #include <onto/npz\.hpp>
#ifdef ONTO_TWIN
#include <onto/npz.hpp>
#else
#include <onto/onto.hpp>
#endif

const auto w = onto::load_npz<float, onto::dyn>("a.npz", "w");
