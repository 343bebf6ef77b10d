// SPDX-License-Identifier: BSL-1.0
// A model of processes that go through one plan: every order in which they can, over random placements on random
// clusters. None gets stuck, and none reads what has not come or writes over what has not left.
#include "../catch.hpp"
#include "../session/random_program.hpp"
#include "estimate_laws.hpp"

#include <random>
#include <set>
#include <string>
#include <vector>

using namespace onto_test;

namespace {

using detail::task_name;

/// What one process does of a plan, in its order.
struct task_step {
  int step = -1;           // of the plan
  std::vector<int> waits;  // messages that must have left, or come, before
};

struct model {
  std::vector<std::vector<task_step>> tasks;
  struct message {
    int from = -1, to = -1;  // tasks; -1 where the step is none
  };
  std::vector<message> messages;  // per step of the plan
  std::vector<int> buckets;       // per step, of a collective: its number; else -1
  std::vector<int> task_of;       // per step of a collective: whose part it is

  int position_of(int task, int step) const {
    const auto& own = tasks[static_cast<std::size_t>(task)];
    for (std::size_t k = 0; k < own.size(); ++k)
      if (own[k].step == step) return static_cast<int>(k);
    return -1;
  }

  bool has_begun(int step, int task, const std::vector<int>& at) const {
    const int position = position_of(task, step);
    return position >= 0 && at[static_cast<std::size_t>(task)] > position;
  }

  /// A message has left when its receiver has begun to wait for it, no sooner; it has come when it was sent. A
  /// collective is over when all its tasks have begun it.
  bool is_over(int step, int task, const std::vector<int>& at) const {
    const int bucket = buckets.empty() ? -1 : buckets[static_cast<std::size_t>(step)];
    if (bucket >= 0) {
      bool all = true;
      for (std::size_t k = 0; k < buckets.size(); ++k)
        if (buckets[k] == bucket) all = all && has_begun(static_cast<int>(k), task_of[k], at);
      return all;
    }
    const message& m = messages[static_cast<std::size_t>(step)];
    return has_begun(step, task == m.from ? m.to : m.from, at);
  }

  /// Goes through all orders. *Returns* how many states there are, or -1 where some processes are stuck.
  int explore() const {
    std::set<std::vector<int>> seen;
    std::vector<std::vector<int>> open{std::vector<int>(tasks.size(), 0)};
    seen.insert(open[0]);
    while (!open.empty()) {
      const std::vector<int> at = open.back();
      open.pop_back();
      bool moved = false, ended = true;
      for (std::size_t t = 0; t < tasks.size(); ++t) {
        const auto k = static_cast<std::size_t>(at[t]);
        if (k == tasks[t].size()) continue;
        ended = false;
        bool can = true;
        for (const int w : tasks[t][k].waits) can = can && is_over(w, static_cast<int>(t), at);
        if (!can) continue;
        moved = true;
        std::vector<int> next = at;
        ++next[t];
        if (seen.insert(next).second) open.push_back(next);
      }
      if (!moved && !ended) return -1;
    }
    return static_cast<int>(seen.size());
  }
};

/// What a task has to have waited for.
struct memory_watch {
  const detail::order_input& in;
  const std::vector<bool>& waited;  // per step

  /// Whether all that step `k` reads has come, and nothing that is under way lies where it writes.
  std::string look(int k, const detail::value_finder& values) const {
    std::string wrong;
    values.for_each_read(k, [&](int v) {
      const plan_step& made = in.steps[in.values[v].birth];
      const bool came = detail::same_task(made.at, in.here) &&
                        (detail::is_collective(made.kind) ||
                         (made.kind == step_kind::transfer && !detail::same_task(made.at, made.from)));
      if (came && !waited[static_cast<std::size_t>(in.values[v].birth)] && !is_message(k))
        wrong = "step " + std::to_string(k) + " reads what has not come";
    });
    const plan_step& s = in.steps[k];
    for (int v = s.value; v >= 0 && v <= s.value + s.more; ++v) {
      const plan_value& x = in.values[v];
      if (!detail::same_task(x.at, in.here) || x.fetch >= 0 || x.variable) continue;
      for (int m = 0; m < k; ++m) {
        if (!is_given(m) || waited[static_cast<std::size_t>(m)]) continue;
        values.for_each_read(m, [&](int sent) {
          const plan_value& y = in.values[sent];
          if (y.at == x.at && y.fetch < 0 && !y.variable && x.offset < y.offset + y.bytes &&
              y.offset < x.offset + x.bytes)
            wrong = "step " + std::to_string(k) + " writes over what has not left";
        });
      }
    }
    return wrong;
  }
  /// Whether this task gives others something there.
  bool is_given(int k) const {
    const plan_step& s = in.steps[k];
    return is_message(k) ? detail::same_task(s.from, in.here)
                         : detail::is_collective(s.kind) && detail::same_task(s.at, in.here);
  }
  bool is_message(int k) const {
    return in.steps[k].kind == step_kind::transfer && !detail::same_task(in.steps[k].at, in.steps[k].from);
  }
};

struct explored {
  int states = 0;
  int messages = 0;
  int parts[4] = {};  // of collectives, by kind
  int direct = 0;     // steps that GPUs do among themselves
  int in_gpus = 0;    // other messages that begin or end in the memory of a GPU
};

/// One random placement of a graph on a random cluster.
template <class Graph>
explored check_placement(unsigned seed) {
  std::mt19937 random(seed);
  const auto number = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  const graph_view& g = Graph::view;
  const int tasks = 2 + number(3);
  std::vector<task_name> names;
  for (int t = 0; t < tasks; ++t) names.push_back({"w", t, detail::task_id("w", t)});
  const unsigned ways = seed % 3;
  std::vector<place> devices;
  for (const task_name& n : names) {
    if (ways > 0 || number(2)) devices.push_back({device_kind::gpu, 0, true, &n});
    devices.push_back({device_kind::cpu, 0, true, &n});
  }
  // GPUs do things among themselves, or messages begin and end in their memory, or neither.
  std::vector<detail::device_links> links(devices.size());
  for (std::size_t d = 0; d < devices.size() && ways > 0; ++d)
    if (devices[d].kind == device_kind::gpu) links[d] = {ways == 1 ? d + 1 : 0, true, ways == 2};
  std::vector<node_placement> where(static_cast<std::size_t>(g.count));
  for (node_placement& w : where) w.where = devices[random() % devices.size()];
  // Kernels stay whole as often as not.
  for (int n = 0; n < g.count; ++n)
    if (const int root = detail::fused<Graph>::value.kernel_of[n]; root >= 0 && number(2))
      where[static_cast<std::size_t>(n)] = where[static_cast<std::size_t>(root)];
  // And what is asked for on a task is there as often as not.
  for (int n = 0, as_asked = number(2); n < g.count && as_asked; ++n)
    for (const place& d : devices)
      if (g[n].request.in_task && g[n].request.task->task == d.task->task) where[static_cast<std::size_t>(n)].where = d;

  int edges = 0;
  for (int n = 0; n < g.count; ++n) edges += g[n].count;
  const auto capacity = static_cast<std::size_t>(
      detail::schedule_capacity(g.count, edges, g.fetch_count, tasks, detail::count_repeated(g)));
  std::vector<plan_step> steps(capacity);
  std::vector<plan_value> values(capacity);
  std::vector<extents> shapes;
  for (int n = 0; n < g.count; ++n) shapes.push_back(g[n].shape);
  detail::arena memory;
  const auto units = detail::kernel_arrays::make(memory, g.count);
  detail::scheduler_over_tasks s(detail::schedule_input{g,
                                                        detail::fused<Graph>::value,
                                                        detail::fused<Graph>::parts,
                                                        shapes.data(),
                                                        where.data(),
                                                        {steps.data(), values.data(), units, memory.make<int>(g.count),
                                                         memory.make<bool>(g.count), memory.make<bool>(g.count)},
                                                        {devices.data(), static_cast<int>(devices.size()), nullptr},
                                                        ways > 0 ? links.data() : nullptr});
  const detail::schedule_counts counts = s.run(nullptr);
  REQUIRE(static_cast<std::size_t>(counts.steps) <= capacity);
  for (const place& d : devices) detail::assign_offsets(values.data(), counts.values, d);

  const auto task_of = [&](const place& p) { return p.task->task; };
  model m;
  explored e;
  for (int k = 0; k < counts.steps; ++k) {
    const plan_step& step = steps[static_cast<std::size_t>(k)];
    const bool crosses = step.kind == step_kind::transfer && !detail::same_task(step.at, step.from);
    const bool together = detail::is_collective(step.kind);
    const int kind = static_cast<int>(step.kind) - static_cast<int>(step_kind::all_reduce);
    m.buckets.push_back(together ? 4 * step.bucket + kind : -1);
    m.task_of.push_back(together ? task_of(step.at) : -1);
    if (together) ++e.parts[kind];
    m.messages.push_back(crosses ? model::message{task_of(step.from), task_of(step.at)} : model::message{});
    const auto ends_well = [&](const place& p) {
      return p.kind == device_kind::cpu || (step.direct ? ways == 1 : crosses && ways == 2);
    };
    CHECK((ends_well(step.at) || !(crosses || together)));
    CHECK((ends_well(step.from) || !crosses));
    e.direct += step.direct ? 1 : 0;
    if (!crosses) continue;
    ++e.messages;
    if (!step.direct && (step.at.kind == device_kind::gpu || step.from.kind == device_kind::gpu)) ++e.in_gpus;
  }
  CHECK(e.messages == counts.messages);
  std::vector<int> groups;  // as those of a session: each device is one
  for (std::size_t d = 0; d < devices.size(); ++d) groups.push_back(static_cast<int>(d));
  for (int t = 0; t < tasks; ++t) {
    const place here{device_kind::cpu, 0, true, &names[static_cast<std::size_t>(t)]};
    const detail::kernel_partition scheduled = units;
    const detail::order_input in{g,
                                 scheduled,
                                 steps.data(),
                                 counts.steps,
                                 values.data(),
                                 counts.values,
                                 devices.data(),
                                 static_cast<int>(devices.size()),
                                 groups.data(),
                                 here};
    const int streams = detail::stream_count(in.device_count);
    std::vector<detail::step_order> orders(static_cast<std::size_t>(counts.steps));
    std::vector<int> waits(static_cast<std::size_t>(counts.steps * streams));
    detail::stream_assigner(in, orders.data(), waits.data()).run();
    const detail::value_finder finder(in);
    // What a step has waited for, its stream and the host before it have, too.
    std::vector<bool> waited(static_cast<std::size_t>(counts.steps), false);
    auto& own = m.tasks.emplace_back();
    for (int k = 0; k < counts.steps; ++k) {
      if (detail::is_elsewhere(steps[static_cast<std::size_t>(k)], here)) continue;
      const detail::step_order& o = orders[static_cast<std::size_t>(k)];
      task_step mine{k, {}};
      // What GPUs do among themselves is over when its stream comes to what is behind it, for which the host does not
      // wait: here it does, where that is again something of several tasks.
      const auto is_direct_of = [&](int n, int stream) {
        const plan_step& other = steps[static_cast<std::size_t>(n)];
        return other.direct && !detail::is_elsewhere(other, here) &&
               orders[static_cast<std::size_t>(n)].stream == stream;
      };
      std::vector<bool> behind(static_cast<std::size_t>(counts.steps), false);
      for (int before = 0; before < k; ++before) {
        if (!is_direct_of(before, o.stream)) continue;
        behind[static_cast<std::size_t>(before)] = true;
        if (steps[static_cast<std::size_t>(k)].direct) mine.waits.push_back(before);
      }
      for (int w = 0; w < o.count; ++w) {
        const int step = waits[static_cast<std::size_t>(o.first + w)];
        CHECK_FALSE(detail::is_elsewhere(steps[static_cast<std::size_t>(step)], here));
        for (int before = 0; before <= step; ++before)
          if (is_direct_of(before, orders[static_cast<std::size_t>(step)].stream))
            waited[static_cast<std::size_t>(before)] = true;
        if (m.messages[static_cast<std::size_t>(step)].from < 0 && m.buckets[static_cast<std::size_t>(step)] < 0)
          continue;  // done by this process alone
        mine.waits.push_back(step);
        // Messages in one direction end in order.
        const auto is_direct = [&](int n) { return steps[static_cast<std::size_t>(n)].direct; };
        for (int before = 0; before <= step; ++before)
          if (!is_direct(before) && !is_direct(step) &&
              (m.buckets[static_cast<std::size_t>(before)] < 0) == (m.buckets[static_cast<std::size_t>(step)] < 0) &&
              m.messages[static_cast<std::size_t>(before)].from == m.messages[static_cast<std::size_t>(step)].from &&
              m.messages[static_cast<std::size_t>(before)].to == m.messages[static_cast<std::size_t>(step)].to)
            waited[static_cast<std::size_t>(before)] = true;
      }
      for (std::size_t n = 0; n < behind.size(); ++n) behind[n] = behind[n] || waited[n];
      const std::string wrong = memory_watch{in, behind}.look(k, finder);
      INFO("task " << t);
      CHECK(wrong == "");
      own.push_back(mine);
    }
  }
  e.states = m.explore();
  if (seed % 6 == 0) {
    const detail::kernel_partition scheduled = units;
    check_estimate_laws({g, scheduled, steps.data(), counts.steps, values.data(), counts.values, devices.data(),
                         static_cast<int>(devices.size())},
                        shapes.data(), seed);
  }
  return e;
}

template <unsigned Seed>
void check_seed() {
  using graph = decltype(boost::hana::unpack(random_program<Seed, false>().expressions, [](const auto&... x) {
    return detail::graph_of<std::remove_cvref_t<decltype(x)>...>{};
  }));
  int messages = 0, direct = 0, in_gpus = 0;
  for (unsigned k = 0; k < 60; ++k) {
    INFO("program " << Seed << ", placement " << k);
    const explored e = check_placement<graph>(1000 * Seed + k);
    CHECK(e.states > 0);
    messages += e.messages;
    direct += e.direct;
    in_gpus += e.in_gpus;
  }
  CHECK(messages > 100);
  CHECK(direct + in_gpus > 20);
}

/// Several sums over tasks, written once and used everywhere, between other work.
template <class... E>
explored check_sums(unsigned seed, const E&...) {
  return check_placement<detail::graph_of<E...>>(seed);
}

}  // namespace

TEST_CASE("processes that go through one plan do not get stuck, in any order", "[cluster]") {
  check_seed<0>();
  check_seed<3>();
  check_seed<6>();
  check_seed<8>();
  check_seed<11>();
}

TEST_CASE("processes that add up values of all do not get stuck, in any order", "[cluster]") {
  constexpr auto p = placeholder<"p", float, 8>;
  constexpr auto q = placeholder<"q", float, 8>;
  constexpr auto first = on<task<"w", 0>>(tanh(p)) + on<task<"w", 1>>(tanh(q));
  constexpr auto second = on<task<"w", 1>>(exp(p)) + on<task<"w", 0>>(exp(q));
  constexpr auto third = on<task<"w", 0>>(sin(first * p)) + on<task<"w", 1>>(cos(second));
  int sums = 0, direct = 0;
  for (unsigned k = 0; k < 200; ++k) {
    const explored e = check_sums(k, first, second * 0.5_c, third, on<task<"w", 1>>(exp(first)));
    CHECK(e.states > 0);
    sums += e.parts[0];
    direct += e.direct;
  }
  CHECK(sums > 50);
  CHECK(direct > 10);
}

TEST_CASE("processes that share values in all ways do not get stuck, in any order", "[cluster]") {
  constexpr auto p = placeholder<"p", float, 8>;
  constexpr auto q = placeholder<"q", float, 8>;
  constexpr auto all = concat<0>(on<task<"w", 0>>(tanh(p)), on<task<"w", 1>>(tanh(q)), on<task<"w", 2>>(sin(q)));
  constexpr auto sum = on<task<"w", 0>>(exp(all)) + on<task<"w", 1>>(cos(all)) + on<task<"w", 2>>(sin(all));
  constexpr auto sent = on<task<"w", 1>>(tanh(exp(p) * q));
  int parts[4] = {}, direct = 0;
  for (unsigned k = 0; k < 150; ++k) {
    const explored e = check_sums(k, all, on<task<"w", 0>>(exp(slice<0, 8>(sum))), sent * 0.5_c,
                                  on<task<"w", 1>>(exp(slice<8, 16>(sum)) * slice<0, 8>(all)),
                                  on<task<"w", 2>>(exp(slice<16, 24>(sum)) + sent));
    CHECK(e.states > 0);
    for (int kind = 0; kind < 4; ++kind) parts[kind] += e.parts[kind];
    direct += e.direct;
  }
  CHECK(direct > 100);
  for (const int kind : {1, 2, 3}) CHECK(parts[kind] > 20);  // reduce-scatters, all-gathers, broadcasts
}

TEST_CASE("the model gets stuck where two processes have different orders", "[cluster]") {
  model m;
  m.messages = {{0, 1}, {1, 0}};
  // Each waits for the other's message before it sends its own.
  m.tasks = {{{1, {}}, {-1, {1}}, {0, {}}}, {{0, {}}, {-1, {0}}, {1, {}}}};
  CHECK(m.explore() == -1);
  m.tasks = {{{0, {}}, {1, {}}, {-1, {1}}}, {{0, {}}, {-1, {0}}, {1, {}}}};
  CHECK(m.explore() > 0);
}
