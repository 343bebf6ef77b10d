// SPDX-License-Identifier: BSL-1.0
// Workers that do not wait for each other: every update counts once, nobody sees a half of one, and who is late or lost
// holds nobody up.
#include <onto/asynchronous.hpp>
#include <onto/safetensors.hpp>

#include "../../cluster/simulated_tasks.hpp"
#include "../catch.hpp"
#include "../words_of.hpp"

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <sstream>

using namespace onto_test;

namespace {

using ps = task<"ps", 0>;
using me = task<"worker", 0>;

inline constexpr auto number = placeholder<"number", float>;
inline constexpr auto x = placeholder<"x", float, 8, 2>;
inline constexpr auto y = placeholder<"y", float, 8, 1>;

/// A moment, of any length up to 0.3 ms.
void dawdle(std::mt19937& random) { usleep(static_cast<useconds_t>(random() % 300)); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const auto quarter = on<ps>(constant({{0.f, 1.f}, {-1.f, 0.f}}));

/// Every worker adds numbers of its own to sums on the server, one of which is a large one, and counts.
template <class Count>
void add_numbers(session& sess, int worker, int steps, const Count& wait_for_all) {
  const auto total = on<ps>(variable<"total", float>(0.f));
  const auto wide = on<ps>(variable<"wide", float, 3000>(0.f));
  const auto count = on<ps>(variable<"count", std::int64_t>(zeros<std::int64_t>()));
  const auto turned = on<ps>(variable<"turned", float, 2, 2>(eye<float, 2>()));
  const auto mine = on<me>(number * 2.f);
  sess.run(initialize(total, wide, count, turned));
  // A product that is the update's own, in a kernel before it.
  const auto turn = assign(turned, exp(matmul(turned, quarter)) * 0.f + matmul(turned, quarter));
  const auto add = sess.prepare(
      fetches(total * 1.f, wide * 1.f, assign_add(total, mine), assign_add(count, 1), assign_add(wide, mine), turn));
  std::mt19937 random(static_cast<unsigned>(worker));
  for (int s = 0; s < steps; ++s) {
    const auto [before, all_before, after, counted, all_after, unused] =
        add(number = tensor<float>(static_cast<float>(worker * steps + s)));
    // What is read is of one moment, and so is what is written.
    const auto [least, most] = std::minmax_element(all_before.data(), all_before.data() + all_before.size());
    if (*least != *most || *most != before()) throw internal_error("a half of an update was seen");
    dawdle(random);
  }
  wait_for_all(sess, count);
}

/// What it comes to.
void expect_numbers(session& sess, int updates) {
  const auto total = on<ps>(variable<"total", float>(0.f));
  const auto wide = on<ps>(variable<"wide", float, 3000>(0.f));
  const float sum = sess.run(total * 1.f);
  const tensor<float, 3000> all = sess.run(wide * 1.f);
  const tensor<float, 2, 2> turned = sess.run(on<ps>(variable<"turned", float, 2, 2>(eye<float, 2>())) * 1.f);
  const float cosine[] = {1, 0, -1, 0}, sine[] = {0, 1, 0, -1};
  if (turned(0, 0) != cosine[updates % 4] || turned(0, 1) != sine[updates % 4])
    throw internal_error("an update is not of what it replaces");
  if (sum != static_cast<float>(updates * (updates - 1)) ||
      std::count(all.data(), all.data() + all.size(), sum) != 3000)
    throw internal_error("the sum is " + std::to_string(sum));
}

/// For worker 0: waits until all have counted, and looks.
auto look_when_all_are_done(int worker, int updates) {
  return [worker, updates](session& sess, const auto& count) {
    if (worker > 0) return;
    const auto counted = sess.prepare(count + 0);
    while (counted() < updates) usleep(100);
    expect_numbers(sess, updates);
  };
}

}  // namespace

TEST_CASE("each update of any worker counts once, at any pace", "[cluster][threads]") {
  std::atomic<int> looked{0};
  for (const int workers : {1, 2, 4}) {
    run_asynchronously({{"ps", 1}, {"worker", workers}}, "worker", [&](session& sess, int worker) {
      add_numbers(sess, worker, 30, look_when_all_are_done(worker, 30 * workers));
      ++looked;
    });
  }
  CHECK(looked == 7);
}

TEST_CASE("each update counts once where messages are late, and processes are threads", "[cluster][threads]") {
  for (const unsigned seed : {1u, 2u}) {
    const outcome o = run_tasks({{"ps", 1}, {"worker", 3}}, seed, [&](server& node) {
      run_asynchronously(node, "worker", [&](session& sess, int worker) {
        add_numbers(sess, worker, 10, look_when_all_are_done(worker, 30));
      });
    });
    CHECK(o.thrown == std::vector<std::string>(4));
    CHECK(o.left_over == 0);
  }
}

TEST_CASE("a worker that stands still holds nobody up", "[cluster][threads]") {
  std::atomic<bool> is_done{false};
  std::atomic<float> first{0};
  const outcome o = run_tasks({{"ps", 1}, {"worker", 2}}, 3, [&](server& node) {
    run_asynchronously(node, "worker", [&](session& sess, int worker) {
      const auto count = on<ps>(variable<"count", float>(0.f));
      sess.initialize(count);
      const auto add = sess.prepare(fetches(count * 1.f, assign_add(count, on<me>(number * 1.f))));
      for (int s = 0; worker == 0 && s < 40; ++s) add(number = tensor<float>(1.f));
      if (node.rank() == 1) is_done = true;
      while (node.rank() == 2 && !is_done) usleep(100);
      // What it reads is of now, though the server's side of it has been ready since the beginning.
      const auto [before, after] = add(number = tensor<float>(1.f));
      if (node.rank() == 2) first = before();
    });
  });
  CHECK(o.thrown == std::vector<std::string>(3));
  CHECK(first >= 40);
}

TEST_CASE("optimizers make their steps one after the other, with their state on the server", "[cluster][threads]") {
  const auto steps_of = [](auto optimizer, int workers, int steps) {
    tensor<float, 2, 2> learned;
    std::atomic<int> done{0};
    run_asynchronously({{"ps", 1}, {"worker", workers}}, "worker", [&](session& sess, int worker) {
      const auto w = on<ps>(variable<"w", float, 2, 2>(1.f));
      // The gradient is the same wherever it is: so it does not matter who comes first.
      const auto loss = on<me>(sum(w * 3.f) + 0.f * number);
      const auto update = minimize(optimizer, loss);
      sess.initialize(update);
      const auto step = sess.prepare(update);
      std::mt19937 random(static_cast<unsigned>(worker));
      for (int s = 0; s < steps; ++s, dawdle(random)) step(number = tensor<float>(0.f));
      ++done;
      while (worker == 0 && done < workers) usleep(100);
      if (worker == 0) learned = sess.run(w * 1.f);
    });
    return std::vector<float>(learned.data(), learned.data() + 4);
  };
  CHECK(steps_of(sgd{.rate = 0.01}, 3, 8) == steps_of(sgd{.rate = 0.01}, 1, 24));
  CHECK(steps_of(sgd{.rate = 0.01, .momentum = 0.9}, 3, 8) == steps_of(sgd{.rate = 0.01, .momentum = 0.9}, 1, 24));
  CHECK(steps_of(adam{.rate = 0.01}, 3, 8) == steps_of(adam{.rate = 0.01}, 1, 24));
}

TEST_CASE("a regression comes to where workers that wait for each other come", "[cluster][threads]") {
  tensor<float, 2, 1> learned;
  std::atomic<int> done{0};
  run_asynchronously({{"ps", 2}, {"worker", 3}}, "worker", [&](session& sess, int worker) {
    const auto w = on<task<"ps", 1>>(variable<"w", float, 2, 1>(0.f));
    const auto difference = on<me>(matmul(x, w) - y);
    const auto update = minimize(sgd{.rate = 0.05, .momentum = 0.5}, on<me>(mean(difference * difference)));
    sess.initialize(update);
    tensor<float, 8, 2> mine;
    tensor<float, 8, 1> truth;
    for (int k = 0; k < 8; ++k) {
      mine(k, 0) = static_cast<float>((k + worker) % 3) - 1;
      mine(k, 1) = static_cast<float>((k + worker) % 2);
      truth(k, 0) = 2 * mine(k, 0) - mine(k, 1);
    }
    const auto step = sess.prepare(update);
    for (int s = 0; s < 150; ++s) step(x = mine, y = truth);
    ++done;
    while (worker == 0 && done < 3) usleep(100);
    if (worker == 0) learned = sess.run(w * 1.f);
  });
  CHECK(learned(0, 0) == Approx(2).margin(1e-3));
  CHECK(learned(1, 0) == Approx(-1).margin(1e-3));
}

TEST_CASE("variables on the server's GPU are updated as on its CPU", "[cluster][threads]") {
  std::atomic<int> done{0};
  float sum = 0;
  session_options o;
  o.simulated_gpus = 1;
  run_asynchronously({{"ps", 1}, {"worker", 3}}, "worker", o, [&](session& sess, int worker) {
    const auto w = on<task<"ps", 0, gpu<0>>>(variable<"w", float, 500>(0.f));
    const auto add = sess.prepare(fetches(on<me>(max(w) - min(w)), assign_add(w, on<me>(number * 1.f))));
    sess.initialize(w);
    for (int s = 0; s < 20; ++s)
      if (std::get<0>(add(number = tensor<float>(static_cast<float>(1 + worker))))() != 0)
        throw internal_error("a half of an update was seen");
    ++done;
    while (worker == 0 && done < 3) usleep(100);
    if (worker == 0) sum = sess.run(on<task<"ps", 0>>(min(w)) * 1.f);
  });
  CHECK(sum == 20 * 6);
}

TEST_CASE("checkpoints are of one moment, and the first restore of all workers' is one", "[cluster][threads]") {
  const std::string path = "asynchronous_" + std::to_string(getpid()) + ".safetensors";
  const auto train = [&](float from, int steps) {
    std::atomic<int> done{0};
    float at_end = 0;
    run_asynchronously({{"ps", 1}, {"worker", 3}}, "worker", [&](session& sess, int worker) {
      const auto a = on<ps>(variable<"a", float>(0.f));
      const auto b = on<ps>(variable<"b", float, 1000>(0.f));
      const auto add = fetches(assign_add(a, on<me>(number * 1.f)), assign_add(b, on<me>(number * 1.f)));
      while (worker == 2 && done < 2) usleep(100);  // it comes when the others are done, and takes nothing back
      sess.run(initialize(a, b));
      if (from > 0) sess.restore(path);
      for (int s = 0; s < steps; ++s) {
        sess.run(add, number = tensor<float>(1.f));
        if (worker == 0 && s % 4 == 0) {
          sess.save(path);
          session alone;
          alone.restore(path);
          const auto one = variable<"a", float>;
          const auto many = variable<"b", float, 1000>;
          if (alone.run(max(many) - one)() != 0 || alone.run(min(many) - one)() != 0)
            throw internal_error("the checkpoint has a half of an update");
        }
      }
      ++done;
      if (worker != 2) return;
      at_end = sess.run(a * 1.f);
      sess.save(path);
    });
    return at_end;
  };
  CHECK(train(0, 12) == 36);
  CHECK(train(36, 5) == 36 + 15);
  std::remove(path.c_str());
}

TEST_CASE("a restored variable has other extents, for who restores it", "[cluster][threads]") {
  const std::string path = "extents_" + std::to_string(getpid()) + ".safetensors";
  save_safetensors(path, {{"d", tensor<float, 2>{3, 4}}});
  std::atomic<int> turn{0};
  run_asynchronously({{"ps", 1}, {"worker", 2}}, "worker", [&](session& sess, int worker) {
    const auto d = on<ps>(variable<"d", float, dyn>);
    tensor<float, dyn> many({1000});
    for (float& v : many) v = 1;
    const auto wait_for = [&](int now) {
      while (turn < now) usleep(100);
    };
    const auto expect = [](bool good, const char* what) {
      if (!good) throw internal_error(what);
    };
    wait_for(worker);
    sess.run(assign(d, many));
    ++turn;
    wait_for(2 + worker);
    if (worker == 0) {
      sess.restore(path);
      expect(sess.run(d * 1.f) == tensor<float, dyn>{3, 4}, "restored");
      turn = 3;
      wait_for(4);
      expect(sess.run(d * 1.f) == tensor<float, dyn>{3, 5}, "updated by the other");
      return;
    }
    const std::string now = "variable 'd' is shared by several workers and is now float[2]";
    expect(contains(words_of([&] { sess.run(d * 1.f); }), now), "read");
    expect(contains(words_of([&] { sess.run(sum(d)); }), now), "summed");
    expect(contains(words_of([&] { sess.save(path + ".other"); }), now), "saved");
    sess.restore(path);  // it takes nothing back, and has the extents
    sess.run(assign_add(d, constant({0.f, 1.f})));
    expect(sess.run(d * 1.f) == tensor<float, dyn>{3, 5}, "restored late");
    sess.save(path);
    expect(safetensors_file(path).load<float, dyn>("d") == tensor<float, dyn>{3, 5}, "saved late");
    turn = 4;
  });
  CHECK(turn == 4);
  std::remove(path.c_str());
}

TEST_CASE("an update of a variable that has another shape by now changes no other either", "[cluster][threads]") {
  std::atomic<int> turn{0};
  run_asynchronously({{"ps", 1}, {"worker", 2}}, "worker", [&](session& sess, int worker) {
    constexpr auto n = placeholder<"n", float, dyn>;
    const auto a = on<ps>(variable<"a", float>(0.f));
    const auto b = on<ps>(variable<"b", float, 2>(0.f));
    const auto d = on<ps>(variable<"d", float, dyn>);
    sess.run(initialize(a, b));
    if (worker == 0) sess.run(assign(d, on<me>(n * 1.f)), n = {1, 2, 3});
    while (turn < worker) usleep(100);
    if (worker == 1) {
      const auto all = fetches(assign_add(a, 1.f), assign(d, on<me>(n * 1.f)), assign_add(b, 1.f));
      for (int k = 0; k < 3; ++k)
        if (!contains(words_of([&] { sess.run(all, n = {1, 2, 3, 4}); }), "is now float[3]"))
          throw internal_error("the update was made");
      if (sess.run(a * 1.f)() != 0 || sess.run(b * 1.f)(0) != 0) throw internal_error("half of the update was made");
    }
    ++turn;
    while (turn < 2) usleep(100);
    if (sess.run(a * 1.f)() != 0 || sess.run(b * 1.f)(0) != 0) throw internal_error("half of the update was made");
  });
  CHECK(turn == 2);
}

TEST_CASE("who is lost is named at once, and the other workers go on", "[cluster][threads]") {
  std::atomic<int> steps{0};
  std::atomic<bool> is_named{false};
  session_options o;
  o.timeout = 1;
  o.log = [&](std::string_view line) {
    if (contains(std::string(line), "/job:worker/task:1 is lost, and the other workers go on: ")) is_named = true;
  };
  const auto lose = [&](const auto& how) {
    steps = 0;
    is_named = false;
    return run_tasks({{"ps", 1}, {"worker", 3}}, 1, [&](server& node) {
      run_asynchronously(node, "worker", o, [&](session& sess, int worker) {
        const auto count = on<ps>(variable<"count", float>(0.f));
        sess.initialize(count);
        const auto add = sess.prepare(assign_add(count, on<me>(number * 1.f)) * 1.f);
        for (int s = 0; s < 10; ++s) {
          if (worker == 1 && s == 5) how(node, sess);
          while (worker != 1 && s == 7 && !is_named) usleep(100);
          add(number = tensor<float>(1.f));
          if (node.rank() > 0) ++steps;
        }
      });
    });
  };
  const outcome ended = lose([](server& node, session&) {
    if (node.rank() == 2) throw internal_error("the program itself has failed");
  });
  CHECK(contains(ended.thrown[0], "/job:worker/task:1 has ended its session"));
  CHECK(ended.thrown[2] == "the program itself has failed");
  CHECK(ended.thrown[1] + ended.thrown[3] == "");
  CHECK(steps == 25);
  const outcome late = lose([&](server& node, session&) {
    while (node.rank() == 2 && !is_named) usleep(100);
  });
  CHECK(contains(late.thrown[0], "/job:worker/task:1 did not answer within 1 s"));
  CHECK(contains(late.thrown[2], "/job:worker/task:1 did not answer within 1 s"));
  CHECK(late.thrown[1] + late.thrown[3] == "");
  CHECK(steps == 25);
}

TEST_CASE("what fails in one worker's run fails there, and nothing is updated", "[cluster][threads]") {
  float count_at_end = 0;
  std::atomic<int> failed{0};
  run_asynchronously({{"ps", 1}, {"worker", 2}}, "worker", [&](session& sess, int worker) {
    const auto count = on<ps>(variable<"count", float>(0.f));
    sess.initialize(count);
    const auto add = sess.prepare(assign_add(count, on<me>(exp(number * 0.f))) * 1.f);
    if (worker == 1) {
      sess.inject({[](void*, const char* what) {
                     if (std::string_view(what) == "kernel") throw resource_exhausted_error("none left");
                   },
                   nullptr});
      for (int s = 0; s < 5; ++s) try {
          add(number = tensor<float>(1.f));
        } catch (const resource_exhausted_error&) {
          ++failed;
        }
      sess.inject({});
    }
    for (int s = 0; s < 5; ++s) add(number = tensor<float>(1.f));
    while (worker == 0 && failed < 5) usleep(100);
    if (worker == 1)
      while ((count_at_end = sess.run(count * 1.f)) < 10) usleep(100);
  });
  CHECK(failed == 5);
  CHECK(count_at_end == 10);
}

TEST_CASE("what cannot be is said", "[cluster]") {
  const auto nothing = [](session&, int) {};
  const auto words = [&](const cluster_spec& spec, const session_options& o) {
    return words_of<invalid_argument_error>([&] { run_asynchronously(spec, "worker", o, nothing); });
  };
  CHECK(contains(words({{"ps", 1}, {"task", 2}}, {}), "the cluster has no job 'worker'"));
  CHECK(contains(words({{"worker", 2}}, {}), "add one: cluster_spec{{\"ps\", 1}, {\"worker\", 2}}"));
  session_options inner;
  inner.simulated_tasks = {{"worker", 2}};
  CHECK(contains(words({{"ps", 1}, {"worker", 2}}, inner), "simulated_tasks is a cluster of its own"));
  session_options traced;
  traced.trace = "never.json";
  CHECK(contains(words({{"ps", 1}, {"worker", 2}}, traced), "trace is a file of one session"));
  session_options hurried;
  hurried.timeout = 0;
  CHECK(contains(words({{"ps", 1}, {"worker", 2}}, hurried), "timeout is a number of seconds above 0"));

  // Another shape than the server has by now.
  std::atomic<int> turn{0};
  const std::string shapes = words_of<failed_precondition_error>([&] {
    run_asynchronously({{"ps", 1}, {"worker", 2}}, "worker", [&](session& sess, int worker) {
      const auto v = on<ps>(variable<"v", float, dyn>);
      const auto data = placeholder<"data", float, dyn>;
      while (turn < worker) usleep(100);
      sess.run(assign(v, data), data = tensor<float, dyn>({2 + worker}));
      ++turn;
    });
  });
  CHECK(contains(shapes, "variable 'v' is shared by several workers and is now float[2]"));
}

TEST_CASE("devices have the names of the workers that they are of", "[cluster]") {
  std::mutex guard;
  std::vector<std::string> names;
  run_asynchronously({{"ps", 1}, {"worker", 2}}, "worker", [&](session& sess, int) {
    const std::lock_guard lock(guard);
    for (const device_info& d : sess.devices()) names.push_back(d.name.to_string());
    CHECK(static_cast<float>(sess.run(on<me>(constant(2.f) * 1.f))) == 2);
  });
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{
                     "/job:ps/replica:0/task:0/device:CPU:0", "/job:ps/replica:0/task:0/device:CPU:0",
                     "/job:worker/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0"});
}
