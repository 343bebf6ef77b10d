// SPDX-License-Identifier: BSL-1.0
// Runs a fuzz test without a fuzzer: the same inputs every time, made by changing the files of its corpus.
// usage: fuzz_NAME [runs=20000] [seed=1] [corpus file or folder...]
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using bytes = std::vector<std::uint8_t>;

// The input under test, for the report of a failure that ends the process.
const bytes* current = nullptr;

void report() {
  if (!current) return;
  std::fprintf(stderr, "fuzz: the failing input, %zu bytes:", current->size());
  for (std::uint8_t b : *current) std::fprintf(stderr, " %02x", b);
  std::fprintf(stderr, "\n");
}

[[noreturn]] void fail() {
  report();
  current = nullptr;
  std::abort();
}

struct generator {
  std::uint64_t state;

  // splitmix64
  std::uint64_t next() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(next() % n); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(next()); }
};

bytes read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return bytes(std::istreambuf_iterator<char>(in), {});
}

auto at(bytes& b, std::size_t k) { return b.begin() + static_cast<std::ptrdiff_t>(k); }

void mutate(bytes& b, const std::vector<bytes>& corpus, generator& random) {
  static constexpr std::uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff, '0', '9', ':', '/', '*', ' ', '\n', '(', '\''};
  switch (b.empty() ? 0 : random.below(7)) {
    case 0: b.insert(at(b, random.below(b.size() + 1)), random.byte()); break;
    case 1: b.erase(at(b, random.below(b.size()))); break;
    case 2: b[random.below(b.size())] = random.byte(); break;
    case 3: b[random.below(b.size())] = edges[random.below(sizeof edges)]; break;
    case 4: b[random.below(b.size())] ^= static_cast<std::uint8_t>(1u << random.below(8)); break;
    case 5: b.resize(random.below(b.size() + 1)); break;
    default: {  // a piece of another input
      const bytes& other = corpus[random.below(corpus.size())];
      const std::size_t from = random.below(other.size() + 1), n = random.below(other.size() - from + 1);
      const auto first = other.begin() + static_cast<std::ptrdiff_t>(from);
      b.insert(at(b, random.below(b.size() + 1)), first, first + static_cast<std::ptrdiff_t>(n));
    }
  }
}

void run(const bytes& input) {
  current = &input;
  const bytes exact(input);  // its own allocation, so that a sanitizer sees one byte too far
  try {
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fuzz: an exception nobody caught: %s\n", e.what());
    fail();
  }
  current = nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const long runs = argc > 1 ? std::atol(argv[1]) : 20000;
  generator random{argc > 2 ? static_cast<std::uint64_t>(std::atoll(argv[2])) : 1u};
  std::vector<bytes> corpus{bytes{}};
  for (int k = 3; k < argc; ++k) {
    if (std::filesystem::is_directory(argv[k])) {
      std::vector<std::filesystem::path> files;
      for (const auto& entry : std::filesystem::directory_iterator(argv[k])) files.push_back(entry.path());
      for (std::size_t i = 1; i < files.size(); ++i)  // the order of a folder is the file system's; ours is by name
        for (std::size_t j = i; j > 0 && files[j] < files[j - 1]; --j) std::swap(files[j], files[j - 1]);
      for (const auto& file : files) corpus.push_back(read(file));
    } else {
      corpus.push_back(read(argv[k]));
    }
  }
  std::atexit(report);
  std::set_terminate(fail);

  const auto start = std::chrono::steady_clock::now();
  long done = 0;
  for (const bytes& input : corpus) run(input);
  for (; done < runs; ++done) {
    bytes input = corpus[random.below(corpus.size())];
    for (std::size_t changes = 1 + random.below(8); changes > 0; --changes) mutate(input, corpus, random);
    if (input.size() > 4096) input.resize(4096);
    run(input);
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(20)) break;
  }
  std::printf("%ld runs, %zu inputs in the corpus\n", done, corpus.size() - 1);
  return 0;
}
