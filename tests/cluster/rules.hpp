// SPDX-License-Identifier: BSL-1.0
// What programs over three tasks, a `ps` and two `worker`s, have to do, asked in every task: the same for tasks that
// are threads and tasks that are processes.
#pragma once

#include <onto/onto.hpp>
#include <onto/tensor/whole_file.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace onto_test {

using namespace onto;

namespace rules {

inline constexpr auto x = placeholder<"x", float, 2, 2>;
inline constexpr auto y = placeholder<"y", float, dyn, dyn>;
inline constexpr auto names = placeholder<"names", text, 2>;
inline const auto w = variable<"w", float, 2, 2>(2.f);

using first = task<"worker", 0>;
using second = task<"worker", 1>;
using store = task<"ps", 0>;

constexpr auto at_first = on<first>(matmul(on<first>(x), x));
constexpr auto at_second = on<second>(matmul(on<second>(y), y));
constexpr auto both = add_n(at_first, at_second);

}  // namespace rules

/// A folder that all tasks know by the same name, and no other test.
inline std::string checkpoint_folder() {
  const auto path = std::filesystem::temp_directory_path() / ("onto_cluster_" + std::to_string(::getppid()));
  std::filesystem::create_directories(path);
  return path.string();
}

/// A task's own account of what went wrong.
class rule_checker {
 public:
  explicit rule_checker(int rank) : rank_(rank) {}

  void expect(bool good, const std::string& what) {
    ++checks_;
    if (!good) failures_.push_back("task " + std::to_string(rank_) + ": " + what);
  }
  /// `f` throws an `Error` that says `words`.
  template <class Error, class F>
  std::string expect_throws(const std::string& words, const F& f) {
    try {
      f();
      expect(false, "nothing was thrown, and it was to say: " + words);
    } catch (const Error& e) {
      expect(std::strstr(e.what(), words.c_str()) != nullptr, std::string(e.what()) + "\n  is to say: " + words);
      return e.what();
    } catch (const std::exception& e) {
      expect(false, std::string("another exception was thrown: ") + e.what());
    }
    return {};
  }

  int checks() const { return checks_; }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  int rank_;
  int checks_ = 0;
  std::vector<std::string> failures_;
};

template <class T>
bool all_are(const T& t, float value, std::size_t count) {
  bool good = t.size() == count;
  for (const float v : t) good = good && v == value;
  return good;
}

/// Lets kernels of one task fail, or messages.
struct failing_kernels {
  bool now = false;
  const char* what = "kernel";
  detail::fault_hook hook() {
    return {[](void* self, const char* step) {
              const auto& f = *static_cast<failing_kernels*>(self);
              if (f.now && std::strcmp(step, f.what) == 0)
                throw resource_exhausted_error("[onto.memory] the kernel has no room");
            },
            this};
  }
};

/// Variables of three tasks in one file: another number of processes goes on from it, and the other way round.
template <class Node>
void check_checkpoints(Node& node, rule_checker& r) {
  using namespace rules;
  const int me = node.rank();
  static constexpr auto v = variable<"v", float, dyn>;
  static constexpr auto count = variable<"count", std::int64_t>;
  static constexpr auto none = variable<"none", float, 0>;
  const auto w_there = on<store>(w);
  const auto v_there = on<first>(v);
  const auto count_there = on<second>(count);
  const auto fill = [&](session& sess) {
    sess.run(assign(w_there, 3.f));
    sess.run(assign(v_there, constant({1.f, 2.f, 3.f})));
    sess.run(assign(count_there, 7));
    sess.run(assign(on<task<"worker", 1, gpu<0>>>(none), constant(tensor<float, 0>())));
  };
  const auto is_filled = [&](session& sess) {
    // `total` first, since it is the first to ask for what waits, with all three tasks at work.
    const auto total = sess.run(cast<float>(sum(w)) + sum(v) + cast<float>(count));
    return total == 25 && all_are(sess.run(w * 1.f), 3, 4) && sess.run(v + 0.f) == tensor<float, dyn>{1, 2, 3} &&
           sess.run(count * 1) == 7 && sess.run(none * 1.f).size() == 0;
  };
  // Two of the tasks have a GPU, so that values go through the host on both ways.
  const session_options how{.allow_soft_placement = true, .simulated_gpus = me == 0 ? 0 : 1, .timeout = 30};
  session sess{node, how};
  const std::string file = checkpoint_folder() + "/m", other = checkpoint_folder() + "/other";
  r.template expect_throws<failed_precondition_error>("variable 'w' has no value yet", [&] { sess.save(file, w); });
  fill(sess);
  sess.save(file);
  r.expect(sess.placement(v).at("v").assigned.task() == 0 && sess.placement(count).at("count").assigned.task() == 1,
           "variables are on three tasks");
  if (me == 0) {
    session alone;
    alone.restore(file);
    r.expect(is_filled(alone), "one process goes on from what three have saved");
    alone.save(other);
  }

  // Into variables that have values, which stay where they are.
  sess.run(fetches(assign(w, 0.f), assign(count, 0)));
  sess.run(assign(v, constant({0.f})));
  sess.restore(file);
  r.expect(is_filled(sess), "restored values are the variables'");
  r.expect(sess.placement(count + 1).at("count").assigned.task() == 1, "and they are on their tasks");

  // Before a program has named a variable: values wait, and are where a program wants them.
  {
    session fresh{node, how};
    fresh.restore(other);
    fresh.save(file);
    const auto step = fresh.prepare(assign_add(on<task<"worker", 1, gpu<0>>>(v), 1.f));
    step();
    r.expect(fresh.run(v + 0.f) == tensor<float, dyn>{2, 3, 4}, "a value that waits goes to where a program has it");
    r.expect(fresh.placement(v * 2.f).at("v").assigned.task() == 1, "on another task than it was saved on");
    fresh.restore(file);
    r.expect(is_filled(fresh), "what has waited is restored, too");
    fresh.run(assign(v, constant({9.f})));
    fresh.restore(file, v);
    r.expect(is_filled(fresh), "some of the variables");
  }

  {
    const auto step = sess.prepare(assign_add(w, 1.f));
    auto pending = step.async();
    sess.save(file);
    pending.get();
    sess.run(assign(w, 0.f));
    sess.restore(file, w);
    r.expect(all_are(sess.run(w * 1.f), 4, 4), "what was started before and not waited for is saved");
    sess.run(assign(w, 3.f));
    sess.save(file);
  }

  // What fails in one process fails in all, and the last whole file stays.
  failing_kernels failing;
  failing.what = "message";
  sess.inject(failing.hook());
  sess.run(assign(w, 8.f));
  for (int at = 0; at < 3; ++at) {
    failing.now = me == at;
    const std::string task = at == 0 ? "/job:ps/task:0" : "/job:worker/task:" + std::to_string(at - 1);
    r.template expect_throws<resource_exhausted_error>("no room", [&] { sess.save(file); });
    r.template expect_throws<resource_exhausted_error>("no room", [&] { sess.restore(file); });
  }
  failing.now = false;
  sess.inject({});
  r.expect(all_are(sess.run(w * 1.f), 8, 4), "nothing has changed");
  sess.restore(file);
  r.expect(is_filled(sess), "the last whole file is still there");
  for (const char* const call : {"open", "write", "fsync", "rename"}) {
    if (me == 0) {
      static const char* failing_call = nullptr;
      failing_call = call;
      detail::fail_file = [](const char* c) { return std::strcmp(c, failing_call) == 0 ? ENOSPC : 0; };
    }
    r.template expect_throws<error>("/job:ps/task:0", [&] { sess.save(file); });
    if (me == 0) detail::fail_file = nullptr;
  }
  sess.restore(file);
  r.expect(is_filled(sess), "and after files have failed");
  r.template expect_throws<not_found_error>("nowhere", [&] { sess.restore(checkpoint_folder() + "/nowhere"); });
  r.template expect_throws<invalid_argument_error>("is float[2, 2], and the variable of that name is float[3]",
                                                   [&] { sess.restore(file, variable<"w", float, 3>); });
  r.template expect_throws<invalid_argument_error>("no tensor for the session's 'u'",
                                                   [&] { sess.restore(file, variable<"u", float, 3>); });
  r.template expect_throws<failed_precondition_error>("every process is to run the same programs", [&] {
    if (me == 1)
      sess.restore(file);
    else
      sess.save(file);
  });
  r.template expect_throws<failed_precondition_error>("every process is to run the same programs",
                                                      [&] { sess.save(me == 1 ? other : file); });
  r.expect(is_filled(sess), "and the session goes on");
  if (me == 0) std::filesystem::remove_all(checkpoint_folder());
}

template <class Node>
void check_rules(Node& node, rule_checker& r) {
  using namespace rules;
  const int me = node.rank();
  std::vector<std::string> lines;
  session sess{
      node,
      {.log_device_placement = true, .log = [&](std::string_view line) { lines.emplace_back(line); }, .timeout = 30}};
  const tensor<float, 2, 2> ones{{1, 1}, {1, 1}};
  const tensor<float, dyn, dyn> open(std::vector<float>(4, 1.f), {2, 2}), none;

  // A feed is read where its placeholder is placed; elsewhere it may be anything, of any shape.
  const tensor<float, 2, 2> wrong{{7, 7}, {7, 7}};
  const auto sum = sess.run(both, x = me == 1 ? ones : wrong, y = me == 2 ? open : none);
  r.expect(all_are(sum, 4, 4), "a fetch that no task is asked for arrives in every process");

  // Each process logs what is on its task, by its name there.
  const char* const own[] = {"AddN: (AddN): /job:ps/replica:0/task:0/device:CPU:0",
                             "MatMul: (MatMul): /job:worker/replica:0/task:0/device:CPU:0",
                             "MatMul_1: (MatMul): /job:worker/replica:0/task:1/device:CPU:0"};
  for (int k = 0; k < 3; ++k) {
    bool logged = false;
    for (const std::string& line : lines) logged = logged || line == own[k];
    r.expect(logged == (k == me), std::string(logged ? "logged " : "did not log ") + own[k]);
  }
  r.expect(
      sess.devices().size() == 3 && sess.devices()[2].name.to_string() == "/job:worker/replica:0/task:1/device:CPU:0",
      "a session lists the devices of all tasks");

  // A fetch that a task is asked for arrives there alone, beside others that arrive everywhere.
  const auto [one, all] = sess.run(fetches(at_first, both), x = ones, y = open);
  r.expect(me == 1 ? all_are(one, 2, 4) : one.data() == nullptr, "on<task<...>> is where a result arrives");
  r.expect(all_are(all, 4, 4), "the other result arrives in every process");
  tensor<float, 2, 2> out{{5, 5}, {5, 5}};
  sess.run_to(out, at_first, x = ones);
  r.expect(all_are(out, me == 1 ? 2.f : 5.f, 4), "an output is left alone where no result arrives");

  // Variables live on their task.
  sess.initialize(on<store>(w));
  const auto more = assign_add(w, on<second>(at_first * 3.f));
  sess.run(more, x = ones);
  sess.run(more, x = ones);
  r.expect(all_are(sess.run(w * 1.f), 14, 4), "a variable of another task is read and written");
  r.expect(sess.placement(w + 1.f).at("w").assigned.job() == "ps", "a variable stays on its task");

  // Prepared, in order, waited for and not.
  const auto step = sess.prepare(more);
  const auto look = sess.prepare(w * 1.f);
  {
    auto a = step.async(x = ones);
    auto b = look.async();
    auto c = step.async(x = ones);
    r.expect(all_are(sess.run(w + 0.f), 26, 4), "a run waits for those that were started before");
    r.expect(all_are(b.get(), 20, 4), "runs that are not waited for are done in the order in which they were started");
    a.get();
    c.get();
  }

  // A batch of updates is done where its variables are.
  const auto p = on<store>(variable<"p", float, 2, 2>(fill<float, 2, 2>(1_c)));
  const auto q = on<store>(variable<"q", float, 2, 2>(fill<float, 2, 2>(2_c)));
  const auto losses = towers(boost::hana::tuple_t<first, second>, [&](auto) { return onto::sum((p + q) * x); });
  const auto learn = minimize<sgd{.rate = 0.5}>(mean(losses));
  sess.initialize(learn);
  const auto learning = sess.prepare(fetches(learn * 1_c, onto::sum(p) * 1_c));
  r.expect(std::get<0>(learning(x = ones)) == 12 && std::get<0>(learning(x = ones)) == 8,
           "gradients of two tasks are the updates on a third");

  // What fails in one process fails in all, in the same words, and changes nothing.
  r.template expect_throws<invalid_argument_error>("AddN (AddN): add_n adds operands of one shape", [&] {
    sess.run(both, x = ones, y = me == 2 ? tensor<float, dyn, dyn>() : open);
  });
  tensor<float, 2, 2> gone = ones;
  const tensor<float, 2, 2> kept = me == 1 ? tensor<float, 2, 2>(std::move(gone)) : ones;
  r.template expect_throws<invalid_argument_error>("placeholder 'x' has shape [2, 2] and was fed [0, 0]",
                                                   [&] { sess.run(at_first, x = gone); });
  r.expect(all_are(kept, 1, 4), "what was moved is elsewhere");
  failing_kernels failing;
  sess.inject(failing.hook());
  failing.now = me == 2;
  for (int k = 0; k < 3; ++k)
    r.template expect_throws<resource_exhausted_error>("no room; in MatMul_1 (MatMul) on /job:worker/task:1", [&] {
      sess.run(fetches(both, assign(w, both)), x = ones, y = open);
    });
  failing.now = me == 1;
  r.template expect_throws<resource_exhausted_error>("/job:worker/task:0", [&] { step(x = ones); });
  failing.now = false;
  sess.inject({});
  r.expect(all_are(sess.run(w + 0.f), 26, 4), "after a failure variables have their last complete value");
  r.expect(all_are(sess.run(both, x = ones, y = open), 4, 4), "after a failure the session goes on");

  // Programs are compared before anybody waits for another one.
  const std::string differ =
      r.template expect_throws<failed_precondition_error>("every process is to run the same", [&] {
        if (me == 1)
          sess.run(w - 1.f);
        else
          sess.run(w + 1.f);
      });
  r.expect(differ.find("/job:ps/task:0 runs 'Add' of") != std::string::npos &&
               differ.find("/job:worker/task:0 runs 'Sub' of") != std::string::npos,
           "programs that differ are named on both sides: " + differ);
  r.expect(all_are(sess.run(w + 1.f), 27, 4), "and the session goes on");

  // A task or a job that is not there is refused by all, with soft placement too.
  r.template expect_throws<invalid_argument_error>("'/job:worker/task:7' because no devices",
                                                   [&] { sess.run(on<task<"worker", 7>>(x * 2.f), x = ones); });
  r.template expect_throws<invalid_argument_error>("'/job:boss/task:0' because no devices",
                                                   [&] { sess.run(on<task<"boss", 0>>(x * 2.f), x = ones); });

  session soft{node, {.allow_soft_placement = true, .timeout = 30}};
  const auto moved = on<task<"worker", 1, gpu<3>>>(x * 2.f);
  r.expect(soft.placement(moved).at("Mul").assigned.to_string() == "/job:worker/replica:0/task:1/device:CPU:0",
           "soft placement stays in the task");
  r.template expect_throws<invalid_argument_error>("because no devices",
                                                   [&] { soft.run(on<task<"worker", 7, gpu<0>>>(x * 2.f), x = ones); });
  {
    device_guard g{"/job:worker/task:1"};
    device_guard h{"/cpu:0"};
    const auto under = on<gpu<0>>(x * 4.f);
    r.expect(soft.placement(under).at("Mul").assigned.task() == 1, "guards and scopes combine part by part");
  }

  // A constant of texts is known to all; other texts stay in their process.
  const auto hello = constant("hello");
  const text greeting = soft.run(hello);
  r.expect(greeting.view() == "hello", "a constant of texts arrives in every process");
  r.expect((soft.run(on<second>(hello)).data() != nullptr) == (me == 2), "or where it is placed");
  r.template expect_throws<invalid_argument_error>("is text, which does not go from one process to another", [&] {
    soft.run(on<second>(flip<0>(on<first>(names))), names = std::vector<std::string>{"a", "b"});
  });

  // Towers over tasks: the function is given the task.
  const auto shares = towers(boost::hana::tuple_t<first, second>, [](auto place) {
    constexpr auto shift = c<float(10 * decltype(place)::index)>;
    return exp(x * 0_c) + shift;
  });
  const auto report = soft.placement(fetches(shares));
  r.expect(report.at("Add").assigned.task() == 0 && report.at("Add_1").assigned.task() == 1,
           "towers are on their tasks");
  r.expect(all_are(soft.run(mean(shares), x = ones), 6, 4), "the mean of towers on tasks arrives in every process");

  check_checkpoints(node, r);

  // Sessions with other options are refused, and so is one that cannot be made in one process.
  const std::string options = r.template expect_throws<failed_precondition_error>("the same version and options", [&] {
    session other{node, {.allow_soft_placement = me == 0, .timeout = 30}};
  });
  r.expect(options.find("allow_soft_placement on") != std::string::npos &&
               options.find("allow_soft_placement off") != std::string::npos,
           "both sides of options are named: " + options);
  r.template expect_throws<invalid_argument_error>("cpus is", [&] {
    session other{node, {.cpus = me == 2 ? -1 : 1, .timeout = 30}};
  });
}

}  // namespace onto_test
