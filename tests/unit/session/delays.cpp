// SPDX-License-Identifier: BSL-1.0
// Memory under concurrency: random programs, prepared and repeated on 1, 2 and 4 GPUs and by several threads at once,
// while copies and kernels are late by chance. A block is poisoned before each run, so that a value that is read before
// it is written, or after its memory is another's, is a wrong result.
#include <thread>
#include <tuple>

#include "properties.hpp"

using namespace onto_test;

namespace {

#if defined(ONTO_CUDA_EMULATION)
constexpr int most_gpus = 3;
#else
constexpr int most_gpus = 4;
#endif

struct thread_report {
  int runs = 0;
  int wrong = 0;
};

/// Whether values are those of the reference; without Catch2, which is for one thread.
bool close(const std::vector<value>& got, const reference& expected) {
  for (std::size_t k = 0; k < got.size(); ++k) {
    const value& want = expected.fetch(static_cast<int>(k));
    if (!(got[k].shape == want.shape)) return false;
    double scale = 1;
    for (const double v : want.elements) scale = std::fmax(scale, std::abs(v));
    for (std::size_t e = 0; e < want.elements.size(); ++e)
      if (!(std::abs(got[k].elements[e] - want.elements[e]) <= 2e-4 * scale)) return false;
  }
  return true;
}

template <bool Open, class Step>
std::vector<value> values_of(const Step& step, const program_feeds& f) {
  return with_feeds<Open>(f, [&](const auto&... feeds) {
    return std::apply([](const auto&... t) { return std::vector<value>{to_value(t)...}; }, step(feeds...));
  });
}

template <unsigned Seed>
class stress {
  static constexpr bool open = Seed % 2 == 1;

 public:
  stress()
      : program_(random_program<Seed, open, 3>()),
        f_(Seed),
        g_(Seed + 1000),
        of_f_(reference_of(program_, fed_values<open>(f_))),
        of_g_(reference_of(program_, fed_values<open>(g_))) {}

  /// Five runs of a program prepared here, and between them runs of others.
  void run(session& sess, thread_report& report) const {
    const auto step = sess.prepare(program_);
    for (int k = 0; k < 5; ++k) {
      const bool second = k % 2 == 1;
      report.wrong += close(values_of<open>(step, second ? g_ : f_), second ? of_g_ : of_f_) ? 0 : 1;
      ++report.runs;
      if (k % 2) continue;
      report.wrong += close(run_on<open>(sess, program_, g_), of_g_) ? 0 : 1;
      ++report.runs;
    }
  }

 private:
  decltype(random_program<Seed, open, 3>()) program_;
  program_feeds f_, g_;
  reference of_f_, of_g_;
};

}  // namespace

TEST_CASE("late copies and kernels change no result, on 1, 2 and 4 GPUs, by one thread and by four",
          "[session][threads]") {
  const std::tuple<stress<60>, stress<61>, stress<62>, stress<63>> programs;
  for (const int gpus : {1, 2, most_gpus}) {
    INFO("with " << gpus << " GPUs");
    session sess{machine_options(gpus)};
    dawdler late;
    const injected now(sess, late);
    thread_report alone;
    std::apply([&](const auto&... p) { (p.run(sess, alone), ...); }, programs);
    CHECK(alone.runs == 32);
    CHECK(alone.wrong == 0);

    thread_report reports[4];
    std::vector<std::thread> threads;
    for (thread_report& report : reports)
      threads.emplace_back([&] { std::apply([&](const auto&... p) { (p.run(sess, report), ...); }, programs); });
    for (std::thread& t : threads) t.join();
    for (const thread_report& report : reports) {
      CHECK(report.runs == 32);
      CHECK(report.wrong == 0);
    }
    for (const device_info& d : sess.devices()) CHECK(sess.memory(d.name).in_use == 0);
  }
}
