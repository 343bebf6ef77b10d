// SPDX-License-Identifier: BSL-1.0
// Memory of large tensors, which is used again: what is taken is nobody else's, from several threads at once.
#include <onto/tensor/storage.hpp>

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <set>

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

TEST_CASE("a block of a size that is asked for again is the next of its size, and only once") {
  for (std::size_t bytes : {std::size_t{32} << 10, std::size_t{100000}, std::size_t{1} << 20, 3 * large}) {
    const auto give = [&] { return static_cast<const void*>(storage<unsigned char>(bytes).data()); };
    give();
    const void* const first = give();
    storage<unsigned char> again(bytes), another(bytes), smaller(bytes - 4096);
    if (may_be_spare(bytes)) CHECK(again.data() == first);
    CHECK(again.data() != another.data());
    CHECK(smaller.data() != first);
    for (storage<unsigned char>* s : {&again, &another, &smaller})
      CHECK(reinterpret_cast<std::uintptr_t>(s->data()) % 64 == 0);
  }
}

TEST_CASE("two blocks of a size in turn, and what replaces itself, come from what was given back") {
  const std::size_t bytes = 300000;
  const bool keeps = may_be_spare(bytes);
  const auto both = [&] {
    storage<unsigned char> a(bytes), b(bytes);
    return std::set<const void*>{a.data(), b.data()};
  };
  both();
  const auto kept = both();
  CHECK((both() == kept || !keeps));
  storage<unsigned char> s(bytes);
  for (int k = 0; k < 4; ++k) {
    s = storage<unsigned char>(bytes);  // the old one ends after the new one is made
    CHECK((kept.count(s.data()) == 1 || !keeps));
  }
}

TEST_CASE("what is made once is not kept, and small blocks never are") {
  const auto kept_after = [](std::size_t bytes, int times) {
    for (int k = 0; k < times; ++k) storage<unsigned char>{bytes};
    int blocks = 0;
    for (const auto& each : onto::detail::spare_storage.sizes) blocks += each.block && each.bytes == bytes;
    return blocks;
  };
  CHECK(kept_after(large + 64, 1) == 0);
  CHECK(kept_after(large / 2 + 64, 1) == 0);
  CHECK(kept_after(1024, 5) == 0);
  CHECK(kept_after(large / 2 + 128, 2) == may_be_spare(large));
}

#if defined(ONTO_ADDRESS_SANITIZER)
TEST_CASE("AddressSanitizer sees what is behind a block, and after it") {
  for (std::size_t bytes : {std::size_t{1}, std::size_t{20}, std::size_t{64}, std::size_t{100000}, 3 * large}) {
    const void* gone = nullptr;
    {
      const storage<unsigned char> s(bytes);
      gone = s.data();
      CHECK(__asan_address_is_poisoned(s.data() + bytes - 1) == 0);
      CHECK(__asan_address_is_poisoned(s.data() + bytes) == 1);
    }
    CHECK(__asan_address_is_poisoned(gone) == 1);
  }
}
#endif

TEST_CASE("trimming releases what is kept") {
  for (int k = 0; k < 3; ++k) storage<unsigned char>{large + 320};
  CHECK((onto::detail::spare_storage.total > 0 || !may_be_spare(large)));
  onto::detail::trim_storage();
  CHECK(onto::detail::spare_storage.total == 0);
  for (const auto& each : onto::detail::spare_storage.sizes) CHECK(each.block == nullptr);
  storage<unsigned char>{large + 320};  // its size is known still
  CHECK(onto::detail::spare_storage.total == (may_be_spare(large) ? large + 320 : 0));
}

TEST_CASE("more sizes are given back than are kept") {
  for (std::size_t k = 0; k < 40; ++k) {
    storage<unsigned char> s(large + 4096 * (k / 2));
    s.data()[s.size() - 1] = 1;
    CHECK(s.data()[s.size() - 1] == 1);
  }
  std::size_t sum = 0;
  for (const auto& each : onto::detail::spare_storage.sizes) sum += each.block ? each.bytes : 0;
  CHECK(onto::detail::spare_storage.total == sum);
}

TEST_CASE("what is kept has a limit in bytes") {
  constexpr std::size_t most = onto::detail::spare_blocks::most_bytes;
  // Memory that is never touched takes none.
  const auto give = [](std::size_t bytes) {
    const void* last = nullptr;
    for (int k = 0; k < 2; ++k) last = storage<unsigned char>(bytes).data();
    return last;
  };
  for (std::size_t bytes : {most / 2, most / 4, most / 4, most / 4, 3 * (most / 4), most, most + large}) {
    give(bytes);
    CHECK(onto::detail::spare_storage.total <= most);
    std::size_t sum = 0;
    for (const auto& each : onto::detail::spare_storage.sizes) sum += each.block ? each.bytes : 0;
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
  // New sizes take the places of old ones.
  for (std::size_t k = 1; k <= 2 * onto::detail::spare_blocks::most; ++k) give(large + k * 64);
  CHECK(onto::detail::spare_storage.total < most / 2);
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
