// SPDX-License-Identifier: BSL-1.0
// Batches: every row once an epoch, in an order that a seed and a number say; from any position on; prepared by a
// thread that ends with the loop.
#include <onto/batches.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto images = placeholder<"images", float, dyn, 2>;
constexpr auto four = placeholder<"four", float, 4, 2>;
constexpr auto labels = placeholder<"labels", std::int32_t, dyn>;

/// Row k is k and -k.
tensor<float, dyn, 2> numbered(int rows) {
  tensor<float, dyn, 2> t({rows, 2});
  for (int k = 0; k < rows; ++k) t(k, 1) = -(t(k, 0) = static_cast<float>(k));
  return t;
}
std::vector<std::int32_t> counted(int n) {
  std::vector<std::int32_t> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

/// The labels of every batch up to the end of the epoch; the images must be those of the labels.
template <class Batches>
std::vector<std::vector<int>> epoch(Batches& data) {
  std::vector<std::vector<int>> all;
  for (const auto& [x, y] : data) {
    all.emplace_back(y.begin(), y.end());
    for (int k = 0; k < y.shape()[0]; ++k)
      if (x(k, 0) != static_cast<float>(y(k)) || x(k, 1) != -x(k, 0)) throw std::logic_error("another image's label");
  }
  return all;
}

std::vector<int> joined(const std::vector<std::vector<int>>& batches) {
  std::vector<int> all;
  for (const auto& b : batches) all.insert(all.end(), b.begin(), b.end());
  return all;
}

}  // namespace

TEST_CASE("an epoch has every row once, and the next one in another order", "[batches][threads]") {
  const auto x = numbered(10);
  const auto y = counted(10);
  for (const int prefetch : {0, 1, 2, 20}) {
    INFO("prefetch " << prefetch);
    batches data(std::tie(x, y), 4, {.shuffle = 7, .prefetch = prefetch});
    CHECK(data.per_epoch() == 3);
    std::vector<std::vector<int>> seen;
    for (int e = 0; e < 4; ++e) {
      const auto now = epoch(data);
      REQUIRE(now.size() == 3);
      CHECK(now[0].size() == 4);
      CHECK(now[2].size() == 2);
      auto rows = joined(now);
      CHECK(std::find(seen.begin(), seen.end(), rows) == seen.end());
      seen.push_back(rows);
      std::sort(rows.begin(), rows.end());
      CHECK(rows == std::vector<int>(y.begin(), y.end()));
    }
    CHECK(data.position() == 12);
    // The order is part of what is promised: a checkpoint of today is gone on with by another build.
    CHECK(seen[0] == std::vector<int>{0, 5, 6, 3, 7, 8, 1, 9, 4, 2});
    CHECK(seen[1] == std::vector<int>{9, 4, 7, 8, 0, 3, 2, 1, 6, 5});
  }
  batches other(std::tie(x, y), 4, {.shuffle = 8});
  CHECK(joined(epoch(other)) != std::vector<int>{0, 5, 6, 3, 7, 8, 1, 9, 4, 2});
}

TEST_CASE("orders are spread evenly", "[batches]") {
  // Which row comes first in 6,000 epochs, of 6: 1,000 times each; the standard deviation is 29.
  int first[6] = {}, last[6] = {};
  for (int e = 0; e < 6000; ++e) {
    const auto order = detail::shuffled(6, 3, e);
    ++first[order.front()];
    ++last[order.back()];
  }
  for (int k = 0; k < 6; ++k) {
    CHECK(std::abs(first[k] - 1000) < 130);
    CHECK(std::abs(last[k] - 1000) < 130);
  }
}

TEST_CASE("a batch is fed as any data is", "[batches][session]") {
  const auto x = numbered(10);
  const auto y = counted(10);
  session sess;
  auto step = sess.prepare(sum(abs(images)) + 2.f * sum(cast<float>(labels)));
  float total = 0;
  for (const auto& [in, out] : batches(std::tie(x, y), 3, {.shuffle = 1})) total += step(images = in, labels = out);
  CHECK(total == 4 * 45);
  // Without the smaller last one the extent may be a number.
  int count = 0;
  for (const auto& in : batches(x, 4, {.shuffle = 1, .drop_last = true}))
    count += sess.run(four, four = in).size() == 8;
  CHECK(count == 2);
}

TEST_CASE("rows in order are used where they lie", "[batches]") {
  const auto x = numbered(5);
  const tensor_ref<float, dyn, 2> seen(x);
  const std::vector<float> flat{1, 2, 3};
  const std::span<const float> part(flat.data(), 2);
  int k = 0;
  for (const auto& rows : batches(x, 2)) CHECK(rows.data() == x.data() + 4 * k++);
  CHECK(k == 3);
  for (const auto& rows : batches(seen, 5)) CHECK(rows.data() == x.data());
  for (const auto& rows : batches(flat, 5)) CHECK(rows.data() == flat.data());
  for (const auto& rows : batches(part, 5)) CHECK(rows.size() == 2);
  static_assert(std::is_same_v<decltype(batches(x, 2))::value_type, tensor_ref<float, dyn, 2>>);
}

TEST_CASE("a loop that was left goes on, and any position can be gone to", "[batches][threads]") {
  const auto x = numbered(10);
  const auto y = counted(10);
  batches whole(std::tie(x, y), 4, {.shuffle = 7});
  std::vector<std::vector<int>> all;
  for (int e = 0; e < 3; ++e)
    for (const auto& b : epoch(whole)) all.push_back(b);

  batches data(std::tie(x, y), 4, {.shuffle = 7});
  for (const auto& [in, out] : data) {
    CHECK(std::vector<int>(out.begin(), out.end()) == all[0]);
    CHECK(data.position() == 1);
    break;
  }
  CHECK(joined(epoch(data)) == joined({all[1], all[2]}));
  for (const int at : {0, 4, 7, 2, 8}) {
    data.seek(at);
    CHECK(data.position() == at);
    const auto rest = epoch(data);
    CHECK(rest == std::vector<std::vector<int>>(all.begin() + at, all.begin() + (at / 3 + 1) * 3));
  }
  CHECK_THROWS_AS(data.seek(-1), invalid_argument_error);
}

TEST_CASE("a function makes the items, on the thread that prepares", "[batches][threads]") {
  const auto x = numbered(8);
  const auto y = counted(8);
  // [prepare]
  const auto noisy = [](std::int64_t number, const auto& in, const auto& out) {
    const auto noise = evaluate(random_normal<float, 4, 2>(1000 + number));  // the same whenever it is asked for
    return std::tuple(evaluate(four + 0.1f * noise, four = in), out);
  };
  batches data(std::tie(x, y), 4, {.shuffle = 7, .prefetch = 2}, noisy);
  // [prepare]
  std::vector<tensor<float, 4, 2>> seen;
  for (int e = 0; e < 3; ++e)
    for (const auto& [in, out] : data) {
      seen.push_back(in);
      CHECK(std::abs(in(0, 0) - static_cast<float>(out(0))) < 1);
    }
  data.seek(2);
  for (std::size_t k = 2; k < 4; ++k) {
    CHECK(std::get<0>(*data.begin()) == seen[k]);
    CHECK(data.position() == static_cast<std::int64_t>(k) + 1);
  }

  std::thread::id here = std::this_thread::get_id(), there;
  for (const auto n : batches(x, 4, {}, [&](std::int64_t k, const auto&) {
         there = std::this_thread::get_id();
         return k;
       }))
    CHECK(n < 2);
  CHECK(there != here);
}

TEST_CASE("what is prepared ahead is as much as was asked for", "[batches][threads]") {
  const auto x = numbered(64);
  std::atomic<int> made{0};
  batches data(x, 2, {.prefetch = 3}, [&](std::int64_t k, const auto&) {
    ++made;
    return k;
  });
  int given = 0;
  for (const auto k : data) {
    CHECK(k == given++);
    for (int wait = 0; made < std::min(given + 3, 32) && wait < 2000; ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(made >= std::min(given + 3, 32));
    CHECK(made <= given + 3);  // of the next epoch, too
    if (given == 5) break;
  }
  CHECK(made <= 8);
}

TEST_CASE("what a thread throws comes out of the loop, which can go on", "[batches][threads]") {
  const auto x = numbered(10);
  for (const int prefetch : {0, 2}) {
    bool broken = true;
    batches data(x, 2, {.prefetch = prefetch}, [&](std::int64_t k, const auto& rows) {
      if (k == 3 && broken) throw std::runtime_error("no such picture");
      return rows(0, 0);
    });
    int given = 0;
    const auto loop = [&] {
      for (const float first : data) CHECK(first == static_cast<float>(2 * given++));
    };
    CHECK_THROWS_WITH(loop(), "no such picture");
    CHECK(given == 3);
    CHECK(data.position() == 3);
    CHECK_THROWS_WITH(loop(), "no such picture");
    broken = false;
    loop();
    CHECK(given == 5);
  }
}

TEST_CASE("a thread ends with its batches, whenever that is", "[batches][threads]") {
  const auto x = numbered(100);
  for (int k = 0; k < 60; ++k) {
    std::atomic<bool> alive{true};
    {
      batches data(x, 7, {.shuffle = 1, .prefetch = 1 + k % 4}, [&](std::int64_t n, const auto& rows) {
        if (!alive) std::abort();
        return static_cast<float>(n) + rows(0, 0);
      });
      int left = k % 20;
      while (left > 0)
        for (const float v : data)
          if (v < 0 || --left <= 0) break;
    }
    alive = false;
  }
  SUCCEED("nothing was called afterwards");
}

TEST_CASE("what makes no batches is refused", "[batches]") {
  const auto x = numbered(10);
  const auto y = counted(9);
  CHECK_THROWS_WITH(batches(std::tie(x, y), 4),
                    "[onto.batches] the arrays have 10 and 9 rows; give one of each for every example");
  CHECK_THROWS_AS(batches(x, 0), invalid_argument_error);
  CHECK_THROWS_AS(batches(x, 11, {.drop_last = true}), invalid_argument_error);
  CHECK_THROWS_AS(batches(x, 2, {.prefetch = -1}), invalid_argument_error);
  const tensor<float, dyn, 2> nothing({0, 2});
  CHECK_THROWS_WITH(
      batches(nothing, 2),
      "[onto.batches] 0 rows make no batch of 2 with prefetch 2; a size is 1 or more, prefetch 0 or more");
}
