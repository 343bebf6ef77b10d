// SPDX-License-Identifier: BSL-1.0
// A text: any bytes, shared, gone with its last handle.
#include <onto/core/text_value.hpp>

#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../catch.hpp"

using namespace onto;
using detail::count_texts;

TEST_CASE("a text keeps its bytes, whatever they are", "[text]") {
  const std::string all = [] {
    std::string s;
    for (int k = 0; k < 256; ++k) s += static_cast<char>(k);
    return s;
  }();
  const text t = all;
  CHECK(t.size() == 256);
  CHECK(t.view() == all);
  CHECK(t.str() == all);
  CHECK(t.view().data()[256] == '\0');
  CHECK(text(std::string_view("a\0b", 3)).size() == 3);
  CHECK(text("a\0b").size() == 1);  // a literal ends at its first NUL, as for std::string
  std::ostringstream out;
  out << t << text();
  CHECK(out.str() == all);
}

TEST_CASE("the text without bytes needs no memory", "[text]") {
  const std::size_t before = count_texts();
  const text none, empty = "", also = std::string();
  CHECK(none.empty());
  CHECK(none == empty);
  CHECK(none == also);
  CHECK(none.view().data() != nullptr);
  CHECK(*none.view().data() == '\0');
  CHECK(count_texts() == before);
}

TEST_CASE("equal texts are one, and go with the last of them", "[text]") {
  const std::size_t before = count_texts();
  {
    text a = "one", b = std::string("one"), c = "another";
    CHECK(a == b);
    CHECK(a != c);
    CHECK(a == "one");
    CHECK("one" == a);
    CHECK(a != std::string("two"));
    CHECK(a.view().data() == b.view().data());
    CHECK(count_texts() == before + 2);
    text d = std::move(a);
    CHECK(a.empty());
    CHECK(d == b);
    b = c;
    const text& itself = d;
    d = itself;
    CHECK(d == "one");
    d = text();
    CHECK(count_texts() == before + 1);
  }
  CHECK(count_texts() == before);
}

TEST_CASE("many texts are found again", "[text]") {
  const std::size_t before = count_texts();
  {
    std::vector<text> all;
    for (int k = 0; k < 5000; ++k) all.push_back("text number " + std::to_string(k));
    CHECK(count_texts() == before + 5000);
    int same = 0;
    for (int k = 0; k < 5000; ++k)
      same += text("text number " + std::to_string(k)).view().data() == all[static_cast<std::size_t>(k)].view().data();
    CHECK(same == 5000);
    for (std::size_t k = 0; k < all.size(); k += 2) all[k] = text();
    CHECK(count_texts() == before + 2500);
    CHECK(text("text number 4999") == all[4999]);
  }
  CHECK(count_texts() == before);
}

TEST_CASE("threads make and drop the same texts", "[text][threads]") {
  const std::size_t before = count_texts();
  const text kept = "kept";
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 3000; ++k) {
        const std::string word = "shared " + std::to_string(k % 3);
        const text one = word, two = word, copy = one, again = kept;
        if (!(one == two && copy == word && one != kept && again == "kept")) ++wrong[t];
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == std::vector<int>(4));
  CHECK(count_texts() == before + 1);
}
