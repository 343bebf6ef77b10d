// SPDX-License-Identifier: BSL-1.0
// Sums by letters have a header of their own.
// FAIL: \[onto\.include\] write einsum<.*ij,jk->ik.*>\(x, y\) with #include <onto/einsum\.hpp>
#ifdef ONTO_TWIN
#include <onto/einsum.hpp>
#else
#include <onto/onto.hpp>
#endif

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

const auto y = onto::einsum<"ij->j">(x);
