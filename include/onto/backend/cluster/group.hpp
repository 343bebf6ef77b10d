// SPDX-License-Identifier: BSL-1.0
// The processes of a cluster as one session has them: they come together, hear of each other's failures, and give up
// who does not come. The first one collects what all say, and answers.
#pragma once

#include <onto/backend/cluster/note.hpp>
#include <onto/backend/cluster/patience.hpp>
#include <onto/backend/cluster/tasks.hpp>
#include <onto/backend/cluster/transport.hpp>
#include <onto/runtime/process_group.hpp>

#include <atomic>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Whether one of a server's sessions has given a process up.
struct cluster_end : counted {
  std::atomic<bool> has_come{false};
};

class collective_stream;

class cluster_group final : public process_group {
 public:
  cluster_group(ref<transport> ways, ref<cluster_tasks> tasks, ref<cluster_end> end, double timeout)
      : ways_(static_cast<ref<transport>&&>(ways)),
        tasks_(static_cast<ref<cluster_tasks>&&>(tasks)),
        end_(static_cast<ref<cluster_end>&&>(end)),
        timeout_(timeout),
        heard_(static_cast<std::size_t>(ways_->size())),
        has_come_(static_cast<std::size_t>(ways_->size())) {}
  ~cluster_group() override { leave(); }

  transport& ways() { return *ways_; }
  const cluster_tasks& tasks() const { return *tasks_; }
  int rank() const { return ways_->rank(); }

  place here() const override { return {device_kind::cpu, 0, true, &tasks_->name(rank())}; }
  bool is_broken() const override { return broken_.load(std::memory_order_acquire); }

  device_list meet(device_list&& own, std::exception_ptr failure, std::string_view options) override;
  void begin(const work& w, device& at, const collective_part& part) override;
  void settle() override;
  void progress() override;
  void set_collectives(collective_stream* s) { collectives_ = s; }
  ref<trace_exchange> exchange_traces() override;

  std::string agree(const program_identity& program, std::exception_ptr failure, std::string_view said) override {
    expect_whole();
    process_note own;
    own.round = ++round_;
    own.program = program.hash;
    own.nodes = program.nodes;
    own.operation = program.operation;
    own.said = said;
    if (failure) describe_failure(failure, own);
    const process_note verdict = rank() == 0 ? collect(own) : ask(own);
    if (verdict.fatal) break_off(verdict.text);
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
      listen();
      if (p.is_over()) give_up(from);
      p.pause();
    }
  }

  /// Something has failed here without which no process can go on: the session ends in all of them. *Throws*
  /// `failed_precondition_error`.
  [[noreturn]] ONTO_COLD void end_session(const std::string& why) {
    process_note n;
    n.fatal = true;
    n.failure = failure_kind::failed_precondition;
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
      process_note n;
      n.fatal = true;
      n.failure = failure_kind::failed_precondition;
      message m("[onto.cluster] ");
      n.text = (tasks_->write(m, rank()) << " has ended its session, and another process runs a program; every process "
                                            "is to run the same programs in the same order")
                   .text();
      if (rank() == 0)
        tell_all(n);
      else
        post(0, note_tag, write_note(n));
      patience p(grace);
      while (!outbox_.empty() && !p.is_over()) {
        sweep();
        p.pause();
      }
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
  static constexpr double grace = 1;  // seconds for those who waited, too, to say for whom

  // ---- the first process ----------------------------------------------------------------------------------

  process_note collect(const process_note& own) {
    heard_[0] = own;
    has_come_[0] = true;
    patience p(timeout_);
    for (int missing = 1; missing < ways_->size();) {
      if (fatal_note(missing)) end_all(missing);
      if (has_come_[static_cast<std::size_t>(missing)]) {
        ++missing;
        continue;
      }
      listen();
      if (p.is_over()) give_up(missing);
      p.pause();
    }
    const process_note verdict = judge();
    for (int r = 0; r < ways_->size(); ++r) has_come_[static_cast<std::size_t>(r)] = false;
    tell_all(verdict);
    return verdict;
  }

  process_note judge() const {
    process_note verdict;
    for (const process_note& n : heard_)
      if (n.program != heard_[0].program || n.round != heard_[0].round) return refuse(n);
    bool all_the_same = true;
    for (const process_note& n : heard_) {
      all_the_same = all_the_same && n.same_failure(heard_[0]);
      const bool is_worse = verdict.failure == failure_kind::none || verdict.failure == failure_kind::elsewhere;
      if (is_worse && n.failure != failure_kind::none) {
        verdict.failure = n.failure;
        verdict.text = n.text;
        verdict.origin = static_cast<std::int32_t>(&n - heard_.data());
      }
      verdict.said += n.said;
    }
    if (verdict.origin >= 0 && !all_the_same && verdict.text.find(tasks_->text(verdict.origin)) == std::string::npos)
      verdict.text += "; in " + tasks_->text(verdict.origin);
    return verdict;
  }

  /// The programs differ.
  process_note refuse(const process_note& other) const {
    message m("[onto.cluster] ");
    const auto side = [&](const process_note& n) {
      tasks_->write(m, static_cast<int>(&n - heard_.data()))
          << " runs '" << n.operation << "' of " << n.nodes << " nodes";
    };
    side(heard_[0]);
    m << ", and ";
    side(other);
    process_note verdict;
    verdict.failure = failure_kind::failed_precondition;
    verdict.text =
        (m << "; every process is to run the same programs in the same order, built from the same source").text();
    return verdict;
  }

  void tell_all(const process_note& verdict) {
    const std::string bytes = write_note(verdict);
    for (int r = 1; r < ways_->size(); ++r) post(r, verdict_tag, bytes);
  }

  // ---- the others -----------------------------------------------------------------------------------------

  process_note ask(const process_note& own) {
    post(0, note_tag, write_note(own));
    // The first process gives up who does not come; it is given up itself a little later.
    patience p(timeout_ + 2 * grace);
    process_note verdict;
    while (!hear_verdict(verdict)) {
      if (p.is_over()) give_up(0);
      p.pause();
    }
    return verdict;
  }

  bool hear_verdict(process_note& verdict) {
    int from = 0;
    std::int64_t bytes = 0;
    sweep();
    if (!ways_->probe(0, verdict_tag, from, bytes)) return false;
    take(0, verdict_tag, bytes, verdict);
    was_told_ = was_told_ || verdict.fatal;
    return true;
  }

  // ---- both -----------------------------------------------------------------------------------------------

  /// Hears what other processes say meanwhile. *Throws* where one has given up, or has ended.
  void listen() {
    sweep();
    if (rank() != 0) {
      process_note verdict;
      if (!hear_verdict(verdict)) return;
      break_off(verdict.text);
    }
    if (const int gone = collect_notes(); gone >= 0) end_all(gone);
  }

  /// Takes notes that are there. *Returns* who has given up or ended, or -1.
  int collect_notes() {
    int from = 0, gone = -1;
    std::int64_t bytes = 0;
    while (ways_->probe(-1, note_tag, from, bytes)) {
      process_note& n = heard_[static_cast<std::size_t>(from)];
      take(from, note_tag, bytes, n);
      has_come_[static_cast<std::size_t>(from)] = true;
      if (n.fatal) gone = from;
    }
    return gone;
  }

  /// The first process: a process has given up. Hears for whom the others wait, and tells all.
  [[noreturn]] void end_all(int gone) {
    patience p(grace / 2);
    while (!p.is_over()) {
      collect_notes();
      p.pause();
    }
    int who = gone;  // that another one waits for who waits for nobody
    for (int k = 0; k < ways_->size() && waits_for(who) != -1; ++k)
      who = waits_for(who) >= 0 ? waits_for(who) : silent(who);
    process_note verdict;
    verdict.fatal = true;
    verdict.failure = failure_kind::failed_precondition;
    verdict.text = fatal_note(who) ? heard_[static_cast<std::size_t>(who)].text : late(who);
    tell_and_break(verdict);
  }
  bool fatal_note(int r) const {
    return has_come_[static_cast<std::size_t>(r)] && heard_[static_cast<std::size_t>(r)].fatal;
  }
  /// Who has said nothing, where task `r` waits for any.
  int silent(int r) const {
    for (int s = 1; s < ways_->size(); ++s)
      if (!has_come_[static_cast<std::size_t>(s)]) return s;
    return r;
  }
  int waits_for(int r) const { return fatal_note(r) ? heard_[static_cast<std::size_t>(r)].waited : -1; }

  [[noreturn]] void tell_and_break(const process_note& verdict) {
    tell_all(verdict);
    patience p(grace);
    while (!outbox_.empty() && !p.is_over()) {
      sweep();
      p.pause();
    }
    break_off(verdict.text);
  }

  /// A task has not come in time.
  [[noreturn]] ONTO_COLD void give_up(int task) {
    process_note n;
    n.fatal = true;
    n.failure = failure_kind::failed_precondition;
    n.waited = task;
    n.text = late(task);
    give_up(n);
  }
  [[noreturn]] ONTO_COLD void give_up(const process_note& n) {
    if (rank() == 0) {
      heard_[0] = n;
      has_come_[0] = true;
      end_all(0);
    }
    process_note verdict = n;
    if (n.waited != 0) {
      post(0, note_tag, write_note(n));
      patience p(2 * grace);
      bool heard = false;
      while (!p.is_over() && !heard) {
        heard = hear_verdict(verdict);
        p.pause();
      }
      if (!heard && n.waited == all_of_them) verdict.text = late(0);
    }
    break_off(verdict.text);
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
    broken_.store(true, std::memory_order_release);
    if (!(waits_for_the_first_ && was_told_)) end_->has_come.store(true, std::memory_order_release);
    throw failed_precondition_error(why_);
  }

  struct letter {
    std::string bytes;
    ref<pending_message> message;
  };

  void post(int to, int tag, const std::string& bytes) {
    outbox_.push_back(new letter{bytes, {}});
    letter& l = *outbox_.back();
    l.message = ways_->send(to, tag, l.bytes.data(), static_cast<std::int64_t>(l.bytes.size()));
  }
  /// Throws away what has left.
  void sweep() {
    std::int64_t bytes = 0;
    std::size_t kept = 0;
    for (letter* l : outbox_) {
      if (l->message && l->message->is_done(bytes))
        delete l;
      else
        outbox_[kept++] = l;
    }
    outbox_.resize(kept);
  }

  /// Reads a note that is there.
  void take(int from, int tag, std::int64_t bytes, process_note& out) {
    std::string data(static_cast<std::size_t>(bytes), '\0');
    const ref<pending_message> m = ways_->receive(from, tag, data.data(), bytes);
    patience p(timeout_);
    std::int64_t came = 0;
    while (!m->is_done(came)) {
      if (p.is_over()) {
        m->cancel();
        break_off(late(from));
      }
      p.pause();
    }
    process_note n;
    if (came != bytes || !read_note(data, n)) break_off(garbled(from));
    out = n;
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
  std::uint64_t round_ = 0;
  std::vector<process_note> heard_;  // in the first process: the last note of each
  std::vector<bool> has_come_;
  std::vector<letter*> outbox_;  // what never leaves stays: its memory may be read
  std::string why_;
  collective_stream* collectives_ = nullptr;  // the devices of others hold it
  std::atomic<bool> broken_{false};
  bool has_left_ = false;
  bool was_told_ = false;  // by the first process that the session is over
  bool waits_for_the_first_ = false;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
