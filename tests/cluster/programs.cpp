// SPDX-License-Identifier: BSL-1.0
// The tests on processes: random programs over random tasks against the reference, tensors that go in pieces, a model
// of synchronous training; with three processes the rules. ONTO_FEW: without what is the same with every MPI, the
// programs.
#include "collectives.hpp"
#include "rules.hpp"

#include <onto/cluster.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace onto_test;

namespace {

template <class T, int... Dims>
tensor<T, Dims...> values(unsigned seed) {
  tensor<T, Dims...> t;
  std::uint64_t k = seed;
  for (T& v : t) v = static_cast<T>(static_cast<double>(mixed(++k) >> 11) / 9007199254740992.0 * 4 - 2);
  return t;
}

bool is_close(const value& got, const value& expected) {
  bool good = got.shape == expected.shape && got.elements.size() == expected.elements.size();
  double scale = 1;
  for (const double v : expected.elements) scale = std::fmax(scale, std::abs(v));
  for (std::size_t k = 0; good && k < expected.elements.size(); ++k)
    good = std::abs(got.elements[k] - expected.elements[k]) <= 2e-4 * scale;
  return good;
}

/// Every process computes what is to come, and looks at what has come to it.
template <unsigned Seed, bool Open>
void check_random(session& sess, rule_checker& r) {
  const auto program = boost::hana::unpack(random_program<Seed, Open, 2, true>().expressions,
                                           [](const auto&... e) { return fetches(e..., tanh(cast<float>(e))...); });
  constexpr auto leaf = leaves<Open>();
  const auto x = values<float, 2, 3>(Seed);
  const auto m = values<float, 3, 3>(Seed + 100);
  const auto v = values<float, 3>(Seed + 200);
  const auto c = values<float, 2, 1>(Seed + 300);
  const auto n = values<std::int32_t, 2, 3>(Seed + 400);
  const auto s = values<double, 3, 2>(Seed + 500);
  const auto with_feeds = [&](auto use) {
    return use(std::get<0>(leaf).e = x, std::get<1>(leaf).e = m, std::get<2>(leaf).e = v, std::get<3>(leaf).e = c,
               std::get<4>(leaf).e = n, std::get<5>(leaf).e = s);
  };
  const auto fed_list =
      with_feeds([&](const auto& a, const auto& b, const auto& d, const auto& e, const auto& f, const auto& g) {
        return std::vector<fed>{{a.id, to_value(x)}, {b.id, to_value(m)}, {d.id, to_value(v)},
                                {e.id, to_value(c)}, {f.id, to_value(n)}, {g.id, to_value(s)}};
      });
  const reference expected = boost::hana::unpack(program.expressions, [&](const auto&... e) {
    return reference(written_graph::of(e...), {e.state.get()...}, fed_list);
  });
  try {
    sess.placement(program);
  } catch (const invalid_argument_error&) {
    return;  // one operation under two guards
  }
  const auto step = sess.prepare(program);
  for (int run = 0; run < 3; ++run) {
    const auto got = with_feeds([&](const auto&... feeds) {
      return std::apply([](const auto&... t) { return std::vector<value>{to_value(t)...}; },
                        run == 0 ? sess.run(program, feeds...) : step(feeds...));
    });
    for (std::size_t k = 0; k < got.size(); ++k) {
      if (k < got.size() / 2 && got[k].elements.empty()) continue;
      r.expect(is_close(got[k], expected.fetch(static_cast<int>(k))),
               "seed " + std::to_string(Seed) + ", run " + std::to_string(run) + ", result " + std::to_string(k));
    }
  }
}

/// A tensor of some megabytes there and back: it goes in pieces, and not before its receiver has room.
void check_large(session& sess, rule_checker& r, int other) {
  static constexpr auto big = placeholder<"big", float, dyn>;
  tensor<float, dyn> t({3'000'001});
  for (std::size_t k = 0; k < t.size(); ++k) t.data()[k] = static_cast<float>(k % 1000);
  device_guard g{("/task:" + std::to_string(other)).c_str()};
  const auto there = big * 2.f;
  device_guard h{"/task:0"};
  const auto back = there + 1.f;
  const auto got = sess.run(fetches(back, sum(there)), big = t);
  if (std::get<0>(got).data())
    r.expect(std::get<0>(got)(2'999'999) == 999.f * 2 + 1, "a large tensor goes there and back");
}

/// Specifications that are none.
void check_specifications(rule_checker& r) {
  using spec = cluster_spec;
  r.expect_throws<invalid_argument_error>("the cluster has no job", [] { spec{}; });
  r.expect_throws<invalid_argument_error>("job 'ps' has no tasks", [] { spec{{"worker", 1}, {"ps", 0}}; });
  r.expect_throws<invalid_argument_error>("job 'worker' is there twice", [] { spec{{"worker", 1}, {"worker", 2}}; });
  for (const char* name : {"", "1x", "a-b", "a/b", "*", "worker:1", "job:w", " "})
    r.expect_throws<invalid_argument_error>("is no name of a job", [&] { spec{{name, 1}}; });
  r.expect(spec{{"ps", 1}, {"worker", 2}}.size() == 3, "a specification knows how many processes it takes");
}

/// MPI's own sums, of all types that it has, in pieces.
template <class T>
void check_own_sum(detail::transport& ways, rule_checker& r) {
  std::vector<T> from(1234), to(1234);
  for (std::size_t k = 0; k < from.size(); ++k) from[k] = static_cast<T>(static_cast<int>(k % 50) + ways.rank());
  const auto m = ways.all_reduce(element_of<T>, from.data(), to.data(), 1234);
  std::int64_t bytes = 0;
  bool good = m.get() != nullptr;
  for (detail::patience p(20); good && !m->is_done(bytes);) {
    good = !p.is_over();
    p.pause();
  }
  for (std::size_t k = 0; good && k < to.size(); ++k) good = to[k] == static_cast<T>(2 * static_cast<int>(k % 50) + 1);
  r.expect(good, "MPI adds up elements of " + std::string(name_of(element_of<T>)));
}
template <class... T>
void check_own_sums(rule_checker& r) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  {
    detail::mpi_transport ways(comm, 1000);
    (check_own_sum<T>(ways, r), ...);
    half none{};
    r.expect(!ways.all_reduce(element::float16, &none, &none, 1), "MPI adds up no halves");
  }
  MPI_Comm_free(&comm);
}

/// What is longer than MPI's greatest count goes in pieces; here these are short. An empty message stands for all.
void check_pieces(int rank, rule_checker& r) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  {
    detail::mpi_transport ways(comm, 1000);
    const auto wait_for = [](detail::pending_message& m) {
      std::int64_t bytes = 0;
      for (detail::patience p(20); !m.is_done(bytes) && !p.is_over();) p.pause();
      return bytes;
    };
    int tag = 5;  // as tensors have, each its own
    for (const std::int64_t bytes : {0, 1, 999, 1000, 1001, 12345}) {
      tag += 3;
      std::string text(static_cast<std::size_t>(bytes), ' ');
      if (rank == 0) {
        for (std::size_t k = 0; k < text.size(); ++k) text[k] = static_cast<char>('a' + k % 23);
        r.expect(wait_for(*ways.send(1, tag, text.data(), bytes)) == bytes, "a message leaves in pieces");
        wait_for(*ways.send(1, tag + 1, nullptr, 0));
        wait_for(*ways.send(1, tag + 2, "z", 1));
      } else {
        r.expect(wait_for(*ways.receive(0, tag, text.data(), bytes)) == bytes, "all pieces come");
        bool good = true;
        for (std::size_t k = 0; k < text.size(); ++k) good = good && text[k] == static_cast<char>('a' + k % 23);
        r.expect(good, "pieces come in order");
        std::string other(5000, ' ');
        r.expect(wait_for(*ways.receive(0, tag + 1, other.data(), 5000)) == 0,
                 "an empty message comes in place of all");
        r.expect(wait_for(*ways.receive(0, tag + 2, other.data(), 1)) == 1 && other[0] == 'z',
                 "and the next one is the next");
      }
    }
  }
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) try {
  const int processes = argc > 1 ? std::atoi(argv[1]) : 1;
  server node = [&] {
    if (processes == 3) return server(argc, argv, {{"ps", 1}, {"worker", 2}});
    return server(argc, argv, cluster_spec{{"worker", processes}});
  }();
  rule_checker r(node.rank());
  {
    const std::string last = "/task:" + std::to_string(processes - 1) + "/gpu:0";
    const std::string middle = "/task:" + std::to_string(processes / 2);
    const char* const guards[] = {"/task:0/gpu:0", last.c_str(), "/task:0/cpu:0", middle.c_str()};
    session sess{node, {.allow_soft_placement = true, .simulated_gpus = processes == 2 ? 1 : 0}};
    if (processes != 3 && processes != 9) {
      for (int k = 0; k < 4; ++k) guard_names[k] = guards[k];
      check_random<4, true>(sess, r);
#if !defined(ONTO_FEW)
      check_random<2, false>(sess, r);
      check_random<9, false>(sess, r);
#endif
      check_large(sess, r, processes - 1);
    }
#if !defined(ONTO_FEW)
    if (processes == 2) check_types<2>(sess, r);
    if (processes == 2) check_random_sums<0, 2>(sess, r);
    if (processes == 2) check_shared_types<2>(sess, r);
    if (processes == 4) check_random_sums<3, 4>(sess, r);
    if (processes == 4) check_random_collectives<6, 4>(sess, r);
    if (processes == 4) check_shared<float, 300'001, 4>(sess, r, "many floats");
    if (processes == 9) {
      check_multiples<std::uint16_t, 12, 9>(sess, r, "uint16");
      check_shared<half, 9, 9>(sess, r, "half");
      check_random_collectives<7, 9>(sess, r);
    }
#endif
    if (processes == 9) {  // by MPI's own
      check_multiples<float, 300'001, 9>(sess, r, "many floats");
      check_shared<float, 300'001, 9>(sess, r, "many floats");
    }
  }
  if (processes == 2) {
    session sess{node, {.deterministic = true}};
    check_order(sess, r);
    check_training(
        sess, r, [](const auto& loss) { return minimize(sgd{.rate = 0.2, .momentum = 0.9}, loss); }, "sgd");
  }
  check_specifications(r);
  if (processes == 2) check_pieces(node.rank(), r);
  if (processes == 2)
    check_own_sums<float, double, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t>(r);
#if !defined(ONTO_FEW)
  if (processes == 3) check_rules(node, r);
#endif
  for (const std::string& failure : r.failures()) std::fprintf(stderr, "FAIL %s\n", failure.c_str());
  std::printf("%d checks, %d failed\n", r.checks(), static_cast<int>(r.failures().size()));
  return r.failures().empty() && r.checks() > 5 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
