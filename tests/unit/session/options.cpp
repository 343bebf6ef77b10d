// SPDX-License-Identifier: BSL-1.0
// What the options about devices do to a session: which GPUs it sees under which numbers, parts of one GPU as several,
// limits that each session keeps for itself, devices that stay untouched, more than one CPU, and the environment.
#include <onto/onto.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr std::int64_t MiB = 1 << 20;
constexpr auto x = placeholder<"x", float, dyn, dyn>;
constexpr auto w = variable<"w", float, dyn, dyn>;

const std::string gpu0 = "/job:localhost/replica:0/task:0/device:GPU:0";
const std::string cpu1 = "/job:localhost/replica:0/task:0/device:CPU:1";

using matrix = tensor<float, dyn, dyn>;
using lines = std::vector<std::string>;

matrix ones(int rows, int columns) {
  matrix m({rows, columns});
  for (float& v : m) v = 1;
  return m;
}

template <class F>
std::string refusal(F call) {
  try {
    call();
  } catch (const invalid_argument_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

std::string refused(const session_options& o) {
  return refusal([&] { session{o}; });
}

std::string description(const session& sess, const device_name& name) {
  for (const device_info& d : sess.devices())
    if (name.matches(d.name)) return d.description;
  return "it is not there";
}

std::string number_of(const session& sess, const device_name& name) {
  const std::string all = description(sess, name);
  return all.substr(0, all.find(','));
}

/// Whether a session can hold a matrix of so many rows of 4096 bytes on its first GPU and go on.
bool holds(session& sess, int rows) {
  const matrix values = ones(rows, 1024);
  try {
    const tensor<float> total = sess.run(on<gpu<0>>(sum(x)), x = values);
    return total == static_cast<float>(rows) * 1024;
  } catch (const resource_exhausted_error&) {
    return false;
  }
}

/// A variable of the environment for as long as it lives.
class environment {
 public:
  environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
  ~environment() { unsetenv(name_); }

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("a session refuses options before there is a device", "[session][options]") {
  CHECK(
      refused({.gpu = {.visible_device_list = "0,4"}, .simulated_gpus = 4}) ==
      "[onto.option] gpu.visible_device_list '0,4': entry 2, '4', is not there; name GPUs that are; there are 4 GPUs, "
      "0 to 3");
  CHECK(refused({.gpu = {.per_process_gpu_memory_fraction = 2}}).find("[onto.option] gpu.per_process") == 0);
  CHECK(refused({.cpus = 0}) == "[onto.option] cpus is 0; it is 1 to 1024");
  CHECK(refused({.simulation = h200}).find("[onto.option] simulation has no effect") == 0);
  CHECK(refused({.gpu = {.logical_devices = {{0, 10 << 10}, {1, 10 << 10}}}, .simulated_gpus = 1})
            .find("[onto.option] gpu.logical_devices: entry 2 is a part of GPU 1, which is not there") == 0);
  CHECK(refused({.gpu = {.memory_limit = std::int64_t{17} << 30}, .simulated_gpus = 1})
            .find("no GPU has more than 16.0 GiB") != std::string::npos);
}

TEST_CASE("limits and growth are no error on a machine without a GPU", "[session][options]") {
  for (const gpu_options& o : {gpu_options{.allow_growth = true}, gpu_options{.memory_limit = MiB},
                               gpu_options{.allow_growth = true, .per_process_gpu_memory_fraction = 0.5}}) {
    session sess{{.gpu = o}};
    CHECK(sess.run(sum(x), x = ones(2, 2)) == 4.0f);
  }
}

TEST_CASE("the order of visible GPUs is that of their numbers in the session", "[session][options]") {
  session sess{{.gpu = {.visible_device_list = "5,3"}, .simulated_gpus = 8}};
  REQUIRE(sess.devices().size() == 3);
  CHECK(number_of(sess, gpu<0>{}) == "device: 5");
  CHECK(number_of(sess, gpu<1>{}) == "device: 3");
  CHECK(sess.run(on<cpu<0>>(add_n(on<gpu<0>>(x + x), on<gpu<1>>(x * x))), x = ones(1, 2)) == matrix{{3, 3}});
  CHECK(sess.statistics(gpu<0>{}).kernels == 1);
  CHECK(sess.statistics(gpu<1>{}).kernels == 1);
  CHECK(refusal([&] { sess.run(on<gpu<3>>(x + 1), x = ones(1, 1)); }).find("'/device:GPU:3'") != std::string::npos);
}

TEST_CASE("the log maps each name to the GPU behind it", "[session][options]") {
  lines log;
  session_options o{.log_device_placement = true, .gpu = {.visible_device_list = "2"}, .simulated_gpus = 3};
  o.log = [&log](std::string_view line) { log.emplace_back(line); };
  session sess{o};
  sess.run(on<gpu<0>>(sum(x)), x = ones(1, 1));
  REQUIRE(log.size() >= 2);
  CHECK(log[1].find(gpu0 + " -> device: 2, ") == 0);
}

TEST_CASE("two sessions of one process each keep their own options", "[session][options]") {
  session first{{.gpu = {.memory_limit = MiB, .visible_device_list = "0"}, .simulated_gpus = 2}};
  session second{{.gpu = {.allow_growth = true, .memory_limit = 8 * MiB, .visible_device_list = "1"},
                  .simulated_gpus = 2,
                  .cpus = 2}};
  session third{{.simulated_gpus = 2}};
  CHECK(number_of(first, gpu<0>{}) == "device: 0");
  CHECK(number_of(second, gpu<0>{}) == "device: 1");
  CHECK(first.memory(gpu<0>{}).limit == MiB);
  CHECK(second.memory(gpu<0>{}).limit == 8 * MiB);
  CHECK(third.memory(gpu<0>{}).limit == 0);
  for (int k = 0; k < 3; ++k) {
    CHECK(!holds(first, 1000));  // 4 MB
    CHECK(holds(second, 1000));
    CHECK(!holds(second, 4000));
    CHECK(holds(third, 4000));
    CHECK(holds(first, 100));
  }
  CHECK(first.memory(gpu<0>{}).reserved == MiB);  // without growth
  CHECK(second.memory(gpu<0>{}).reserved <= 8 * MiB);
  CHECK(first.devices().size() == 2);
  CHECK(second.devices().size() == 3);
}

TEST_CASE("a limit is reserved when its GPU is first used, with growth as runs need it", "[session][options]") {
  session at_once{{.gpu = {.memory_limit = 4 * MiB}, .simulated_gpus = 1}};
  CHECK(at_once.memory(gpu<0>{}).reserved == 0);
  CHECK(holds(at_once, 1));
  CHECK(at_once.memory(gpu<0>{}).reserved == 4 * MiB);

  session growing{{.gpu = {.allow_growth = true, .memory_limit = 4 * MiB}, .simulated_gpus = 1}};
  CHECK(holds(growing, 1));
  const std::int64_t small = growing.memory(gpu<0>{}).reserved;
  CHECK(small > 0);
  CHECK(small < MiB);
  CHECK(holds(growing, 500));
  CHECK(growing.memory(gpu<0>{}).reserved > small);
  CHECK(!holds(growing, 2000));
  CHECK(holds(growing, 500));
}

TEST_CASE("a fraction is of the total memory", "[session][options]") {
  // A simulated GPU counts as 16 GiB; with growth nothing is taken that no run needs.
  session sess{{.gpu = {.allow_growth = true, .per_process_gpu_memory_fraction = 1.0 / 4096}, .simulated_gpus = 1}};
  CHECK(sess.memory(gpu<0>{}).limit == 4 * MiB);
  CHECK(holds(sess, 500));
  CHECK(!holds(sess, 2000));
}

TEST_CASE("only the devices that a program uses are touched", "[session][options]") {
  session sess{{.gpu = {.memory_limit = MiB}, .simulated_gpus = 4, .cpus = 2}};
  for (int k = 0; k < 4; ++k) CHECK(sess.memory(place{device_kind::gpu, k}).reserved == 0);
  sess.run(on<gpu<2>>(sum(x * x)), x = ones(8, 8));
  sess.placement(on<gpu<3>>(sum(x)));
  CHECK(sess.memory(gpu<2>{}).reserved == MiB);
  for (int k : {0, 1, 3}) {
    CHECK(sess.memory(place{device_kind::gpu, k}).reserved == 0);
    CHECK(sess.memory(place{device_kind::gpu, k}).peak == 0);
  }
  CHECK(sess.memory(cpu<1>{}).reserved == 0);
  CHECK_THROWS_AS(sess.memory(gpu<4>{}), not_found_error);
}

TEST_CASE("a program for four GPUs runs on parts of one", "[session][options]") {
  session sess{{.gpu = {.logical_devices = {{0, MiB}, {0, 2 * MiB}, {0, 3 * MiB}, {0, 4 * MiB}}}, .simulated_gpus = 1}};
  REQUIRE(sess.devices().size() == 5);
  for (int k = 0; k < 4; ++k) {
    CHECK(number_of(sess, place{device_kind::gpu, k}) == "device: 0");
    CHECK(sess.memory(place{device_kind::gpu, k}).limit == (k + 1) * MiB);
  }
  const auto tower = [](auto factor) { return matmul(x, x) * factor; };
  const auto program = on<cpu<0>>(
      add_n(on<gpu<0>>(tower, 1.f), on<gpu<1>>(tower, 10.f), on<gpu<2>>(tower, 100.f), on<gpu<3>>(tower, 1000.f)));
  CHECK(sess.run(program, x = ones(2, 2)) == matrix{{2222, 2222}, {2222, 2222}});
  for (int k = 0; k < 4; ++k) {
    CHECK(sess.statistics(place{device_kind::gpu, k}).kernels >= 1);
    CHECK(sess.memory(place{device_kind::gpu, k}).reserved == (k + 1) * MiB);
  }
  // Each has its own limit: what is too much for the first fits the last.
  const matrix large = ones(600, 1024);
  CHECK_THROWS_AS(sess.run(on<gpu<0>>(sum(x)), x = large), resource_exhausted_error);
  CHECK(sess.run(on<gpu<3>>(sum(x)), x = large) == 600.f * 1024);
}

TEST_CASE("parts are numbered among whole GPUs, after the visible list", "[session][options]") {
  session sess{{.gpu = {.visible_device_list = "2,0", .logical_devices = {{1, MiB}, {1, MiB}}}, .simulated_gpus = 3}};
  REQUIRE(sess.devices().size() == 4);
  CHECK(number_of(sess, gpu<0>{}) == "device: 2");
  CHECK(number_of(sess, gpu<1>{}) == "device: 0");
  CHECK(number_of(sess, gpu<2>{}) == "device: 0");
  CHECK(sess.memory(gpu<0>{}).limit == 0);
  CHECK(sess.memory(gpu<2>{}).limit == MiB);
}

TEST_CASE("there can be more than one CPU", "[session][options]") {
  session sess{{.cpus = 3}};
  const auto devices = sess.devices();
  REQUIRE(devices.size() == 3);
  CHECK(devices[0].name == device_name::local(cpu<0>::value));
  CHECK(devices[1].name == device_name::local(cpu<1>::value));
  CHECK(devices[2].name == device_name::local(cpu<2>::value));

  const auto there = on<cpu<1>>(matmul(x, x));
  CHECK(sess.placement(there).at("MatMul").assigned.to_string() == cpu1);
  CHECK(sess.run(there, x = ones(2, 2)) == matrix{{2, 2}, {2, 2}});  // fetched from there
  CHECK(sess.statistics(cpu<1>{}).kernels == 1);
  CHECK(sess.statistics(cpu<0>{}).kernels == 0);
  CHECK(sess.statistics(cpu<2>{}).kernels == 0);
  CHECK(sess.placement(matmul(x, x)).at("MatMul").assigned == devices[0].name);
  CHECK(refusal([&] { sess.run(on<cpu<3>>(x + 1), x = ones(1, 1)); }).find("'/device:CPU:3'") != std::string::npos);
  session soft{{.allow_soft_placement = true, .cpus = 2}};
  CHECK(soft.placement(on<cpu<3>>(x + 1)).at("Add").assigned.to_string() == cpu1);
}

TEST_CASE("values go from one CPU to another, and to GPUs and back", "[session][options]") {
  session sess{{.simulated_gpus = 1, .cpus = 2}};
  const auto here = on<cpu<0>>(matmul(x, x));
  const auto there = on<cpu<1>>(matmul(here, x));
  const auto both = on<cpu<0>>(add_n(there, here));
  CHECK(sess.run(both, x = ones(2, 2)) == matrix{{6, 6}, {6, 6}});
  const std::int64_t copies = sess.statistics(cpu<0>{}).transfers + sess.statistics(cpu<1>{}).transfers;
  CHECK(copies == plan_of<world<cpu<0>, cpu<1>>>(both).transfers);
  CHECK(copies >= 2);

  const auto round = on<cpu<1>>(matmul(on<gpu<0>>(matmul(there, x)), x));
  CHECK(sess.run(round, x = ones(2, 2)) == matrix{{16, 16}, {16, 16}});
  const auto [a, b] = sess.run(fetches(there, here), x = ones(2, 2));
  CHECK(a == matrix{{4, 4}, {4, 4}});
  CHECK(b == matrix{{2, 2}, {2, 2}});
}

TEST_CASE("a variable lives on the second CPU", "[session][options]") {
  session sess{{.simulated_gpus = 1, .cpus = 2}};
  const auto v = on<cpu<1>>(w);
  sess.run(assign(v, x), x = ones(2, 2));
  CHECK(sess.memory(cpu<1>{}).in_use > 0);
  sess.run(assign_add(v, on<gpu<0>>(matmul(x, x))), x = ones(2, 2));
  CHECK(sess.run(v) == matrix{{3, 3}, {3, 3}});
  CHECK(sess.placement(assign_add(v, x)).at("AssignAdd").assigned.to_string() == cpu1);
}

TEST_CASE("the environment reaches a session, which says so in its log", "[session][options]") {
  const environment placement("ONTO_LOG_DEVICE_PLACEMENT", "1"), limit("ONTO_GPU_MEMORY_LIMIT", "1MiB"),
      growth("ONTO_GPU_ALLOW_GROWTH", "1");
  lines log;
  session_options o{.simulated_gpus = 1};
  o.log = [&log](std::string_view line) { log.emplace_back(line); };

  session sess{o};
  CHECK(log == lines{"ONTO_GPU_ALLOW_GROWTH=1: GPU memory is taken as runs need it",
                     "ONTO_GPU_MEMORY_LIMIT=1MiB: each GPU has a limit of 1.0 MiB",
                     "ONTO_LOG_DEVICE_PLACEMENT=1: placement is logged"});
  CHECK(sess.memory(gpu<0>{}).limit == MiB);
  CHECK(holds(sess, 1));
  CHECK(sess.memory(gpu<0>{}).reserved < MiB);
  CHECK(log.back() == "Sum: (Sum): " + gpu0);

  log.clear();
  o.log_device_placement = false;
  o.gpu = {.allow_growth = false, .memory_limit = 2 * MiB};
  session own{o};
  CHECK(log == lines{"ONTO_GPU_ALLOW_GROWTH=1: no effect, the program's own gpu.allow_growth stands",
                     "ONTO_GPU_MEMORY_LIMIT=1MiB: no effect, the program's own gpu.memory_limit stands",
                     "ONTO_LOG_DEVICE_PLACEMENT=1: no effect, the program's own log_device_placement stands"});
  CHECK(holds(own, 1));
  CHECK(own.memory(gpu<0>{}).reserved == 2 * MiB);
  CHECK(log.size() == 3);
}

TEST_CASE("a session refuses a malformed environment", "[session][options]") {
  const environment limit("ONTO_GPU_MEMORY_LIMIT", "plenty");
  CHECK(
      refused({}) ==
      "[onto.option] the environment's ONTO_GPU_MEMORY_LIMIT is 'plenty'; it is a number of bytes above 0, or of KiB, "
      "MiB or GiB, as 512MiB is, or not set");
}
