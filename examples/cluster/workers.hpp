// SPDX-License-Identifier: BSL-1.0
// Synchronous data-parallel training over processes: each worker has all parameters and reads its part of every batch,
// and gradients are all-reduced. What is trained is a class:
//   batch_size              of all workers together
//   picture                 a tensor's element type and extents, `shape<float, 24, 24, 3>`
//   step<Part>(workers)     the step; `Part::images<K>()` and `Part::labels<K>()` are what worker K reads
//   count()                 how many examples there are to learn from
//   read(rows, number, first, images, labels)
//                           fills in the examples `rows`, those from `first` on of batch `number`
#pragma once

#include <onto/cluster.hpp>

#include <onto/batches.hpp>
#include <onto/simulated_cluster.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// For how many workers a program is compiled: each number is a program of its own, and takes as long. -DWORKERS=4,8
#ifndef WORKERS
#define WORKERS 1, 2
#endif

namespace workers {

namespace hana = boost::hana;

/// What a program is asked for.
struct options {
  std::string checkpoint, data;
  int workers = 1, steps = 20, every = 25, threads = 0;
  bool simulated = false;
};

template <class T, int... Dims>
struct shape {
  template <int Rows>
  using rows = onto::tensor<T, Rows, Dims...>;
  template <onto::fixed_string Name, int Rows>
  static constexpr auto placeholder() {
    return onto::placeholder<Name, T, Rows, Dims...>;
  }
};

// [parts]
/// What each worker reads of a batch: "x_0" and "y_0", "x_1" and "y_1"...
template <class Network, int Workers>
struct part {
  static_assert(Workers <= 10 && Network::batch_size % Workers == 0, "workers have equal parts of a batch, up to ten");
  static constexpr int rows = Network::batch_size / Workers;

  template <int K>
  static constexpr auto images() {
    constexpr char name[] = {'x', '_', '0' + K, '\0'};
    return Network::picture::template placeholder<onto::fixed_string(name), rows>();
  }
  template <int K>
  static constexpr auto labels() {
    constexpr char name[] = {'y', '_', '0' + K, '\0'};
    return onto::placeholder<onto::fixed_string(name), std::int32_t, rows>;
  }

  typename Network::picture::template rows<rows> picture_values;
  onto::tensor<std::int32_t, rows> label_values;
};
// [parts]

/// Trains in one process of many, whose number is `own`; or in all of them, where that is -1.
template <class Network, int Workers>
void train(onto::session& sess, int own, Network& data, const options& o) {
  using namespace onto;
  using mine = part<Network, Workers>;
  // [step]
  constexpr auto places = []<int... K>(std::integer_sequence<int, K...>) { return hana::tuple_t<task<"worker", K>...>; }
  (std::make_integer_sequence<int, Workers>{});
  constexpr auto step = Network::template step<mine>(places);
  sess.initialize(step);
  if (!o.checkpoint.empty()) try {
      sess.restore(o.checkpoint);       // of any number of workers: those that it has not take the first one's values
    } catch (const not_found_error&) {  // in every process: this is the first start
    }
  // [step]
  std::int64_t k = sess.run(training_step() * 1_c);  // arrives in every process
  const bool prints = own <= 0;
  if (prints && k > 0) std::printf("goes on after step %d\n", static_cast<int>(k));

  // [train]
  std::vector<int> numbers(static_cast<std::size_t>(data.count()));
  std::iota(numbers.begin(), numbers.end(), 0);
  batches shuffled(numbers, Network::batch_size, {.shuffle = 2024, .drop_last = true});
  shuffled.seek(k);
  const auto learn = sess.prepare(step);
  const auto parts = std::make_unique<std::array<mine, Workers>>();
  const auto feed = [&]<int... K>(std::integer_sequence<int, K...>) {
    return learn((mine::template images<K>() = (*parts)[K].picture_values)...,
                 (mine::template labels<K>() = (*parts)[K].label_values)...);
  };
  const std::int64_t before = k;
  const auto begin = std::chrono::steady_clock::now();
  float loss = 0;
  while (k < o.steps)
    for (const auto& batch : shuffled) {
      // Each process reads its part; what it gives for the others is not looked at.
      for (int w = own < 0 ? 0 : own; w < (own < 0 ? Workers : own + 1); ++w) {
        mine& p = (*parts)[static_cast<std::size_t>(w)];
        data.read(batch.data() + w * mine::rows, k, w * mine::rows, p.picture_values, p.label_values);
      }
      loss = feed(std::make_integer_sequence<int, Workers>{});
      ++k;
      if (!o.checkpoint.empty() && (k % o.every == 0 || k == o.steps)) sess.save(o.checkpoint);
      if (k >= o.steps) break;
    }
  // [train]
  if (!prints) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("step %d: loss %.5f\n", static_cast<int>(k), static_cast<double>(loss));
  if (k > before) std::printf("%.3f ms a step\n", 1e3 * seconds / static_cast<double>(k - before));
}

/// One of `Workers` processes, or all of them in this one.
template <class Network, int Workers>
void start(int& argc, char**& argv, const options& o) {
  using namespace onto;
  const cluster_spec spec{{"worker", Workers}};
  if (o.simulated) {
    Network data(o.data, true);
    session sess{{.simulated_tasks = spec, .cpu_threads = o.threads}};
    return train<Network, Workers>(sess, -1, data, o);
  }
  server node(argc, argv, spec);
  try {
    Network data(o.data, node.rank() == 0);
    session sess{node, {.cpu_threads = o.threads}};
    train<Network, Workers>(sess, node.rank(), data, o);
  } catch (const error& e) {
    std::fprintf(stderr, "task %d: %s\n", node.rank(), e.what());
    std::exit(1);
  }
}

/// *Returns* false for a word that is no option.
inline bool read_options(int argc, char** argv, options& o) {
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const auto value = [&](const char* name) {
      return word.rfind(name, 0) == 0 ? word.c_str() + std::string(name).size() : nullptr;
    };
    if (word == "--simulated")
      o.simulated = true;
    else if (const char* w = value("--workers="))
      o.workers = std::atoi(w);
    else if (const char* s = value("--steps="))
      o.steps = std::atoi(s);
    else if (const char* e = value("--every="))
      o.every = std::max(1, std::atoi(e));
    else if (const char* t = value("--threads="))
      o.threads = std::atoi(t);
    else if (const char* f = value("--checkpoint="))
      o.checkpoint = f;
    else if (const char* d = value("--data="))
      o.data = d;
    else
      return std::fprintf(stderr, "%s is no option; the program's first lines list them\n", argv[k]), false;
  }
  return true;
}

/// All of `main`.
template <class Network>
int run(int argc, char** argv) {
  options o;
  if (!read_options(argc, argv, o)) return 2;
  bool there = false;
  const auto try_one = [&](auto number) {
    if (o.workers != decltype(number)::value) return;
    there = true;
    start<Network, decltype(number)::value>(argc, argv, o);
  };
  try {
    [&]<int... Number>(std::integer_sequence<int, Number...>) { (try_one(std::integral_constant<int, Number>{}), ...); }
    (std::integer_sequence<int, WORKERS>{});
  } catch (const onto::error& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
  if (there) return 0;
  return std::fprintf(stderr, "the program is not compiled for %d workers; compile it with -DWORKERS=%d\n", o.workers,
                      o.workers),
         2;
}

}  // namespace workers
