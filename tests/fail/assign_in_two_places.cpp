// SPDX-License-Identifier: BSL-1.0
// One assignment used inside of a placement and outside of it is two, which have no order.
// FAIL: \[onto\.variable\] one run assigns to a variable in two places, as where one assignment is used inside on<D>
// FAIL: variable_is_assigned_in_two_places
#include <onto/onto.hpp>

using namespace onto;

inline constexpr auto w = variable<"w", float, 2>;
inline constexpr auto x = placeholder<"x", float, 3, 2>;

void step(session& sess, const tensor<float, 3, 2>& data) {
#ifdef ONTO_TWIN
  const auto up = on<gpu<0>>(assign_add(w, mean<0>(x)));
#else
  const auto up = assign_add(w, mean<0>(x));
#endif
  sess.run(fetches(on<gpu<0>>(sum(up)), mean(up)), x = data);
}
