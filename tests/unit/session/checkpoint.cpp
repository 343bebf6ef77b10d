// SPDX-License-Identifier: BSL-1.0
// Checkpoints: a session's variables are saved and restored by name, on any devices, whole or not at all; and training
// that goes on from one goes on bit for bit as if it had not stopped.
#include <onto/batches.hpp>
#include <onto/safetensors.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../catch.hpp"
#include "saboteur.hpp"

using namespace onto;
using onto_test::failure;
using onto_test::saboteur;
using onto_test::words_of;

namespace {

namespace fs = std::filesystem;

/// A folder of its own, which goes with what is in it.
struct folder {
  fs::path path = fs::temp_directory_path() / ("onto_checkpoint_" + std::to_string(::getpid()));
  folder() { fs::create_directory(path); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

constexpr auto w = variable<"w", float, 2, 3>;
constexpr auto rows = variable<"rows", float, dyn>;
constexpr auto step = variable<"step", std::int64_t>;
constexpr auto flags = variable<"flags", bool, 3>;
constexpr auto none = variable<"none", float, 0>;
const tensor<float, 2, 3> values{{1, 2, 3}, {4, 5, 6}};

void fill(session& sess) {
  sess.run(assign(on<gpu<1>>(w), constant(values)));
  sess.run(assign(on<gpu<0>>(rows), constant({7.f, 8.f})));
  sess.run(assign(step, 5));
  sess.run(assign(on<gpu<0>>(flags), constant({true, false, true})));
  sess.run(assign(none, constant(tensor<float, 0>())));
}

/// Whether a session has what `fill` gives it.
bool is_filled(session& sess) {
  return sess.run(w) == values && sess.run(rows) == tensor<float, dyn>{7, 8} && sess.run(step) == 5 &&
         sess.run(flags) == tensor<bool, 3>{true, false, true} && sess.run(none).size() == 0;
}

session_options machine(int gpus) {
  session_options o;
  o.allow_soft_placement = true;
  o.simulated_gpus = gpus;
  o.cpu_threads = 1;
  return o;
}

}  // namespace

TEST_CASE("a session's variables are saved and restored, on whatever devices", "[session][checkpoint]") {
  const folder here;
  session first(machine(2));
  fill(first);
  first.save(here / "m");
  CHECK(safetensors_file(here / "m").names() == std::vector<std::string>{"step", "none", "rows", "w", "flags"});
  CHECK(load_safetensors<float, 2, 3>(here / "m", "w") == values);

  SECTION("into variables that have values: they stay where they are") {
    first.run(fetches(assign(w, 0.f), assign(step, 0)));
    first.run(assign(rows, constant({1.f, 2.f})));
    first.restore(here / "m");
    CHECK(is_filled(first));
    CHECK(first.placement(w).to_string().find("GPU:1") != std::string::npos);
  }
  SECTION("into another session, before a program has named a variable") {
    for (const int gpus : {0, 1, 3}) {
      INFO(gpus << " GPUs");
      session other(machine(gpus));
      other.restore(here / "m");
      // It saves what it was given, though nothing has asked for it.
      other.save(here / "again");
      CHECK(bytes_of(here / "again") == bytes_of(here / "m"));
      const auto sum_of_w = other.prepare(sum(on<gpu<0>>(w)));
      CHECK(is_filled(other));
      other.run(assign_add(step, 1));
      CHECK(other.run(step) == 6);
    }
  }
  SECTION("before or after variables are initialized") {
    const auto set = w(constant({{0.f, 0.f, 0.f}, {0.f, 0.f, 0.f}}));
    session other(machine(0));
    other.initialize(set);
    other.restore(here / "m");
    CHECK(other.run(w) == values);
    other.initialize(set);
    CHECK(other.run(w)(0, 0) == 0);
    session third(machine(0));
    third.restore(here / "m");
    third.initialize(set);
    CHECK(third.run(w)(0, 0) == 0);
  }
  SECTION("twice, the second file over what waits of the first") {
    save_safetensors(here / "other", {{"w", tensor<float, 2, 3>()}, {"more", tensor<float, 1>{3}}});
    session other(machine(0));
    other.restore(here / "m");
    other.restore(here / "other");
    CHECK(other.run(w) == tensor<float, 2, 3>());
    CHECK(other.run(step) == 5);
    CHECK(other.run(variable<"more", float, 1>)(0) == 3);
  }
  SECTION("a value that was assigned before anyone read the restored one is the variable's") {
    session other(machine(0));
    other.restore(here / "m");
    other.run(assign(w, 9.f));
    other.save(here / "again");
    CHECK(load_safetensors<float, 2, 3>(here / "again", "w")(0, 0) == 9);
    CHECK(load_safetensors<std::int64_t>(here / "again", "step") == 5);
  }
  SECTION("some of them") {
    first.save(here / "some", w, assign_add(step, 1));  // what is under an expression; nothing is run
    CHECK(safetensors_file(here / "some").names() == std::vector<std::string>{"step", "w"});
    session other(machine(0));
    other.run(assign(step, 1));
    other.restore(here / "m", w);
    CHECK(other.run(w) == values);
    CHECK(other.run(step) == 1);
    CHECK_THROWS_AS(other.run(flags), failed_precondition_error);
    other.restore(here / "some", step);
    CHECK(other.run(step) == 5);
  }
  SECTION("some of them, as a list") {
    first.save(here / "some", fetches(w, step));
    CHECK(safetensors_file(here / "some").names() == std::vector<std::string>{"step", "w"});
    session other(machine(0));
    other.restore(here / "m", fetches(w, step));
    CHECK(other.run(w) == values);
    CHECK(other.run(step) == 5);
    CHECK_THROWS_AS(other.run(flags), failed_precondition_error);
  }
}

TEST_CASE("a replica that is restored alone takes the original's value, and not what waits for the original",
          "[session][checkpoint]") {
  const folder here;
  constexpr auto a = variable<"a", float, 2>;
  constexpr auto copy = replica(gpu<1>{}, a);
  save_safetensors(here / "a", {{"a", tensor<float, 2>{1, 2}}});
  save_safetensors(here / "b", {{"a", tensor<float, 2>{10, 20}}});
  session sess(machine(2));
  sess.restore(here / "a");
  sess.run(assign(copy, constant({5.f, 6.f})));
  sess.restore(here / "b", copy);
  CHECK(sess.run(copy) == tensor<float, 2>{10, 20});
  CHECK(sess.run(a) == tensor<float, 2>{1, 2});
}

TEST_CASE("a prepared program goes on with restored values, of other extents too", "[session][checkpoint]") {
  const folder here;
  session sess(machine(1));
  fill(sess);
  auto total = sess.prepare(sum(on<gpu<0>>(rows)));
  CHECK(total() == 15);
  save_safetensors(here / "m", {{"rows", tensor<float, 3>{1, 2, 3}}});
  sess.restore(here / "m", rows);
  CHECK(total() == 6);
  session fresh(machine(1));
  auto waiting = fresh.prepare(sum(on<gpu<0>>(w)));
  CHECK_THROWS_AS(waiting(), failed_precondition_error);
  sess.save(here / "all");
  fresh.restore(here / "all");
  CHECK(waiting() == 21);
  CHECK(fresh.placement(w).to_string().find("GPU:0") != std::string::npos);
}

TEST_CASE("what does not fit is refused, and nothing has changed", "[session][checkpoint]") {
  const folder here;
  session sess(machine(2));
  fill(sess);
  sess.save(here / "m");
  const tensor<float, 2, 3> zero;
  const tensor<float, dyn> seven({2});
  const auto refused = [&](auto call, const std::string& says) {
    const std::string said = words_of<invalid_argument_error>(call);
    CHECK(said.find(says) != std::string::npos);
    CHECK(said.find(here / "bad") != std::string::npos);
    INFO(said);
    CHECK(is_filled(sess));
  };
  const tensor<std::int64_t> five{5};
  const tensor<bool, 3> flag{true, false, true};
  const tensor<float, 0> empty;
  const auto with = [&](const auto& other) {
    save_safetensors(here / "bad", {{"w", other}, {"rows", seven}, {"step", five}, {"flags", flag}, {"none", empty}});
  };
  const auto restore = [&] { sess.restore(here / "bad"); };
  with(tensor<double, 2, 3>());
  refused(restore, "tensor 'w' is double[2, 3], and the variable of that name is float[2, 3]; use that type and shape");
  with(tensor<float, 3, 2>());
  refused(restore, "tensor 'w' is float[3, 2], and the variable of that name is float[2, 3]; use that type and shape");
  save_safetensors(here / "bad", {{"rows", seven}, {"step", tensor<std::int64_t>{9}}, {"flags", flag}});
  refused(restore, "it has no tensor for the session's 'none', 'w'; restore the variables that it has alone");
  refused([&] { sess.restore(here / "bad", step, variable<"v", float, 2>); },
          "it has no tensor for the session's 'v'; restore");
  refused([&] { sess.restore(here / "bad", w); }, "it has no tensor for the session's 'w'; restore");

  // Cut off, at each length; a wrong bit anywhere in the header gives values or a sentence.
  const std::string whole = bytes_of(here / "m");
  for (std::size_t n = 0; n < whole.size(); n += 7) {
    std::ofstream(here / "bad", std::ios::binary) << whole.substr(0, n);
    refused(restore, "[onto.safetensors] ");
  }
  // What no variable of the session is, but onto has not either.
  std::string strange = "{\"w\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[0,8]}}";
  strange = std::string{static_cast<char>(strange.size())} + std::string(7, '\0') + strange + std::string(8, '\0');
  std::ofstream(here / "bad", std::ios::binary) << strange;
  refused([&] { session().restore(here / "bad"); }, "tensor 'w' is of C64, an element type that onto has not");
  CHECK_THROWS_AS(sess.restore(here / "nothing"), not_found_error);

  // For a variable that no program has named, it is said when one does.
  with(tensor<double, 2, 3>());
  session other(machine(0));
  other.restore(here / "bad");
  refused([&] { other.run(w); }, "[onto.checkpoint] variable 'w' is float[2, 3], and the tensor 'w' of ");
  CHECK(other.run(step) == 5);
  // A program that only assigns to it does not ask for the value, though another of its variables is handed one.
  CHECK(std::get<1>(other.run(fetches(assign(w, 1.f), sum(rows)))) == 0);
  CHECK(other.run(w)(0, 0) == 1);
}

TEST_CASE("what cannot be saved is said", "[session][checkpoint]") {
  const folder here;
  session sess(machine(0));
  CHECK(words_of<failed_precondition_error>([&] { sess.save(here / "none"); }) ==
        "[onto.checkpoint] " + (here / "none") +
            ": no variable of the session has a value; initialize them first, or save the session that has them");
  CHECK(!fs::exists(here / "none"));
  CHECK(words_of<failed_precondition_error>([&] { sess.save(here / "m", w); }) ==
        "[onto.checkpoint] " + (here / "m") + ": variable 'w' has no value yet; initialize it first");
  CHECK(words_of<failed_precondition_error>([&] { sess.save(here / "m", w, step); }) ==
        "[onto.checkpoint] " + (here / "m") + ": variables 'w', 'step' have no value yet; initialize them first");
  fill(sess);
  CHECK(words_of<invalid_argument_error>([&] {
          sess.save(here / "m.npz");
        }).find("a checkpoint is a safetensors file") != std::string::npos);
  CHECK(!fs::exists(here / "m.npz"));
  constexpr auto other = variable<"w", double, 2>;
  sess.run(assign(other, 1.));
  const std::string said = words_of<invalid_argument_error>([&] { sess.save(here / "m"); });
  CHECK(said.find("two variables of the session are named 'w', ") != std::string::npos);
  CHECK(!fs::exists(here / "m"));
  sess.save(here / "m", other);
  CHECK(load_safetensors<double, 2>(here / "m", "w")(1) == 1);
  sess.restore(here / "m", other);
  CHECK(sess.run(w) == values);
}

TEST_CASE("wherever a device fails, nothing has changed, and a file is there whole", "[session][checkpoint]") {
  const folder here;
  session sess(machine(2));
  fill(sess);
  sess.save(here / "m");
  const std::string whole = bytes_of(here / "m");
  session other(machine(2));
  fill(other);
  other.run(fetches(assign(w, 0.f), assign(step, 0)));
  other.save(here / "zero");
  int failures = 0;
  const auto fails = [&](session& at, int k, auto call) {
    saboteur s;
    s.at = k;
    const onto_test::injected hook(at, s);
    try {
      call();
    } catch (const internal_error& e) {
      CHECK(std::string(e.what()).find("[onto.device] the device failed at a ") == 0);
      ++failures;
      return true;
    }
    return false;
  };
  for (int k = 0; fails(other, k, [&] { other.save(here / "m"); }); ++k) {
    CHECK(bytes_of(here / "m") == whole);
    CHECK(!fs::exists(here / "m.part"));
  }
  CHECK(failures >= 3);  // w, rows and flags are copied
  CHECK(bytes_of(here / "m") == bytes_of(here / "zero"));

  failures = 0;
  for (int k = 0; fails(sess, k, [&] { sess.restore(here / "zero"); }); ++k) CHECK(is_filled(sess));
  CHECK(failures >= 9);  // three blocks in GPUs, two on the host, copies
  CHECK(sess.run(step) == 0);

  // And where a value goes to its device when a program first reads it.
  std::ofstream(here / "m", std::ios::binary) << whole;
  failures = 0;
  for (int k = 0, done = 0; !done; ++k) {
    session fresh(machine(2));
    fresh.restore(here / "m");
    done = !fails(fresh, k, [&] { fresh.run(on<gpu<1>>(w)); });
    CHECK(is_filled(fresh));
  }
  CHECK(failures >= 2);
}

namespace {

// Two layers, dropout, momentum: all that a training has of state is in variables, but for the seed.
constexpr int batch = 8;
constexpr auto x = placeholder<"x", float, dyn, 4>;
constexpr auto y = placeholder<"y", float, dyn, 2>;
constexpr auto mask = placeholder<"mask", float, batch, 6>;
const auto w1 = variable<"w1", float, 4, 6>(0.5f * random_normal<float, 4, 6>(1));
const auto w2 = variable<"w2", float, 6, 2>(0.5f * random_normal<float, 6, 2>(2));
const auto m1 = variable<"w1/momentum", float, 4, 6>(0.f);
const auto m2 = variable<"w2/momentum", float, 6, 2>(0.f);
const auto made = variable<"made", std::int64_t>(constant(tensor<std::int64_t>{0}));

struct training {
  session sess;
  tensor<float, dyn, 4> inputs;
  tensor<float, dyn, 2> wanted;
  batches<std::tuple<tensor_ref<float, dyn, 4>, tensor_ref<float, dyn, 2>>> data;
  float loss = 0;

  explicit training(int gpus)
      : sess(machine(gpus)),
        inputs(evaluate(random_normal<float, 44, 4>(3))),
        wanted(evaluate(random_normal<float, 44, 2>(4))),
        data(std::tie(inputs, wanted), batch, {.shuffle = 9, .drop_last = true}) {}

  void run(std::int64_t until) {
    const auto h = relu(matmul(x, w1)) * cast<float>(mask < 0.7f);
    const auto miss = mean(square(matmul(h, w2) - y));
    const auto next1 = assign(m1, 0.9f * m1 + gradient(miss, w1));
    const auto next2 = assign(m2, 0.9f * m2 + gradient(miss, w2));
    auto once = sess.prepare(
        fetches(miss, assign_sub(w1, 0.05f * next1), assign_sub(w2, 0.05f * next2), assign_add(made, std::int64_t{1})));
    while (data.position() < until)
      for (const auto& [in, out] : data) {
        const auto dropout = evaluate(random_uniform<float, batch, 6>(1000 + data.position()));
        loss = std::get<0>(once(x = in, y = out, mask = dropout));
        if (data.position() == until) break;
      }
  }
};

}  // namespace

TEST_CASE("training that goes on from a checkpoint goes on bit for bit", "[session][checkpoint]") {
  const folder here;
  training whole(0);
  whole.sess.run(initialize(w1, w2, m1, m2, made));
  whole.run(37);
  whole.sess.save(here / "whole");
  CHECK(whole.sess.run(made) == 37);

  // Stopped in the middle of an epoch, twice; the last time it goes on elsewhere.
  {
    training first(0);
    first.sess.run(initialize(w1, w2, m1, m2, made));
    first.run(13);
    first.sess.save(here / "part");
  }
  for (const std::int64_t until : {20, 37}) {
    training next(0);
    next.sess.restore(here / "part");
    next.data.seek(next.sess.run(made));
    CHECK(next.data.position() == (until == 20 ? 13 : 20));
    next.run(until);
    next.sess.save(here / "part");
    if (until == 37) CHECK(next.loss == whole.loss);
  }
  CHECK(bytes_of(here / "part") == bytes_of(here / "whole"));

  // Not so without the momentum, which is state too.
  training wrong(0);
  wrong.sess.run(initialize(w1, w2, m1, m2, made));
  wrong.run(13);
  wrong.sess.run(initialize(m1, m2));
  wrong.run(37);
  wrong.sess.save(here / "wrong");
  CHECK(bytes_of(here / "wrong") != bytes_of(here / "whole"));
}
