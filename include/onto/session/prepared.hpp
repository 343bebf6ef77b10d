// SPDX-License-Identifier: BSL-1.0
// Programs that are run again and again: prepared once, then repeated, waited for or not.
#pragma once

#include <onto/core/plain_tuple.hpp>
#include <onto/expr/not_a_feed.hpp>
#include <onto/plan/plan.hpp>
#include <onto/session/run_loop.hpp>

#include <iosfwd>
#include <type_traits>
#include <utility>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

inline namespace ONTO_ABI {

/// The end of a run that was started with `prepared::async`, and its result `R`. The last handle of a run waits for it
/// when it is destroyed, since the run reads the caller's feeds.
template <class R>
class pending {
 public:
  /// No run.
  pending() = default;
  pending(pending&& other) noexcept = default;
  pending& operator=(pending&& other) noexcept {
    if (run_) run_->wait();
    run_ = static_cast<detail::ref<job>&&>(other.run_);
    return *this;
  }
  ~pending() {
    if (run_) run_->wait();
  }

  /// Whether there is a run whose result was not taken yet.
  bool valid() const { return static_cast<bool>(run_); }
  /// Whether the run is over, one way or the other. *Preconditions* `valid()`.
  bool ready() const { return expect_valid().is_done(); }
  /// Blocks until the run is over. *Preconditions* `valid()`.
  void wait() const { expect_valid().wait(); }
  /// Waits and takes the result. *Throws* what the run threw; `failed_precondition_error` where there is no run.
  R get() {
    expect_valid();
    const detail::ref<job> run = static_cast<detail::ref<job>&&>(run_);
    run_ = {};
    run->wait_and_check();
    return static_cast<R&&>(run->result);
  }

 private:
  template <bool Single, expression... E>
  friend class prepared;
  struct job : detail::queued_run {
    R result{};
  };
  explicit pending(detail::ref<job> run) : run_(static_cast<detail::ref<job>&&>(run)) {}

  const job& expect_valid() const {
    if (!run_)
      detail::fail<failed_precondition_error>(
          detail::message("[onto.run] a handle without a run; async gives one, and its result can be taken once"));
    return *run_;
  }

  detail::ref<job> run_;
};

/// Not there: a run that was started has a result when it is over.
template <class Traits, class R>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const pending<R>&) {
  static_cast<void>(static_cast<typename detail::pending_is_no_result<R>::reported*>(nullptr));
  return out;
}

/// What `session::prepare` returns. Resolved and placed when it is made; the first run with feeds of new shapes takes
/// the memory for them, and repeated runs take none. The shapes of 8 kinds of feeds are remembered. Where a GPU can
/// record what it is given, it does so in the second run, and the next ones replay it. Copies share all of this. Calls
/// from several threads wait for each other, but where the program is one short loop, which runs in the caller. It may
/// outlive the session, whose devices and variables then live on.
template <bool Single, expression... E>
class prepared {
  using typed = detail::typed_run<E...>;

 public:
  /// The tensor, or the `std::tuple` of tensors, of a run.
  using result_type =
      std::conditional_t<Single, std::tuple_element_t<0, typename typed::results>, typename typed::results>;

  prepared(const prepared&) = default;  // moving copies: nothing is left empty
  /// Waits for what was started with `async`, where this is the last copy.
  prepared& operator=(prepared other) noexcept {
    // What was here goes with `other`, in the order in which members go: the program, what it reads, its devices.
    std::swap(core_, other.core_);
    std::swap(expressions_, other.expressions_);
    std::swap(program_, other.program_);
    return *this;
  }
  ~prepared() = default;

  /// Runs the program. As `session::run` otherwise.
  template <class... Symbols>
  result_type operator()(const feed<Symbols>&... feeds) const {
    if constexpr (is_loop<Symbols...>()) {
      result_type result(detail::no_values);
      if (runs_here() && detail::run_prepared_loop(result, *core_->unwatched_kernels, expression(), feeds...))
        return result;
    }
    return repeat(*core_, program_.get(), feeds...);
  }
  template <class... X>
    requires(detail::any_is_no_feed<X...>)
  result_type operator()(const X&...) const {
    if constexpr (!detail::any_ill_formed<X...>)
      static_cast<void>(static_cast<typename detail::data_has_no_name<X...>::reported*>(nullptr));
    return {};
  }

  template <class Nothing = void>
  result_type operator()(std::initializer_list<detail::stray_argument>) const {
    static_cast<void>(static_cast<typename detail::data_has_no_name<Nothing*>::reported*>(nullptr));
    return {};
  }

  template <class... X>
  result_type run(const X&...) const {
    static_cast<void>(static_cast<typename detail::prepared_is_called<X...>::reported*>(nullptr));
    return {};
  }

  /// A callable whose results go into memory of the caller's, and which takes none: `step.to(out)(x = data)`. Outputs
  /// as those of `session::run_to`; those that have a name must live until the last call.
  template <class Outputs>
  auto to(Outputs&& outputs) const {
    using into = detail::run_into_outputs<E...>;
    auto list = detail::outputs_of<Outputs>(outputs);
    if constexpr (!into::accepts(static_cast<decltype(&list)>(nullptr))) {
      into::refuse(&list);
      return detail::called_in_vain{};
    } else {
      return [step = *this, list]<class... Symbols>(const feed<Symbols>&... feeds) {
        if constexpr (is_loop_to<Outputs, Symbols...>()) {
          auto& output = detail::item<0>(list.of);
          if (step.runs_here() &&
              detail::run_prepared_loop_to(output, *step.core_->unwatched_kernels, step.expression(), feeds...))
            return;
        }
        into::run(*step.core_, step.program_.get(), nullptr, list, feeds...);
      };
    }
  }
  template <class Outputs, class First, class... More>
  detail::called_in_vain to(Outputs&&, const First&, const More&...) const {
    static_cast<void>(static_cast<typename detail::prepared_is_called<First, More...>::reported*>(nullptr));
    return {};
  }

  /// Starts a run and returns at once. Runs of one prepared program are done in order. What is fed must live until the
  /// handle is ready; temporaries are kept. What the run throws arrives at the handle.
  template <class... Feeds>
  pending<result_type> async(Feeds&&... feeds) const {
    detail::ref<typename pending<result_type>::job> run(
        new job<std::decay_t<Feeds>...>(*core_, *program_, static_cast<Feeds&&>(feeds)...));
    program_->push(*run);
    return pending<result_type>(static_cast<detail::ref<typename pending<result_type>::job>&&>(run));
  }

 private:
  friend class session;

  prepared(const detail::ref<detail::session_runtime>& core, const E&... e) : core_(core), expressions_{{e}...} {
    const detail::state* const states[] = {e.state.get()...};
    if constexpr (typed::graph::well_formed)
      program_ = core->prepare(typed::program(), states);
    else
      detail::report_mistake<typename typed::graph>();
  }

  // ---- one loop, which runs where it is called ------------------------------------------------------------

  template <class... Symbols>
  static constexpr bool is_loop() {
    if constexpr (Single)
      return (detail::runs_as_loop<E, Symbols...>() && ...);
    else
      return false;
  }
  template <class Outputs, class... Symbols>
  static constexpr bool is_loop_to() {
    if constexpr (Single)
      return (detail::runs_as_loop_to<E, Outputs, Symbols...>() && ...);
    else
      return false;
  }
  bool runs_here() const { return core_->unwatched_kernels && program_->is_of_host; }
  const auto& expression() const { return detail::item<0>(expressions_); }

  template <class... Symbols>
  static result_type repeat(detail::session_runtime& core, detail::repeated_run* program,
                            const feed<Symbols>&... feeds) {
    return typed::template run<Single>(core, program, nullptr, feeds...);
  }

  // Holds no reference to the program: its queue is empty before the program goes.
  template <class... Feeds>
  struct job final : pending<result_type>::job {
    template <class... F>
    job(detail::session_runtime& c, detail::repeated_run& p, F&&... feeds)
        : core(c), program(p), given(static_cast<F&&>(feeds)...) {}
    void perform() override {
      this->result = std::apply([this](const auto&... f) { return repeat(core, &program, f...); }, given);
    }
    detail::session_runtime& core;
    detail::repeated_run& program;
    std::tuple<Feeds...> given;
  };

  detail::ref<detail::session_runtime> core_;
  detail::plain_tuple<E...> expressions_;  // they hold the values of constants
  detail::ref<detail::repeated_run> program_;
};

/// Not there: a prepared program has a result when it is called.
template <class Traits, bool Single, expression... E>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const prepared<Single, E...>&) {
  static_cast<void>(static_cast<typename detail::prepared_is_called<E...>::reported*>(nullptr));
  return out;
}

}  // namespace ONTO_ABI

/// The plan of a prepared program in a world, as that of what was prepared.
template <class World = void, bool Single, expression... E>
constexpr const auto& plan_of(const prepared<Single, E...>&) {
  return detail::plan_or_nothing<detail::graph_of<E...>, World>();
}
template <class World = void>
constexpr const auto& plan_of(const detail::prepared_mistake&) {
  return detail::nothing;
}

}  // namespace onto

ONTO_END_RUNS_ONCE
