// SPDX-License-Identifier: BSL-1.0
// A result of one element is a number of its own type; one of another type is fed as a number.
// FAIL: \[onto\.feed\] a tensor of one element feeds a placeholder of its element type
#include <onto/onto.hpp>

constexpr auto k = onto::placeholder<"k", int>;
constexpr auto x = onto::placeholder<"x", float, 3>;
const onto::tensor<std::int64_t> greatest = evaluate(argmax(x), x = {1.f, 3.f, 2.f});

#ifdef ONTO_TWIN
const auto next = evaluate(k + 1, k = static_cast<int>(greatest));
#else
const auto next = evaluate(k + 1, k = greatest);
#endif
