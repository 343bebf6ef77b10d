// SPDX-License-Identifier: BSL-1.0
// Which instruction set kernels are for, and that those for others do the same.
#include <onto/backend/cpu/instruction_set.hpp>
#include <onto/backend/cpu/span.hpp>
#include <onto/ops/all.hpp>

#include <cmath>
#include <cstring>
#include <vector>

#include "../catch.hpp"

using namespace onto;
using namespace onto::detail;

namespace {

constexpr element f32 = element::float32;
// exp(x) + scalar
using program_of_exp = program<instruction<load_input, f32, 0>, instruction<op::exp, f32, 0>,
                               instruction<load_scalar, f32, 0>, instruction<op::add, f32, 1, 2>>;

struct says_its_width {
  using variants = vector_variants<says_its_width, void(int*)>;
  template <int Bytes>
  static void run(int* width) {
    *width = Bytes;
  }
};

}  // namespace

TEST_CASE("ONTO_ISA names the widest vectors that are used", "[backend_cpu]") {
  CHECK(vectors_named(nullptr) == 64);
  CHECK(vectors_named("") == 64);
  CHECK(vectors_named("baseline") == 16);
  CHECK(vectors_named("avx2") == 32);
  CHECK(vectors_named("avx512") == 64);
  CHECK_THROWS_WITH(vectors_named("sse9"),
                    Catch::Matchers::Contains("[onto.isa]") && Catch::Matchers::Contains("'sse9'"));
}

TEST_CASE("the kernels that are chosen are for vectors that the machine has", "[backend_cpu]") {
  CHECK(chosen_vectors() <= machine_vectors());
  int width = 0;
  says_its_width::variants::chosen()(&width);
  CHECK(width == used_vectors());
  for (const int bytes : {16, 32, 64}) {
    if ((vector_sets & bytes) == 0) continue;
    says_its_width::variants::at(bytes)(&width);
    CHECK(width == bytes);
  }
}

TEST_CASE("a map is the same on all vectors, at every length", "[backend_cpu]") {
  const float scalar = 0.25f;
  const std::uint64_t scalars[] = {[&] {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &scalar, sizeof scalar);
    return bits;
  }()};
  using kernels = vector_variants<span_body<program_of_exp, has_packs>, void(const span_call&)>;
  for (const int bytes : {16, 32, 64}) {
    if ((vector_sets & bytes) == 0 || bytes > machine_vectors()) continue;
    int wrong = 0;
    for (int n = 1; n < 100; ++n) {
      std::vector<float> in(static_cast<std::size_t>(n)), out(static_cast<std::size_t>(n) + 1, 7.0f);
      for (int k = 0; k < n; ++k) in[static_cast<std::size_t>(k)] = static_cast<float>(k) * 0.1f - 3;
      const void* const operands[] = {in.data()};
      kernels::at(bytes)({operands, out.data(), 0, n, scalars});
      for (std::size_t k = 0; k < in.size(); ++k)
        wrong += std::fabs(out[k] - (std::exp(in[k]) + scalar)) <= 3e-7f * out[k] ? 0 : 1;
      wrong += out.back() == 7.0f ? 0 : 1;
    }
    INFO("vectors of " << bytes << " bytes");
    CHECK(wrong == 0);
  }
}
