// SPDX-License-Identifier: BSL-1.0
// Runs a fuzz test: as libFuzzer's entry (clang++ -fsanitize=fuzzer NAME.cpp driver.cpp), or with ONTO_FUZZ_STANDALONE
// as a program that changes the test's corpus, the same way every time.
#include "fuzz.hpp"

#include <exception>
#include <memory>

namespace {

/// Whether the input was accepted. It is looked at in memory of its own, so that a sanitizer sees one byte too far.
bool check(std::string_view input) {
  const std::unique_ptr<char[]> exact(new char[input.size()]);
  input.copy(exact.get(), input.size());
  try {
    return fuzz::under_test.check({exact.get(), input.size()});
  } catch (const std::exception& e) {
    fuzz::demand(false, e.what(), input);
    throw;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifdef ONTO_FUZZ_STANDALONE

namespace {

/// Changes an input in one place.
void change(std::string& input, fuzz::generator& random) {
  const auto& [name, accepts, corpus, pieces, runs, where, repair] = fuzz::under_test;
  const std::size_t size = input.size();
  const std::size_t at = where ? where(input, random) : random.below(size + 1);
  const auto other = [&](const auto& from) { return from[random.below(from.size())]; };
  if (at > size) return;
  switch (random.below(pieces.empty() ? 7 : 9)) {
    case 0: input.insert(at, 1, static_cast<char>(random.below(256))); break;
    case 1: input.erase(at, 1 + random.below(8)); break;
    case 2:
      if (at < size) input[at] = static_cast<char>(random.below(256));
      break;
    case 3:
      if (at < size) input[at] = static_cast<char>(input[at] ^ (1 << random.below(8)));
      break;
    case 4: input.insert(at, input.substr(random.below(size + 1), random.below(64))); break;
    case 5: input.resize(at); break;
    case 6: input += other(corpus).substr(0, random.below(64)); break;
    case 7: input.insert(at, other(pieces)); break;
    default: input.replace(at, 1 + random.below(3), other(pieces)); break;
  }
  if (repair && input.size() != size) repair(input, size, at, random);
}

}  // namespace

int main() {
  const auto& target = fuzz::under_test;
  fuzz::generator random(20160113);
  int accepted = 0;
  for (int k = 0; k < target.runs; ++k) {
    std::string input = target.corpus[random.below(target.corpus.size())];
    for (std::size_t changes = random.below(4); changes > 0; --changes) change(input, random);
    accepted += check(input) ? 1 : 0;
  }
  std::printf("%s: %d inputs, %d accepted\n", target.name, target.runs, accepted);
  // Changes that were all refused, or all accepted, would have tested half of it.
  return accepted > target.runs / 20 && accepted < target.runs - target.runs / 20 ? 0 : 1;
}

#endif
