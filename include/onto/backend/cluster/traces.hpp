// SPDX-License-Identifier: BSL-1.0
// The lines of traces on their way to the first process, and the clocks of all beside its own.
#pragma once

#include <onto/backend/cluster/group.hpp>
#include <onto/core/atomic.hpp>

#include <exception>
#include <limits>
#include <string>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class cluster_traces final : public trace_exchange {
 public:
  // Behind those of all-reduces, and within what every MPI allows.
  static constexpr int lines_tag = 1 << 23;
  static constexpr int clock_tag = lines_tag + 1;
  static constexpr int end_tag = lines_tag + 2;

  cluster_traces(ref<cluster_group> group, double timeout)
      : group_(static_cast<ref<cluster_group>&&>(group)),
        timeout_(timeout),
        has_ended_(static_cast<std::size_t>(ways().size())) {}
  ~cluster_traces() override {
    sweep();
    for (letter* l : outbox_) keep(l);
  }

  int number() const override { return group_->rank(); }

  /// Each process asks the first one for its time, a few times. Its answer was given at some moment between the
  /// question and when it came here: the middle is wrong by at most half of the time between, and the shortest counts
  /// (Cristian, "Probabilistic clock synchronization", 1989).
  clock_difference compare_clocks(const trace_sink& clock) override {
    clock_difference d;
    if (number() == 0) {
      answer(clock);
      return d;
    }
    d.error = std::numeric_limits<std::int64_t>::max();
    for (int k = 0; k < questions; ++k) {
      std::int64_t theirs = 0;
      const std::int64_t asked = clock.now();
      const ref<pending_message> question = ways().send(0, clock_tag, &asked, sizeof asked);
      const ref<pending_message> reply = ways().receive(0, clock_tag, &theirs, sizeof theirs);
      std::int64_t bytes = 0;
      group_->wait_for(0, [&] { return reply->is_done(bytes); });
      const std::int64_t heard = clock.now();
      group_->wait_for(0, [&] { return question->is_done(bytes); });
      const std::int64_t error = (heard - asked + 1) / 2;
      if (error < d.error) d = {theirs - (asked + heard) / 2, error};
    }
    return d;
  }

  bool give(const std::string& lines) noexcept override {
    try {
      if (group_->is_broken()) return false;
      sweep();
      post(0, lines_tag, lines);
      return true;
    } catch (...) {
      return false;
    }
  }

  void take(std::string& lines) noexcept override {
    try {
      int from = 0;
      std::int64_t bytes = 0;
      while (!group_->is_broken() && ways().probe(-1, lines_tag, from, bytes)) {
        auto* const l = new letter{std::string(static_cast<std::size_t>(bytes), ' '), {}, nullptr};
        l->message = ways().receive(from, lines_tag, l->bytes.data(), bytes);
        patience p(timeout_);
        std::int64_t taken = 0;
        while (!l->message->is_done(taken)) {
          if (p.is_over()) return keep(l);
          p.pause();
        }
        if (bytes == 0) has_ended_[static_cast<std::size_t>(from)] = true;
        if (bytes > 0 && !lines.empty()) lines += ",\n";
        lines += l->bytes;
        delete l;
      }
    } catch (...) {  // lines are missing; what they are about is worth more
    }
  }

  bool close(bool (*write)(void* self, const std::string& lines), void* self) noexcept override {
    try {
      // An exception is on its way here, and not everywhere: nobody waits.
      const double patient = std::uncaught_exceptions() > 0 ? 0 : timeout_;
      if (number() != 0) return end(patient);
      std::string lines;
      patience p(patient);
      bool all = false;
      while (!all && !p.is_over() && !group_->is_broken()) {
        take(lines);
        all = true;
        for (int r = 1; r < ways().size(); ++r) all = all && has_ended_[static_cast<std::size_t>(r)];
        if (!all) p.pause();
      }
      const bool good = write(self, lines);
      for (int r = 1; r < ways().size() && !group_->is_broken(); ++r)
        if (has_ended_[static_cast<std::size_t>(r)]) post(r, end_tag, good ? "+" : "-");
      leave();
      return good && all;
    } catch (...) {
      return false;
    }
  }

 private:
  static constexpr int questions = 16;

  struct letter {
    std::string bytes;
    ref<pending_message> message;
    letter* next = nullptr;
  };

  transport& ways() { return group_->ways(); }

  void answer(const trace_sink& clock) {
    for (int left = questions * (ways().size() - 1); left > 0; --left) {
      int from = 0;
      std::int64_t bytes = 0, asked = 0;
      group_->wait_for(cluster_group::all_of_them, [&] { return ways().probe(-1, clock_tag, from, bytes); });
      const ref<pending_message> question = ways().receive(from, clock_tag, &asked, sizeof asked);
      const std::int64_t now = clock.now();
      const ref<pending_message> reply = ways().send(from, clock_tag, &now, sizeof now);
      group_->wait_for(from, [&] { return question->is_done(bytes) && reply->is_done(bytes); });
    }
  }

  /// Of another process: says that this is all, and waits for the first one to have written it.
  bool end(double patient) {
    if (group_->is_broken()) return false;
    post(0, lines_tag, {});
    patience p(patient);
    int from = 0;
    std::int64_t bytes = 0;
    while (!ways().probe(0, end_tag, from, bytes)) {
      if (p.is_over() || group_->is_broken()) return false;
      sweep();
      p.pause();
    }
    char verdict = '-';
    const ref<pending_message> m = ways().receive(0, end_tag, &verdict, 1);
    patience q(timeout_);
    while (!m->is_done(bytes)) {
      if (q.is_over()) return false;
      q.pause();
    }
    leave();
    return verdict == '+';
  }

  void post(int to, int tag, const std::string& bytes) {
    outbox_.push_back(new letter{bytes, {}, nullptr});
    letter& l = *outbox_.back();
    l.message = ways().send(to, tag, l.bytes.data(), static_cast<std::int64_t>(l.bytes.size()));
  }
  void leave() {
    patience p(1);
    while (!outbox_.empty() && !p.is_over()) {
      sweep();
      p.pause();
    }
  }
  void sweep() noexcept {
    std::size_t kept = 0;
    for (letter* l : outbox_) {
      bool gone = false;
      std::int64_t bytes = 0;
      try {
        gone = l->message && l->message->is_done(bytes);
      } catch (...) {  // then it stays
      }
      if (gone)
        delete l;
      else
        outbox_[kept++] = l;
    }
    outbox_.resize(kept);
  }
  /// What has not left, or come, stays until the process ends: its memory may be read, or written to.
  static void keep(letter* l) {
    static atomic<letter*> kept{nullptr};
    l->next = kept.exchange(l);
  }

  ref<cluster_group> group_;
  double timeout_;
  std::vector<bool> has_ended_;
  std::vector<letter*> outbox_;
};

ONTO_COLD inline ref<trace_exchange> cluster_group::exchange_traces() {
  retain();
  return ref<trace_exchange>(new cluster_traces(ref<cluster_group>(this), timeout_));
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
