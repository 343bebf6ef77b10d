// SPDX-License-Identifier: BSL-1.0
// Memory of large tensors, which is used again: what is taken is nobody else's, from several threads at once.
#include <onto/tensor/storage.hpp>

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "../catch.hpp"

using onto::detail::huge_page;
using onto::detail::may_be_spare;
using onto::detail::storage;

namespace {

constexpr std::size_t large = huge_page;  // values of a byte, so bytes

void* take_and_give(void* number) {
  const auto mine = static_cast<unsigned char>(reinterpret_cast<std::uintptr_t>(number));
  for (std::size_t round = 0; round < 100; ++round) {
    storage<unsigned char> s(large * (1 + round % 3)), other(large);
    s.data()[0] = s.data()[s.size() - 1] = mine;
    other.data()[0] = other.data()[large - 1] = 0;
    if (s.data()[0] != mine || s.data()[s.size() - 1] != mine) return number;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a large block that was given back is the next of its size, and only once") {
  const unsigned char* first = nullptr;
  {
    storage<unsigned char> s(3 * large);
    first = s.data();
  }
  storage<unsigned char> again(3 * large), another(3 * large), smaller(2 * large);
  if (may_be_spare(3 * large)) CHECK(again.data() == first);
  CHECK(again.data() != another.data());
  CHECK(smaller.data() != first);
}

TEST_CASE("more blocks are given back than are kept") {
  for (std::size_t k = 0; k < 20; ++k) {
    storage<unsigned char> s(large + 4096 * k);
    s.data()[s.size() - 1] = 1;
    CHECK(s.data()[s.size() - 1] == 1);
  }
}

TEST_CASE("threads that take and give large blocks do not share them", "[threads]") {
  pthread_t threads[4];
  for (std::uintptr_t k = 0; k < 4; ++k)
    REQUIRE(pthread_create(&threads[k], nullptr, take_and_give, reinterpret_cast<void*>(k + 1)) == 0);
  for (pthread_t t : threads) {
    void* wrong = nullptr;
    pthread_join(t, &wrong);
    CHECK(wrong == nullptr);
  }
}
