// SPDX-License-Identifier: BSL-1.0
// The session: finds the devices, holds the variables, runs programs. Here types meet the runtime.
#pragma once

#include <onto/backend/cpu/device.hpp>
#include <onto/backend/simulated/device.hpp>
#include <onto/session/core.hpp>
#include <onto/session/kernels.hpp>
#include <onto/tensor/tensor.hpp>
#if ONTO_CUDA
#include <onto/backend/cuda/device.hpp>
#endif

#include <tuple>

namespace onto {

/// A device that a session has.
struct device_info {
  device_name name;         ///< the full name
  std::string description;  ///< of the hardware; empty for the CPU
};

/// What a device has done since its session was made.
struct device_statistics {
  std::int64_t kernels = 0;
  std::int64_t transfers = 0;       ///< copies between devices that it made
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

template <class T, class E, std::size_t... K>
auto spell_tensor(std::index_sequence<K...>) -> tensor<T, E::facts.shape.dims[K]...>;

/// The tensor that an expression gives.
template <class E>
using result_of = decltype(spell_tensor<typename E::element_type, E>(
    std::make_index_sequence<static_cast<std::size_t>(E::facts.shape.rank)>{}));

template <std::uint64_t Id, class... Feeds>
inline constexpr bool is_fed = ((Feeds::id == Id) || ...);

template <class Name>
struct placeholder_is_not_fed {
  static constexpr bool ok = Name::value.size() > 1000000;
  static_assert(ok, "[onto.feed] a placeholder of the program is not fed; give run a value for it: name = data");
};

/// The first placeholder that no feed is for, or -1.
template <class Graph, class... Feeds>
constexpr int first_unfed() {
  constexpr std::uint64_t ids[] = {Feeds::id..., 0};
  for (int n = 0; n < Graph::view.count; ++n) {
    if (Graph::view[n].kind() != op_kind::placeholder) continue;
    bool fed = false;
    for (int k = 0; k < static_cast<int>(sizeof...(Feeds)); ++k) fed = fed || ids[k] == Graph::view[n].id;
    if (!fed) return n;
  }
  return -1;
}

template <class Graph, int Node>
struct unfed_name {
  static constexpr std::string_view value = Graph::view[Node].name;
  using type = decltype(spell_name<value>(std::make_index_sequence<value.size()>{}));
};

template <class Graph, class... Feeds>
constexpr bool check_feeds() {
  constexpr int n = first_unfed<Graph, Feeds...>();
  if constexpr (n >= 0)
    return placeholder_is_not_fed<typename unfed_name<Graph, n>::type>::ok;
  else
    return true;
}

template <class F>
inline constexpr bool is_feed = false;
template <class S>
inline constexpr bool is_feed<feed<S>> = true;

}  // namespace detail

inline namespace ONTO_ABI {

/// A set of devices and the variables on them, and the way to run programs there. `run` may be called from several threads.
class session {
 public:
  /// *Throws* `invalid_argument_error` for options that make no sense.
  explicit session(session_options options = {}) : core_(find_devices(options), options, detail::copy_entry()) {}

  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Runs a program and returns the tensor that `e` stands for.
  /// *Mandates* every placeholder under `e` is fed.
  /// *Throws* `invalid_argument_error` for shapes that do not fit or devices that are not there, before anything runs;
  /// `failed_precondition_error` for a variable without a value; `resource_exhausted_error`. Variables then keep their values.
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
    return boost::hana::unpack(f.expressions, [&](const E&... e) { return run_all<E...>(std::tuple<const E&...>(e...), feeds...); });
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
    const detail::state* const states[] = {e.state.get()};
    return core_.placement(program<E>(), states);
  }
  template <expression... E>
  placement_report placement(const fetch_list<E...>& f) {
    return boost::hana::unpack(f.expressions, [&](const E&... e) {
      const detail::state* const states[] = {e.state.get()...};
      return core_.placement(program<E...>(), states);
    });
  }

  /// The devices there are: the CPU first, then GPUs by index.
  std::vector<device_info> devices() const {
    std::vector<device_info> list;
    const auto& all = core_.devices();
    list.push_back({device_name::local(all.back()->where()), all.back()->description()});
    for (std::size_t d = 0; d + 1 < all.size(); ++d) list.push_back({device_name::local(all[d]->where()), all[d]->description()});
    return list;
  }

  /// What a device has done in this session: kernels launched, copies made, bytes copied, as counted by its backend.
  device_statistics statistics(const device_name& name) const {
    for (const auto& d : core_.devices())
      if (name.matches(device_name::local(d->where())))
        return {d->counters.kernels.load(), d->counters.transfers.load(), d->counters.transfer_bytes.load()};
    throw not_found_error("[onto.device] no device '" + name.to_string() + "' in this session");
  }

  /// For tests: called before every allocation, copy and kernel of every device.
  void inject(const detail::fault_hook& hook) {
    for (const auto& d : core_.devices()) d->fault = hook;
  }

 private:
  template <class... E>
  static constexpr const detail::compiled_program& program() {
    using graph = detail::graph_of<E...>;
    using table = detail::op_table<typename detail::merge_ops<typename E::ops...>::type>;
    return detail::compiled<graph, table>::program;
  }

  template <class... E, class... Symbols>
  auto run_all(const std::tuple<const E&...>& fetched, const feed<Symbols>&... feeds) {
    using graph = detail::graph_of<E...>;
    using results = std::tuple<detail::result_of<E>...>;
    results r;
    if constexpr (graph::well_formed && detail::check_feeds<graph, feed<Symbols>...>()) {
      const detail::feed_ref list[] = {{feed<Symbols>::id, feeds.data, feeds.shape}..., detail::feed_ref{}};
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
    return allocate_one(*static_cast<Results*>(context), fetch, shape, std::make_index_sequence<std::tuple_size_v<Results>>{});
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
    for (int n = 0; n < Graph::view.count; ++n)
      if (Graph::view[n].kind() == op_kind::variable && !core_.is_initialized(Graph::view[n].id))
        throw failed_precondition_error("[onto.variable] variable '" + std::string(Graph::view[n].name) +
                                        "' has no initial value; write variable<...>(value), or assign to it");
  }

  template <class Graph, class Variable, class E>
  void initialize_one(const E& e) {
    if constexpr (requires { typename Variable::initial; }) {
      if constexpr (!std::is_void_v<typename Variable::initial>) {
        using initial = typename Variable::initial;
        const detail::state* s = detail::variable_state(Graph::view, e.state.get(), Variable::facts.id);
        const Variable w(detail::shared_state(s));
        const initial value(s && !s->children.empty() ? s->children[0] : detail::state_ref{});
        run(assign(w, value));
      }
    }
  }

  static std::vector<std::unique_ptr<detail::device>> find_devices(const session_options& options) {
    if (options.simulated_gpus < 0 || options.simulated_gpus > 1024)
      throw invalid_argument_error("[onto.option] simulated_gpus is " + std::to_string(options.simulated_gpus) + "; it is 0 to 1024");
    if (options.cpu_threads < 0)
      throw invalid_argument_error("[onto.option] cpu_threads is " + std::to_string(options.cpu_threads) +
                                   "; it is the number of threads, or 0 for one a core");
    std::vector<std::unique_ptr<detail::device>> devices;
#if ONTO_CUDA
    devices = detail::cuda_devices();
#endif
    const int real = static_cast<int>(devices.size());
    for (int k = 0; k < options.simulated_gpus; ++k) devices.push_back(std::make_unique<detail::simulated_device>(real + k));
    devices.push_back(std::make_unique<detail::cpu_device>(options.cpu_threads));
    return devices;
  }

  detail::session_core core_;
};

}  // namespace ONTO_ABI

}  // namespace onto
