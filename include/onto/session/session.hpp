// SPDX-License-Identifier: BSL-1.0
// The session: finds the devices, holds the variables, runs programs. Here types meet the runtime.
#pragma once

#include <onto/backend/cpu/device.hpp>
#include <onto/backend/simulated/device.hpp>
#include <onto/session/core.hpp>
#include <onto/session/kernels.hpp>
#include <onto/session/placement_report.hpp>
#include <onto/tensor/tensor.hpp>
#if ONTO_CUDA
#include <onto/backend/cuda/device.hpp>
#endif

#include <string>
#include <tuple>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// A device that a session has.
struct device_info {
  device_name name;         ///< the full name
  std::string description;  ///< of the hardware; empty for the CPU
};

/// What a device has done since its session was made.
struct device_statistics {
  std::int64_t kernels = 0;
  std::int64_t transfers = 0;  ///< copies between devices that it made
  std::int64_t transfer_bytes = 0;
};

/// Sets variables to their initial values: `sess.run(initialize(w, b))`.
template <expression... E>
struct initializer {
  boost::hana::tuple<E...> expressions;
};

/// Every variable under these expressions, to be set to its initial value.
template <expression... E>
constexpr initializer<E...> initialize(const E&... e) {
  return {boost::hana::tuple<E...>(e...)};
}

namespace detail {

/// The tensor that an expression gives. A member type: nvcc writes an alias out where the program names the type of a
/// result.
template <class E, class Indices = std::make_index_sequence<static_cast<std::size_t>(E::facts.shape.rank)>>
struct result_type;
template <class E, std::size_t... K>
struct result_type<E, std::index_sequence<K...>> {
  using type = tensor<typename E::element_type, E::facts.shape.dims[K]...>;
};
template <class E>
using result_of = typename result_type<E>::type;

template <class Name>
struct placeholder_is_not_fed {
  using reported = void;
  static constexpr bool ok = Name::value.size() > 1000000;
  static_assert(ok, "[onto.feed] a placeholder of the program is not fed; give run a value for it: name = data");
};

/// The first placeholder that no feed is for, or -1.
template <class Graph, class... Symbols>
constexpr int first_unfed() {
  constexpr std::uint64_t ids[] = {Symbols::facts.id..., 0};
  for (int n = 0; n < Graph::view.count; ++n) {
    if (Graph::view[n].kind() != op_kind::placeholder) continue;
    bool fed = false;
    for (int k = 0; k < static_cast<int>(sizeof...(Symbols)); ++k) fed = fed || ids[k] == Graph::view[n].id;
    if (!fed) return n;
  }
  return -1;
}

template <class Graph, int Node>
struct unfed_name {
  static constexpr std::string_view value = Graph::view[Node].name;
  using type = decltype(spell_name<value>(std::make_index_sequence<value.size()>{}));
};

}  // namespace detail

inline namespace ONTO_ABI {

/// A set of devices and the variables on them, and the way to run programs there. `run` may be called from several
/// threads.
class session {
 public:
  /// *Throws* `invalid_argument_error` for options that make no sense.
  explicit session(session_options options = {}) : core_(find_devices(options), options) {}

  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Runs a program and returns the tensor that `e` stands for.
  /// *Mandates* every placeholder under `e` is fed.
  /// *Throws* `invalid_argument_error` for shapes that do not fit or devices that are not there, before anything runs;
  /// `failed_precondition_error` for a variable without a value; `resource_exhausted_error`. Variables then keep their
  /// values.
  template <expression E, class... Symbols>
  auto run(const E& e, const feed<Symbols>&... feeds) {
    if constexpr (std::same_as<E, ill_formed>)
      return tensor<float>{};
    else
      return std::get<0>(run_all<E>(std::tuple<const E&>(e), feeds...));
  }

  /// Runs a program with several results. *Returns* a `std::tuple` of tensors.
  template <expression... E, class... Symbols>
  auto run(const fetch_list<E...>& f, const feed<Symbols>&... feeds) {
    return boost::hana::unpack(f.expressions,
                               [&](const E&... e) { return run_all<E...>(std::tuple<const E&...>(e...), feeds...); });
  }

  /// Sets variables to their initial values.
  template <expression... E>
  void run(const initializer<E...>& i) {
    boost::hana::unpack(i.expressions, [&](const E&... e) { (initialize(e), ...); });
  }

  /// Sets every variable under `e` to its initial value, on the device where the program has it.
  /// *Throws* `failed_precondition_error` where one has none.
  template <expression E>
  void initialize(const E& e) {
    using graph = detail::graph_of<E>;
    const detail::state* const states[] = {e.state.get()};
    core_.pin_variables(program<E>(), states);
    initialize_each<graph>(e, typename E::ops{});
    core_.expect_initialized(graph::view);
  }

  /// A callable that repeats a run: `auto step = sess.prepare(e); step(x = data)`.
  template <class E>
  auto prepare(const E& e) {
    return [this, e](const auto&... feeds) { return run(e, feeds...); };
  }

  /// Where each operation of `e` runs, and why, without running it.
  /// *Throws* what `run` would throw for its placement.
  template <expression E>
  placement_report placement(const E& e) {
    return report<E>({e.state.get()});
  }
  template <expression... E>
  placement_report placement(const fetch_list<E...>& f) {
    return boost::hana::unpack(f.expressions, [&](const E&... e) { return report<E...>({e.state.get()...}); });
  }

  /// The devices there are: the CPU first, then GPUs by index.
  std::vector<device_info> devices() const {
    std::vector<device_info> list;
    const detail::device_list& all = core_.devices();
    for (int k = 0; k < all.count(); ++k) {
      const detail::device& d = all[k == 0 ? all.count() - 1 : k - 1];
      list.push_back({device_name::local(d.where()), d.description()});
    }
    return list;
  }

  /// What a device has done in this session: kernels launched, copies made, bytes copied, as counted by its backend.
  /// *Throws* `not_found_error` where there is no such device.
  device_statistics statistics(const device_name& name) const {
    const detail::device_list& all = core_.devices();
    for (int k = 0; k < all.count(); ++k)
      if (name.matches(device_name::local(all[k].where())))
        return {all[k].counters.kernels.load(), all[k].counters.transfers.load(),
                all[k].counters.transfer_bytes.load()};
    throw not_found_error("[onto.device] no device '" + name.to_string() + "' in this session; devices() lists them");
  }

  /// For tests: called before every allocation, copy and kernel of every device.
  void inject(const detail::fault_hook& hook) {
    for (int k = 0; k < core_.devices().count(); ++k) core_.devices()[k].fault = hook;
  }

 private:
  template <class... E>
  static constexpr const detail::compiled_program& program() {
    using graph = detail::graph_of<E...>;
    detail::report_mistake<graph>();
    using table = detail::op_table<typename detail::merge_ops<typename E::ops...>::type>;
    return detail::compiled<graph, table>::program;
  }

  template <class... E>
  placement_report report(const detail::state* const (&states)[sizeof...(E)]) {
    detail::placed_program placed;
    core_.place_program(program<E...>(), states, placed);
    return detail::make_report(detail::graph_of<E...>::view, placed.state, placed.where);
  }

  template <class... E, class... Symbols>
  auto run_all(const std::tuple<const E&...>& fetched, const feed<Symbols>&... feeds) {
    using graph = detail::graph_of<E...>;
    using results = std::tuple<detail::result_of<E>...>;
    results r;
    if constexpr (!graph::well_formed) {
      detail::report_mistake<graph>();
    } else if constexpr (constexpr int unfed = detail::first_unfed<graph, Symbols...>(); unfed >= 0) {
      (void)static_cast<
          typename detail::placeholder_is_not_fed<typename detail::unfed_name<graph, unfed>::type>::reported*>(nullptr);
    } else {
      const detail::feed_ref* const list[] = {&feeds..., nullptr};
      std::apply(
          [&](const E&... e) {
            const detail::state* const states[] = {e.state.get()...};
            detail::run_request request;
            request.program = &program<E...>();
            request.states = states;
            request.feeds = list;
            request.feed_count = static_cast<int>(sizeof...(Symbols));
            request.allocate = &allocate_result<results>;
            request.context = &r;
            core_.run(request);
          },
          fetched);
    }
    return r;
  }

  template <class Results>
  static void* allocate_result(void* context, int fetch, const extents& shape) {
    return allocate_one(*static_cast<Results*>(context), fetch, shape,
                        std::make_index_sequence<std::tuple_size_v<Results>>{});
  }

  template <class Results, std::size_t... K>
  static void* allocate_one(Results& r, int fetch, const extents& shape, std::index_sequence<K...>) {
    void* memory = nullptr;
    (void)((static_cast<int>(K) == fetch ? (memory = allocate_tensor(std::get<K>(r), shape), true) : false) || ...);
    return memory;
  }

  template <class T, int... Dims>
  static void* allocate_tensor(tensor<T, Dims...>& t, const extents& shape) {
    t = tensor<T, Dims...>(detail::uninitialized, shape);
    return t.data();
  }

  template <class Graph, class E, class... Ops>
  void initialize_each(const E& e, detail::op_list<Ops...>) {
    (initialize_one<Graph, Ops>(e), ...);
  }

  template <class Graph, class Variable, class E>
  void initialize_one(const E& e) {
    if constexpr (requires { typename Variable::initial; }) {
      if constexpr (!std::is_void_v<typename Variable::initial>) {
        using initial = typename Variable::initial;
        const detail::state* s = detail::variable_state(Graph::view, e.state.get(), Variable::facts.id);
        const Variable w(detail::shared_state(s));
        const initial value{detail::shared_state(s && s->child_count ? s->children[0] : nullptr)};
        run(assign(w, value));
      }
    }
  }

  ONTO_COLD static detail::device_list find_devices(const session_options& options) {
    if (options.simulated_gpus < 0 || options.simulated_gpus > 1024)
      detail::fail<invalid_argument_error>(detail::message("[onto.option] simulated_gpus is ")
                                           << options.simulated_gpus << "; it is 0 to 1024");
    if (options.cpu_threads < 0 || options.cpu_threads > 4096)
      detail::fail<invalid_argument_error>(detail::message("[onto.option] cpu_threads is ")
                                           << options.cpu_threads << "; it is 1 to 4096, or 0 for one a core");
    detail::device_list devices;
#if ONTO_CUDA
    detail::add_cuda_devices(devices);
#endif
    const int real = devices.count();
    for (int k = 0; k < options.simulated_gpus; ++k) devices.add(new detail::simulated_device(real + k));
    devices.add(new detail::cpu_device(options.cpu_threads));
    return devices;
  }

  detail::session_core core_;
};

}  // namespace ONTO_ABI

}  // namespace onto

ONTO_END_RUNS_ONCE
