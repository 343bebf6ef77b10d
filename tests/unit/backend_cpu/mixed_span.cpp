// SPDX-License-Identifier: BSL-1.0
// Programs of several element types on packs: random ones give on vectors of every size, and at every length, what they
// give element by element, to the bit; every cast with the values that are hard to cast.
#include <onto/backend/cpu/span.hpp>
#include <onto/ops/all.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "../catch.hpp"

using namespace onto;
using namespace onto::detail;

namespace {

constexpr element f32 = element::float32, boolean = element::boolean;

// ---- random programs --------------------------------------------------------------------------------------

enum class word {
  load,
  add,
  sub,
  mul,
  neg,
  abs,
  square,
  relu,
  greater,
  smaller,
  less,
  equal,
  choose,
  cast,
  both,
  neither
};
constexpr word arithmetic[] = {word::add,    word::sub,  word::mul,     word::neg,    word::abs,
                               word::square, word::relu, word::greater, word::smaller};
struct line {
  word op;
  element type;
  int argument[3];
};

constexpr element stored[] = {
    f32, element::int8, element::int32, boolean, element::uint8, element::uint32, element::int16, element::uint16};
constexpr int loads = 8, operations = 12, lines = loads + operations;

/// All types are loaded; then each line takes earlier ones of fitting types. The last is the result.
constexpr std::array<line, lines> make_lines(unsigned seed) {
  std::array<line, lines> p{};
  auto random = [&](int n) {
    seed = seed * 1664525u + 1013904223u;
    return static_cast<int>((seed >> 10) % static_cast<unsigned>(n));
  };
  for (int k = 0; k < loads; ++k) p[static_cast<std::size_t>(k)] = {word::load, stored[k], {k, 0, 0}};
  for (int k = loads; k < lines; ++k) {
    auto any = [&](element type) {  // the latest that is found from a random line on
      int n = random(k);
      while (p[static_cast<std::size_t>(n)].type != type) n = (n + k - 1) % k;
      return n;
    };
    line& x = p[static_cast<std::size_t>(k)];
    const element type = stored[random(loads)], number = type == boolean ? f32 : type;
    switch (random(7)) {
      case 0: x = {arithmetic[random(9)], number, {any(number), any(number), 0}}; break;
      case 1: x = {word::less, boolean, {any(number), any(number), 0}}; break;
      case 2: x = {word::equal, boolean, {any(type), any(type), 0}}; break;
      case 3: x = {word::choose, type, {any(boolean), any(type), any(type)}}; break;
      case 4: x = {word::both, boolean, {any(boolean), any(boolean), 0}}; break;
      case 5: x = {word::neither, boolean, {any(boolean), 0, 0}}; break;
      default: x = {word::cast, type, {any(stored[random(loads)]), 0, 0}}; break;
    }
  }
  return p;
}

template <line L>
constexpr auto instruction_of() {
  constexpr int a = L.argument[0], b = L.argument[1], c = L.argument[2];
  if constexpr (L.op == word::load)
    return instruction<load_input, L.type, a>{};
  else if constexpr (L.op == word::add)
    return instruction<op::add, L.type, a, b>{};
  else if constexpr (L.op == word::sub)
    return instruction<op::sub, L.type, a, b>{};
  else if constexpr (L.op == word::mul)
    return instruction<op::mul, L.type, a, b>{};
  else if constexpr (L.op == word::neg)
    return instruction<op::neg, L.type, a>{};
  else if constexpr (L.op == word::abs)
    return instruction<op::abs, L.type, a>{};
  else if constexpr (L.op == word::square)
    return instruction<op::square, L.type, a>{};
  else if constexpr (L.op == word::relu)
    return instruction<op::relu, L.type, a>{};
  else if constexpr (L.op == word::greater)
    return instruction<op::maximum, L.type, a, b>{};
  else if constexpr (L.op == word::smaller)
    return instruction<op::minimum, L.type, a, b>{};
  else if constexpr (L.op == word::less)
    return instruction<op::less, L.type, a, b>{};
  else if constexpr (L.op == word::equal)
    return instruction<op::equal, L.type, a, b>{};
  else if constexpr (L.op == word::choose)
    return instruction<op::where, L.type, a, b, c>{};
  else if constexpr (L.op == word::both)
    return instruction<op::logical_and, L.type, a, b>{};
  else if constexpr (L.op == word::neither)
    return instruction<op::logical_not, L.type, a>{};
  else
    return instruction<op::cast<element_t<L.type>>, L.type, a>{};
}

template <unsigned Seed, std::size_t... K>
auto program_of(std::index_sequence<K...>) {
  constexpr auto text = make_lines(Seed);
  return program<decltype(instruction_of<text[K]>())...,
                 // two further results, of which one is not of the lanes' type
                 instruction<store_result, text[lines - 2].type, 0, lines - 2>,
                 instruction<store_result, text[lines - 3].type, 1, lines - 3>,
                 decltype(instruction_of<text[lines - 1]>())>{};
}
template <unsigned Seed>
using random_program = decltype(program_of<Seed>(std::make_index_sequence<lines - 1>{}));

// ---- values and comparison --------------------------------------------------------------------------------

constexpr float infinity = std::numeric_limits<float>::infinity(), no_number = std::numeric_limits<float>::quiet_NaN();
constexpr float hard[] = {
    0.0f,          -0.0f,        no_number,    infinity, -infinity, 0.5f,          -0.5f,        1.0f,
    127.9f,        128.0f,       -128.9f,      -129.0f,  255.9f,    256.0f,        32767.5f,     32768.0f,
    -32769.f,      65535.5f,     65536.f,      1e10f,    -1e10f,    2147483520.0f, 2147483648.f, -2147483648.f,
    -2147483904.f, 4294967040.f, 4294967296.f, -1e-30f,  3e38f,     16777217.f,    1e-45f,       -1.0f};

template <element E>
std::vector<char> values(int n, std::mt19937& random) {
  using T = element_t<E>;
  std::vector<char> bytes(static_cast<std::size_t>(n) * sizeof(T) + 1);
  for (int k = 0; k < n; ++k) {
    T x{};
    if constexpr (E == f32)
      x = random() % 2 != 0 ? hard[random() % 32] : static_cast<float>(random() % 600) * 0.5f - 150;
    else if constexpr (E == boolean)
      x = random() % 2 != 0;
    else if (random() % 4 != 0)
      x = static_cast<T>(random() % 3 != 0 ? random() : std::uint_fast32_t{3});
    else
      x = random() % 2 != 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
    std::memcpy(bytes.data() + static_cast<std::size_t>(k) * sizeof(T), &x, sizeof x);
  }
  return bytes;
}

/// How many of the results in two runs differ, and whether anything was written behind them; any two NaN are one.
int differences(element type, int n, const std::vector<char>& a, const std::vector<char>& b) {
  int wrong = 0;
  const auto size = static_cast<std::size_t>(size_of(type));
  for (std::size_t k = 0; k < static_cast<std::size_t>(n) * size; k += size) {
    float x = 0, y = 0;
    if (type == f32) {
      std::memcpy(&x, a.data() + k, sizeof x);
      std::memcpy(&y, b.data() + k, sizeof y);
    }
    wrong += std::memcmp(a.data() + k, b.data() + k, size) == 0 || (std::isnan(x) && std::isnan(y)) ? 0 : 1;
  }
  for (std::size_t k = static_cast<std::size_t>(n) * size; k < a.size(); ++k) wrong += a[k] == b[k] ? 0 : 1;
  return wrong;
}

template <class Program>
int wrong_elements(int bytes, int n) {
  using operands = program_operands<Program>;
  using by_packs = vector_variants<span_body<Program, has_packs>, void(const span_call&)>;
  std::mt19937 random(static_cast<unsigned>(n) + 5);
  const std::vector<char> in[] = {values<stored[0]>(n, random), values<stored[1]>(n, random),
                                  values<stored[2]>(n, random), values<stored[3]>(n, random),
                                  values<stored[4]>(n, random), values<stored[5]>(n, random),
                                  values<stored[6]>(n, random), values<stored[7]>(n, random)};
  const void* from[loads];
  for (int k = 0; k < loads; ++k) from[k] = in[k].data();
  std::vector<char> out[2][3];
  for (int side = 0; side < 2; ++side) {
    void* to[3];
    for (int r = 0; r < 3; ++r) {
      out[side][r].assign(static_cast<std::size_t>(n) * 4 + 64, 'x');
      to[r] = out[side][r].data();
    }
    const span_call call{from, to[0], 0, n, nullptr, to + 1};
    if (side == 0)
      span_body<Program, false>::template run<16>(call);
    else
      by_packs::at(bytes)(call);
  }
  int wrong = differences(Program::result, n, out[0][0], out[1][0]);
  for (int r = 0; r < operands::results; ++r)
    wrong += differences(operands::found.result_type[r], n, out[0][r + 1], out[1][r + 1]);
  return wrong;
}

/// *Returns* how many elements were wrong.
template <class Program>
int check_program() {
  int all = 0;
  for (const int bytes : {16, 32, 64}) {
    if ((vector_sets & bytes) == 0 || bytes > machine_vectors()) continue;
    for (const int n : {0, 1, 2, 3, 7, 15, 16, 17, 31, 33, 65, 999, 1000}) {
      INFO("vectors of " << bytes << " bytes, " << n << " elements");
      const int wrong = wrong_elements<Program>(bytes, n);
      CHECK(wrong == 0);
      all += wrong;
    }
  }
  return all;
}

template <std::size_t... Seeds>
int check_programs(std::index_sequence<Seeds...>) {
  static_assert((random_program<Seeds + 1>::packs.possible() && ...) &&
                (random_program<Seeds + 1>::packs.mixed && ...));
  return (check_program<random_program<Seeds + 1>>() + ...);
}

template <element From, element To>
int check_cast() {
  constexpr auto slot_of = [](element e) {
    int k = 0;
    while (stored[k] != e) ++k;
    return k;
  };
  if constexpr (From == To)
    return 0;
  else  // beside a float, without which integers go by themselves
    return check_program<program<instruction<load_input, f32, 0>, instruction<load_input, From, slot_of(From)>,
                                 instruction<op::cast<element_t<To>>, To, 1>>>();
}
template <element From, std::size_t... To>
int check_casts(std::index_sequence<To...>) {
  return (check_cast<From, stored[To]>() + ...);
}

}  // namespace

TEST_CASE("random programs of several element types are the same on all vectors as element by element",
          "[backend_cpu]") {
  CHECK(check_programs(std::make_index_sequence<16>{}) == 0);
}

namespace {

template <element E, class... Op>
int check_arithmetic() {
  constexpr auto slot_of = [](element e) {
    int k = 0;
    while (stored[k] != e) ++k;
    return k;
  };
  using load = instruction<load_input, E, slot_of(E)>;
  return (check_program<program<instruction<load_input, f32, 0>, load, instruction<op::cast<element_t<E>>, E, 0>,
                                instruction<Op, E, 1, 2>>>() +
          ...);
}
template <element... E>
int check_all_arithmetic() {
  return (check_arithmetic<E, op::add, op::sub, op::mul, op::maximum, op::minimum>() + ...);
}

}  // namespace

TEST_CASE("arithmetic of integers on packs wraps around as that of elements", "[backend_cpu]") {
  CHECK(check_all_arithmetic<element::int8, element::uint8, element::int16, element::uint16, element::int32,
                             element::uint32>() == 0);
}

TEST_CASE("casts on packs are those of elements", "[backend_cpu]") {
  CHECK(check_casts<f32>(std::make_index_sequence<loads>{}) == 0);
  CHECK(check_casts<element::uint32>(std::make_index_sequence<loads>{}) == 0);
  CHECK(check_casts<boolean>(std::make_index_sequence<loads>{}) == 0);
  CHECK(check_casts<element::int32>(std::make_index_sequence<loads>{}) == 0);
  CHECK(check_casts<element::int16>(std::make_index_sequence<loads>{}) == 0);
}

namespace {

using f64_less = program<instruction<load_input, element::float64, 0>, instruction<load_input, element::float64, 1>,
                         instruction<op::less, boolean, 0, 1>>;
using f64_chosen = program<instruction<load_input, boolean, 0>, instruction<load_input, element::float64, 1>,
                           instruction<op::where, element::float64, 0, 1, 1>>;
using of_integers = program<instruction<load_input, element::int32, 0>, instruction<load_input, element::int32, 1>,
                            instruction<op::less, boolean, 0, 1>>;
using of_long_integers = program<instruction<load_input, f32, 0>, instruction<load_input, element::int64, 1>,
                                 instruction<op::cast<float>, f32, 1>, instruction<op::add, f32, 0, 2>>;
using of_quotients = program<instruction<load_input, f32, 0>, instruction<load_input, element::int32, 1>,
                             instruction<op::div, element::int32, 1, 1>, instruction<op::cast<float>, f32, 2>>;
using of_truths = program<instruction<load_input, f32, 0>, instruction<load_input, f32, 1>,
                          instruction<op::less, boolean, 0, 1>, instruction<op::cast<float>, f32, 2>>;

// Two types of floats, integers by themselves, wide ones, and what divides integers go element by element.
static_assert(f64_less::packs.mixed && f64_chosen::packs.mixed && !of_integers::packs.possible());
static_assert(!of_long_integers::packs.possible() && !of_quotients::packs.possible());
// What is loaded and stored is of one type here.
static_assert(of_truths::packs.plain && !of_truths::packs.mixed);

}  // namespace

TEST_CASE("truth values beside doubles", "[backend_cpu]") {
  std::vector<double> a(100), b(100);
  for (std::size_t k = 0; k < a.size(); ++k) {
    a[k] = static_cast<double>(k % 7);
    b[k] = k % 11 == 0 ? static_cast<double>(no_number) : static_cast<double>(k % 5);
  }
  for (const int bytes : {16, 32, 64}) {
    if ((vector_sets & bytes) == 0 || bytes > machine_vectors()) continue;
    for (int n = 0; n < 40; ++n) {
      INFO("vectors of " << bytes << " bytes, " << n << " elements");
      unsigned char less[100] = {};
      double chosen[100] = {};
      const void* const in[] = {a.data(), b.data()};
      vector_variants<span_body<f64_less, has_packs>, void(const span_call&)>::at(bytes)({in, less, 0, n, nullptr});
      const void* const again[] = {less, b.data()};
      vector_variants<span_body<f64_chosen, has_packs>, void(const span_call&)>::at(bytes)(
          {again, chosen, 0, n, nullptr});
      int wrong = 0;
      for (int k = 0; k < 100; ++k) {
        const auto at = static_cast<std::size_t>(k);
        wrong += less[k] == (k < n && a[at] < b[at] ? 1 : 0) ? 0 : 1;
        wrong += std::memcmp(&chosen[k], k < n ? &b[at] : &chosen[99], sizeof chosen[k]) == 0 ? 0 : 1;
      }
      CHECK(wrong == 0);
    }
  }
}
