// SPDX-License-Identifier: BSL-1.0
// Sorts in sessions: NumPy's results of every element type.
#include <onto/sort.hpp>

#include <cstdint>

#include "words.hpp"

using namespace onto;
using namespace onto_test;

namespace {

#define WORD(...) words.check(#__VA_ARGS__, sess.run(on<Place>(__VA_ARGS__), x = X))

template <class T, int Rows, int Columns, class Place>
void check_ordered(session& sess, Place) {
  numpy_words words("ordered " + numpy_name(element_of<T>), 10, 1);
  constexpr auto x = placeholder<"x", T, Rows, Columns>;
  tensor<T, 3, 6> X;
  words.fill("x", X);
  WORD(sort(x));
  WORD(sort<0>(x, descending));
  WORD(argsort(x));
  WORD(argsort<0>(x, descending));
  WORD(top_k<3>(x).values);
  WORD(top_k<2, 0>(x).indices);
  WORD(unique<2>(x).values);
  WORD(unique<20>(x).values);
  WORD(unique<20>(x).counts);
  WORD(unique<20>(x).found);
}

}  // namespace

TEST_CASE("sorts and what is made of them compute what NumPy computes", "[session]") {
  session sess{{.simulated_gpus = 1}};
  check_ordered<bool, 3, 6>(sess, cpu<0>{});
  check_ordered<std::int8_t, 3, 6>(sess, cpu<0>{});
  check_ordered<std::uint8_t, dyn, dyn>(sess, gpu<0>{});
  check_ordered<std::int16_t, 3, 6>(sess, cpu<0>{});
  check_ordered<std::uint16_t, 3, 6>(sess, cpu<0>{});
  check_ordered<std::int32_t, dyn, 6>(sess, cpu<0>{});
  check_ordered<std::uint32_t, 3, 6>(sess, cpu<0>{});
  check_ordered<std::int64_t, 3, 6>(sess, cpu<0>{});
  check_ordered<std::uint64_t, dyn, dyn>(sess, cpu<0>{});
  check_ordered<half, 3, 6>(sess, cpu<0>{});
  check_ordered<float, dyn, dyn>(sess, gpu<0>{});
  check_ordered<double, 3, dyn>(sess, cpu<0>{});
}
