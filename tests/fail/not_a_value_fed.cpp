// SPDX-License-Identifier: BSL-1.0
// A placeholder is fed by its name.
// FAIL: \[onto\.run\] .* a placeholder is fed, sess\.run\(e, x = 3\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float>;

#ifdef ONTO_TWIN
const auto fed = x = 3;
#else
const auto fed = x(3);
#endif
