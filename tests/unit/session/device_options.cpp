// SPDX-License-Identifier: BSL-1.0
// The options about devices as arithmetic: which GPUs of a machine a session gets, with how much memory, what is
// refused and in which words, and what the environment does to the options.
#include <onto/session/device_options.hpp>
#include <onto/session/devices.hpp>
#include <onto/session/environment.hpp>
#include <onto/session/trace.hpp>

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr std::int64_t GiB = std::int64_t{1} << 30;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class F>
std::string refusal(F call) {
  try {
    call();
  } catch (const invalid_argument_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

std::vector<int> visible(std::string_view list, int count) {
  std::vector<int> v(static_cast<std::size_t>(count) + 1, -1);
  const int found = detail::parse_visible_devices(list, count, v.data());
  v.resize(static_cast<std::size_t>(found));
  return v;
}

std::string refused_list(std::string_view list, int count = 4) {
  return refusal([&] { visible(list, count); });
}

struct share {
  int physical;
  std::int64_t bytes;
  bool growth;
  friend bool operator==(const share&, const share&) = default;
};

/// What a machine's GPUs, with these bytes each, become.
std::vector<share> shares(const gpu_options& o, const std::vector<std::int64_t>& totals) {
  const int count = static_cast<int>(totals.size());
  std::vector<int> numbers;
  for (int k = 0; k < count; ++k) numbers.push_back(10 + k);
  std::vector<detail::gpu_share> made(totals.size() + o.logical_devices.size() + 1);
  const int n = detail::share_gpus(o, numbers.data(), totals.data(), count, made.data());
  std::vector<share> result;
  for (int k = 0; k < n; ++k) {
    const detail::gpu_share& s = made[static_cast<std::size_t>(k)];
    result.push_back({s.physical, s.limit.bytes, s.limit.growth});
  }
  return result;
}

std::string refused_shares(const gpu_options& o, const std::vector<std::int64_t>& totals = {16 * GiB, 16 * GiB}) {
  return refusal([&] { shares(o, totals); });
}

std::string refused(const session_options& o) {
  return refusal([&] { detail::check_options(o); });
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

using lines = std::vector<std::string>;

/// The options after the environment had its say, with the lines that it logged.
lines apply(session_options& o) {
  lines log;
  o.log = [&log](std::string_view line) { log.emplace_back(line); };
  detail::apply_environment(o);
  o.log = nullptr;
  return log;
}

}  // namespace

TEST_CASE("a toggle knows whether the program set it", "[options]") {
  session_options o;
  CHECK(!o.log_device_placement);
  CHECK(!o.log_device_placement.given());
  o.log_device_placement = false;
  CHECK(!o.log_device_placement);
  CHECK(o.log_device_placement.given());
  const session_options p{.gpu = {.allow_growth = true}};
  CHECK(p.gpu.allow_growth);
  CHECK(p.gpu.allow_growth.given());
  static_assert(!std::is_convertible_v<const char*, toggle>, "text is neither on nor off");
  static_assert(std::is_aggregate_v<session_options> && std::is_aggregate_v<gpu_options>);
}

TEST_CASE("options are written by name, in this order", "[options]") {
  const session_options o{.allow_soft_placement = true,
                          .log_device_placement = true,
                          .log = nullptr,
                          .gpu = {.allow_growth = true,
                                  .per_process_gpu_memory_fraction = 0.5,
                                  .memory_limit = 0,
                                  .visible_device_list = "1,0",
                                  .logical_devices = {{0, GiB}, {.gpu = 0, .memory_limit = 2 * GiB}}},
                          .simulated_gpus = 2,
                          .cpu_threads = 1,
                          .cpus = 2,
                          .simulation = h200,
                          .math = math_mode::tf32,
                          .trace = "run.json"};
  REQUIRE(o.gpu.logical_devices.size() == 2);
  CHECK(o.gpu.logical_devices[1].memory_limit == 2 * GiB);
  const session_options defaults;
  CHECK(defaults.cpus == 1);
  CHECK(defaults.math == math_mode::full);
  CHECK(!defaults.simulation.is_set());
}

TEST_CASE("a list of visible devices gives the session's order", "[options]") {
  CHECK(visible("", 3) == std::vector{0, 1, 2});
  CHECK(visible("", 0).empty());
  CHECK(visible("0", 1) == std::vector{0});
  CHECK(visible("5,3", 8) == std::vector{5, 3});
  CHECK(visible("2,0,1", 3) == std::vector{2, 0, 1});
  CHECK(visible("007", 8) == std::vector{7});
}

TEST_CASE("a wrong list of visible devices is refused, with the entry, the list and the GPUs there are", "[options]") {
  const std::string form = "write digits, and one comma between two GPUs, as in '1,0'; there are 4 GPUs, 0 to 3";
  const auto not_an_index = [&](const std::string& list, const std::string& entry) {
    return "[onto.option] gpu.visible_device_list '" + list + "': entry " + entry + ", is not an index; " + form;
  };
  CHECK(
      refused_list("0,,1") ==
      "[onto.option] gpu.visible_device_list '0,,1': entry 2 is empty; write one comma between two GPUs, as in '1,0'; "
      "there are 4 GPUs, 0 to 3");
  CHECK(refused_list(",").find("entry 1 is empty") != std::string::npos);
  CHECK(refused_list("0,").find("entry 2 is empty") != std::string::npos);
  CHECK(refused_list(" 0") == not_an_index(" 0", "1, ' 0'"));
  CHECK(refused_list("0;1") == not_an_index("0;1", "1, '0;1'"));
  CHECK(refused_list("-1") == not_an_index("-1", "1, '-1'"));
  CHECK(refused_list("1,+2") == not_an_index("1,+2", "2, '+2'"));
  CHECK(refused_list("0x1") == not_an_index("0x1", "1, '0x1'"));
  CHECK(refused_list("\n") == not_an_index("\\x0a", "1, '\\x0a'"));
  CHECK(refused_list("gpu:0").find("'gpu:0', is not an index") != std::string::npos);
  CHECK(
      refused_list("1,4") ==
      "[onto.option] gpu.visible_device_list '1,4': entry 2, '4', is not there; name GPUs that are; there are 4 GPUs, "
      "0 to 3");
  CHECK(refused_list("2147483647").find("'2147483647', is not there") != std::string::npos);
  for (const std::string large : {"2147483648", "4294967296", "18446744073709551616", "99999999999999999999999999"})
    CHECK(refused_list(large) == "[onto.option] gpu.visible_device_list '" + large + "': entry 1, '" + large +
                                     "', is larger than any index; name GPUs that are there; there are 4 GPUs, 0 to 3");
  CHECK(
      refused_list("2,1,01") ==
      "[onto.option] gpu.visible_device_list '2,1,01': entry 3, '01', is entry 2 again; name each GPU once; there are "
      "4 GPUs, 0 to 3");
  CHECK(refused_list("0", 0) ==
        "[onto.option] gpu.visible_device_list '0': entry 1, '0', is not there; name GPUs that are; there is no GPU");
  CHECK(refused_list("1", 1).find("; there is one GPU, 0") != std::string::npos);
}

TEST_CASE("a limit is in bytes or a part of each GPU's total memory", "[options]") {
  const std::vector<std::int64_t> two{16 * GiB, 8 * GiB};
  CHECK(shares({}, two) == std::vector<share>{{10, 0, true}, {11, 0, true}});
  CHECK(shares({.allow_growth = true}, two) == std::vector<share>{{10, 0, true}, {11, 0, true}});
  CHECK(shares({.memory_limit = 4 * GiB}, two) == std::vector<share>{{10, 4 * GiB, false}, {11, 4 * GiB, false}});
  CHECK(shares({.allow_growth = true, .memory_limit = 4 * GiB}, two) ==
        std::vector<share>{{10, 4 * GiB, true}, {11, 4 * GiB, true}});
  CHECK(shares({.per_process_gpu_memory_fraction = 0.25}, two) ==
        std::vector<share>{{10, 4 * GiB, false}, {11, 2 * GiB, false}});
  CHECK(shares({.allow_growth = true, .per_process_gpu_memory_fraction = 1}, two) ==
        std::vector<share>{{10, 16 * GiB, true}, {11, 8 * GiB, true}});
  CHECK(shares({.memory_limit = 1}, two) == std::vector<share>{{10, 1, false}, {11, 1, false}});
}

TEST_CASE("a fraction is a limit however small it is", "[options]") {
  CHECK(shares({.per_process_gpu_memory_fraction = 1e-30}, {GiB}) == std::vector<share>{{10, 1, false}});
}

TEST_CASE("a limit above what one GPU has is none for that one, and above all of them an error", "[options]") {
  CHECK(shares({.memory_limit = 12 * GiB}, {16 * GiB, 8 * GiB}) ==
        std::vector<share>{{10, 12 * GiB, false}, {11, 0, true}});
  CHECK(shares({.memory_limit = 16 * GiB}, {16 * GiB}) == std::vector<share>{{10, 16 * GiB, false}});
  CHECK(refused_shares({.memory_limit = 16 * GiB + 1}, {16 * GiB, 8 * GiB}) ==
        "[onto.option] gpu.memory_limit, or ONTO_GPU_MEMORY_LIMIT, has no effect: it is 16.0 GiB, and no GPU has more "
        "than 16.0 GiB; choose less, or no limit");
}

TEST_CASE("limits and growth mean nothing without a GPU, and are no error", "[options]") {
  CHECK(shares({.memory_limit = 4 * GiB}, {}).empty());
  CHECK(shares({.allow_growth = true, .per_process_gpu_memory_fraction = 0.5}, {}).empty());
}

TEST_CASE("logical devices split a GPU in their order; other GPUs stay whole", "[options]") {
  const std::vector<std::int64_t> three{16 * GiB, 8 * GiB, 4 * GiB};
  CHECK(shares({.logical_devices = {{1, GiB}, {1, 2 * GiB}}}, three) ==
        std::vector<share>{{10, 0, true}, {11, GiB, false}, {11, 2 * GiB, false}, {12, 0, true}});
  // Whatever the order between GPUs is.
  CHECK(shares({.allow_growth = true, .logical_devices = {{2, 3 * GiB}, {0, 4 * GiB}, {2, GiB}}}, three) ==
        std::vector<share>{{10, 4 * GiB, true}, {11, 0, true}, {12, 3 * GiB, true}, {12, GiB, true}});
  // A limit is for those that stay whole.
  CHECK(shares({.memory_limit = 2 * GiB, .logical_devices = {{0, GiB}}}, three) ==
        std::vector<share>{{10, GiB, false}, {11, 2 * GiB, false}, {12, 2 * GiB, false}});
  CHECK(shares({.per_process_gpu_memory_fraction = 0.5, .logical_devices = {{0, GiB}, {1, GiB}}}, three) ==
        std::vector<share>{{10, GiB, false}, {11, GiB, false}, {12, 2 * GiB, false}});
}

TEST_CASE("logical devices that cannot be are refused", "[options]") {
  CHECK(refused_shares({.logical_devices = {{0, GiB}, {2, GiB}}}) ==
        "[onto.option] gpu.logical_devices: entry 2 is a part of GPU 2, which is not there; split GPUs that are; there "
        "are 2 GPUs, 0 to 1");
  CHECK(refused_shares({.logical_devices = {{-1, GiB}}}).find("GPU -1, which is not there") != std::string::npos);
  CHECK(refused_shares({.logical_devices = {{0, GiB}}}, {}).find("; there is no GPU") != std::string::npos);
  CHECK(
      refused_shares({.logical_devices = {{}}}) ==
      "[onto.option] gpu.logical_devices: entry 1 has a memory_limit of 0; every part has to have bytes of its own, 1 "
      "or more");
  CHECK(refused_shares({.logical_devices = {{0, -7}}}).find("a memory_limit of -7") != std::string::npos);
  CHECK(refused_shares({.logical_devices = {{0, 10 * GiB}, {1, 16 * GiB}, {0, 6 * GiB + 1}}}) ==
        "[onto.option] gpu.logical_devices: entry 3 takes 6.0 GiB of GPU 0, which has 16.0 GiB in all and 6.0 GiB left "
        "by the entries before; give its parts less");
  CHECK(shares({.logical_devices = {{0, 10 * GiB}, {0, 6 * GiB}}}, {16 * GiB}).size() == 2);
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  CHECK(refused_shares({.logical_devices = {{0, GiB}, {0, huge}}}).find("entry 2 takes") != std::string::npos);
}

TEST_CASE("a limit that logical devices leave without effect is refused", "[options]") {
  CHECK(refused_shares({.memory_limit = GiB, .logical_devices = {{0, GiB}, {1, GiB}}}) ==
        "[onto.option] gpu.memory_limit has no effect: gpu.logical_devices splits every GPU, and each part has a limit "
        "of its own; leave one of the two out");
  CHECK(refused_shares({.per_process_gpu_memory_fraction = 0.5, .logical_devices = {{0, GiB}}}, {GiB})
            .find("gpu.per_process_gpu_memory_fraction has no effect") != std::string::npos);
}

TEST_CASE("options that are wrong whatever devices there are", "[options]") {
  CHECK(refused({}) == "nothing was thrown");
  CHECK(refused({.simulated_gpus = -1}) == "[onto.option] simulated_gpus is -1; it is 0 to 1024");
  CHECK(refused({.simulated_gpus = 1025}) == "[onto.option] simulated_gpus is 1025; it is 0 to 1024");
  CHECK(refused({.cpu_threads = 4097}) == "[onto.option] cpu_threads is 4097; it is 1 to 4096, or 0 for one a core");
  CHECK(refused({.timeout = -1}) == "[onto.option] timeout is a number of seconds above 0");
  CHECK(refused({.timeout = std::numeric_limits<double>::quiet_NaN()}) ==
        "[onto.option] timeout is a number of seconds above 0");
  CHECK(refused({.cpus = 0}) == "[onto.option] cpus is 0; it is 1 to 1024");
  CHECK(refused({.cpus = 1025}) == "[onto.option] cpus is 1025; it is 1 to 1024");
  CHECK(refused({.cpus = 1024}) == "nothing was thrown");
  CHECK(refused({.gpu = {.memory_limit = -5}}) ==
        "[onto.option] gpu.memory_limit is -5; it is a number of bytes, or 0 for no limit");
  CHECK(refused({.gpu = {.per_process_gpu_memory_fraction = 0.5, .memory_limit = 5}}) ==
        "[onto.option] gpu.memory_limit and gpu.per_process_gpu_memory_fraction are two limits; set one of them");
}

TEST_CASE("a fraction of memory is above 0 and at most 1", "[options]") {
  CHECK(
      refused({.gpu = {.per_process_gpu_memory_fraction = 1.5}}) ==
      "[onto.option] gpu.per_process_gpu_memory_fraction is 1.5; it is above 0 and at most 1, a part of a GPU's total "
      "memory");
  for (double wrong : {-0.25, 1.0000001, 1e300, not_a_number})
    CHECK(refused({.gpu = {.per_process_gpu_memory_fraction = wrong}}).find("; it is above 0 and at most 1") !=
          std::string::npos);
  CHECK(refused({.gpu = {.per_process_gpu_memory_fraction = 1}}) == "nothing was thrown");
}

TEST_CASE("a simulation is for simulated GPUs, and costs nothing or more", "[options]") {
  CHECK(refused({.simulated_gpus = 1, .simulation = h200}) == "nothing was thrown");
  CHECK(refused({.simulation = h200}) ==
        "[onto.option] simulation has no effect without simulated_gpus; it says what these cost");
  for (double wrong : {-1.0, not_a_number, std::numeric_limits<double>::infinity()})
    CHECK(refused({.simulated_gpus = 1, .simulation = {.copy_latency = wrong}}) ==
          "[onto.option] simulation has a rate or a latency that is negative or no number; 0 is what costs nothing");
}

TEST_CASE("numbers of bytes are read with binary units", "[options]") {
  const auto read = [](std::string_view text) {
    std::int64_t bytes = 0;
    return detail::parse_bytes(text, bytes) ? bytes : -1;
  };
  CHECK(read("1") == 1);
  CHECK(read("1048576") == 1 << 20);
  CHECK(read("3KiB") == 3 << 10);
  CHECK(read("512MiB") == 512 << 20);
  CHECK(read("8GiB") == 8 * GiB);
  CHECK(read("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  CHECK(read("8589934591GiB") == 8589934591 * GiB);
  for (const char* wrong : {"", "0", "0GiB", "-1", "+1", " 1", "1 ", "1 GiB", "1.5GiB", "GiB", "4G", "4GB", "4gib",
                            "0x10", "1e9", "9223372036854775808", "8589934592GiB", "18446744073709551617"})
    CHECK(read(wrong) == -1);
}

TEST_CASE("the environment stands above defaults and says so", "[options]") {
  SECTION("nothing is set") {
    session_options o;
    CHECK(apply(o).empty());
    CHECK(!o.gpu.allow_growth.given());
  }
  SECTION("growth") {
    const environment v("ONTO_GPU_ALLOW_GROWTH", "true");
    session_options o;
    CHECK(apply(o) == lines{"ONTO_GPU_ALLOW_GROWTH=true: GPU memory is taken as runs need it"});
    CHECK(o.gpu.allow_growth);
  }
  SECTION("no growth") {
    const environment v("ONTO_GPU_ALLOW_GROWTH", "0");
    session_options o;
    CHECK(apply(o) == lines{"ONTO_GPU_ALLOW_GROWTH=0: a limit of GPU memory is taken when the GPU is first used"});
    CHECK(!o.gpu.allow_growth);
  }
  SECTION("a limit") {
    const environment v("ONTO_GPU_MEMORY_LIMIT", "2GiB");
    session_options o{.gpu = {.allow_growth = true}};
    CHECK(apply(o) == lines{"ONTO_GPU_MEMORY_LIMIT=2GiB: each GPU has a limit of 2.0 GiB"});
    CHECK(o.gpu.memory_limit == 2 * GiB);
    CHECK(o.gpu.allow_growth);
  }
  SECTION("the log of placement") {
    const environment v("ONTO_LOG_DEVICE_PLACEMENT", "1");
    session_options o;
    CHECK(apply(o) == lines{"ONTO_LOG_DEVICE_PLACEMENT=1: placement is logged"});
    CHECK(o.log_device_placement);
  }
  SECTION("all of them") {
    const environment a("ONTO_GPU_ALLOW_GROWTH", "1"), b("ONTO_GPU_MEMORY_LIMIT", "1024"),
        c("ONTO_LOG_DEVICE_PLACEMENT", "FALSE");
    session_options o;
    CHECK(apply(o) == lines{"ONTO_GPU_ALLOW_GROWTH=1: GPU memory is taken as runs need it",
                            "ONTO_GPU_MEMORY_LIMIT=1024: each GPU has a limit of 1024 bytes",
                            "ONTO_LOG_DEVICE_PLACEMENT=FALSE: placement is not logged"});
  }
  SECTION("an empty variable is not set") {
    const environment v("ONTO_GPU_MEMORY_LIMIT", "");
    session_options o;
    CHECK(apply(o).empty());
    CHECK(o.gpu.memory_limit == 0);
  }
}

TEST_CASE("what the program says stands above the environment, and the log says so", "[options]") {
  const environment a("ONTO_GPU_ALLOW_GROWTH", "1"), b("ONTO_GPU_MEMORY_LIMIT", "2GiB"),
      c("ONTO_LOG_DEVICE_PLACEMENT", "1");
  SECTION("switches, even where they say what the default is") {
    session_options o{.log_device_placement = false, .gpu = {.allow_growth = false}};
    CHECK(apply(o) == lines{"ONTO_GPU_ALLOW_GROWTH=1: no effect, the program's own gpu.allow_growth stands",
                            "ONTO_GPU_MEMORY_LIMIT=2GiB: each GPU has a limit of 2.0 GiB",
                            "ONTO_LOG_DEVICE_PLACEMENT=1: no effect, the program's own log_device_placement stands"});
    CHECK(!o.gpu.allow_growth);
    CHECK(!o.log_device_placement);
  }
  const auto limit_line = [](session_options o) { return apply(o).at(1); };
  const std::string no_effect = "ONTO_GPU_MEMORY_LIMIT=2GiB: no effect, the program's own ";
  CHECK(limit_line({.gpu = {.memory_limit = GiB}}) == no_effect + "gpu.memory_limit stands");
  CHECK(limit_line({.gpu = {.per_process_gpu_memory_fraction = 0.5}}) ==
        no_effect + "gpu.per_process_gpu_memory_fraction stands");
  CHECK(limit_line({.gpu = {.logical_devices = {{0, GiB}}}}) == no_effect + "gpu.logical_devices stands");
  session_options split{.gpu = {.logical_devices = {{0, GiB}}}};
  apply(split);
  CHECK(split.gpu.memory_limit == 0);
}

TEST_CASE("a malformed variable is refused by name, even where it has no effect", "[options]") {
  const auto refused_with = [](const char* name, const char* value, session_options o = {}) {
    const environment v(name, value);
    o.log = nullptr;
    return refusal([&] { detail::apply_environment(o); });
  };
  CHECK(refused_with("ONTO_GPU_ALLOW_GROWTH", "yes") ==
        "[onto.option] the environment's ONTO_GPU_ALLOW_GROWTH is 'yes'; it is 0, 1, true or false, or not set");
  CHECK(refused_with("ONTO_LOG_DEVICE_PLACEMENT", "2") ==
        "[onto.option] the environment's ONTO_LOG_DEVICE_PLACEMENT is '2'; it is 0, 1, true or false, or not set");
  CHECK(refused_with("ONTO_GPU_MEMORY_LIMIT", "4GB\t") ==
        "[onto.option] the environment's ONTO_GPU_MEMORY_LIMIT is '4GB\\x09'; it is a number of bytes above 0, or of "
        "KiB, "
        "MiB or GiB, as 512MiB is, or not set");
  CHECK(refused_with("ONTO_GPU_MEMORY_LIMIT", "x", {.gpu = {.memory_limit = GiB}}).find("is 'x'") != std::string::npos);
}
