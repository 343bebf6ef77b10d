// SPDX-License-Identifier: BSL-1.0
// Texts as bytes and back, and what is refused.
#include <onto/tensor/text_bytes.hpp>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../catch.hpp"

using namespace onto;
using detail::count_texts;

namespace {

std::span<const std::byte> bytes_of(const std::vector<unsigned char>& v) { return std::as_bytes(std::span(v)); }

std::string words_of(const std::vector<unsigned char>& bytes, std::span<text> to) {
  try {
    deserialize(bytes_of(bytes), to);
  } catch (const invalid_argument_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("texts are their lengths and their bytes", "[text]") {
  const tensor<text, 3> t{"ab", "", std::string("\0\xff!", 3)};
  const tensor<std::uint8_t, dyn> bytes = serialize(t);
  const std::vector<std::uint8_t> expected{2,   0,   0, 0,   0,  0, 0, 0,  // lengths
                                           0,   0,   0, 0,   0,  0, 0, 0,  //
                                           3,   0,   0, 0,   0,  0, 0, 0,  //
                                           'a', 'b', 0, 255, '!'};
  CHECK(std::vector<std::uint8_t>(bytes.begin(), bytes.end()) == expected);
  CHECK(serialized_size(t.values()) == static_cast<std::int64_t>(expected.size()));
  CHECK(deserialize<dyn>(std::as_bytes(bytes.values()), {3}) == t);
  CHECK(serialize(tensor<text, dyn>({0})).size() == 0);
  CHECK(deserialize<0>({}, {0}).size() == 0);
  tensor<text> one;
  deserialize(std::as_bytes(serialize(tensor<text>("alone")).values()), one.values());
  CHECK(one == tensor<text>("alone"));
}

TEST_CASE("any texts come back", "[text]") {
  const std::size_t before = count_texts();
  {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
      tensor<text, dyn, dyn> t({static_cast<int>(random() % 5), static_cast<int>(random() % 5)});
      for (text& each : t) {
        std::string s(random() % 40 ? random() % 20 : random() % 70000, ' ');
        for (char& c : s) c = static_cast<char>(random());
        each = s;
      }
      const tensor<std::uint8_t, dyn> bytes = serialize(t);
      tensor<text, dyn, dyn> back(t.shape());
      deserialize(std::as_bytes(bytes.values()), back.values());
      CHECK(back == t);
      for (std::size_t cut = bytes.size(); cut-- > 0 && cut + 30 > bytes.size();)
        CHECK_THROWS_AS(deserialize(std::as_bytes(bytes.values().first(cut)), back.values()), invalid_argument_error);
    }
  }
  CHECK(count_texts() == before);
}

TEST_CASE("bytes that are no texts are refused, and nothing is changed", "[text]") {
  tensor<text, 2> to{"as it", "was"};
  const auto refused = [&](std::vector<unsigned char> bytes, const std::string& why) {
    const std::string said = words_of(bytes, to.values());
    INFO(said);
    CHECK(said == "[onto.text] these bytes are not so many texts: " + why +
                      "; read as many as were serialized, from all of their bytes");
    CHECK(to == tensor<text, 2>{"as it", "was"});
  };
  refused({}, "there are fewer lengths");
  refused(std::vector<unsigned char>(15), "there are fewer lengths");
  std::vector<unsigned char> good(16);
  good[0] = 1;
  refused(good, "they end within a text");
  good.push_back('x');
  CHECK(words_of(good, tensor<text, 2>().values()).empty());
  good.push_back('y');
  refused(good, "there are bytes behind the last text");
  for (const std::size_t high : {3u, 4u, 7u}) {
    std::vector<unsigned char> large(18);
    large[high] = 0x80;
    refused(large, "a text is longer than 2147483647 bytes");
    std::vector<unsigned char> both(18, 0xff);
    refused(both, "a text is longer than 2147483647 bytes");
  }
  std::vector<unsigned char> sums(18);  // lengths whose sum is right modulo 2^32
  sums[0] = 3, sums[8] = 0xff, sums[9] = sums[10] = 0xff, sums[11] = 0x7f;
  refused(sums, "they end within a text");
}
