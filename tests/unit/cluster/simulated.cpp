// SPDX-License-Identifier: BSL-1.0
// Sessions whose tasks are threads of this process: all that a session does, asked once and answered once.
#include <onto/simulated_cluster.hpp>

#include "../../cluster/rules.hpp"
#include "../catch.hpp"
#include "../words_of.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

using namespace onto_test;
using namespace onto_test::rules;

namespace {

const tensor<float, 2, 2> all_ones{{1, 1}, {1, 1}};
const tensor<float, dyn, dyn> open_ones(std::vector<float>(4, 1.f), {2, 2});

/// A `ps` and two workers.
session_options three_tasks() { return {.simulated_tasks = {{"ps", 1}, {"worker", 2}}, .timeout = 30}; }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A name that is nobody else's, and is gone at the end.
struct file {
  std::string path;
  explicit file(const std::string& name) : path("simulated_" + std::to_string(getpid()) + name) {}
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  ~file() { std::remove(path.c_str()); }
};

}  // namespace

TEST_CASE("the devices of simulated tasks have their names, and are called simulated", "[cluster][threads]") {
  session_options o = three_tasks();
  o.simulated_gpus = 2;
  session sess{o};
  const auto devices = sess.devices();
  REQUIRE(devices.size() == 9);
  CHECK(devices[0].name.to_string() == "/job:ps/replica:0/task:0/device:CPU:0");
  CHECK(devices[2].name.to_string() == "/job:worker/replica:0/task:1/device:CPU:0");
  CHECK(devices[8].name.to_string() == "/job:worker/replica:0/task:1/device:GPU:1");
  for (const device_info& d : devices) CHECK(contains(d.description, "simulated"));
}

TEST_CASE("a session of simulated tasks is given feeds once and gives each result once", "[cluster][threads]") {
  session sess{three_tasks()};
  CHECK(all_are(sess.run(both, x = all_ones, y = open_ones), 4, 4));
  const auto [one, all, other] = sess.run(fetches(at_first, both, at_second), x = all_ones, y = open_ones);
  CHECK(all_are(one, 2, 4));
  CHECK(all_are(all, 4, 4));
  CHECK(all_are(other, 2, 4));

  tensor<float, 2, 2> a;
  std::vector<float> b(4);
  sess.run_to(std::tie(a, b), fetches(at_first, both), x = all_ones, y = open_ones);
  CHECK(all_are(a, 2, 4));
  CHECK(all_are(b, 4, 4));
  // An output that is also a feed is read first.
  tensor<float, 2, 2> in = all_ones;
  for (int k = 0; k < 3; ++k) sess.run_to(in, at_first, x = in);
  CHECK(all_are(in, 128, 4));
  // Two tasks write to two outputs, and no task sees both.
  const std::string shared = words_of<invalid_argument_error>(
      [&] { sess.run_to(std::tie(b, b), fetches(at_first, at_second), x = all_ones, y = open_ones); });
  CHECK(shared == "[onto.run] two outputs of a run share memory; give each memory of its own");
  std::vector<float> small(3);
  CHECK(words_of<invalid_argument_error>([&] { sess.run_to(small, both, x = all_ones, y = open_ones); }) ==
        "[onto.run] an output of shape [3] is given for a result of shape [2, 2]; give one of that shape, or as many "
        "elements");
  CHECK(all_are(sess.run(both, x = all_ones, y = open_ones), 4, 4));

  const auto hello = constant("hello");
  const auto [here, there] = sess.run(fetches(hello, on<second>(hello)));
  CHECK(text(here).view() == "hello");
  CHECK(text(there).view() == "hello");
}

TEST_CASE("variables of simulated tasks are on their tasks, in order", "[cluster][threads]") {
  session sess{three_tasks()};
  CHECK(words_of<failed_precondition_error>([&] { sess.run(w + 0.f); }).find("variable 'w' has no value yet") !=
        std::string::npos);
  sess.run(initialize(on<store>(w)));
  const auto more = assign_add(w, on<second>(at_first * 3.f));
  const auto step = sess.prepare(more);
  const auto look = sess.prepare(w * 1.f);
  CHECK(all_are(step(x = all_ones), 8, 4));
  {
    auto first_run = step.async(x = all_ones);
    auto then = look.async();
    auto last = step.async(x = all_ones);
    CHECK(all_are(sess.run(w + 0.f), 20, 4));
    CHECK(all_are(then.get(), 14, 4));
    first_run.get();
    last.get();
  }
  CHECK(sess.placement(w + 1.f).at("w").assigned.to_string() == "/job:ps/replica:0/task:0/device:CPU:0");
  CHECK(sess.memory(device_name::parse("/job:ps/task:0/cpu:0")).in_use > 0);
  CHECK(sess.memory(cpu<0>{}).in_use == sess.memory(store{}).in_use);  // of the first task
  CHECK(sess.statistics(device_name::parse("/job:worker/task:0/cpu:0")).kernels > 0);
  CHECK(sess.statistics(device_name::parse("/job:worker/task:0/cpu:0")).transfers > 0);
  CHECK_THROWS_AS(sess.memory(device_name::parse("/job:worker/task:7")), not_found_error);
  sess.trim();
  CHECK(all_are(step(x = all_ones), 26, 4));

  // A prepared program outlives its session, and threads may share one.
  auto kept = [&] {
    session other{three_tasks()};
    return other.prepare(both);
  }();
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k)
    threads.emplace_back([&] {
      for (int run = 0; run < 5; ++run) right += all_are(kept(x = all_ones, y = open_ones), 4, 4);
    });
  for (std::thread& t : threads) t.join();
  CHECK(right == 15);
}

TEST_CASE("what fails in a simulated task is thrown once, and the session goes on", "[cluster][threads]") {
  session sess{three_tasks()};
  sess.initialize(on<store>(w));
  const tensor<float, dyn, dyn> wrong(std::vector<float>(9, 1.f), {3, 3});
  CHECK(contains(words_of<invalid_argument_error>([&] { sess.run(both, x = all_ones, y = wrong); }),
                 "AddN (AddN): add_n adds operands of one shape"));
  CHECK(contains(words_of<invalid_argument_error>([&] { sess.run(on<task<"worker", 7>>(x * 2.f), x = all_ones); }),
                 "'/job:worker/task:7' because no devices"));
  CHECK(
      contains(words_of<invalid_argument_error>([&] { static_cast<void>(sess.prepare(on<task<"boss", 0>>(x * 2.f))); }),
               "'/job:boss/task:0' because no devices"));
  failing_kernels failing;
  sess.inject(failing.hook());
  for (const char* const what : {"kernel", "message", "allocate"}) {
    failing.what = what;
    failing.now = true;
    const std::string words = words_of<resource_exhausted_error>([&] {
      sess.trim();
      sess.run(fetches(both, assign(w, both)), x = all_ones, y = open_ones);
    });
    CHECK(contains(words, "the kernel has no room"));
    failing.now = false;
    CHECK(all_are(sess.run(w + 0.f), 2, 4));
  }
  sess.inject({});
  CHECK(all_are(sess.run(both, x = all_ones, y = open_ones), 4, 4));
}

TEST_CASE("a simulated task that takes too long is named, and the session is over", "[cluster][threads]") {
  session_options o = three_tasks();
  o.timeout = 0.5;
  session sess{o};
  static std::atomic<bool> is_late;
  is_late = true;
  sess.inject({[](void*, const char* what) {
                 if (std::string_view(what) == "kernel" && is_late.exchange(false))
                   std::this_thread::sleep_for(std::chrono::milliseconds(2500));
               },
               nullptr});
  const auto run = [&] { sess.run(at_second, y = open_ones); };
  const std::string first_words = words_of<failed_precondition_error>(run);
  CHECK(contains(first_words, "/job:worker/task:1 did not answer within 0.5 s"));
  CHECK(words_of<failed_precondition_error>(run) == first_words);
}

TEST_CASE("simulated tasks log what is on them, in order, and the devices once", "[cluster][threads]") {
  std::vector<std::string> lines;
  session_options o = three_tasks();
  o.log_device_placement = true;
  o.log = [&](std::string_view line) { lines.emplace_back(line); };
  session sess{o};
  for (int k = 0; k < 2; ++k) sess.run(both, x = all_ones, y = open_ones);
  const std::string task = "/replica:0/task:", cpu = "/device:CPU:0",
                    is = " -> simulated task (threads of this process)";
  const std::vector<std::string> expected{
      "Device mapping:",
      "/job:ps" + task + "0" + cpu + is,
      "/job:worker" + task + "0" + cpu + is,
      "/job:worker" + task + "1" + cpu + is,
      "AddN: (AddN): /job:ps" + task + "0" + cpu,
      "x: (Placeholder): /job:worker" + task + "0" + cpu,
      "MatMul: (MatMul): /job:worker" + task + "0" + cpu,
      "y: (Placeholder): /job:worker" + task + "1" + cpu,
      "MatMul_1: (MatMul): /job:worker" + task + "1" + cpu,
  };
  CHECK(lines == expected);
}

TEST_CASE("simulated tasks add up by messages, and many of them at once", "[cluster][threads]") {
  constexpr auto total = [](auto number) {
    return [&]<int... K>(std::integer_sequence<int, K...>) {
      return add_n(on<task<"worker", K>>(iota<float, 6000>() * c<1.f * (K + 1)>)...);
    }
    (std::make_integer_sequence<int, decltype(number)::value>{});
  };
  const auto check = [](session& sess, const auto& sum, int tasks) {
    const auto step = sess.prepare(sum);
    bool right = true;
    for (int run = 0; run < 3; ++run) {
      const auto got = step();
      for (int k = 0; k < 6000; ++k) right = right && got(k) == static_cast<float>(k * (tasks * (tasks + 1) / 2));
    }
    return right;
  };
  constexpr auto of_two = total(std::integral_constant<int, 2>{});
  constexpr auto of_ten = total(std::integral_constant<int, 10>{});
  static_assert(plan_of(of_ten).all_reduces == 1 && plan_of(of_ten).messages == 0);
  session two{{.simulated_tasks = {{"worker", 2}}}}, ten{{.simulated_tasks = {{"worker", 10}}}};
  session in_order{{.simulated_tasks = {{"worker", 10}}, .deterministic = true}};
  CHECK(check(two, of_two, 2));
  CHECK(check(ten, of_ten, 10));
  CHECK(check(in_order, of_ten, 10));
}

TEST_CASE("a trace has what simulated tasks do", "[cluster][threads]") {
  const std::string path = "simulated_" + std::to_string(getpid()) + ".json";
  {
    session_options o = three_tasks();
    o.trace = path;
    session sess{o};
    for (int k = 0; k < 2; ++k) sess.run(both, x = all_ones, y = open_ones);
  }
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator(".")) {
    if (!contains(entry.path().filename().string(), path)) continue;
    std::ifstream in(entry.path());
    all.append(std::istreambuf_iterator<char>(in), {});
    std::filesystem::remove(entry.path());
  }
  for (const char* const kernel : {"AddN", "MatMul", "MatMul_1"})
    CHECK(contains(all, std::string("\"name\": \"") + kernel + "\""));
}

TEST_CASE("checkpoints of simulated tasks are those of one process", "[cluster][threads]") {
  const file saved(".safetensors");
  const auto there = on<first>(variable<"v", float, 3>);
  {
    session sess{three_tasks()};
    sess.initialize(on<store>(w));
    sess.run(assign(there, on<first>(constant({1.f, 2.f, 3.f}))));
    sess.save(saved.path);
    sess.run(assign(w, at_first), x = all_ones);
    sess.restore(saved.path);
    CHECK(all_are(sess.run(w * 1.f), 2, 4));
    CHECK(contains(words_of<not_found_error>([&] { sess.restore("none/" + saved.path); }), "none/"));
  }
  session alone;
  alone.restore(saved.path);
  CHECK(alone.run(variable<"v", float, 3> * 1.f)(2) == 3);
  session others{{.simulated_tasks = {{"worker", 2}}}};
  others.restore(saved.path);
  CHECK(others.run(on<second>(variable<"v", float, 3>) * 1.f)(1) == 2);
  CHECK(all_are(others.run(on<first>(w) * 1.f), 2, 4));
}

namespace {

/// A step of so many towers, which all see the same.
template <int... Tower>
constexpr auto step_of(std::integer_sequence<int, Tower...>) {
  constexpr auto loss = [](auto place) {
    const auto p = replica(place, variable<"p", float, 4>(fill<float, 4>(1_c)));
    return mean(square(p * iota<float, 4>() - 0.5_c));
  };
  return minimize<sgd{.rate = 0.1, .momentum = 0.5}>(moving_average(0.5_c),
                                                     towers(boost::hana::tuple_t<task<"worker", Tower>...>, loss));
}

/// Goes on from the file, if there is one, for some steps, and saves. *Returns* the last loss.
template <int Towers>
float learn(const std::string& path, bool goes_on, int steps) {
  const auto step = step_of(std::make_integer_sequence<int, Towers>{});
  session sess{{.simulated_tasks = {{"worker", Towers}}}};
  sess.initialize(step);
  if (goes_on) sess.restore(path);
  float loss = 0;
  for (int k = 0; k < steps; ++k) loss = sess.run(step * 1_c);
  sess.save(path);
  return loss;
}

}  // namespace

TEST_CASE("a training with replicas goes on with another number of towers", "[cluster][threads]") {
  const file all(".all"), parts(".parts");
  const float expected = learn<1>(all.path, false, 9);
  learn<1>(parts.path, false, 2);
  // More towers have the values of the first; then fewer leave theirs behind, and they do not come back.
  learn<3>(parts.path, true, 2);
  learn<1>(parts.path, true, 2);
  CHECK(learn<2>(parts.path, true, 3) == expected);
  session alone;
  alone.restore(parts.path);
  const auto p = alone.run(variable<"p", float, 4> * 1_c), other = alone.run(variable<"p/replica_1", float, 4> * 1_c);
  const auto average = alone.run(variable<"p/replica_1/average", float, 4> * 1_c);
  session first;
  first.restore(all.path);
  CHECK(p == first.run(variable<"p", float, 4> * 1_c));
  CHECK(other == p);
  CHECK(average == first.run(variable<"p/average", float, 4> * 1_c));
  CHECK(alone.run(variable<"step/replica_1", std::int64_t> * 1) == 9);
  CHECK_THROWS_AS(alone.run(variable<"p/replica_2", float, 4> * 1_c), failed_precondition_error);
}

TEST_CASE("messages through memory are in order, of a tag and a sender, and fit", "[cluster]") {
  const detail::ref<detail::memory_network> net(new detail::memory_network(3));
  detail::memory_transport one(net, 0), other(net, 1);
  const std::vector<char> large(10'000, 'x');
  std::int64_t bytes = 0;
  char small[4] = {};
  std::vector<char> room(20'000);

  // What is small leaves at once; what is large when it is taken; neither is taken for another's.
  CHECK(one.send(1, 7, "ab", 2)->is_done(bytes));
  CHECK(one.send(1, 7, "cd", 2)->is_done(bytes));
  const auto sent = one.send(1, 8, large.data(), 10'000);
  CHECK_FALSE(sent->is_done(bytes));
  CHECK(net->left_over(0) == 3);
  int source = -1;
  CHECK_FALSE(other.probe(2, 7, source, bytes));
  CHECK(other.probe(-1, 8, source, bytes));
  CHECK((source == 0 && bytes == 10'000));
  const auto none = other.receive(2, 7, small, 4);
  CHECK_FALSE(none->is_done(bytes));
  for (const char* const text : {"ab", "cd"}) {
    CHECK(other.receive(0, 7, small, 4)->is_done(bytes));
    CHECK(std::string(small, static_cast<std::size_t>(bytes)) == text);
  }
  CHECK(other.receive(0, 8, room.data(), 20'000)->is_done(bytes));
  CHECK((bytes == 10'000 && room[9'999] == 'x' && room[10'000] == 0));
  CHECK(sent->is_done(bytes));
  CHECK(net->left_over(0) == 0);

  // Who is given up gets nothing; the next one does.
  const auto gone = other.receive(0, 9, small, 4), next = other.receive(0, 9, room.data(), 4);
  gone->cancel();
  one.send(1, 9, "xyz", 3);
  CHECK_FALSE(gone->is_done(bytes));
  CHECK((next->is_done(bytes) && room[2] == 'z' && small[2] == 0));

  const auto narrow = other.receive(0, 10, small, 4);
  one.send(1, 10, large.data(), 10'000);
  CHECK(words_of<internal_error>([&] { narrow->is_done(bytes); }) ==
        "[onto.cluster] a message of 10000 bytes has come where there is room for 4");
}

TEST_CASE("bad options of simulated tasks are refused", "[cluster]") {
  const auto refused = [](std::initializer_list<cluster_job> jobs) {
    return words_of<invalid_argument_error>([&] { session sess{{.simulated_tasks = jobs}}; });
  };
  CHECK(refused({}) == "[onto.cluster] the cluster has no job; write cluster_spec{{\"worker\", 2}}");
  CHECK(contains(refused({{"worker", 0}}), "job 'worker' has no tasks"));
  CHECK(contains(refused({{"a", 1}, {"a", 2}}), "job 'a' is there twice"));
  CHECK(contains(refused({{"a b", 1}}), "'a b' is no name of a job"));
  CHECK(refused({{"worker", 5000}}) == "[onto.option] simulated_tasks has 5000 tasks; each is a thread, up to 256");
  CHECK(words_of<invalid_argument_error>([] {
          session sess{{.simulated_tasks = {{"w", 2}}, .timeout = 0}};
        }) == "[onto.option] timeout is a number of seconds above 0");
  CHECK(words_of<invalid_argument_error>([] {
          session sess{{.simulated_tasks = {{"w", 2}}, .cpus = 0}};
        }) == "[onto.option] cpus is 0; it is 1 to 1024");
}
