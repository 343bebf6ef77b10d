// SPDX-License-Identifier: BSL-1.0
// How long messages and sums over the tasks of a cluster take, on links that are not there.
#pragma once

#include <onto/plan/cost_model.hpp>
#include <onto/plan/note_tree.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// Bytes per second of a link that is sold in gigabits: `gigabits(400)`.
constexpr double gigabits(double per_second) { return per_second * 1e9 / 8; }

/// Nodes with some tasks each, and links inside a node and between nodes. A message takes a latency and its bytes
/// (Hockney's model); a task sends one at a time and receives one at a time. Rates per second, 0 where something is to
/// cost nothing. Tasks are put on nodes in the order of their numbers, job by job: the first `tasks_per_node`, the
/// next...
struct cluster_model {
  cost_model device{};           ///< each GPU, and the host of each task
  int tasks_per_node = 1;        ///< tasks that share a node
  double node_bandwidth = 0;     ///< bytes per second from a task to those of its node, each way
  double node_latency = 0;       ///< seconds that a message inside a node takes however small it is
  double network_bandwidth = 0;  ///< bytes per second from a task to those of other nodes, each way
  double network_latency = 0;    ///< seconds that a message between nodes takes however small it is
  double note = 0;               ///< seconds that a process takes for a note from or to another one, twice at each run
  bool direct = false;  ///< messages go from GPU to GPU (NCCL, MPI that reads a GPU's memory), not through the hosts
  /// Messages move while the host waits for them, as in shared memory, not beside kernels; and a core copies what comes
  /// and what goes one after the other, where tasks send each other something at the same time.
  bool host_moves = false;

  /// All-reduces of up to so many tasks are messages of each to each; of more, what MPI and NCCL do.
  static constexpr int most_by_messages = 8;
  /// Bytes up to which each of them sends all it has to all others, and adds up all.
  static constexpr std::int64_t small = std::int64_t{1} << 14;

  /// Seconds of a message.
  constexpr double message(std::int64_t bytes, bool same_node) const {
    return same_node ? node_latency + at(bytes, node_bandwidth) : network_latency + at(bytes, network_bandwidth);
  }

  /// Seconds in which `tasks` tasks, the first ones of the cluster, add up `bytes` of each, from when all are there.
  /// Up to `most_by_messages`, for p tasks and n bytes, two rounds, in which each sends n / p to each other one; of
  /// `small` ones, one round of all n. Above, in nodes of g tasks: reduce-scatter inside each node, all-reduce of n / g
  /// between the nodes for each of the g tasks at once, all-gather inside. Between p tasks or nodes by recursive
  /// halving and doubling: 2 log2(p) latencies, 2 (p - 1) / p n bytes. Adding up takes the bytes that are read and
  /// written at the memory's rate, of the GPU where messages are `direct`.
  /// *Source* Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005.
  constexpr double all_reduce(std::int64_t bytes, int tasks) const {
    if (tasks <= 1) return 0;
    const auto n = static_cast<double>(bytes);
    if (tasks <= most_by_messages) {
      const double share = bytes <= small ? n : n / tasks;
      const int rounds = bytes <= small ? 1 : 2;
      return rounds * each_to_each(share, tasks) + adding(share * (tasks + 1));
    }
    const int in_node = tasks < tasks_per_node ? tasks : tasks_per_node;
    const int nodes = (tasks + in_node - 1) / in_node;
    double seconds = 0, shard = n;
    if (in_node > 1) {
      shard = n / in_node;
      seconds += 2 * (node_latency + at((in_node - 1) * shard, node_bandwidth)) + adding(shard * (in_node + 1));
    }
    if (nodes > 1)
      seconds += 2 * (rounds_of(nodes) * network_latency + at(shard * (nodes - 1) / nodes, network_bandwidth)) +
                 adding(3 * shard * (nodes - 1) / nodes);
    return seconds;
  }

  /// The same where each task gets a part of the sum, or gives a part of what all have: one of the two rounds.
  constexpr double reduce_scatter(std::int64_t bytes, int tasks) const {
    const double share = static_cast<double>(bytes) / tasks;
    return all_gather(bytes, tasks) + (tasks > 1 ? adding(share * (tasks + 1)) : 0);
  }
  constexpr double all_gather(std::int64_t bytes, int tasks) const {
    return tasks > 1 ? each_to_each(static_cast<double>(bytes) / tasks, tasks) : 0;
  }
  /// Seconds in which a value goes along a tree to all of them.
  constexpr double broadcast(std::int64_t bytes, int tasks) const {
    return rounds_of(tasks) * message(bytes, tasks <= tasks_per_node);
  }

  /// The same for what GPUs do among themselves: inside a node by the links between them.
  constexpr cluster_model between_gpus() const {
    cluster_model m = *this;
    m.direct = true;
    m.node_bandwidth = device.link_bandwidth;
    return m;
  }

  /// Seconds in which `tasks` processes hear that all of them can begin a run, or have ended it. Notes go up a tree to
  /// the first one, where each task hears up to seven others at a level (`detail::note_tree`), and the answer down.
  constexpr double agreement(int tasks) const {
    double up = 0;
    for (std::int64_t width = 1; width < tasks; width *= detail::note_tree::fan_out) {
      const std::int64_t most = detail::note_tree::fan_out - 1, there = (tasks - 1) / width;
      const std::int64_t children = there < most ? there : most;
      up += (children * width >= tasks_per_node ? longer(network_latency, node_latency) : node_latency) +
            static_cast<double>(children) * note;
    }
    return 2 * up;
  }

  /// Seconds in which values are put together in memory, or taken apart.
  constexpr double collecting(std::int64_t bytes) const { return adding(2 * static_cast<double>(bytes)); }

 private:
  static constexpr double at(double amount, double rate) { return rate > 0 && amount > 0 ? amount / rate : 0; }
  static constexpr double at(std::int64_t amount, double rate) { return at(static_cast<double>(amount), rate); }
  static constexpr double longer(double a, double b) { return a > b ? a : b; }
  static constexpr int rounds_of(int n) {
    int rounds = 0;
    while ((std::int64_t{1} << rounds) < n) ++rounds;
    return rounds;
  }
  /// Both links of a task are used at once, each both ways but where a core copies.
  constexpr double each_to_each(double share, int tasks) const {
    const int near = (tasks < tasks_per_node ? tasks : tasks_per_node) - 1, far = tasks - 1 - near;
    const int copies = host_moves ? 2 : 1;
    return longer(near > 0 ? node_latency + at(copies * near * share, node_bandwidth) : 0,
                  far > 0 ? network_latency + at(far * share, network_bandwidth) : 0);
  }
  constexpr double adding(double bytes) const {
    return at(bytes, direct ? device.memory_bandwidth : device.host_memory_bandwidth);
  }
};

/// Nodes of eight H200, a task for each, with NVLink inside a node and 400 Gb/s for each GPU between nodes: messages
/// from GPU to GPU, as NCCL sends them. By data sheets; latencies are typical ones.
inline constexpr cluster_model h200_nodes{h200, 8, h200.link_bandwidth, 5e-6, gigabits(400), 1e-5, 1e-6, true, false};

/// The same nodes, with messages through the hosts' memory, as this version of onto sends them: inside a node at what
/// one core copies.
inline constexpr cluster_model h200_nodes_through_hosts{h200, 8, 2e10, 2e-6, gigabits(400), 5e-6, 1e-6, false, false};

}  // namespace onto
ONTO_END_RUNS_ONCE
