// SPDX-License-Identifier: BSL-1.0
// An operation of one's own without a derivative.
// FAIL: operation_has_no_derivative<
// FAIL: \[onto\.gradient\] an operation between the loss and what it is derived by has no derivative
#include <onto/onto.hpp>

using namespace onto;

struct twice : elementwise<floating_elements> {
  static constexpr std::string_view name = "Twice";
  template <class T>
  static T apply(T x) {
    return x + x;
  }
#ifdef ONTO_TWIN
  template <int>
  static constexpr auto derivative(auto g, auto, auto) {
    return g * 2;
  }
#endif
};

constexpr auto a = placeholder<"a", float, 4>;
constexpr auto loss = sum(call<twice>(a));

tensor<float, 4> run(session& sess, const tensor<float, 4>& values) { return sess.run(gradient(loss, a), a = values); }
