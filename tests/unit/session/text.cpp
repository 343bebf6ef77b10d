// SPDX-License-Identifier: BSL-1.0
// Programs over texts: constants, feeds, views, comparisons, choices; on CPUs alone, between them, and when they fail.
#include <onto/batches.hpp>
#include <onto/indexing.hpp>
#include <onto/onto.hpp>

#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "../catch.hpp"
#include "saboteur.hpp"
#include "simulated.hpp"

using namespace onto;
using detail::count_texts;
using onto_test::saboteur;
using onto_test::simulated_alone;
using onto_test::words_of;

namespace {

constexpr auto x = placeholder<"x", text, dyn>;
constexpr auto y = placeholder<"y", text, dyn>;
constexpr auto one = placeholder<"one", text>;
constexpr auto number = placeholder<"number", float, dyn>;

std::string printed(const auto& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace

TEST_CASE("a constant of text is fetched and printed", "[session][text]") {
  const auto s = constant("Hello, distributed onto!");
  static_assert(decltype(s)::type == element::text && decltype(s)::facts.shape.rank == 0);
  session sess;
  CHECK(printed(sess.run(s)) == "Hello, distributed onto!");
  CHECK(sess.run(s) == "Hello, distributed onto!");
  CHECK(evaluate(s) == "Hello, distributed onto!");
  CHECK(sess.run(on<cpu<0>>(s)) == "Hello, distributed onto!");
  CHECK(sess.prepare(s)() == "Hello, distributed onto!");
  const text t = sess.run(constant<"greeting">(std::string("a\0b", 3)));
  CHECK(t.view() == std::string_view("a\0b", 3));
  CHECK(sess.run(named<"h">(s)) == "Hello, distributed onto!");
  auto [a, b] = sess.run(fetches(s, constant("")));
  CHECK(a.at() == "Hello, distributed onto!");
  CHECK(b.at().empty());
}

TEST_CASE("lists of texts have the shapes of lists of numbers", "[session][text]") {
  CHECK(evaluate(constant({"a"})) == tensor<text, 1>{"a"});
  CHECK(evaluate(constant({"a", "b"})) == tensor<text, 2>{"a", "b"});
  CHECK(evaluate(constant<"m">({{"a", "b"}, {"c", "d"}, {"e", ""}})) ==
        tensor<text, 3, 2>{{"a", "b"}, {"c", "d"}, {"e", ""}});
  CHECK(evaluate(constant({{{"a", "b"}}, {{"c", "d"}}})) == tensor<text, 2, 1, 2>{{{"a", "b"}}, {{"c", "d"}}});
  const tensor<text, dyn> names{"u", "v"};
  CHECK(evaluate(constant(names)) == names);
  CHECK(evaluate(constant<"names">(names)) == names);
}

TEST_CASE("texts are fed: tensors, vectors, strings, lists", "[session][text]") {
  session sess;
  const tensor<text, dyn> expected{"u", "v"};
  const std::vector<std::string> strings{"u", "v"};
  const std::vector<text> texts{"u", "v"};
  const std::vector<std::string_view> views{"u", "v"};
  CHECK(sess.run(x, x = expected) == expected);
  CHECK(sess.run(x, x = strings) == expected);
  CHECK(sess.run(x, x = std::vector<std::string>(strings)) == expected);
  CHECK(sess.run(x, x = texts) == expected);
  CHECK(sess.run(x, x = views) == expected);
  CHECK(sess.run(x, x = {"u", "v"}) == expected);
  CHECK(sess.run(one, one = "u").at() == "u");
  CHECK(sess.run(one, one = strings[1]).at() == "v");
  CHECK(evaluate(concat<0>(x, expected), x = {"t"}) == tensor<text, dyn>{"t", "u", "v"});
  CHECK(words_of<invalid_argument_error>([&] {
          sess.run(placeholder<"two", text, 2>, placeholder<"two", text, 2> = std::vector<std::string>{"a"});
        }).find("[onto.tensor] ") == 0);
}

TEST_CASE("a text outlives what it came from", "[session][text]") {
  const std::size_t before = count_texts();
  {
    tensor<text, dyn> kept;
    {
      session sess;
      auto fed = std::make_unique<tensor<text, dyn>>(tensor<text, dyn>{"a fed text", "another"});
      kept = sess.run(concat<0>(flip<0>(x), constant({"a constant"})), x = *fed);
    }
    CHECK(kept == tensor<text, dyn>{"another", "a fed text", "a constant"});
  }
  CHECK(count_texts() == before);
}

TEST_CASE("texts are compared and chosen", "[session][text]") {
  session sess;
  const tensor<text, dyn> a{"p", "q", ""}, b{"p", "r", ""};
  CHECK(sess.run(x == y, x = a, y = b) == tensor<bool, dyn>{true, false, true});
  CHECK(sess.run(x != y, x = a, y = b) == tensor<bool, dyn>{false, true, false});
  CHECK(sess.run(x == "q", x = a) == tensor<bool, dyn>{false, true, false});
  CHECK(sess.run("q" != x, x = a) == tensor<bool, dyn>{true, false, true});
  CHECK(sess.run(a == "q") == tensor<bool, dyn>{false, true, false});
  CHECK(sess.run("q" != a) == tensor<bool, dyn>{true, false, true});
  CHECK(sess.run(where(tensor<text, 2>{"p", "r"} == std::string("r"), 1, 0)) == tensor<int, 2>{0, 1});
  const tensor<text> one_text("p");
  const bool same = one_text == "p", other = one_text == std::string("q");  // that of one text is one bool
  CHECK((same && !other));
  CHECK(sess.run(x == constant({{"p"}, {"q"}}), x = a) ==
        tensor<bool, dyn, dyn>{{true, false, false}, {false, true, false}});
  CHECK(sess.run(where(x == y, x, constant("?")), x = a, y = b) == tensor<text, dyn>{"p", "?", ""});
  CHECK(sess.run(sum(cast<float>(x == y)), x = a, y = b) == 2.f);
  CHECK(evaluate(where(number > 0.f, x, y), number = {1, -1, 1}, x = a, y = b) == tensor<text, dyn>{"p", "r", ""});
}

TEST_CASE("texts change places", "[session][text]") {
  session sess;
  const tensor<text, 2, 3> m{{"a", "b", "c"}, {"d", "e", "f"}};
  CHECK(sess.run(transpose(constant(m))) == tensor<text, 3, 2>{{"a", "d"}, {"b", "e"}, {"c", "f"}});
  CHECK(sess.run(reshape<6>(constant(m))) == tensor<text, 6>{"a", "b", "c", "d", "e", "f"});
  CHECK(sess.run(concat<0>(constant(m), flip<1>(constant(m)))) ==
        tensor<text, 4, 3>{{"a", "b", "c"}, {"d", "e", "f"}, {"c", "b", "a"}, {"f", "e", "d"}});
  CHECK(sess.run(take<0>(x, constant({2, 0, 2})), x = {"a", "b", "c"}) == tensor<text, 3>{"c", "a", "c"});
}

TEST_CASE("constants of one name are one text", "[session][text]") {
  session sess;
  const auto program = [](const char* a, const char* b) {
    return concat<0>(constant<"c">({a, "same"}), constant<"c">({b, "same"}));
  };
  CHECK(sess.run(program("p", "p")) == tensor<text, 4>{"p", "same", "p", "same"});
  CHECK(words_of<invalid_argument_error>([&] { sess.run(program("p", "q")); }).find("'c'") != std::string::npos);
  // Without a name they are what they say.
  CHECK(sess.run(concat<0>(constant({"p"}), constant({"q"}))) == tensor<text, 2>{"p", "q"});
}

TEST_CASE("results go into texts that are there", "[session][text]") {
  const std::size_t before = count_texts();
  {
    session sess;
    auto step = sess.prepare(flip<0>(x));
    tensor<text, dyn> out{"old", "texts"};
    step.to(out)(x = {"a", "b"});
    CHECK(out == tensor<text, dyn>{"b", "a"});
    step.to(out)(x = out);  // an output is read
    CHECK(out == tensor<text, dyn>{"a", "b"});
    std::vector<text> row(2);
    sess.run_to(std::span(row), flip<0>(x), x = row);
    CHECK(row[0].empty());
  }
  CHECK(count_texts() == before);
}

TEST_CASE("texts go where other texts were computed from", "[session][text]") {
  const std::size_t before = count_texts();
  {
    const std::string end(40, '.');
    const tensor<text, dyn> one{"a" + end, "b" + end}, other{"x" + end, "y" + end, "z" + end};
    static constexpr auto y = placeholder<"y", text, dyn>;
    tensor<text, dyn> left = one, right = other;
    const auto made_meanwhile = [&] {  // takes memory that was freed too early
      const text blocks[] = {text("1" + end), text("2" + end), text("3" + end)};
      CHECK(blocks[0] != blocks[1]);
    };
    session sess;
    auto swap = sess.prepare(fetches(y, x));
    swap.to(std::tie(left, right))(x = left, y = right);
    made_meanwhile();
    CHECK(left == other);
    CHECK(right == one);
    evaluate_to(std::tie(left, right), fetches(y, x), x = left, y = right);
    made_meanwhile();
    CHECK(left == one);
    CHECK(right == other);
    sess.run_to(std::tie(right, left), fetches(flip<0>(left), flip<0>(right)));
    made_meanwhile();
    CHECK(right == tensor<text, dyn>{"b" + end, "a" + end});
    CHECK(left == tensor<text, dyn>{"z" + end, "y" + end, "x" + end});
  }
  CHECK(count_texts() == before);
}

TEST_CASE("texts are not for GPUs", "[session][text][golden]") {
  const auto s = constant("x");
  session hard(simulated_alone({.simulated_gpus = 1}));
  const std::string said = words_of<invalid_argument_error>([&] { hard.run(on<gpu<0>>(s)); });
  CHECK(
      said.find("Cannot assign a device for operation Const: Could not satisfy explicit device specification "
                "'/device:GPU:0' because no supported kernel for GPU devices is available; Const has kernels for: CPU "
                "(float, ") == 0);
  CHECK(said.find("uint64, text), GPU (float, ") != std::string::npos);
  CHECK(said.rfind("uint64)") == said.size() - 7);
  CHECK(hard.run(s) == "x");

  std::string log;
  session soft(simulated_alone({.allow_soft_placement = true,
                                .log_device_placement = true,
                                .log = [&](std::string_view line) { log += line; },
                                .simulated_gpus = 1}));
  CHECK(soft.run(on<gpu<0>>(s)) == "x");
  CHECK(
      log.find("Const: (Const): /job:localhost/replica:0/task:0/device:CPU:0 (requested /device:GPU:0; moved: no text "
               "kernel there; Const has kernels for: CPU (") != std::string::npos);
  const auto stays = [&](const auto& e, auto expected) {
    CHECK(words_of<invalid_argument_error>([&] {
            hard.run(on<gpu<0>>(e), x = {"a", "b"});
          }).find("Cannot assign a device") == 0);
    CHECK(soft.run(on<gpu<0>>(e), x = {"a", "b"}) == expected);
    CHECK(hard.run(e, x = {"a", "b"}) == expected);
  };
  stays(flip<0>(x), tensor<text, dyn>{"b", "a"});
  stays(concat<0>(x, x), tensor<text, dyn>{"a", "b", "a", "b"});
  stays(take<0>(x, constant({1})), tensor<text, 1>{"b"});
  stays(take_along_axis<0>(x, constant({1, 0})), tensor<text, 2>{"b", "a"});
  stays(where(constant({true, false}), x, flip<0>(x)), tensor<text, 2>{"a", "a"});
  stays(x == "b", tensor<bool, dyn>{false, true});
  // What is counted of texts goes to the GPU.
  CHECK(soft.run(on<gpu<0>>(sum(cast<float>(x == "b"))), x = {"a", "b", "b"}) == 2.f);
  static_assert(!placeable<world<cpu<0>, gpu<0>>>(on<gpu<0>>(x)));
  static_assert(placeable<world<cpu<0>, gpu<0>>>(on<cpu<0>>(x)));
}

TEST_CASE("a run of texts that fails leaves nothing behind", "[session][text]") {
  const std::size_t before = count_texts();
  {
    session sess(simulated_alone({.simulated_gpus = 1}));
    const auto program = concat<0>(where(number > 0.f, x, flip<0>(y)), constant({"end"}));
    const auto run = [&] {
      return sess.run(program, number = {1, -1}, x = {"only here 1", "only here 2"}, y = {"only there", "only so"});
    };
    saboteur counting;
    sess.inject(counting.hook());
    const tensor<text, dyn> expected = run();
    CHECK(expected == tensor<text, dyn>{"only here 1", "only there", "end"});
    REQUIRE(counting.calls > 0);
    for (int k = 0; k < counting.calls; ++k) {
      saboteur s;
      s.at = k;
      sess.inject(s.hook());
      tensor<text, dyn> out{"as it", "was"};
      CHECK_THROWS_AS(sess.run_to(out, program, number = {1, -1}, x = {"only here 1", "only here 2"},
                                  y = {"only there", "only so"}),
                      internal_error);
      for (const text& t : out) CHECK((t.empty() || t == "as it" || t == "was"));
      sess.inject({});
      CHECK(run() == expected);
    }
  }
  CHECK(count_texts() == before);
}

TEST_CASE("batches of texts are rows of theirs", "[session][text]") {
  const std::size_t before = count_texts();
  {
    tensor<text, dyn> names({10});
    for (int k = 0; k < 10; ++k) names(k) = "name " + std::to_string(k);
    int seen = 0;
    for (const auto& part : batches(names, 4)) {
      for (const text& t : part) seen += t.view().substr(0, 5) == "name ";
    }
    CHECK(seen >= 8);
  }
  CHECK(count_texts() == before);
}

TEST_CASE("random programs over texts are what the same over integers are", "[session][text]") {
  // Texts are told apart by their numbers: each program runs twice, and one result is the other's.
  constexpr auto i = placeholder<"i", std::int64_t, dyn>;
  constexpr auto j = placeholder<"j", std::int64_t, dyn>;
  const auto word = [](std::int64_t n) { return n == 0 ? text() : text("number " + std::to_string(n)); };
  const auto words = [&](const auto& numbers) {
    tensor<text, dyn> t({static_cast<int>(numbers.size())});
    for (int k = 0; k < t.shape()[0]; ++k) t(k) = word(numbers(k));
    return t;
  };
  const auto programs = [](const auto& p, const auto& q) {
    const auto chosen = where(p == q, p, flip<0>(q));
    return fetches(chosen, concat<0>(chosen, p), where(chosen != q, q, chosen), slice<1, 3>(concat<0>(q, p)));
  };
  session sess;
  std::mt19937 random(11);
  const std::size_t before = count_texts();
  for (int round = 0; round < 50; ++round) {
    const int size = 2 + static_cast<int>(random() % 40);
    tensor<std::int64_t, dyn> a({size}), b({size});
    for (int k = 0; k < size; ++k) a(k) = random() % 4, b(k) = random() % 4;
    const auto [n0, n1, n2, n3] = sess.run(programs(i, j), i = a, j = b);
    const auto [t0, t1, t2, t3] = sess.run(programs(x, y), x = words(a), y = words(b));
    CHECK(t0 == words(n0));
    CHECK(t1 == words(n1));
    CHECK(t2 == words(n2));
    CHECK(t3 == words(n3));
  }
  CHECK(count_texts() == before);
}
