// SPDX-License-Identifier: BSL-1.0
// The session: finds the devices, holds the variables, runs programs. Here types meet the runtime.
#pragma once

#include <onto/session/devices.hpp>
#include <onto/session/environment.hpp>
#include <onto/session/placement_report.hpp>
#include <onto/session/prepared.hpp>

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

inline namespace ONTO_ABI {

/// A set of devices and the variables on them, and the way to run programs there. `run` may be called from several
/// threads.
class session {
 public:
  /// *Throws* `invalid_argument_error` for options that make no sense.
  explicit session(session_options options = {})
      : core_(new detail::session_core(detail::find_devices(detail::apply_environment(options)), options)) {}

  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Runs a program and returns the tensor that `e` stands for.
  /// *Mandates* every placeholder under `e` is fed.
  /// *Throws* `invalid_argument_error` for shapes that do not fit or devices that are not there, before anything runs;
  /// `failed_precondition_error` for a variable without a value; `resource_exhausted_error`. Variables then keep their
  /// values.
  template <expression E, class... Symbols>
  auto run(const E& e, const feed<Symbols>&... feeds) {
    if constexpr (std::same_as<E, ill_formed>) {
      return tensor<float>{};
    } else {
      const detail::state* const states[] = {e.state.get()};
      return std::get<0>(detail::typed_run<E>::run(*core_, nullptr, states, feeds...));
    }
  }

  /// Runs a program with several results. *Returns* a `std::tuple` of tensors.
  template <expression... E, class... Symbols>
  auto run(const fetch_list<E...>& f, const feed<Symbols>&... feeds) {
    return boost::hana::unpack(f.expressions,
                               [&](const E&... e) { return run_all(std::tuple<const E&...>(e...), feeds...); });
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
    core_->pin_variables(detail::typed_run<E>::program(), states);
    initialize_each<graph>(e, typename E::ops{});
    core_->expect_initialized(graph::view);
  }

  /// A callable that repeats a run at the least cost: `auto step = sess.prepare(e); step(x = data)`. The program is
  /// resolved and placed now, and its memory is taken as soon as its shapes are known; see `prepared`.
  /// *Throws* what `run` would throw for its placement, and `resource_exhausted_error`.
  template <expression E>
  auto prepare(const E& e) {
    if constexpr (std::same_as<E, ill_formed>)
      return [](const auto&...) { return tensor<float>{}; };
    else
      return prepared<true, E>(core_, e);
  }
  template <expression... E>
  auto prepare(const fetch_list<E...>& f) {
    return boost::hana::unpack(f.expressions, [&](const E&... e) { return prepared<false, E...>(core_, e...); });
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

  /// The devices there are: the CPUs first, then GPUs by index.
  std::vector<device_info> devices() const {
    std::vector<device_info> list;
    const detail::device_list& all = core_->devices();
    for (int group = 0; group < 2; ++group)
      for (int k = 0; k < all.count(); ++k)
        if (all[k].is_host() == (group == 0))
          list.push_back({device_name::local(all[k].where()), all[k].description()});
    return list;
  }

  /// What a device has done in this session: kernels launched, copies made, bytes copied, as counted by its backend.
  /// *Throws* `not_found_error` where there is no such device.
  device_statistics statistics(const device_name& name) const {
    const detail::device_counters& c = device_by(name).counters;
    return {c.kernels.load(), c.transfers.load(), c.transfer_bytes.load()};
  }

  /// A device's memory as this session uses it, in bytes.
  /// *Throws* `not_found_error` where there is no such device.
  memory_info memory(const device_name& name) const { return device_by(name).memory(); }
  template <place_type Place>
  memory_info memory(Place) const {
    return memory(device_name::local(Place::value));
  }

  /// Gives memory back to the system that no variable, no prepared program and no run holds.
  void trim() { core_->trim(); }

  /// Seconds that this session's runs would have taken on hardware of the cost model `session_options::simulation`; 0
  /// where there is none.
  double simulated_seconds() const { return core_->simulated_seconds(); }

  /// For tests: called before every allocation, copy and kernel of every device.
  void inject(const detail::fault_hook& hook) {
    for (int k = 0; k < core_->devices().count(); ++k) core_->devices()[k].fault = hook;
  }

 private:
  const detail::device& device_by(const device_name& name) const {
    const detail::device_list& all = core_->devices();
    for (int k = 0; k < all.count(); ++k)
      if (name.matches(device_name::local(all[k].where()))) return all[k];
    throw not_found_error("[onto.device] no device '" + name.to_string() + "' in this session; devices() lists them");
  }

  template <class... E>
  placement_report report(const detail::state* const (&states)[sizeof...(E)]) {
    detail::placed_program placed;
    core_->place_program(detail::typed_run<E...>::program(), states, placed);
    return detail::make_report(placed.of, placed.where);
  }

  template <class... E, class... Symbols>
  auto run_all(const std::tuple<const E&...>& fetched, const feed<Symbols>&... feeds) {
    return std::apply(
        [&](const E&... e) {
          const detail::state* const states[] = {e.state.get()...};
          return detail::typed_run<E...>::run(*core_, nullptr, states, feeds...);
        },
        fetched);
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

  detail::ref<detail::session_core> core_;
};

}  // namespace ONTO_ABI

}  // namespace onto

ONTO_END_RUNS_ONCE
