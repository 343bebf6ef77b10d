// SPDX-License-Identifier: BSL-1.0
// Rows that a device reads of a value elsewhere are copied alone: the numbers are right, whatever the value is, on
// every machine, and the devices copy what the plan says.
#include <onto/onto.hpp>

#include "../catch.hpp"

using namespace onto;
namespace hana = boost::hana;

namespace {

constexpr auto x = placeholder<"x", float, 8, 3>;
constexpr auto open = placeholder<"open", float, dyn, dyn>;
constexpr auto v = variable<"v", float, 8, 3>;

tensor<float, 8, 3> rows() {
  tensor<float, 8, 3> t;
  for (int k = 0; k < 24; ++k) t.data()[k] = static_cast<float>(k);
  return t;
}
tensor<float, dyn, dyn> open_rows() {
  tensor<float, dyn, dyn> t({8, 3});
  for (int k = 0; k < 24; ++k) t.data()[k] = static_cast<float>(k);
  return t;
}
const tensor<float, 2, 3> doubled_middle{{18, 20, 22}, {24, 26, 28}};

session_options options(int gpus) {
  session_options o;
  o.allow_soft_placement = true;
  o.simulated_gpus = gpus;
  return o;
}

template <class Program>
std::int64_t transfer_bytes(session& sess, const Program& run) {
  const auto count = [&] {
    std::int64_t bytes = 0;
    for (const device_info& d : sess.devices()) bytes += sess.statistics(d.name).transfer_bytes;
    return bytes;
  };
  const std::int64_t before = count();
  run();
  return count() - before;
}

template <class E>
constexpr auto middle(const E& e) {
  return slice<3, 5>(e) + slice<3, 5>(e);
}

}  // namespace

TEST_CASE("rows of a feed, a constant, a variable and a result", "[session][runtime]") {
  for (const int gpus : {0, 1, 2, 3}) {
    session sess{options(gpus)};
    CHECK(sess.run(on<gpu<0>>(middle(x)), x = rows()) == doubled_middle);
    CHECK(sess.run(on<gpu<1>>(middle(on<cpu<0>>(x + 0))), x = rows()) == doubled_middle);
    CHECK(sess.run(on<gpu<1>>(middle(on<gpu<0>>(x + 0))), x = rows()) == doubled_middle);
    CHECK(sess.run(on<cpu<0>>(middle(on<gpu<0>>(x + 0))), x = rows()) == doubled_middle);
    sess.run(on<gpu<0>>(assign(v, x)), x = rows());
    CHECK(sess.run(on<gpu<1>>(middle(v))) == doubled_middle);
    CHECK(sess.run(on<cpu<0>>(middle(v))) == doubled_middle);
    const auto fixed = constant({{0.f, 1.f}, {2.f, 3.f}, {4.f, 5.f}});
    CHECK(sess.run(on<gpu<1>>(slice<1, 3>(fixed) * 2)) == tensor<float, 2, 2>{{4, 6}, {8, 10}});
  }
}

TEST_CASE("rows of extents that are known at run time", "[session][runtime]") {
  for (const int gpus : {0, 1, 2}) {
    session sess{options(gpus)};
    const auto last = on<gpu<1>>(slice<-2, to_end>(open) * 2);
    CHECK(sess.run(last, open = open_rows()) == tensor<float, dyn, dyn>{{36, 38, 40}, {42, 44, 46}});
    const auto apart = on<gpu<0>>(sum<0>(slice<0, 2>(open)) - sum<0>(slice<6, to_end>(open)));
    CHECK(sess.run(apart, open = open_rows()) == tensor<float, dyn>{-36, -36, -36});
    // Fewer rows than are asked for, and none.
    CHECK(sess.run(on<gpu<0>>(slice<7, 20>(open) + 0), open = open_rows()) == tensor<float, dyn, dyn>{{21, 22, 23}});
    CHECK(sess.run(on<gpu<0>>(sum(slice<8, 20>(open))), open = open_rows()) == 0.0f);
  }
}

TEST_CASE("views of rows look at what was copied", "[session][runtime]") {
  session sess{options(2)};
  CHECK(sess.run(on<gpu<0>>(transpose(slice<1, 3>(x)) + 0), x = rows()) == tensor<float, 3, 2>{{3, 6}, {4, 7}, {5, 8}});
  CHECK(sess.run(on<gpu<0>>(slice<1, 2>(slice<1, 3>(x)) + 0), x = rows()) == tensor<float, 1, 3>{{6, 7, 8}});
  CHECK(sess.run(on<gpu<0>>(reshape<6>(slice<1, 3>(x)) + 0), x = rows()) == tensor<float, 6>{3, 4, 5, 6, 7, 8});
  CHECK(sess.run(on<gpu<0>>(slice<range<>, range<0, 1>>(slice<6, 8>(x)) + 0), x = rows()) ==
        tensor<float, 2, 1>{{18}, {21}});
  CHECK(sess.run(on<gpu<1>>(concat<0>(slice<6, 8>(x), slice<0, 1>(x))), x = rows()) ==
        tensor<float, 3, 3>{{18, 19, 20}, {21, 22, 23}, {0, 1, 2}});
  CHECK(sess.run(on<gpu<1>>(matmul(slice<0, 1>(x), transpose(slice<7, 8>(x)))), x = rows()) ==
        tensor<float, 1, 1>{{0 * 21 + 1 * 22 + 2 * 23}});
}

TEST_CASE("a batch goes to its towers in shares, and back", "[session][runtime]") {
  constexpr auto four = hana::tuple_t<gpu<0>, gpu<1>, gpu<2>, gpu<3>>;
  const auto whole =
      on<cpu<0>>(concat<0>(towers(four, [](auto p) { return slice<2 * p.index, 2 * p.index + 2>(x) * 2; })));
  for (const int gpus : {1, 2, 3, 4}) {
    session sess{options(gpus)};
    REQUIRE(static_cast<int>(sess.devices().size()) == gpus + 1);
    const auto step = sess.prepare(whole);
    for (int k = 0; k < 4; ++k) {  // replayed from the third on
      tensor<float, 8, 3> data = rows(), expected = rows();
      for (int j = 0; j < 24; ++j) {
        data.data()[j] += static_cast<float>(100 * k);
        expected.data()[j] = 2 * data.data()[j];
      }
      const std::int64_t bytes = transfer_bytes(sess, [&] { CHECK(step(x = data) == expected); });
      CHECK(bytes == 2 * 8 * 3 * 4);  // each row there and back
    }
  }
}

TEST_CASE("rows of a variable in a prepared run follow it to new memory", "[session][runtime]") {
  session sess{options(2)};
  sess.run(on<gpu<0>>(assign(v, x)), x = rows());
  const auto grow = sess.prepare(on<gpu<0>>(assign_add(v, x)));
  const auto look = sess.prepare(on<gpu<1>>(sum(slice<0, 1>(v))));
  for (int k = 0; k < 6; ++k) {
    CHECK(look() == 3.0f * static_cast<float>(k + 1));
    grow(x = rows());
  }
}
