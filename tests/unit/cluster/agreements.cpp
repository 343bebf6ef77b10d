// SPDX-License-Identifier: BSL-1.0
// How processes agree, for clusters of up to 33 tasks: whoever fails, is late or dies, at whatever place of the tree
// and at whatever moment, all others hear of it. One task goes on at a time, drawn by chance whenever one waits, and
// time is what that takes: so the orders are many, and nothing hangs on a clock.
#include <onto/backend/cluster/device.hpp>
#include <onto/backend/cluster/memory_transport.hpp>

#include "../catch.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

using namespace onto;

namespace {

constexpr double timeout = 2;
const int some_sizes[] = {2, 3, 8, 9, 10, 17, 33};

/// A process is killed.
struct killed {};

/// Tasks that take turns, and the time that passes.
class turns {
 public:
  turns(int tasks, unsigned seed)
      : random_(seed),
        open_(static_cast<std::size_t>(tasks), true),
        changed_(static_cast<std::size_t>(tasks)),
        step_(0.06 / tasks) {}

  double time() {
    const std::lock_guard lock(mutex_);
    return time_;
  }
  void await(int task) {
    std::unique_lock lock(mutex_);
    wait(lock, task);
  }
  /// Lets another one go on, or this one.
  void pass(int task) {
    std::unique_lock lock(mutex_);
    time_ += step_;
    draw();
    wait(lock, task);
  }
  void leave(int task) {
    const std::lock_guard lock(mutex_);
    open_[static_cast<std::size_t>(task)] = false;
    draw();
  }

 private:
  void draw() {
    std::vector<int> all;
    for (std::size_t t = 0; t < open_.size(); ++t)
      if (open_[t]) all.push_back(static_cast<int>(t));
    if (all.empty()) return;
    next_ = all[random_() % all.size()];
    changed_[static_cast<std::size_t>(next_)].notify_one();
  }
  void wait(std::unique_lock<std::mutex>& lock, int task) {
    changed_[static_cast<std::size_t>(task)].wait(lock, [&] { return next_ == task; });
  }

  std::mutex mutex_;
  std::mt19937 random_;
  std::vector<bool> open_;
  std::vector<std::condition_variable> changed_;  // per task
  double time_ = 0, step_;
  int next_ = 0;
};

/// The time of one task; at its `last`th look it is killed.
struct task_time final : detail::time_source {
  task_time(turns& t, int number, int l) : all(t), task(number), last(l) {}
  double now() override { return all.time(); }
  void pause() override {
    if (--last == 0) throw killed();
    all.pass(task);
  }
  turns& all;
  int task;
  int last;
};

/// Counts notes, and carries none of a process that is dead.
class mortal_transport final : public detail::transport {
 public:
  mortal_transport(const detail::ref<detail::memory_network>& net, int rank) : way_(net, rank) {}
  int rank() const override { return way_.rank(); }
  int size() const override { return way_.size(); }
  detail::ref<detail::pending_message> send(int to, int tag, const void* data, std::int64_t bytes) override {
    ++sent;
    return is_dead ? detail::ref<detail::pending_message>(new nothing) : way_.send(to, tag, data, bytes);
  }
  detail::ref<detail::pending_message> receive(int from, int tag, void* data, std::int64_t most) override {
    return way_.receive(from, tag, data, most);
  }
  bool probe(int from, int tag, int& source, std::int64_t& bytes) override {
    return way_.probe(from, tag, source, bytes);
  }
  int sent = 0;
  bool is_dead = false;

 private:
  struct nothing final : detail::pending_message {
    bool is_done(std::int64_t&) override { return true; }
    void cancel() noexcept override {}
  };
  detail::memory_transport way_;
};

struct outcome {
  std::vector<std::string> words;  // per task: what it has thrown; `killed`
  std::vector<int> sent;           // messages
  double seconds = 0;              // of all
};

/// One task and what it can do.
struct process {
  detail::cluster_group& group;
  turns& time;
  int rank;

  /// *Returns* what all say.
  std::string agree(const std::string& said, std::exception_ptr failure = nullptr, std::uint64_t program = 1) {
    return group.agree({program, program == 1 ? "Add" : "Mul", 3}, failure, said);
  }
  void sleep(double seconds) {
    for (const double end = time.time() + seconds; time.time() < end;) detail::tested_time->pause();
  }
};

/// Has every task do `act(process)`. `victim` is killed at its `last`th look.
outcome run(int tasks, unsigned seed, const std::function<void(process&)>& act, int victim = -1, int last = 0) {
  using namespace detail;
  const ref<cluster_tasks> names(new cluster_tasks);
  names->add("w", tasks);
  const ref<memory_network> net(new memory_network(tasks));
  turns all(tasks, seed);
  outcome o{std::vector<std::string>(static_cast<std::size_t>(tasks)),
            std::vector<int>(static_cast<std::size_t>(tasks)), 0};
  std::vector<std::thread> threads;
  for (int r = 0; r < tasks; ++r)
    threads.emplace_back([&, r] {
      task_time own(all, r, r == victim ? last : 0);
      tested_time = &own;
      all.await(r);
      const auto k = static_cast<std::size_t>(r);
      const ref<mortal_transport> ways(new mortal_transport(net, r));
      {
        const ref<cluster_group> group(
            new cluster_group(ref<mortal_transport>(ways), names, ref<cluster_end>(new cluster_end), timeout));
        process p{*group, all, r};
        try {
          act(p);
        } catch (const error& e) {
          o.words[k] = e.what();
        } catch (const killed&) {
          o.words[k] = "killed";
          ways->is_dead = true;
          own.last = 0;
        }
        o.sent[k] = ways->sent;
      }
      all.leave(r);
    });
  for (std::thread& t : threads) t.join();
  o.seconds = all.time();
  return o;
}

std::string name(int task) { return "/job:w/task:" + std::to_string(task); }

/// Whether all but one task have thrown `words`.
bool all_say(const outcome& o, int but, const std::string& words) {
  for (std::size_t t = 0; t < o.words.size(); ++t)
    if (static_cast<int>(t) != but && o.words[t].find(words) == std::string::npos) {
      UNSCOPED_INFO("task " << t << ": " << o.words[t]);
      return false;
    }
  return true;
}

std::string letter(int k) { return std::string(1, static_cast<char>('a' + k % 26)); }
std::string all_letters(int tasks) {
  std::string all;
  for (int k = 0; k < tasks; ++k) all += letter(k);
  return all;
}

template <class Error>
std::exception_ptr failure(const char* words) {
  return std::make_exception_ptr(Error(words));
}

}  // namespace

TEST_CASE("a note has few others to pass, and every task one parent", "[cluster]") {
  for (const int tasks : {1, 2, 7, 8, 9, 33, 64, 65, 512, 1000, 1024}) {
    std::vector<int> parents(static_cast<std::size_t>(tasks), -1);
    int most = 0, depth = 0;
    for (int t = 0; t < tasks; ++t) {
      int children = 0, before = t;
      detail::note_tree::for_each_child(t, tasks, [&](int child) {
        ++children;
        CHECK(child > before);
        before = child;
        CHECK(detail::note_tree::parent(child) == t);
        CHECK(parents[static_cast<std::size_t>(child)] == -1);
        parents[static_cast<std::size_t>(child)] = t;
      });
      most = std::max(most, children);
    }
    for (int t = 1; t < tasks; ++t) {
      CHECK(parents[static_cast<std::size_t>(t)] >= 0);
      int levels = 0;
      for (int up = t; up > 0; up = detail::note_tree::parent(up)) ++levels;
      depth = std::max(depth, levels);
    }
    if (tasks <= 8) CHECK(most == tasks - 1);
    if (tasks <= 8) CHECK(depth <= 1);
    CHECK(most <= 22);
    CHECK(depth <= 4);
  }
}

TEST_CASE("any number of tasks hears what all say, in order, and ends in any order", "[cluster]") {
  for (int tasks = 1; tasks <= 33; ++tasks) {
    INFO(tasks << " tasks");
    std::vector<int> right(static_cast<std::size_t>(tasks));
    const outcome o = run(tasks, static_cast<unsigned>(tasks), [&](process& p) {
      for (int round = 0; round < 3; ++round) {
        if ((p.rank + round) % 5 == 0) p.sleep(0.3);
        right[static_cast<std::size_t>(p.rank)] += p.agree(letter(p.rank)) == all_letters(tasks);
      }
    });
    for (const int r : right) CHECK(r == 3);
    CHECK(all_say(o, -1, ""));
    for (const std::string& words : o.words) CHECK(words == "");
    // Each note goes up once and down once.
    int sent = 0;
    for (const int s : o.sent) sent += s;
    CHECK(sent == 3 * 2 * (tasks - 1));
    if (tasks == 33) CHECK(o.sent[0] == 3 * (7 + 4));
  }
}

TEST_CASE("the first task's failure is thrown by all, whichever has it", "[cluster]") {
  for (int tasks = 1; tasks <= 33; tasks += tasks < 18 ? 1 : 5)
    for (int thrower = 0; thrower < tasks; ++thrower) {
      INFO(tasks << " tasks, task " << thrower << " fails");
      bool goes_on = true;
      const auto why = [&](int rank) {
        if (rank == thrower) return failure<invalid_argument_error>("no such shape");
        if (rank == thrower + 3) return failure<not_found_error>("no such file");
        // What comes of it elsewhere is not what is said.
        return rank % 2 ? std::make_exception_ptr(detail::other_process_failed()) : std::exception_ptr();
      };
      const outcome o = run(tasks, static_cast<unsigned>(100 * tasks + thrower), [&](process& p) {
        try {
          p.agree("", why(p.rank));
        } catch (const invalid_argument_error&) {
          goes_on = goes_on && p.agree(letter(p.rank)) == all_letters(tasks);
          throw;
        }
      });
      CHECK(goes_on);
      CHECK(all_say(o, -1, tasks == 1 ? "no such shape" : "no such shape; in " + name(thrower)));
    }
}

TEST_CASE("what all say alike is no task's own", "[cluster]") {
  const outcome o = run(10, 1, [](process& p) { p.agree("", failure<invalid_argument_error>("the same")); });
  for (const std::string& words : o.words) CHECK(words == "the same");
}

TEST_CASE("another program is named on both sides, whichever task has it", "[cluster]") {
  for (const int tasks : some_sizes)
    for (int other = 0; other < tasks; ++other) {
      INFO(tasks << " tasks, task " << other << " runs another program");
      const outcome o = run(tasks, static_cast<unsigned>(other), [&](process& p) {
        try {
          p.agree("", nullptr, p.rank == other ? 2 : 1);
        } catch (const failed_precondition_error&) {
          if (p.agree(letter(p.rank)) == all_letters(tasks)) throw;
        }
      });
      const std::string mine = " runs '" + std::string(other == 0 ? "Mul" : "Add") + "' of 3 nodes, and ";
      const std::string its = " runs '" + std::string(other == 0 ? "Add" : "Mul") + "' of 3 nodes; ";
      CHECK(all_say(o, -1, name(0) + mine + name(other == 0 ? 1 : other) + its));
    }
}

TEST_CASE("a late task is named by all, wherever it is, and hears of it", "[cluster]") {
  for (const int tasks : some_sizes)
    for (int late = 0; late < tasks; ++late) {
      INFO(tasks << " tasks, task " << late << " is late");
      const outcome o = run(tasks, static_cast<unsigned>(late), [&](process& p) {
        p.agree("");
        // Nor do the others come at once.
        p.sleep(p.rank == late ? 3 * timeout + 5 : 0.9 * timeout * (p.rank * 7 % 5) / 5);
        p.agree("");
      });
      CHECK(all_say(o, late == 0 ? -1 : late, name(late) + " did not answer within 2 s"));
      // What the first process has said is there when it comes; the first one itself finds who has given it up.
      if (late != 0) CHECK(o.words[static_cast<std::size_t>(late)].find(name(late) + " did not") != std::string::npos);
      CHECK(o.seconds < 5 * timeout + 10);
    }
}

TEST_CASE("a task that is killed at any moment is named by all, wherever it is", "[cluster]") {
  int found = 0;
  for (const int tasks : some_sizes)
    for (int victim = 0; victim < tasks; ++victim) {
      const int last = 1 + (victim * 5 + tasks) % 12;
      INFO(tasks << " tasks, task " << victim << " is killed at its look " << last);
      const outcome o = run(
          tasks, static_cast<unsigned>(31 * tasks + victim),
          [](process& p) {
            for (int round = 0; round < 20; ++round) {
              detail::tested_time->pause();
              p.agree("");
            }
          },
          victim, last);
      REQUIRE(o.words[static_cast<std::size_t>(victim)] == "killed");
      CHECK(all_say(o, victim, name(victim) + " did not answer within 2 s"));
      CHECK(o.seconds < timeout + 10);
      ++found;
    }
  CHECK(found == 82);
}

TEST_CASE("a task that ends early is named by all, wherever it is", "[cluster]") {
  for (const int tasks : some_sizes)
    for (int gone = 0; gone < tasks; ++gone) {
      INFO(tasks << " tasks, task " << gone << " ends its session");
      const outcome o = run(tasks, static_cast<unsigned>(gone), [&](process& p) {
        p.agree("");
        if (p.rank != gone) p.agree("");
      });
      CHECK(all_say(o, gone, name(gone) + " has ended its session"));
      CHECK(o.words[static_cast<std::size_t>(gone)] == "");
      CHECK(o.seconds < timeout);
    }
}

TEST_CASE("who waits for a task that waits for another one names the last of them", "[cluster]") {
  for (const int late : {0, 5, 8, 16}) {
    const outcome o = run(17, static_cast<unsigned>(late), [&](process& p) {
      p.agree("");
      if (p.rank == late) return p.sleep(20);
      // All wait in the middle of a run: half of them for the next one, the others for all.
      p.group.wait_for(p.rank % 2 ? (p.rank + 1) % 17 : detail::cluster_group::all_of_them, [] { return false; });
    });
    INFO("task " << late);
    if (late != 0) CHECK(all_say(o, late, name(late) + " did not answer within 2 s"));
    // Nobody asks all where the first one is late: who waits for another one names that.
    for (std::size_t t = 0; t < o.words.size(); ++t)
      if (static_cast<int>(t) != late) CHECK(o.words[t].find(" did not answer within 2 s") != std::string::npos);
  }
}

TEST_CASE("what is put together in any way is the same", "[cluster]") {
  std::mt19937 random(1);
  for (int k = 0; k < 300; ++k) {
    const int tasks = 2 + static_cast<int>(random() % 9);
    std::vector<detail::process_note> notes(static_cast<std::size_t>(tasks));
    for (int t = 0; t < tasks; ++t) {
      detail::process_note& n = notes[static_cast<std::size_t>(t)];
      n.program = random() % 6 == 0 ? 2 : 1;
      n.nodes = t;
      n.said = letter(t);
      n.failure = random() % 3   ? detail::failure_kind::none
                  : random() % 2 ? detail::failure_kind::elsewhere
                                 : detail::failure_kind::not_found;
      if (n.failure != detail::failure_kind::none) n.origin = t;
    }
    const auto fold = [&](const auto& self, int begin, int end) -> detail::process_note {
      if (end - begin == 1) return notes[static_cast<std::size_t>(begin)];
      const int middle = begin + 1 + static_cast<int>(random() % static_cast<unsigned>(end - begin - 1));
      detail::process_note all = self(self, begin, middle);
      all.add(self(self, middle, end), middle);
      return all;
    };
    detail::process_note in_turn = notes[0];
    for (int t = 1; t < tasks; ++t) in_turn.add(notes[static_cast<std::size_t>(t)], t);
    const detail::process_note any = fold(fold, 0, tasks);
    CHECK(detail::write_note(any) == detail::write_note(in_turn));
  }
}
