// SPDX-License-Identifier: BSL-1.0
// A program with a backend of its own: its devices are there, its kernels run, and what it has no kernel for is
// refused.

// [program]
#define ONTO_BACKEND "backend_tracing/backend.hpp"
#include <onto/onto.hpp>
// [program]

#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, dyn, dyn>;
constexpr auto w = placeholder<"w", float, dyn, dyn>;

/// What was launched since it was last asked.
std::vector<tracing::launched> new_launches() {
  std::vector<tracing::launched> l;
  l.swap(tracing::launches);
  return l;
}

template <class T, int... Dims>
std::vector<T> values_of(const tensor<T, Dims...>& t) {
  return std::vector<T>(t.data(), t.data() + t.size());
}

const tensor<float, dyn, dyn> a{{1, 2, 3}, {4, 5, 6}};
const tensor<float, dyn, dyn> b{{1, 0}, {2, -1}, {0, 3}};

}  // namespace

TEST_CASE("the devices of a program's own backend come before simulated ones", "[backend]") {
  session sess{{.gpu = {.memory_limit = 1 << 20}, .simulated_gpus = 1}};
  REQUIRE(sess.devices().size() == 3);
  CHECK(sess.devices()[1].name == device_name::local(place{device_kind::gpu, 0}));
  CHECK(sess.devices()[1].description == "device: 0, name: tracing GPU");
  CHECK(sess.devices()[2].description == "device: 1, name: simulated GPU (host memory, one thread)");
  CHECK(sess.memory(place{device_kind::gpu, 0}).limit == 1 << 20);
  tracing::gpus_there = 0;
  CHECK(session{}.devices().size() == 1);
  tracing::gpus_there = 2;
  CHECK(session{}.devices()[2].description == "device: 1, name: tracing GPU");
  tracing::gpus_there = 1;
}

TEST_CASE("kernels placed on a backend's device are the backend's", "[backend]") {
  session sess;
  const auto product = matmul(exp(x) + x, w);
  const auto all = fetches(on<gpu<0>>(product), on<gpu<0>>(sum<0>(product)));
  (void)new_launches();
  const auto [p, s] = sess.run(all, x = a, w = b);
  const std::vector<tracing::launched> l = new_launches();
  REQUIRE(l.size() == 3);
  CHECK(l[0].kind == "map");
  CHECK(l[0].space == extents(shape<2, 3>{}));
  CHECK(l[0].inputs == 1);
  CHECK(l[1].kind == "matmul");
  CHECK(l[1].operation == "MatMul");
  CHECK(l[1].space == extents(shape<2, 2>{}));
  CHECK(l[2].kind == "reduce");
  CHECK(sess.statistics(gpu<0>{}).kernels == 3);

  const auto [q, t] = sess.run(fetches(on<cpu<0>>(product), on<cpu<0>>(sum<0>(product))), x = a, w = b);
  CHECK(new_launches().empty());
  CHECK(values_of(p) == values_of(q));
  CHECK(values_of(s) == values_of(t));
}

TEST_CASE("maps over rows and copies are kernels of their own kinds", "[backend]") {
  session sess;
  (void)new_launches();
  const auto normal = sess.run(on<gpu<0>>(softmax(x * 2.f)), x = a);
  std::vector<tracing::launched> l = new_launches();
  REQUIRE(l.size() == 1);
  CHECK(l[0].kind == "row");
  CHECK(values_of(normal) == values_of(sess.run(softmax(x * 2.f), x = a)));

  (void)new_launches();
  const auto joined = sess.run(on<gpu<0>>(concat<0>(x, x)), x = a);
  l = new_launches();
  REQUIRE(l.size() == 2);
  CHECK(l[0].kind == "copy");
  CHECK(l[1].kind == "copy");
  CHECK(values_of(joined) == std::vector<float>{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("values are copied between two devices of a backend, and to simulated ones", "[backend]") {
  tracing::gpus_there = 2;
  session sess{{.simulated_gpus = 1}};
  tracing::gpus_there = 1;
  (void)new_launches();
  const auto first = on<gpu<0>>(x + x);
  const auto second = on<gpu<1>>(matmul(first, w));
  const auto third = on<gpu<2>>(second * second);
  CHECK(values_of(sess.run(third, x = a, w = b)) == std::vector<float>{100, 196, 784, 676});
  CHECK(new_launches().size() == 2);
  CHECK(sess.statistics(gpu<2>{}).kernels == 1);
}

TEST_CASE("a kind of kernel that a backend has not is another device's, softly where it was asked for", "[backend]") {
  const auto asked = on<gpu<0>>(softmax<0>(log_softmax(x + x)));
  const std::vector<float> expected = values_of(session{}.run(on<cpu<0>>(softmax<0>(log_softmax(x + x))), x = a));
  std::vector<std::string> lines;
  session soft{{.allow_soft_placement = true, .log_device_placement = true, .log = [&](std::string_view line) {
                  lines.emplace_back(line);
                }}};
  (void)new_launches();
  CHECK(values_of(soft.run(asked, x = a)) == expected);
  CHECK(new_launches().size() == 1);
  CHECK(soft.statistics(cpu<0>{}).kernels == 1);
  bool said = false;
  for (const std::string& line : lines)
    said = said || line.find(
                       "Softmax: (Softmax): /job:localhost/replica:0/task:0/device:CPU:0 (requested "
                       "/device:GPU:0; moved: no float kernel there") == 0;
  CHECK(said);

  // Simulated GPUs are before the CPU.
  session simulated{{.allow_soft_placement = true, .simulated_gpus = 1}};
  CHECK(values_of(simulated.run(asked, x = a)) == expected);
  CHECK(simulated.statistics(gpu<1>{}).kernels == 1);

  // What was not asked for is no move.
  session hard;
  CHECK(values_of(hard.run(softmax<0>(log_softmax(x + x)), x = a)) == expected);
  CHECK(hard.statistics(cpu<0>{}).kernels == 1);
  CHECK(hard.statistics(gpu<0>{}).kernels == 1);
}

TEST_CASE("a kind of kernel that a backend has not is refused before anything runs", "[backend]") {
  session sess;
  (void)new_launches();
  const auto e = on<gpu<0>>(softmax<0>(log_softmax(x + x)));
  CHECK_THROWS_WITH(sess.run(e, x = a),
                    "[onto.placement] Cannot assign a device for operation Softmax: the backend of /device:GPU:0 "
                    "(device: 0, name: tracing GPU) has no such kernel; place it on another device, as with "
                    "on<cpu<0>>(...)");
  CHECK_THROWS_AS(sess.run(e, x = a), invalid_argument_error);
  CHECK_THROWS_AS(sess.placement(e), invalid_argument_error);
  CHECK(new_launches().empty());
  CHECK(values_of(sess.run(on<cpu<0>>(softmax<0>(on<gpu<0>>(log_softmax(x + x)))), x = a)) ==
        values_of(sess.run(on<cpu<0>>(softmax<0>(log_softmax(x + x))), x = a)));
  CHECK(new_launches().size() == 1);
}

TEST_CASE("a kernel that writes a variable is not moved from where the variable is", "[backend]") {
  using namespace onto::detail;
  constexpr auto v = onto::variable<"v", float, 2, 2>;
  using reads = std::remove_const_t<decltype(on<gpu<0>>(v * v))>;
  using writes = std::remove_const_t<decltype(on<gpu<0>>(assign(v, v * v)))>;
  const device_list devices = find_devices({}, gpu_finders);
  const auto move = [&](const compiled_program& typed) {
    // The same program without a kernel of this backend's.
    const int count = typed.graph.count;
    std::vector<kernel_entry> kernels(typed.whole, typed.whole + count);
    for (kernel_entry& k : kernels) k.launch[kernel_entry::own] = {};
    compiled_program p = typed;
    p.whole = kernels.data();
    arena memory;
    std::vector<node_placement> where(static_cast<std::size_t>(count), {place{device_kind::gpu, 0}, {}});
    move_missing_kernels(p, stateless(p.graph, memory), devices, true, where.data());
    return where.back().where;
  };
  CHECK(move(typed_run<reads>::program()) == place{device_kind::cpu, 0});
  CHECK_THROWS_AS(move(typed_run<writes>::program()), invalid_argument_error);
}
