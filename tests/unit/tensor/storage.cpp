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

TEST_CASE("what is kept has a limit in bytes, within which the newest blocks stay") {
  constexpr std::size_t most = onto::detail::spare_blocks::most_bytes;
  // Memory that is never touched takes none.
  const auto give = [](std::size_t bytes) { return static_cast<const void*>(storage<unsigned char>(bytes).data()); };
  for (std::size_t bytes : {most / 2, most / 4, most / 4, most / 4, 3 * (most / 4), most, most + large}) {
    give(bytes);
    CHECK(onto::detail::spare_storage.total <= most);
    std::size_t sum = 0;
    for (std::size_t each : onto::detail::spare_storage.bytes) sum += each;
    CHECK(onto::detail::spare_storage.total == sum);
  }
  if (!may_be_spare(most / 4)) return;
  CHECK(onto::detail::spare_storage.total == most);  // the one of all
  const void* const half = give(most / 2);
  CHECK(onto::detail::spare_storage.total == most / 2);
  const void* const quarter = give(most / 4);
  CHECK(give(most / 2) == half);
  CHECK(give(most / 4) == quarter);
  CHECK(onto::detail::spare_storage.total == most / 2 + most / 4);
  give(large);  // what is left is little
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
