// SPDX-License-Identifier: BSL-1.0
// Runs that are started and not waited for: results and errors arrive at their handles, in order, whoever goes first.
#include <onto/onto.hpp>

#include "../catch.hpp"
#include "saboteur.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace onto;
using onto_test::dawdler;
using onto_test::saboteur;
using onto_test::words_of;

namespace {

constexpr auto x = placeholder<"x", float, 2, 2>;
constexpr auto open = placeholder<"open", float, dyn, dyn>;
constexpr auto row = placeholder<"row", float, dyn>;
constexpr auto w = variable<"w", float, 2, 2>;
constexpr auto count = variable<"count", std::int32_t>;

using matrix = tensor<float, 2, 2>;

matrix filled(float value) { return matrix{{value, value}, {value, value}}; }

session_options machine(int gpus) {
  session_options o;
  o.allow_soft_placement = true;
  o.simulated_gpus = gpus;
  return o;
}

template <class Step, class... Feeds>
using handle_of = decltype(std::declval<const Step&>().async(std::declval<Feeds>()...));

}  // namespace

TEST_CASE("a handle has the result of its run", "[session][async][threads]") {
  for (const int gpus : {0, 2}) {
    session sess{machine(gpus)};
    const auto step = sess.prepare(on<gpu<1>>(on<gpu<0>>(x * 2) + x));
    const matrix one = filled(1), two = filled(2);
    auto first = step.async(x = one);
    auto second = step.async(x = two);
    CHECK(second.get() == filled(6));
    CHECK(first.get() == filled(3));
    const auto several = sess.prepare(fetches(on<gpu<0>>(x + 1), sum(x)));
    auto both = several.async(x = two);
    const auto [more, total] = both.get();
    CHECK(more == filled(3));
    CHECK(total == 8.0f);
  }
}

TEST_CASE("the contract of a handle: valid, ready, wait, get", "[session][async][threads]") {
  session sess{machine(1)};
  const auto step = sess.prepare(on<gpu<0>>(x + 1));
  const matrix value = filled(1);
  auto handle = step.async(x = value);
  using pending_type = decltype(handle);
  static_assert(!std::is_copy_constructible_v<pending_type> && !std::is_copy_assignable_v<pending_type>);
  static_assert(std::is_nothrow_move_constructible_v<pending_type> && std::is_default_constructible_v<pending_type>);
  CHECK(handle.valid());
  handle.wait();
  handle.wait();
  CHECK(handle.ready());
  CHECK(handle.valid());
  CHECK(handle.get() == filled(2));
  CHECK_FALSE(handle.valid());
  for (int twice = 0; twice < 2; ++twice) {
    CHECK_THROWS_AS(handle.get(), failed_precondition_error);
    CHECK_THROWS_AS(handle.wait(), failed_precondition_error);
    CHECK_THROWS_AS(handle.ready(), failed_precondition_error);
  }
  const pending_type none;
  CHECK_FALSE(none.valid());
  CHECK(words_of<failed_precondition_error>([&] { none.wait(); }) ==
        "[onto.run] a handle without a run; async gives one, and its result can be taken once");
}

TEST_CASE("a handle is not ready before its run is over", "[session][async][threads]") {
  struct gate {
    std::atomic<bool> open{false};
    std::atomic<bool> reached{false};
    detail::fault_hook hook() {
      return {[](void* self, const char*) {
                auto& g = *static_cast<gate*>(self);
                g.reached = true;
                while (!g.open) usleep(100);
              },
              this};
    }
  } closed;
  session sess{machine(0)};
  const auto step = sess.prepare(x + 1);
  sess.inject(closed.hook());
  const matrix value = filled(1);
  auto first = step.async(x = value);
  auto second = step.async(x = value);
  while (!closed.reached) usleep(100);
  CHECK_FALSE(first.ready());
  CHECK_FALSE(second.ready());
  closed.open = true;
  second.wait();
  CHECK(first.ready());  // in order
  CHECK(first.get() == second.get());
  sess.inject({});
}

TEST_CASE("handles move, and what was there before is waited for", "[session][async][threads]") {
  session sess{machine(1)};
  const auto step = sess.prepare(on<gpu<0>>(sum(x)));
  const matrix one = filled(1), two = filled(2), three = filled(3);
  auto a = step.async(x = one);
  auto b = std::move(a);
  CHECK_FALSE(a.valid());
  CHECK(b.get() == 4.0f);
  a = step.async(x = two);
  a = step.async(x = three);
  CHECK(a.get() == 12.0f);
  std::vector<decltype(a)> many;
  for (int k = 0; k < 20; ++k) many.push_back(step.async(x = two));
  for (auto& each : many) CHECK(each.get() == 8.0f);
  auto& self = b;
  b = step.async(x = one);
  b = std::move(self);
  CHECK((!b.valid() || b.get() == 4.0f));
}

TEST_CASE("runs of one program are done in the order in which they were started", "[session][async][threads]") {
  for (const int gpus : {0, 2}) {
    session sess{machine(gpus)};
    sess.run(fetches(assign(on<gpu<0>>(w), 1), assign(count, 0)));
    const auto step = sess.prepare(fetches(assign(on<gpu<0>>(w), on<gpu<1>>(w * 2) - x), assign_add(count, 1)));
    const matrix one = filled(0.5f);
    std::vector<decltype(step.async(x = one))> runs;
    for (int k = 0; k < 12; ++k) runs.push_back(step.async(x = one));
    float expected = 1;
    for (int k = 0; k < 12; ++k) {
      expected = 2 * expected - 0.5f;
      const auto [now, n] = runs[static_cast<std::size_t>(k)].get();
      CHECK(now == filled(expected));
      CHECK(n == k + 1);
    }
  }
}

TEST_CASE("errors arrive at the handle, with their types", "[session][async][threads]") {
  session sess{machine(1)};
  const auto product = sess.prepare(on<gpu<0>>(matmul(open, open)));
  auto bad = product.async(open = tensor<float, dyn, dyn>({2, 3}));
  auto good = product.async(open = tensor<float, dyn, dyn>{{2, 0}, {0, 2}});
  CHECK(words_of<invalid_argument_error>([&] { bad.get(); }).find("[onto.shape]") == 0);
  CHECK_FALSE(bad.valid());
  CHECK(good.get() == tensor<float, dyn, dyn>{{4, 0}, {0, 4}});

  const auto reads = sess.prepare(on<gpu<0>>(w + 1));
  auto unset = reads.async();
  CHECK_THROWS_AS(unset.get(), failed_precondition_error);
  sess.run(assign(on<gpu<0>>(w), 3));
  auto set = reads.async();
  CHECK(set.get() == filled(4));

  for (const auto how : {onto_test::failure::memory, onto_test::failure::internal}) {
    saboteur s;
    s.at = 0;
    s.how = how;
    sess.inject(s.hook());
    auto failing = reads.async();
    failing.wait();
    CHECK(failing.ready());
    if (how == onto_test::failure::memory)
      CHECK_THROWS_AS(failing.get(), resource_exhausted_error);
    else
      CHECK(words_of<internal_error>([&] { failing.get(); }).find("; in ") != std::string::npos);
    sess.inject({});
    auto next = reads.async();
    CHECK(next.get() == filled(4));
  }
}

TEST_CASE("an error that nobody asks for disturbs nobody", "[session][async][threads]") {
  session sess{machine(1)};
  const auto step = sess.prepare(on<gpu<0>>(sum(matmul(open, open))));
  for (int k = 0; k < 5; ++k) (void)step.async(open = tensor<float, dyn, dyn>({2, 3}));
  CHECK(step.async(open = tensor<float, dyn, dyn>{{1}}).get() == 1.0f);
}

// ---- what is fed ------------------------------------------------------------------------------------------

TEST_CASE("temporaries that are fed are kept", "[session][async][threads]") {
  for (const int gpus : {0, 1}) {
    session sess{machine(gpus)};
    const auto step = sess.prepare(on<gpu<0>>(sum(x)));
    const auto total = sess.prepare(on<gpu<0>>(sum(row)));
    dawdler late;
    sess.inject(late.hook());
    std::vector<decltype(step.async(x = filled(1)))> runs;
    for (int k = 0; k < 10; ++k) {
      runs.push_back(step.async(x = filled(static_cast<float>(k))));
      runs.push_back(step.async(x = {{1, 2}, {3, static_cast<float>(k)}}));
      runs.push_back(total.async(row = std::vector<float>(100, static_cast<float>(k))));
      runs.push_back(total.async(row = std::array<float, 3>{1, 2, static_cast<float>(k)}));
      runs.push_back(total.async(row = tensor<float, 2>{5, static_cast<float>(k)}));
    }
    for (int k = 0; k < 10; ++k) {
      const auto at = [&](int n) -> auto& { return runs[static_cast<std::size_t>(5 * k + n)]; };
      CHECK(at(0).get() == static_cast<float>(4 * k));
      CHECK(at(1).get() == static_cast<float>(6 + k));
      CHECK(at(2).get() == static_cast<float>(100 * k));
      CHECK(at(3).get() == static_cast<float>(3 + k));
      CHECK(at(4).get() == static_cast<float>(5 + k));
    }
    sess.inject({});
  }
}

TEST_CASE("a feed that keeps a temporary may be copied", "[session][async]") {
  session sess;
  auto first = std::make_unique<decltype(x = filled(1))>(x = filled(1));
  auto copy = *first;
  auto assigned = x = filled(9);
  assigned = *first;
  auto moved = std::move(*first);
  first.reset();
  CHECK(sess.run(sum(x), copy) == 4.0f);
  CHECK(sess.run(sum(x), assigned) == 4.0f);
  CHECK(sess.run(sum(x), moved) == 4.0f);
  const auto step = sess.prepare(sum(x));
  auto run = [&] {
    const auto local = x = filled(2);
    return step.async(local);
  }();
  CHECK(run.get() == 8.0f);
}

// ---- ends -------------------------------------------------------------------------------------------------

TEST_CASE("a handle that is dropped waits, since the run reads the caller's data", "[session][async][threads]") {
  session sess{machine(1)};
  sess.run(assign(count, 0));
  const auto step = sess.prepare(fetches(assign_add(count, 1), on<gpu<0>>(x * 2)));
  dawdler late;
  sess.inject(late.hook());
  for (int k = 0; k < 10; ++k) {
    const auto value = std::make_unique<matrix>(filled(1));
    (void)step.async(x = *value);
  }
  sess.inject({});
  CHECK(sess.run(count) == 10);
}

TEST_CASE("handles, programs and sessions may end in any order with runs in flight", "[session][async][threads]") {
  for (int order = 0; order < 6; ++order) {
    INFO("order " << order);
    std::optional<session> sess(std::in_place, machine(2));
    dawdler late;
    sess->inject(late.hook());
    sess->run(assign(on<gpu<1>>(w), 1));
    auto step = std::make_optional(sess->prepare(on<gpu<0>>(x + constant({{1.f, 2.f}, {3.f, 4.f}})) * on<gpu<1>>(w)));
    std::vector<decltype(step->async(x = filled(1)))> runs;
    for (int k = 0; k < 8; ++k) runs.push_back(step->async(x = filled(1)));
    const auto end_runs = [&] {
      if (order % 2)
        runs.clear();
      else
        for (auto& r : runs) CHECK(r.get() == matrix{{2, 3}, {4, 5}});
    };
    if (order / 2 == 0) sess.reset(), step.reset(), end_runs();
    if (order / 2 == 1) step.reset(), end_runs(), sess.reset();
    if (order / 2 == 2) step.reset(), sess.reset(), end_runs();
  }
}

TEST_CASE("a program is replaced while its runs are in flight", "[session][async][threads]") {
  session sess{machine(1)};
  dawdler late;
  sess.inject(late.hook());
  const auto make = [&](float k) { return sess.prepare(on<gpu<0>>(sum(x + constant({{1.f, 2.f}, {3.f, 4.f}}) * k))); };
  auto step = make(1);
  std::vector<decltype(step.async(x = filled(0)))> runs;
  for (int k = 1; k < 6; ++k) {
    for (int j = 0; j < 3; ++j) runs.push_back(step.async(x = filled(0)));
    step = make(static_cast<float>(k + 1));
  }
  for (std::size_t k = 0; k < runs.size(); ++k) CHECK(runs[k].get() == static_cast<float>(10 * (k / 3 + 1)));
  sess.inject({});
}

// ---- many -------------------------------------------------------------------------------------------------

TEST_CASE("a thousand runs in a queue", "[session][async][threads]") {
  for (const int gpus : {0, 1}) {
    session sess{machine(gpus)};
    sess.run(assign(count, 0));
    const auto step = sess.prepare(fetches(assign_add(count, 1), on<gpu<0>>(sum(x))));
    const matrix value = filled(1);
    std::vector<decltype(step.async(x = value))> runs;
    for (int k = 0; k < 1000; ++k) runs.push_back(step.async(x = value));
    int wrong = 0;
    for (int k = 999; k >= 0; --k) {
      const auto [n, total] = runs[static_cast<std::size_t>(k)].get();
      wrong += n == k + 1 && total == 4.0f ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("several queues at once, filled by several threads", "[session][async][threads]") {
  session sess{machine(3)};
  sess.run(fetches(assign(on<gpu<0>>(w), 0), assign(count, 0)));
  const auto counts = sess.prepare(assign_add(count, 1));
  const auto adds = sess.prepare(assign_add(on<gpu<0>>(w), x));
  const auto reads = sess.prepare(on<gpu<2>>(on<gpu<1>>(x * 3) - x));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<handle_of<decltype(counts)>> some;
      std::vector<decltype(adds.async(x = filled(1)))> more;
      std::vector<decltype(reads.async(x = filled(1)))> others;
      for (int k = 0; k < 25; ++k) {
        some.push_back(counts.async());
        more.push_back(adds.async(x = filled(1)));
        others.push_back(reads.async(x = filled(static_cast<float>(t))));
      }
      std::int32_t last = 0;
      for (auto& each : some) {
        const std::int32_t now = each.get();
        wrong += now > last ? 0 : 1;  // in the order of this thread
        last = now;
      }
      for (auto& each : others) wrong += each.get() == filled(static_cast<float>(2 * t)) ? 0 : 1;
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(sess.run(count) == 100);
  CHECK(sess.run(w) == filled(100));
}
