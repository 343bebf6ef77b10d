// SPDX-License-Identifier: BSL-1.0
// The processes of a cluster as one session has them: they come together, hear of each other's failures, and give up
// who does not come. What all say goes up a tree to the first one, and its answer down.
#pragma once

#include <onto/backend/cluster/note_box.hpp>
#include <onto/backend/cluster/tasks.hpp>
#include <onto/core/atomic.hpp>
#include <onto/plan/note_tree.hpp>
#include <onto/runtime/process_group.hpp>

#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Whether one of a server's sessions has given a process up.
struct cluster_end : counted {
  atomic<bool> has_come{false};
};

class collective_stream;

class cluster_group final : public process_group {
 public:
  cluster_group(ref<transport> ways, ref<cluster_tasks> tasks, ref<cluster_end> end, double timeout)
      : ways_(static_cast<ref<transport>&&>(ways)),
        tasks_(static_cast<ref<cluster_tasks>&&>(tasks)),
        end_(static_cast<ref<cluster_end>&&>(end)),
        timeout_(timeout),
        box_(*ways_),
        heard_(static_cast<std::size_t>(ways_->size())),
        has_come_(static_cast<std::size_t>(ways_->size())) {}
  ~cluster_group() override { leave(); }

  transport& ways() { return *ways_; }
  const cluster_tasks& tasks() const { return *tasks_; }
  int rank() const { return ways_->rank(); }

  place here() const override { return {device_kind::cpu, 0, true, &tasks_->name(rank())}; }
  bool is_broken() const override { return broken_.load(memory_order_acquire); }

  device_list meet(device_list&& own, std::exception_ptr failure, std::string_view options) override;
  void begin(const work& w, device& at, const collective_part& part) override;
  void settle() override;
  void progress() override;
  void set_collectives(collective_stream* s) { collectives_ = s; }
  ref<trace_exchange> exchange_traces() override;

  std::string agree(const program_identity& program, std::exception_ptr failure, std::string_view said) override {
    expect_whole();
    ++round_;
    hear_farewell();
    process_note own;
    own.round = round_;
    own.program = program.hash;
    own.nodes = program.nodes;
    own.operation = program.operation;
    own.said = said;
    if (failure) {
      describe_failure(failure, own);
      own.origin = rank();
    }
    process_note all = own;
    collect(all);
    const process_note verdict = rank() == 0 ? judge(all) : ask(all);
    pass_on(verdict);
    if (verdict.failure == failure_kind::none) return verdict.said;
    if (shared) shared->initialize(false);  // it has ended
    if (failure && verdict.same_failure(own)) std::rethrow_exception(failure);
    throw_failure(verdict);
  }

  /// Waits until `is_done()`, for what task `from` does, or `all_of_them`. *Throws* `failed_precondition_error` where
  /// it does not come in time, or the others have given up.
  template <class Condition>
  void wait_for(int from, const Condition& is_done) {
    patience p(timeout_);
    while (!is_done()) {
      expect_whole();
      progress();  // another process may wait for it
      listen(from);
      if (p.is_over()) give_up(from);
      p.pause();
    }
  }

  /// Something has failed here without which no process can go on: the session ends in all of them. *Throws*
  /// `failed_precondition_error`.
  [[noreturn]] ONTO_COLD void end_session(const std::string& why) {
    process_note n = fatal_note(note_kind::end);
    n.text = why + "; in " + tasks_->text(rank());
    give_up(n);
  }

  /// The first process ends all, at its own end, where it has given one of them up: the others have work elsewhere.
  void leave_the_end_to_the_first() { waits_for_the_first_ = true; }

  /// The session ends in this process. Whoever runs something more finds out.
  void leave() noexcept {
    try {
      if (is_broken() || has_left_ || ways_->size() == 1) return;
      has_left_ = true;
      process_note n = fatal_note(note_kind::farewell);
      message m("[onto.cluster] ");
      n.text = (tasks_->write(m, rank()) << " has ended its session, and another process runs a program; every process "
                                            "is to run the same programs in the same order")
                   .text();
      if (rank() == 0)
        tell_all(n);
      else
        box_.post(0, note_tag, write_note(n));
      box_.sweep_for(grace);
    } catch (...) {  // nobody hears of it
    }
  }

  /// *Throws* what broke the group.
  void expect_whole() const {
    if (is_broken()) throw failed_precondition_error(why_);
  }

  static constexpr int all_of_them = -2;
  static constexpr int note_tag = 0;
  static constexpr int verdict_tag = 1;

 private:
  static constexpr double grace = 1;            // seconds for those who wait, too, to say for whom
  static constexpr std::size_t at_once = 4096;  // bytes that leave though nobody looks

  // ---- agreements -----------------------------------------------------------------------------------------

  int parent() const { return note_tree::parent(rank()); }

  /// Adds what those below say.
  void collect(process_note& all) {
    patience p(timeout_);
    note_tree::for_each_child(rank(), ways_->size(), [&](int child) {
      for (; !has_come_[static_cast<std::size_t>(child)]; p.pause()) {
        listen(child);
        if (has_come_[static_cast<std::size_t>(child)]) break;
        if (p.is_over()) give_up(child);
      }
      has_come_[static_cast<std::size_t>(child)] = false;
      all.add(heard_[static_cast<std::size_t>(child)], child);
    });
  }

  /// The first process: what comes of what all say.
  process_note judge(const process_note& all) const {
    if (all.other >= 0) return refuse(all);
    process_note verdict;
    verdict.failure = all.failure;
    verdict.text = all.text;
    verdict.said = all.said;
    if (all.origin >= 0 && !all.alike && all.text.find(tasks_->text(all.origin)) == std::string::npos)
      verdict.text += "; in " + tasks_->text(all.origin);
    return verdict;
  }

  /// The programs differ.
  process_note refuse(const process_note& all) const {
    message m("[onto.cluster] ");
    tasks_->write(m, 0) << " runs '" << all.operation << "' of " << all.nodes << " nodes, and ";
    tasks_->write(m, all.other) << " runs '" << all.other_operation << "' of " << all.other_nodes << " nodes";
    process_note verdict;
    verdict.failure = failure_kind::failed_precondition;
    verdict.text =
        (m << "; every process is to run the same programs in the same order, built from the same source").text();
    return verdict;
  }

  /// Another process: says what it and those below say. *Returns* the answer.
  process_note ask(const process_note& all) {
    box_.post(parent(), note_tag, write_note(all));
    // Who waits for one that has said nothing gives it up first.
    patience p(timeout_ + 2 * grace);
    process_note verdict;
    while (!hear_verdict(verdict, parent(), true)) {
      if (p.is_over()) give_up(parent());
      p.pause();
    }
    if (verdict.is_fatal()) break_off(verdict.text);
    return verdict;
  }

  /// Tells those below the answer; who has most below it first.
  void pass_on(const process_note& verdict) {
    std::vector<int> children;
    note_tree::for_each_child(rank(), ways_->size(), [&](int child) { children.push_back(child); });
    if (children.empty()) return;
    const std::string bytes = write_note(verdict);
    while (!children.empty()) {
      box_.post(children.back(), verdict_tag, bytes);
      children.pop_back();
    }
    if (bytes.size() > at_once) box_.sweep_for(timeout_);
  }

  // ---- what is heard meanwhile ----------------------------------------------------------------------------

  /// Hears what other processes say while this one waits for `waited`. *Throws* where one has given up, or has ended.
  void listen(int waited) {
    box_.sweep();
    process_note n;
    if (rank() == 0) {
      if (const int gone = hear_notes(); gone >= 0) end_all(gone, waited);
      return;
    }
    hear_farewell();
    if (hear_verdict(n, waited, false)) break_off(n.text);
    hear_notes();
  }

  /// An answer, or that nothing can be run any more. `asks`: there is an answer to come.
  bool hear_verdict(process_note& verdict, int waited, bool asks) {
    box_.sweep();
    for (int from : {parent(), 0}) {
      process_note n;
      if (!take(from, verdict_tag, n)) continue;
      if (n.kind == note_kind::question) {
        box_.post(0, note_tag, write_note(note_of_wait(waited)));
      } else if (n.kind == note_kind::farewell && asks && n.round >= round_) {
        farewell_ = n.text;  // it has overtaken the answer
        was_told_ = true;
      } else if (n.is_fatal() || asks) {
        was_told_ = was_told_ || n.is_fatal();
        verdict = static_cast<process_note&&>(n);
        return true;
      }
    }
    return false;
  }
  void hear_farewell() {
    if (!farewell_.empty()) break_off(farewell_);
  }

  /// Takes notes that are there. *Returns* who has given up or ended, or -1.
  int hear_notes() {
    int gone = -1;
    process_note n;
    for (int from = -1; take(from, note_tag, n); from = -1) {
      if (n.is_fatal()) gone = from;
      has_come_[static_cast<std::size_t>(from)] = true;
      heard_[static_cast<std::size_t>(from)] = static_cast<process_note&&>(n);
    }
    return gone;
  }

  /// Reads a note that is there. `from` -1: of anyone.
  bool take(int& from, int tag, process_note& out) {
    const auto state = box_.take(from, tag, timeout_, out);
    if (state == note_box::post_state::taken) return true;
    if (state == note_box::post_state::none || is_ending_) return false;
    process_note n = fatal_note(note_kind::end);
    n.text = state == note_box::post_state::late ? late(from) : garbled(from);
    give_up(n);
  }

  // ---- the end --------------------------------------------------------------------------------------------

  process_note fatal_note(note_kind kind) const {
    process_note n;
    n.kind = kind;
    n.round = round_;
    n.failure = failure_kind::failed_precondition;
    return n;
  }
  process_note note_of_wait(int waited) const {
    process_note n = fatal_note(note_kind::end);
    n.waited = waited;
    n.text = late(waited);
    return n;
  }

  /// The first process, which waits for `waited`: one has given up. Asks all for whom they wait, and tells them who it
  /// is that others wait for and that waits for nobody: it has not come, or does something else.
  [[noreturn]] void end_all(int gone, int waited) {
    is_ending_ = true;
    if (!has_ended(0)) hear(0, note_of_wait(waited));
    if (waits_for(gone) != -1) {
      tell_all(fatal_note(note_kind::question));
      for (patience p(grace); !p.is_over() && silent(0) != 0; p.pause()) {
        hear_notes();
        box_.sweep();
      }
    }
    int who = gone, here = who == 0;
    for (int k = 0; k < ways_->size() && waits_for(who) != -1 && here < 2; ++k) {
      who = waits_for(who) >= 0 ? waits_for(who) : silent(who);
      here += who == 0;
    }
    process_note verdict = fatal_note(note_kind::end);
    // Where others wait for this process, it has come too late.
    verdict.text = has_ended(who) && here < 2 ? heard_[static_cast<std::size_t>(who)].text : late(who);
    tell_all(verdict);
    box_.sweep_for(grace);
    break_off(verdict.text);
  }
  void hear(int from, const process_note& n) {
    heard_[static_cast<std::size_t>(from)] = n;
    has_come_[static_cast<std::size_t>(from)] = true;
  }
  bool has_ended(int r) const {
    return has_come_[static_cast<std::size_t>(r)] && heard_[static_cast<std::size_t>(r)].is_fatal();
  }
  /// Who has not said for whom it waits, where task `r` waits for any.
  int silent(int r) const {
    for (int s = 1; s < ways_->size(); ++s)
      if (!has_ended(s)) return s;
    return r;
  }
  int waits_for(int r) const { return has_ended(r) ? heard_[static_cast<std::size_t>(r)].waited : -1; }

  void tell_all(const process_note& n) {
    const std::string bytes = write_note(n);
    for (int r = 1; r < ways_->size(); ++r) box_.post(r, verdict_tag, bytes);
  }

  /// A task has not come in time.
  [[noreturn]] ONTO_COLD void give_up(int task) { give_up(note_of_wait(task)); }
  [[noreturn]] ONTO_COLD void give_up(const process_note& n) {
    if (rank() == 0) {
      hear(0, n);
      end_all(0, n.waited);
    }
    is_ending_ = true;
    box_.post(0, note_tag, write_note(n));
    process_note verdict;
    for (patience p(3 * grace); !p.is_over(); p.pause())
      if (hear_verdict(verdict, n.waited, false)) break_off(verdict.text);
    // The first process is late itself, unless it has ended well.
    const bool waits_for_first = n.waited == all_of_them || n.waited == parent();
    break_off(waits_for_first && farewell_.empty() ? late(0) : n.text);
  }

  std::string late(int task) const {
    message m("[onto.cluster] ");
    if (task < 0)
      m << "another task";
    else
      tasks_->write(m, task);
    m << " did not answer within ";
    const auto tenths = static_cast<std::int64_t>(timeout_ * 10 + 0.5);
    m << tenths / 10;
    if (tenths % 10) m << "." << tenths % 10;
    return (m << " s: it has ended, is stopped or is late; start the program again, or raise session_options::timeout "
                 "where a step takes longer")
        .text();
  }

  [[noreturn]] ONTO_COLD void break_off(const std::string& why) {
    if (!is_broken()) why_ = why;
    broken_.store(true, memory_order_release);
    if (!(waits_for_the_first_ && was_told_)) end_->has_come.store(true, memory_order_release);
    throw failed_precondition_error(why_);
  }

  std::string garbled(int from) const {
    message m("[onto.cluster] ");
    return (tasks_->write(m, from) << " says what this version of onto does not understand; build every process from "
                                      "the same source")
        .text();
  }

  ref<transport> ways_;
  ref<cluster_tasks> tasks_;
  ref<cluster_end> end_;
  double timeout_;
  note_box box_;
  std::uint64_t round_ = 0;          // how often the processes have come together
  std::vector<process_note> heard_;  // the last note of each that is below; in the first process, of any that has ended
  std::vector<bool> has_come_;
  std::string farewell_;  // of the first process, which has come before its last answer
  bool is_ending_ = false;
  std::string why_;
  collective_stream* collectives_ = nullptr;  // the devices of others hold it
  atomic<bool> broken_{false};
  bool has_left_ = false;
  bool was_told_ = false;  // by the first process that the session is over
  bool waits_for_the_first_ = false;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
