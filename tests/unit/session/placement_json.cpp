// SPDX-License-Identifier: BSL-1.0
// A placement report as JSON: what stands in it, that it is JSON, and that any name survives it.
#include <onto/core/json.hpp>
#include <onto/onto.hpp>

#include "../../golden.hpp"
#include "../catch.hpp"
#include "strict_json.hpp"

#include <string>
#include <string_view>

using namespace onto;
using onto_test::strict_json;

namespace {

constexpr auto x = placeholder<"x", float, 2, 2>;
constexpr auto n = placeholder<"n", std::int32_t, 2, 2>;

/// What a JSON reader makes of what `write_json_string` makes of `s`.
std::string there_and_back(std::string_view s) {
  detail::message m;
  detail::write_json_string(m, s);
  strict_json reader(m.text());
  return reader.valid() ? reader.last_string : "not JSON: " + m.text();
}

std::string written(std::string_view s) {
  detail::message m;
  return detail::write_json_string(m, s).text();
}

}  // namespace

TEST_CASE("the checker of these tests knows JSON from what is not", "[session]") {
  for (const char* good : {"{}", "[]", " [1, -2.5e+3, \"a\\u0041\", null, true] ", "{\"a\": {\"b\": []}}", "0"})
    CHECK(strict_json(good).valid());
  for (const char* bad : {"", "[1,]", "{\"a\"}", "\"\n\"", "\"\\x\"", "01", "[1] 2", "{a: 1}", "\"", "1.", "[1 2]"})
    CHECK_FALSE(strict_json(bad).valid());
}

TEST_CASE("a string is escaped as JSON wants it, and UTF-8 is left alone", "[session]") {
  CHECK(written("") == "\"\"");
  CHECK(written("MatMul_1") == "\"MatMul_1\"");
  CHECK(written("a\"b\\c/d") == "\"a\\\"b\\\\c/d\"");
  CHECK(written("\b\f\n\r\t") == "\"\\b\\f\\n\\r\\t\"");
  CHECK(written(std::string_view("\0\x1f\x7f", 3)) == "\"\\u0000\\u001f\x7f\"");
  CHECK(written("\xce\xb1\xe2\x88\x91") == "\"\xce\xb1\xe2\x88\x91\"");
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  CHECK(there_and_back(all) == all);
}

TEST_CASE("a report prints as JSON: a line a node, and a summary", "[session][golden]") {
  session sess{{.allow_soft_placement = true, .simulated_gpus = 1}};
  REQUIRE(sess.devices().size() == 2);
  const auto report = sess.placement(fetches(named<"sum \"of\" \\ two">(on<gpu<3>>(x + x)), on<gpu<7>>(n * n),
                                             on<cpu<0>>(named<"\xce\xb1\n">(tanh(x)))));
  golden("print/placement_json", report.to_json());
  CHECK(strict_json(report.to_json()).valid());
  CHECK(report.moved() == 2);
  CHECK(report.to_json().find("\"summary\": {\"total\": 5, \"moved\": 2}") != std::string::npos);
}

TEST_CASE("a report of nothing is JSON too", "[session]") {
  const placement_report none;
  CHECK(none.to_json() == "{\n  \"nodes\": [],\n  \"summary\": {\"total\": 0, \"moved\": 0}\n}\n");
  CHECK(strict_json(none.to_json()).valid());
}

TEST_CASE("each reason has a word of its own", "[session]") {
  CHECK(name_of(placement_reason::free) == "free");
  CHECK(name_of(placement_reason::moved_no_device) == "moved_no_device");
  CHECK(name_of(placement_reason::elsewhere) == "elsewhere");
  for (int a = 0; a < 10; ++a)
    for (int b = 0; b < a; ++b)
      CHECK(name_of(static_cast<placement_reason>(a)) != name_of(static_cast<placement_reason>(b)));
}
