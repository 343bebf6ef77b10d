// SPDX-License-Identifier: BSL-1.0
// The session: finds the devices, holds the variables, runs programs. Here types meet the runtime.
#pragma once

#include <onto/expr/device_guard.hpp>
#include <onto/ops/update_node.hpp>
#include <onto/session/backends.hpp>
#include <onto/session/initialize.hpp>
#include <onto/session/makers.hpp>
#include <onto/session/one_meaning.hpp>
#include <onto/session/prepared.hpp>

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

class server;

namespace detail {
// One struct a mistake: its name and arguments are what the compiler prints.
template <class... Nothing>
struct run_is_of_a_program {
  using reported = void;
  static constexpr bool ok = sizeof...(Nothing) > 99;
  static_assert(ok == true, "[onto.run] run takes what is computed: sess.run(e, x = data)");
};
template <class... X>
struct feeds_are_for_the_step {
  using reported = void;
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.feed] what prepare makes is fed: auto step = sess.prepare(e); step(x = data)");
};
}  // namespace detail

inline namespace ONTO_ABI {

/// A set of devices and the variables on them, and the way to run programs there. `run` may be called from several
/// threads.
class session {
 public:
  /// A session of all processes of a cluster, which all make it and run the same programs in the same order; of a local
  /// server, one of this process alone. Include `<onto/cluster.hpp>`.
  /// *Throws*, in all processes, `failed_precondition_error` where they make it with other options.
  explicit session(server& node, session_options options = {});

  /// *Throws* `invalid_argument_error` for options that make no sense.
  // Compilers show the first line, and not what is misspelled.
  // clang-format off
  explicit session(session_options options = {})  // [onto.option] {{.name = value}}, spelled and in the order of session_options
      : core_(detail::open_session(options, detail::gpu_finders)) {}

  session(const session&) = delete;  // [onto.run] a session is passed by reference: void train(session& sess)
  // clang-format on
  session& operator=(const session&) = delete;

  /// Runs a program and returns the tensor that `e` stands for.
  /// *Mandates* every placeholder under `e` is fed.
  /// *Throws* `invalid_argument_error` for shapes that do not fit or devices that are not there, before anything runs;
  /// `failed_precondition_error` for a variable without a value; `resource_exhausted_error`. Variables then keep their
  /// values.
  template <expression E, class... Symbols>
  auto run(const E& e, const feed<Symbols>&... feeds) {
    if constexpr (std::same_as<E, ill_formed>) {
      return detail::result_of<E>{};
    } else {
      const detail::state* const states[] = {e.state.get()};
      return detail::typed_run<E>::template run<true>(*core_, nullptr, states, feeds...);
    }
  }

  template <class... Nothing>
  auto run() {
    static_cast<void>(static_cast<typename detail::run_is_of_a_program<Nothing...>::reported*>(nullptr));
    return tensor<float>{};
  }
  /// What is no feed, or no program.
  template <class E, class... X>
    requires(detail::any_is_no_feed<X...> || detail::is_no_program<E>)
  auto run(const E&, const X&...) { return detail::report_no_feed<E, X...>(); }
  template <class E, class... Symbols>
    requires(!detail::is_no_program<E>)
  auto run(const E&, const feed<Symbols>&...) const {
    static_cast<void>(static_cast<typename detail::session_is_const<E, Symbols...>::reported*>(nullptr));
    return std::tuple<tensor<float>, tensor<float>>();
  }
  /// Lists in braces, whose types are not known.
  template <class... X>
  auto run(const detail::braced_fetches&, const X&...) {
    return std::tuple<tensor<float>, tensor<float>>();
  }
  template <expression E>
  auto run(const E&, const detail::braced_feed&) {
    return detail::result_of<E>{};
  }
  template <expression E>
  auto run(const E&, const detail::braced_feed&, const detail::braced_feed&) {
    return tensor<float>();
  }
  template <class Several>
    requires(!expression<Several> && !detail::is_no_program<Several>)
  auto run(const Several&, const detail::braced_feed&) { return std::tuple<tensor<float>, tensor<float>>(); }

  /// Runs a program with several results. *Returns* a `std::tuple` of tensors.
  template <expression... E, class... Symbols>
  auto run(const fetch_list<E...>& f, const feed<Symbols>&... feeds) {
    return boost::hana::unpack(f.expressions, [&](const E&... e) {
      const detail::state* const states[] = {e.state.get()...};
      return detail::typed_run<E...>::template run<false>(*core_, nullptr, states, feeds...);
    });
  }
  /// The same of what makes several: `sess.run(value_and_gradient(loss, w, b))`,
  template <expression... E, class... Symbols>
  auto run(const std::tuple<E...>& several, const feed<Symbols>&... feeds) {
    return run(fetches(several), feeds...);
  }
  /// `auto [values, indices] = sess.run(top_k<3>(x), x = data)`.
  template <detail::makes_several Several, class... Symbols>
  auto run(const Several& several, const feed<Symbols>&... feeds) {
    return run(several.each(), feeds...);
  }

  /// Runs a program, whose result goes into memory of the caller's: a tensor, which takes the result's shape; a
  /// `tensor_ref` of its shape; a span, vector or array of as many elements. Where they fit nothing is allocated for
  /// results. For `fetches(x, y)` the outputs are a tuple of references, `std::tie(a, b)`. An output may be read by the
  /// program. *Throws* as `run`, and `invalid_argument_error` for an output of another size.
  template <class Outputs, expression E, class... Symbols>
  void run_to(Outputs&& outputs, const E& e, const feed<Symbols>&... feeds) {
    const detail::state* const states[] = {e.state.get()};
    auto list = detail::outputs_of<Outputs>(outputs);
    if constexpr (!std::same_as<E, ill_formed>)
      detail::run_into_outputs<E>::run(*core_, nullptr, states, list, feeds...);
  }
  template <class Outputs, expression... E, class... Symbols>
  void run_to(Outputs&& outputs, const fetch_list<E...>& f, const feed<Symbols>&... feeds) {
    boost::hana::unpack(f.expressions, [&](const E&... e) {
      const detail::state* const states[] = {e.state.get()...};
      auto list = detail::outputs_of<Outputs>(outputs);
      detail::run_into_outputs<E...>::run(*core_, nullptr, states, list, feeds...);
    });
  }

  template <class Outputs, expression E>
    requires(!expression<Outputs>)
  void run_to(Outputs&&, const E&, const detail::braced_feed&) {}

  /// The output behind the program.
  template <expression E, class Output, class... X>
    requires(!expression<Output>)
  void run_to(const E&, Output&&, const X&...) {
    static_cast<void>(static_cast<typename detail::output_is_first<E>::reported*>(nullptr));
  }

  /// Sets variables to their initial values.
  /// *Mandates* one initial value for each name.
  template <expression... E>
  void run(const initializer<E...>& i) {
    static_cast<void>(static_cast<detail::one_first_value<E...>*>(nullptr));
    boost::hana::unpack(i.expressions, [&](const E&... e) {
      if constexpr (detail::share_variables<E...>()) {
        const detail::state* const states[] = {e.state.get()...};
        detail::expect_one_meaning(detail::graph_of<E...>::view, states);
      }
      (initialize(e), ...);
    });
  }

  /// `initialize` without variables: its function tells.
  void run(initializer<> (*)()) {}

  /// Sets every variable under `e` to its initial value, on the device where the program has it.
  /// *Mandates* one initial value for each name. *Throws* `failed_precondition_error` where one has none.
  template <expression E>
  void initialize(const E& e) {
    if constexpr (E::facts.is_leaf && E::ops::size == 0 && !std::same_as<E, ill_formed>)
      static_cast<void>(static_cast<typename detail::no_variable_is_in_it<E>::reported*>(nullptr));
    static_cast<void>(static_cast<detail::one_first_value<E>*>(nullptr));
    using graph = detail::graph_of<E>;
    const detail::state* const states[] = {e.state.get()};
    core_->pin_variables(detail::typed_run<E>::program(), states);
    initialize_each<graph>(e, typename E::ops{});
    core_->expect_initialized(graph::view);
  }

  /// Those under several expressions: `sess.initialize(w, b)`, or `fetches(w, b)`.
  template <expression First, expression Second, expression... More>
  void initialize(const First& first, const Second& second, const More&... more) {
    run(onto::initialize(first, second, more...));
  }
  template <class... Nothing>
  void initialize() {
    static_cast<void>(static_cast<typename detail::initialize_takes_variables<Nothing...>::reported*>(nullptr));
  }
  template <expression... E>
  void initialize(const fetch_list<E...>& several) {
    run(onto::initialize(several));
  }

  /// Writes every variable that has a value to a file in safetensors' format, by name; or those under `e...` alone. The
  /// file is there whole, or as it was before. Runs may go on meanwhile: what is written is of one moment between them.
  /// *Throws* `failed_precondition_error` where a variable under `e...` has no value, or none has;
  /// `invalid_argument_error` where two have one name, the path ends in ".npz" or ".npy", or no file can be made there;
  /// `not_found_error` where the folder does not exist; `internal_error` where writing fails.
  template <expression... E>
  void save(const std::string& path, const E&...) const {
    if constexpr (!(std::same_as<E, ill_formed> || ...)) core_->save(path, graphs_of<E...>, sizeof...(E));
  }
  template <expression... E>
  void save(const std::string& path, const fetch_list<E...>&) const {
    core_->save(path, graphs_of<E...>, sizeof...(E));
  }

  /// Gives variables the values of such a file: each of this session that has a value gets its new one, on its device;
  /// what the file has beyond those is kept until a program reads a variable of that name. Or the variables under
  /// `e...` alone. Where it fails nothing has changed. Runs that write variables wait meanwhile. *Throws*
  /// `not_found_error` where there is no such file; `invalid_argument_error` where it is damaged, lacks a variable, or
  /// has it with another element type or shape; `resource_exhausted_error`.
  template <expression... E>
  void restore(const std::string& path, const E&...) {
    if constexpr (!(std::same_as<E, ill_formed> || ...)) core_->restore(path, graphs_of<E...>, sizeof...(E));
  }
  template <expression... E>
  void restore(const std::string& path, const fetch_list<E...>&) {
    core_->restore(path, graphs_of<E...>, sizeof...(E));
  }

  /// A callable that repeats a run at the least cost: `auto step = sess.prepare(e); step(x = data)`. The program is
  /// resolved and placed now, and its memory is taken as soon as its shapes are known; see `prepared`.
  /// *Throws* what `run` would throw for its placement, and `resource_exhausted_error`.
  template <expression E>
  [[nodiscard]] auto prepare(const E& e) {
    if constexpr (std::same_as<E, ill_formed>)
      return detail::prepared_mistake{};
    else
      return prepared<true, E>(core_, e);
  }
  template <expression... E>
  [[nodiscard]] auto prepare(const fetch_list<E...>& f) {
    return boost::hana::unpack(f.expressions, [&](const E&... e) { return prepared<false, E...>(core_, e...); });
  }
  template <expression... E>
  [[nodiscard]] auto prepare(const std::tuple<E...>& several) {
    return std::apply([&](const E&... e) { return prepared<false, E...>(core_, e...); }, several);
  }
  template <detail::makes_several Several>
  [[nodiscard]] auto prepare(const Several& several) {
    return prepare(several.each());
  }

  /// What is no program.
  template <class E>
    requires(detail::is_no_program<E>)
  auto prepare(const E&) {
    detail::report_no_feed<E>();
    return detail::prepared_mistake{};
  }
  auto prepare(const detail::braced_fetches&) { return detail::prepared_mistake{}; }
  /// Several without `fetches`, or feeds.
  template <class First, class Second, class... More>
  auto prepare(const First&, const Second&, const More&...) {
    if constexpr (expression<Second>)
      static_cast<void>(static_cast<typename detail::several_are_fetched<First, Second, More...>::reported*>(nullptr));
    else
      static_cast<void>(static_cast<typename detail::feeds_are_for_the_step<Second>::reported*>(nullptr));
    return detail::prepared_mistake{};
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
  std::vector<device_info> devices() const { return core_->list_devices(); }

  /// What a device has done in this session: kernels launched, copies made, bytes copied, as counted by its backend.
  /// A device is `gpu<1>{}`, or its name, `"/gpu:1"`, as `device_guard` takes it. *Throws* `not_found_error` where
  /// there is no such device, `invalid_argument_error` where the name is none.
  device_statistics statistics(const device_name& name) const { return core_->statistics(name); }
  template <detail::text_like Text>
  device_statistics statistics(const Text& name) const {
    return statistics(device_name::parse(std::string_view(name)));
  }
  template <std::integral Number>
  device_statistics statistics(Number) const {
    static_cast<void>(static_cast<typename detail::number_names_no_device<Number>::reported*>(nullptr));
    return {};
  }

  /// A device's memory as this session uses it, in bytes; the device as above.
  memory_info memory(const device_name& name) const { return core_->memory(name); }
  template <detail::text_like Text>
  memory_info memory(const Text& name) const {
    return memory(device_name::parse(std::string_view(name)));
  }
  template <std::integral Number>
  memory_info memory(Number) const {
    static_cast<void>(static_cast<typename detail::number_names_no_device<Number>::reported*>(nullptr));
    return {};
  }

  /// Gives memory back to the system that no variable, no prepared program and no run holds.
  void trim() { core_->trim(); }

  /// Seconds that this session's runs would have taken on hardware of the cost model `session_options::simulation`; 0
  /// where there is none.
  double simulated_seconds() const { return core_->simulated_seconds(); }

  /// For tests: called before every allocation, copy and kernel of every device.
  void inject(const detail::fault_hook& hook) { core_->inject(hook); }

 private:
  template <class... E>
  static constexpr const graph_view* graphs_of[] = {&detail::graph_of<E>::view..., nullptr};

  template <class... E>
  placement_report report(const detail::state* const (&states)[sizeof...(E)]) {
    return core_->report(detail::typed_run<E...>::program(), states);
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
        if constexpr (detail::first_unfed<detail::graph_of<initial>>() >= 0) {
          using mistake = detail::initial_value_is_fed<typename Variable::name>;
          static_cast<void>(static_cast<typename mistake::reported*>(nullptr));
        } else {
          const detail::state* s = detail::variable_state(Graph::view, e.state.get(), Variable::facts.id);
          const Variable w(detail::shared_state(s));
          using first = detail::first_value_node<Variable, initial>;
          if constexpr (requires { initial{detail::shared_state(nullptr)}; })
            run(assign(w, first{detail::join_states(s && s->child_count ? s->children[0] : nullptr)}));
          else
            run(assign(w, first{detail::state_ref{}}));  // a number in the type has no state
        }
      }
    }
  }

  detail::ref<detail::session_runtime> core_;
};

}  // namespace ONTO_ABI

}  // namespace onto

ONTO_END_RUNS_ONCE
