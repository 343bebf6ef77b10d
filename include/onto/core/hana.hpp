// SPDX-License-Identifier: BSL-1.0
// Boost.Hana's tuple, of lists of towers and fetches. Its template parameters are called I, which <complex.h> defines
// as a macro.
#pragma once

#pragma push_macro("I")
#undef I
#include <boost/hana/tuple.hpp>
#pragma pop_macro("I")
