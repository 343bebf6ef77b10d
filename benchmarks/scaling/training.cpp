// SPDX-License-Identifier: BSL-1.0
// A step of examples/cifar10 in TOWERS towers, each with 128 pictures of its own, by a cost model: a line for
// measure.py, and the plan in time as a trace. Two ways: the tutorial's, where variables are on the CPU, which sums the
// gradients; and one where each tower has variables of its own and the towers sum the gradients among themselves,
// pairwise, in as many rounds as the number of towers has doublings. Only plans; nothing runs.
#include "../../examples/cifar10/model.hpp"

#include <onto/plan/estimate.hpp>

#include <cstdio>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

using namespace onto;
namespace parameters = cifar10::parameters;

namespace {

constexpr int towers_count = TOWERS, per_tower = 128;
constexpr auto images = placeholder<"x", float, towers_count * per_tower, cifar10::input, cifar10::input, 3>;
constexpr auto labels = placeholder<"y", std::int32_t, towers_count * per_tower>;

/// In the order in which the backward pass has their gradients.
constexpr auto variables = std::tuple(
    parameters::softmax_bias, parameters::softmax, parameters::local4_bias, parameters::local4, parameters::local3_bias,
    parameters::local3, parameters::conv2_bias, parameters::conv2, parameters::conv1_bias, parameters::conv1);
using numbers = std::make_integer_sequence<int, 10>;
using all_towers = std::make_integer_sequence<int, towers_count>;

template <int Tower, class W>
struct of_tower;
template <int Tower, char... Letters, class Initial, class T, int... Dims>
struct of_tower<Tower, variable_node<letters<Letters...>, Initial, T, Dims...>> {
  using type = variable_node<letters<Letters..., '/', static_cast<char>('0' + Tower)>, void, T, Dims...>;
  static constexpr int size = (1 * ... * Dims);
  template <class E>
  static constexpr auto shaped(const E& e) {
    return reshape<Dims...>(e);
  }
};
template <int Tower, class W>
using tower_variable = of_tower<Tower, std::remove_const_t<decltype(detail::symbol_of(std::declval<W>()))>>;
template <int K>
using nth = std::remove_cvref_t<std::tuple_element_t<K, std::remove_const_t<decltype(variables)>>>;
template <int Tower, int K>
constexpr auto own = on<gpu<Tower>>(typename tower_variable<Tower, nth<K>>::type{});

/// The share of a tower in the loss: of its pictures, and of the decay.
template <int Tower, class Read>
constexpr auto loss_of(const Read& read) {
  constexpr int first = Tower * per_tower, last = first + per_tower;
  const auto decay = [&](const auto& w) { return sum(square(read(w))) * c<0.004 / 2 / towers_count>; };
  return on<gpu<Tower>>([&] {
    return softmax_cross_entropy<reduction::sum>(cifar10::scores(slice<first, last>(images), read),
                                                 slice<first, last>(labels)) *
               c<1.0 / per_tower / towers_count> +
           decay(parameters::local3) + decay(parameters::local4);
  });
}

// ---- variables on the CPU ---------------------------------------------------------------------------------

template <int... Tower>
constexpr auto joined_on_the_cpu(std::integer_sequence<int, Tower...>) {
  return minimize<sgd{.rate = 0.1}>(on<cpu<0>>(add_n(loss_of<Tower>(cifar10::as_they_are)...)));
}

// ---- variables of each tower ------------------------------------------------------------------------------

template <int Tower>
constexpr auto read_own = [](const auto& w) {
  return on<gpu<Tower>>(typename tower_variable<Tower, std::remove_cvref_t<decltype(w)>>::type{});
};
template <int Tower, int... K>
constexpr auto gradients_of(std::integer_sequence<int, K...>) {
  return gradients(loss_of<Tower>(read_own<Tower>), own<Tower, K>...);
}
template <int Tower>
constexpr auto tower_gradients = gradients_of<Tower>(numbers{});

/// Gradients that are exchanged together: that of the largest layer alone, early; the last ones at the end.
template <int... K>
using bucket = std::integer_sequence<int, K...>;

template <int Tower, int... K>
constexpr auto flat(bucket<K...>) {
  if constexpr (sizeof...(K) == 1)
    return on<gpu<Tower>>((reshape<-1>(std::get<K>(tower_gradients<Tower>)), ...));
  else
    return on<gpu<Tower>>(concat<0>(reshape<-1>(std::get<K>(tower_gradients<Tower>))...));
}
/// What a tower has after a round: the sum of its own and of what the tower had that differs in one bit.
template <int Tower, int Rounds, class Bucket>
constexpr auto exchanged() {
  if constexpr (Rounds == 0)
    return flat<Tower>(Bucket{});
  else
    return on<gpu<Tower>>(exchanged<Tower, Rounds - 1, Bucket>() +
                          exchanged<Tower ^ (1 << (Rounds - 1)), Rounds - 1, Bucket>());
}
constexpr int rounds() {
  int n = 0;
  while ((1 << n) < towers_count) ++n;
  return n;
}
template <int Tower, int... K>
constexpr auto updates(bucket<K...> some) {
  constexpr auto begin_of = [](int wanted) {
    int at = 0;
    static_cast<void>(((K == wanted || (at += tower_variable<Tower, nth<K>>::size, false)) || ...));
    return at;
  };
  const auto sums = exchanged<Tower, rounds(), decltype(some)>();
  return std::tuple(on<gpu<Tower>>(
      assign_sub(own<Tower, K>, tower_variable<Tower, nth<K>>::shaped(
                                    slice<begin_of(K), begin_of(K) + tower_variable<Tower, nth<K>>::size>(sums)) *
                                    0.1_c))...);
}
template <class Bucket, int... Tower>
constexpr auto updates_of_all(std::integer_sequence<int, Tower...>) {
  return std::tuple_cat(updates<Tower>(Bucket{})...);
}
template <int K>
constexpr auto update_of_one() {
  return on<gpu<0>>(assign_sub(own<0, K>, std::get<K>(tower_gradients<0>) * 0.1_c));
}
template <int... K>
constexpr auto updates_of_one(std::integer_sequence<int, K...>) {
  return std::tuple(update_of_one<K>()...);
}

template <int... Tower>
constexpr auto exchanged_by_towers(std::integer_sequence<int, Tower...> towers) {
  const auto loss = on<cpu<0>>(add_n(loss_of<Tower>(read_own<Tower>)...));
  const auto step = [&](const auto&... update) { return group(loss, update...); };
  if constexpr (towers_count == 1)
    return std::apply(step, updates_of_one(numbers{}));
  else
    return std::apply(
        step, std::tuple_cat(updates_of_all<bucket<5>>(towers), updates_of_all<bucket<0, 1, 2, 3, 4, 6, 7>>(towers),
                             updates_of_all<bucket<8, 9>>(towers)));
}

// ---- what is printed --------------------------------------------------------------------------------------

template <class Plan>
void print(const char* name, const Plan& p, bool trace) {
  const auto t = estimate(p, h200);
  const device_time first = t.at(gpu<0>{});
  std::printf("%s\t%d\t%d\t%d\t%.2f\t%.1f\t%.1f\t%.1f\n", name, towers_count, p.kernels, p.transfers,
              static_cast<double>(p.transfer_bytes) * 1e-6, 1e6 * t.seconds, 1e6 * first.busy, 1e6 * first.copying);
  if (!trace) return;
  std::puts("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  constexpr const char* streams[] = {"kernels", "copies in", "copies out"};
  for (int d = 0; d < towers_count; ++d) {
    std::printf("{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"/device:GPU:%d\"}},\n", d, d);
    for (int s = 0; s < 3; ++s)
      std::printf("{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}},\n", d, s,
                  streams[s]);
  }
  const char* comma = "";
  for (int k = 0; k < t.step_count; ++k) {
    const timed_step& s = t.steps[k];
    if (s.stream == 0) continue;
    const std::string_view op = p.graph[s.step.node].op->name;
    std::printf(
        "%s{\"name\":\"%.*s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"args\":{}}",
        comma, static_cast<int>(op.size()), op.data(), s.stream % 3 == 1 ? "kernel" : "copy", (s.stream - 1) / 3,
        (s.stream - 1) % 3, 1e6 * s.begin, 1e6 * (s.end - s.begin));
    comma = ",\n";
  }
  std::puts("\n]}");
}

}  // namespace

/// usage: training [--trace]. Compiled for 8 towers it needs -fconstexpr-ops-limit=2000000000 of g++.
int main(int argc, char**) {
  print("variables on the CPU", plan_of(joined_on_the_cpu(all_towers{})), false);
  print("each tower its own, pairwise sums", plan_of(exchanged_by_towers(all_towers{})), argc > 1);
}
