// SPDX-License-Identifier: BSL-1.0
// A network learns to read the handwritten digits in several processes; mpirun starts one for each task.
//   --layout=data    each worker takes its part of every batch, and the parameters are on the first one
//   --layout=server  the same, with the parameters on a task of their own: the first process, `ps`
//   --layout=model   the first layer is on worker 0 and the second on worker 1
//   --workers=N      1, 2 or 4 for data, 2 for the others
//   --simulated      all tasks in this process, without mpirun
//   --steps=N        of 32 digits each, counted from the beginning of the training
//   --checkpoint=F   it is saved there every --every=N steps and at the end, and goes on from there where there is one
// All of them compute the same, beyond rounding, and go on from each other's checkpoints.
#include <onto/cluster.hpp>

#include <onto/batches.hpp>
#include <onto/simulated_cluster.hpp>

#include "../digits.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>

using namespace onto;
namespace hana = boost::hana;

namespace {

constexpr int batch_size = 32;

// [parts]
// What each worker reads: its part of the batch.
template <int Rows>
constexpr auto x = hana::make_tuple(placeholder<"x_0", std::uint8_t, Rows, 8, 8>,
                                    placeholder<"x_1", std::uint8_t, Rows, 8, 8>,
                                    placeholder<"x_2", std::uint8_t, Rows, 8, 8>,
                                    placeholder<"x_3", std::uint8_t, Rows, 8, 8>);
template <int Rows>
constexpr auto y = hana::make_tuple(placeholder<"y_0", std::int32_t, Rows>, placeholder<"y_1", std::int32_t, Rows>,
                                    placeholder<"y_2", std::int32_t, Rows>, placeholder<"y_3", std::int32_t, Rows>);
// [parts]

/// Two dense layers, with their parameters on two tasks or on one.
template <class First, class Second>
struct network {
  static constexpr auto weights1 =
      on<First>(variable<"hidden/weights", float, 64, 128>(he_normal<float, 64, 128>(1_c)));
  static constexpr auto bias1 = on<First>(variable<"hidden/bias", float, 128>(zeros<float, 128>()));
  static constexpr auto weights2 =
      on<Second>(variable<"scores/weights", float, 128, 10>(glorot_normal<float, 128, 10>(2_c)));
  static constexpr auto bias2 = on<Second>(variable<"scores/bias", float, 10>(zeros<float, 10>()));
  static constexpr auto steps = on<First>(variable<"steps", std::int64_t>(zeros<std::int64_t>()));

  static constexpr auto features(const auto& images) {
    return relu(matmul(reshape<dyn, 64>(cast<float>(images) * (1.0_c / 16.0_c)), weights1) + bias1);
  }
  static constexpr auto scores(const auto& e) { return matmul(e, weights2) + bias2; }
};

// [data]
/// Each worker has all of the network, and its part of the batch.
template <class Home, int Workers>
struct data_parallel : network<Home, Home> {
  using model = network<Home, Home>;
  static constexpr int rows = batch_size / Workers;
  static constexpr auto workers = []<int... K>(std::integer_sequence<int, K...>) {
    return hana::tuple_t<task<"worker", K>...>;
  }
  (std::make_integer_sequence<int, Workers>{});

  static constexpr auto loss() {
    return mean(towers(workers, [](auto worker) {
      constexpr std::size_t k = decltype(worker)::index;
      return softmax_cross_entropy(model::scores(model::features(hana::at_c<k>(x<rows>))), hana::at_c<k>(y<rows>));
    }));
  }
};
// [data]

// [model]
/// Each worker has a part of the network, and all of the batch goes through both.
template <class First, class Second>
struct model_parallel : network<First, Second> {
  using model = network<First, Second>;
  static constexpr int rows = batch_size;
  static constexpr auto loss() {
    const auto features = on<First>(model::features(hana::at_c<0>(x<rows>)));
    return on<Second>(softmax_cross_entropy(model::scores(features), hana::at_c<0>(y<rows>)));
  }
};
// [model]

struct options {
  std::string layout = "data", checkpoint;
  int workers = 1, steps = 100, every = 25;
  bool simulated = false;
};

/// Some rows of a batch.
template <int Rows>
auto rows_of(const tensor_ref<std::uint8_t, dyn, 8, 8>& images, int first) {
  tensor<std::uint8_t, Rows, 8, 8> out;
  std::copy_n(images.data() + 64 * first, 64 * Rows, out.data());
  return out;
}
template <int Rows>
auto rows_of(const tensor_ref<std::int32_t, dyn>& labels, int first) {
  tensor<std::int32_t, Rows> out;
  std::copy_n(labels.data() + first, Rows, out.data());
  return out;
}

template <class Layout>
void train(session& sess, bool is_first, const options& o) {
  constexpr int rows = Layout::rows;
  const auto all = digits::load();
  const auto folds = digits::stratified_folds(all.labels, 5, 2024);
  const auto learned = digits::rows_of(all, folds[0].train);

  // [session]
  const auto update = minimize<sgd{.rate = 0.1, .momentum = 0.9}>(Layout::loss());
  const auto counted = assign_add(Layout::steps, 1);
  sess.run(initialize(update, counted));
  // [session]
  // [restore]
  if (!o.checkpoint.empty()) try {
      sess.restore(o.checkpoint);
    } catch (const not_found_error&) {  // in every process: this is the first start
    }
  std::int64_t k = sess.run(Layout::steps * 1_c);  // arrives in every process
  // [restore]
  if (k > 0 && is_first) std::printf("goes on after step %d\n", static_cast<int>(k));

  // [train]
  auto learn = sess.prepare(fetches(update * 1_c, counted * 1_c));  // results for every process
  batches data(std::tie(learned.images, learned.labels), batch_size, {.shuffle = 2024, .drop_last = true});
  data.seek(k);
  // A part of the batch for each worker; what a process gives for the others is not looked at.
  const auto step = [&]<std::size_t... K>(const auto& images, const auto& labels, std::index_sequence<K...>) {
    return learn((hana::at_c<K>(x<rows>) = rows_of<rows>(images, rows * static_cast<int>(K)))...,
                 (hana::at_c<K>(y<rows>) = rows_of<rows>(labels, rows * static_cast<int>(K)))...);
  };
  // [train]
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t before = k;
  float loss = 0;
  while (k < o.steps)
    for (const auto& [images, labels] : data) {
      const auto [value, count] = step(images, labels, std::make_index_sequence<batch_size / rows>{});
      loss = value;
      k = count;
      if (!o.checkpoint.empty() && (k % o.every == 0 || k == o.steps)) sess.save(o.checkpoint);
      if (k >= o.steps) break;
    }
  if (!is_first) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("step %d: loss %.4f\n", static_cast<int>(k), loss);
  if (k > before) std::printf("%.3f ms a step\n", 1e3 * seconds / static_cast<double>(k - before));
}

template <class Layout>
void start(int& argc, char**& argv, const cluster_spec& spec, const options& o) {
  if (o.simulated) {
    session sess{{.simulated_tasks = spec}};
    return train<Layout>(sess, true, o);
  }
  server node(argc, argv, spec);
  try {
    session sess{node};
    train<Layout>(sess, node.rank() == 0, o);
  } catch (const error& e) {
    std::fprintf(stderr, "digits_workers: task %d: %s\n", node.rank(), e.what());
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const auto value = [&](const char* name) {
      return word.rfind(name, 0) == 0 ? word.c_str() + std::string(name).size() : nullptr;
    };
    if (word == "--simulated")
      o.simulated = true;
    else if (const char* v = value("--layout="))
      o.layout = v;
    else if (const char* w = value("--workers="))
      o.workers = std::atoi(w);
    else if (const char* s = value("--steps="))
      o.steps = std::atoi(s);
    else if (const char* e = value("--every="))
      o.every = std::max(1, std::atoi(e));
    else if (const char* f = value("--checkpoint="))
      o.checkpoint = f;
    else
      return std::fprintf(stderr, "digits_workers: %s is no option; its first lines list them\n", argv[k]), 2;
  }
  using first = task<"worker", 0>;
  const cluster_spec workers{{"worker", std::max(1, o.workers)}};
  if (o.layout == "data" && o.workers == 1)
    start<data_parallel<first, 1>>(argc, argv, workers, o);
  else if (o.layout == "data" && o.workers == 2)
    start<data_parallel<first, 2>>(argc, argv, workers, o);
  else if (o.layout == "data" && o.workers == 4)
    start<data_parallel<first, 4>>(argc, argv, workers, o);
  else if (o.layout == "server" && o.workers == 2)
    start<data_parallel<task<"ps", 0>, 2>>(argc, argv, {{"ps", 1}, {"worker", 2}}, o);
  else if (o.layout == "model" && o.workers == 2)
    start<model_parallel<first, task<"worker", 1>>>(argc, argv, workers, o);
  else
    return std::fprintf(stderr, "digits_workers: no such layout with so many workers; its first lines list them\n"), 2;
}
