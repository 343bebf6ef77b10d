// SPDX-License-Identifier: BSL-1.0
// What expressions over data hold comes from a list of blocks of each thread: through copies, across threads, at a
// thread's end and after it, expressions keep what they were written over, and the list stays short.
#include <onto/onto.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace onto;

namespace {

const tensor<float, 4> a{1, 2, 3, 4}, b{5, 6, 7, 8};
using written = std::remove_cvref_t<decltype(a * b + a * 2.0f)>;
const std::array<float, 4> expected{7, 16, 27, 40};

bool is_right(const written& e) {
  const tensor<float, 4> r = evaluate(e);
  return std::equal(expected.begin(), expected.end(), r.data());
}

/// Made before main, while no thread has a list, and given back when all are over.
const written of_static_storage = a * b + a * 2.0f;

/// Its state is given back when the thread ends, before or after the thread's list.
struct kept_by_thread {
  std::vector<written> all;
};

}  // namespace

TEST_CASE("expressions made, copied and dropped in any order keep what they are written over", "[core][threads]") {
  std::vector<written> all;
  unsigned seed = 1;
  for (int k = 0; k < 2000; ++k) {
    seed = seed * 1664525u + 1013904223u;
    if (seed >> 30 == 0 && !all.empty())
      all.erase(all.begin() + static_cast<std::ptrdiff_t>((seed >> 8) % all.size()));
    else if (seed >> 30 == 1 && !all.empty())
      all.push_back(all[(seed >> 8) % all.size()]);
    else
      all.push_back(a * b + a * 2.0f);
  }
  REQUIRE(all.size() > 500);
  for (std::size_t k = 0; k < all.size(); k += 37) CHECK(is_right(all[k]));
  all.clear();
  CHECK(is_right(a * b + a * 2.0f));
  CHECK(is_right(of_static_storage));
}

TEST_CASE("a thread keeps at most so many blocks, and takes them again", "[core][threads]") {
  std::thread([] {
    {
      std::vector<written> all;
      for (int k = 0; k < 100; ++k) all.push_back(a * b + a * 2.0f);
    }
    const detail::state_blocks& blocks = detail::blocks_of_thread();
#if defined(ONTO_ADDRESS_SANITIZER)
    CHECK(blocks.count == 0);  // each is memory of its own, which the sanitizer sees
#else
    CHECK(blocks.count == detail::state_blocks::most);
    const written e = a * b + a * 2.0f;  // a, b, a * b, a, 2, a * 2, and the sum
    CHECK(blocks.count == detail::state_blocks::most - 7);
#endif
    int listed = 0;
    for (const auto* block = blocks.first; block; block = block->next) ++listed;
    CHECK(listed == blocks.count);
  }).join();
}

TEST_CASE("an expression outlives the thread that wrote it, and is dropped by another", "[core][threads]") {
  std::vector<written> kept;
  std::thread([&] {
    for (int k = 0; k < 100; ++k) kept.push_back(a * b + a * 2.0f);
  }).join();
  for (const written& e : kept) CHECK(is_right(e));
  std::thread([given = std::move(kept)]() mutable {
    const bool right = is_right(given.back());
    given.clear();
    CHECK(right);
  }).join();
  CHECK(kept.empty());
}

TEST_CASE("expressions of thread storage duration go before or after the thread's blocks", "[core][threads]") {
  for (const bool before : {false, true}) {
    bool right = false;
    std::thread([&] {
      if (before) static_cast<void>(is_right(a * b + a * 2.0f));  // the list is older, and so goes later
      static thread_local kept_by_thread kept;
      kept.all.assign(70, a * b + a * 2.0f);
      right = is_right(kept.all.front());
    }).join();
    CHECK(right);
  }
}

TEST_CASE("one expression is copied and dropped by several threads at once", "[core][threads]") {
  const auto shared = std::make_unique<written>(a * b + a * 2.0f);
  std::array<bool, 3> right{};
  {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < right.size(); ++t)
      threads.emplace_back([&, t] {
        bool all = true;
        for (int k = 0; k < 300; ++k) {
          const written copy = *shared;
          all = all && is_right(copy);
        }
        right[t] = all;
      });
    for (std::thread& t : threads) t.join();
  }
  for (const bool r : right) CHECK(r);
}

TEST_CASE("data that an expression keeps lies in its block or beside it, by its size", "[core]") {
  const std::vector<float> values{1, 2, 3, 4};
  const auto of_span = std::span<const float>(values) + a;
  CHECK(evaluate(of_span)(3) == 8);
  CHECK(evaluate(tensor_ref<float, 4>(values) + a)(3) == 8);
  const auto of_tensor = tensor<float, 4>{1, 2, 3, 4} + a;  // moved into it
  CHECK(evaluate(of_tensor)(3) == 8);
  tensor<float, 64> many;
  many(63) = 3;
  const std::array<float, 64> array{};
  const auto of_array = constant(many) + std::array<float, 64>(array);  // more than a block
  CHECK(evaluate(of_array)(63) == 3);
  const auto of_vector = std::vector<float>(values) * a;
  const auto copy = of_vector;
  CHECK(evaluate(copy)(3) == 16);
  CHECK(evaluate(constant(many) + 1.0f)(63) == 4);
}
