// SPDX-License-Identifier: BSL-1.0
// What it costs to prepare a program grows as the program does: programs of hundreds and thousands of kernels, put
// together here as the compiler would hand them over.
#include <onto/onto.hpp>
#include <onto/session/core.hpp>
#include <onto/session/devices.hpp>

#if defined(__linux__)
#include <malloc.h>
#endif
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

/// A program that is made node by node.
class handmade_program {
 public:
  int leaf(const extents& shape) {
    return add(op_info_of<op::placeholder>, shape, {}, "x" + std::to_string(nodes_.size()));
  }

  /// An operation; its extents follow from its operands'.
  int add(const op_info& op, const std::vector<int>& operands, place request = {}, const std::string& name = {}) {
    std::vector<extents> shapes;
    for (const int o : operands) shapes.push_back(nodes_[static_cast<std::size_t>(o)].shape);
    const inferred r = op.infer(shapes.data(), static_cast<int>(shapes.size()));
    REQUIRE(r.fault == shape_fault::none);
    const int n = add(op, r.shape, operands, name);
    nodes_[static_cast<std::size_t>(n)].request = request;
    return n;
  }

  void fetch(int node) { fetches_.push_back(node); }

  /// Fused, merged, and without code: it is never run.
  const detail::compiled_program& compile() {
    const auto count = nodes_.size();
    for (std::size_t n = 0; n < count; ++n) nodes_[n].name = names_[n];
    const graph_view g{nodes_.data(), static_cast<int>(count), operands_.data(), fetches_.data(),
                       static_cast<int>(fetches_.size())};
    kernels_ = detail::kernel_arrays::make(memory_, g.count, detail::count_products(g));
    detail::fusion_passes::run(g, kernels_);
    detail::kernel_entry nothing;
    nothing.launch[detail::kernel_entry::host].run = [](detail::kernel_context&, const detail::kernel_call&) {};
    entries_.assign(count, nothing);
    how_.assign(count, {});
    program_ = std::make_unique<detail::compiled_program>();
    program_->graph = g;
    program_->kernels = program_->unmerged = kernels_;
    program_->whole = program_->parts = program_->single = entries_.data();
    program_->how = program_->part_how = how_.data();
    return *program_;
  }

  int kernels() const {
    int count = 0;
    for (std::size_t n = 0; n < nodes_.size(); ++n) count += kernels_.kernel_of[n] == static_cast<int>(n) ? 1 : 0;
    return count;
  }

 private:
  int add(const op_info& op, const extents& shape, const std::vector<int>& operands, const std::string& name) {
    graph_node n;
    n.op = &op;
    n.id = nodes_.size() + 1;
    n.shape = shape;
    n.first = static_cast<int>(operands_.size());
    n.count = static_cast<int>(operands.size());
    operands_.insert(operands_.end(), operands.begin(), operands.end());
    names_.push_back(name);
    nodes_.push_back(n);
    return static_cast<int>(nodes_.size()) - 1;
  }

  std::vector<graph_node> nodes_;
  std::vector<int> operands_, fetches_;
  detail::arena memory_;
  detail::kernel_arrays kernels_;
  std::vector<std::string> names_;
  std::vector<detail::kernel_entry> entries_;
  std::vector<detail::evaluation> how_;
  std::unique_ptr<detail::compiled_program> program_;
};

constexpr const op_info& product = op_info_of<op::matmul>;
constexpr const op_info& sum = op_info_of<op::add>;

/// One product after the other.
void chain(handmade_program& p, int kernels) {
  const int w = p.leaf(shape<8, 8>{});
  int s = p.leaf(shape<8, 8>{});
  for (int k = 0; k < kernels; ++k) s = p.add(product, {s, w});
  p.fetch(s);
}

/// The same with names.
void named_chain(handmade_program& p, int kernels) {
  const int w = p.leaf(shape<8, 8>{});
  int s = p.leaf(shape<8, 8>{});
  for (int k = 0; k < kernels; ++k)
    s = p.add(product, {s, w}, {}, k % 2 ? std::string{} : "MatMul_" + std::to_string(7 * k));
  p.fetch(s);
}

/// Products beside each other, whose results are all alive at the same time, and their sum.
void fan(handmade_program& p, int kernels) {
  const int x = p.leaf(shape<8, 8>{}), w = p.leaf(shape<8, 8>{});
  std::vector<int> results;
  for (int k = 0; k < kernels; ++k) results.push_back(p.add(product, {x, w}));
  int s = results[0];
  for (int k = 1; k < kernels; ++k) s = p.add(sum, {s, results[static_cast<std::size_t>(k)]});
  p.fetch(s);
}

/// Sums of all elements, and maps that read them and what they are sums of; with sums over an axis it were one kernel.
void folds(handmade_program& p, int kernels) {
  int s = p.leaf(shape<8, 8>{});
  for (int k = 0; k < kernels / 2; ++k)
    s = p.add(op_info_of<op::mul>, {s, p.add(op_info_of<op::reduce<fold::sum, false>>, {s})});
  p.fetch(s);
}

/// A chain on each of four GPUs, whose results come together on the first.
void towers(handmade_program& p, int kernels) {
  const int x = p.leaf(shape<8, 8>{}), w = p.leaf(shape<8, 8>{});
  int all = -1;
  for (int d = 0; d < 4; ++d) {
    const place gpu{device_kind::gpu, d};
    int s = x;
    for (int k = 0; k < kernels / 4; ++k) s = p.add(product, {s, w}, gpu);
    all = all < 0 ? s : p.add(sum, {all, s}, {device_kind::gpu, 0});
  }
  p.fetch(all);
}

/// Products that go from GPU to GPU, with a copy before each.
void ring(handmade_program& p, int kernels) {
  const int w = p.leaf(shape<8, 8>{});
  int s = p.leaf(shape<8, 8>{});
  for (int k = 0; k < kernels; ++k) s = p.add(product, {s, w}, {device_kind::gpu, k % 4});
  p.fetch(s);
}

/// Rows of one feed, on two GPUs in turn: each of them is copied alone.
void rows(handmade_program& p, int kernels) {
  const int x = p.leaf(shape<64, 8>{}), w = p.leaf(shape<8, 8>{});
  int s = -1;
  for (int k = 0; k < kernels; ++k) {
    const int row =
        k % 2 ? p.add(op_info_of<op::slice<range<0, 32>>>, {x}) : p.add(op_info_of<op::slice<range<32, 64>>>, {x});
    const place gpu{device_kind::gpu, k % 2};
    const int y = p.add(product, {row, w}, gpu);
    s = s < 0 ? y : p.add(sum, {s, y}, gpu);
  }
  p.fetch(s);
}

double seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);  // not of others on a busy machine
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

using maker = void (*)(handmade_program&, int);

/// What is prepared or estimated, again and again.
class subject {
 public:
  subject(maker make, int kernels) : kernels_(kernels) {
    make(program_, kernels);
    compiled_ = &program_.compile();
  }

  /// Seconds to prepare it.
  double prepare(detail::session_core& core) const {
    const detail::state* const states[] = {nullptr};
    const double begin = seconds();
    const auto prepared = core.prepare(*compiled_, states);
    const double end = seconds();
    REQUIRE(prepared->bound->counts.kernels >= kernels_);
    return end - begin;
  }

  /// Seconds to say how long it takes on hardware, when it has a schedule.
  double estimate(const place* devices, int device_count) const {
    const graph_view& g = compiled_->graph;
    const auto count = static_cast<std::size_t>(g.count);
    std::vector<node_placement> where(count);
    std::vector<place> requests(count);
    std::vector<extents> shapes(count);
    for (std::size_t n = 0; n < count; ++n) {
      requests[n] = g.nodes[n].request;
      shapes[n] = g.nodes[n].shape;
    }
    REQUIRE(place_nodes(g, {requests.data(), nullptr, nullptr, devices, device_count, false}, where.data()));
    std::vector<plan_step> steps(4 * count);
    std::vector<plan_value> values(4 * count);
    std::vector<int> value_of(count);
    const std::unique_ptr<bool[]> done(new bool[count]), broken(new bool[count]);
    detail::arena memory;
    const auto units = detail::kernel_arrays::make(memory, g.count);
    detail::scheduler s(
        detail::schedule_input{g,
                               compiled_->kernels,
                               compiled_->unmerged,
                               shapes.data(),
                               where.data(),
                               {steps.data(), values.data(), units, value_of.data(), done.get(), broken.get()}});
    const detail::schedule_counts c = s.run(nullptr);
    std::vector<timed_step> timed(4 * count);
    std::vector<device_time> times(static_cast<std::size_t>(device_count));
    for (int d = 0; d < device_count; ++d) times[static_cast<std::size_t>(d)].where = devices[d];
    const detail::order_input in{g, units, steps.data(), c.steps, values.data(), c.values, devices, device_count};
    const double begin = seconds();
    const double all = detail::step_timer(in, shapes.data(), h200).run(timed.data(), times.data());
    const double end = seconds();
    REQUIRE(all > 0);
    return end - begin;
  }

 private:
  handmade_program program_;
  const detail::compiled_program* compiled_;
  int kernels_;
};

double median(std::vector<double>& times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// How often as long 1,024 kernels take as 256. Where the machine was busy, the least of a few attempts.
template <class Time>
double growth(maker make, const Time& time) {
  const subject few(make, 256), many(make, 1024);
  double least = 1e9;
  for (int attempt = 0; attempt < 5 && least > 4.5; ++attempt) {
    std::vector<double> a, b;
    for (int k = 0; k < 5; ++k) {
      a.push_back(time(few));
      b.push_back(time(many));
    }
    least = std::min(least, median(b) / median(a));
  }
  return least;
}

constexpr double most_growth = 5;

struct named_program {
  const char* name;
  maker make;
  bool on_gpus;
};
constexpr named_program programs[] = {
    {"a chain", chain, false},        {"a chain with names", named_chain, false}, {"a fan", fan, false},
    {"folds and maps", folds, false}, {"towers on four GPUs", towers, true},      {"a ring of four GPUs", ring, true},
    {"rows of one feed", rows, true}};

/// What the system takes to give memory, and to clear it, is not what is measured here.
void keep_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 28);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace

TEST_CASE("what it takes to prepare a program grows with its kernels", "[session]") {
  keep_memory();
  const session_options options{.simulated_gpus = 4};
  detail::session_core cpu(detail::find_devices({}, detail::gpu_finders), {});
  detail::session_core gpus(detail::find_devices(options, detail::gpu_finders), options);
  for (const named_program& p : programs) {
    const double times = growth(p.make, [&](const subject& s) { return s.prepare(p.on_gpus ? gpus : cpu); });
    INFO(p.name << ": four times the kernels take " << times << " times as long to prepare");
    CHECK(times <= most_growth);
  }
}

TEST_CASE("what it takes to estimate a plan grows with its kernels", "[session]") {
  keep_memory();
  const place devices[] = {{device_kind::gpu, 0},
                           {device_kind::gpu, 1},
                           {device_kind::gpu, 2},
                           {device_kind::gpu, 3},
                           {device_kind::cpu, 0}};
  for (const named_program& p : programs) {
    const double times = growth(p.make, [&](const subject& s) { return s.estimate(devices, 5); });
    INFO(p.name << ": four times the kernels take " << times << " times as long to estimate");
    CHECK(times <= most_growth);
  }
}

// ./unit_session "[.times]"
TEST_CASE("how long it takes to prepare programs", "[.times]") {
  const session_options options{.simulated_gpus = 4};
  detail::session_core cpu(detail::find_devices({}, detail::gpu_finders), {});
  detail::session_core gpus(detail::find_devices(options, detail::gpu_finders), options);
  for (const named_program& p : programs) {
    std::printf("| %s ", p.name);
    for (const int kernels : {32, 64, 128, 256, 512, 1024, 2000}) {
      const subject s(p.make, kernels);
      std::vector<double> times;
      for (int k = 0; k < 9; ++k) times.push_back(s.prepare(p.on_gpus ? gpus : cpu));
      std::printf("| %.2f ", 1e3 * median(times));
    }
    std::printf("|\n");
  }
  SUCCEED();
}
