// SPDX-License-Identifier: BSL-1.0
// ALONE: names that other headers make before onto's are read, X11's macros and a whole namespace.
#include <complex>
#include <type_traits>
#include <vector>

using namespace std;

#define None 0L
#define Bool int
#define Status int
#define True 1
#define False 0
#define Success 0
#define Always 2

#include <onto/onto.hpp>

namespace {

constexpr auto x = onto::placeholder<"x", float, 4>;
static_assert(onto::plan_of(onto::exp(x)).kernels == 1);

}  // namespace
