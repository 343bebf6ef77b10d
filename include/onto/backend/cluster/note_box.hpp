// SPDX-License-Identifier: BSL-1.0
// Notes that leave a process and come to it. None is waited for but by who looks for it.
#pragma once

#include <onto/backend/cluster/note.hpp>
#include <onto/backend/cluster/patience.hpp>
#include <onto/backend/cluster/transport.hpp>
#include <onto/core/atomic.hpp>

#include <string>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class note_box {
 public:
  explicit note_box(transport& ways) : ways_(ways) {}
  note_box(const note_box&) = delete;
  note_box& operator=(const note_box&) = delete;
  /// What never leaves stays, since its memory may be read: where a tool that looks for lost memory finds it.
  ~note_box() {
    for (letter* l : outbox_) {
      l->next = kept_.load();
      while (!kept_.compare_exchange_weak(l->next, l)) {
      }
    }
  }

  void post(int to, int tag, const std::string& bytes) {
    outbox_.push_back(new letter{bytes, {}, nullptr});
    letter& l = *outbox_.back();
    l.message = ways_.send(to, tag, l.bytes.data(), static_cast<std::int64_t>(l.bytes.size()));
  }

  /// Throws away what has left. *Returns* whether that is all.
  bool sweep() {
    std::int64_t bytes = 0;
    std::size_t kept = 0;
    for (letter* l : outbox_) {
      if (l->message && l->message->is_done(bytes))
        delete l;
      else
        outbox_[kept++] = l;
    }
    outbox_.resize(kept);
    return outbox_.empty();
  }
  /// Waits until all has left, up to `seconds`.
  void sweep_for(double seconds) {
    for (patience p(seconds); !sweep() && !p.is_over();) p.pause();
  }

  enum class post_state {
    none,
    taken,
    late,     ///< it was announced, and did not come within `seconds`
    garbled,  ///< it is no note, or of another version
  };
  /// Takes a note that is there. `from` -1: of anyone; then whose it is.
  post_state take(int& from, int tag, double seconds, process_note& out) {
    std::int64_t bytes = 0, came = 0;
    if (!ways_.probe(from, tag, from, bytes)) return post_state::none;
    std::string data(static_cast<std::size_t>(bytes), '\0');
    const ref<pending_message> m = ways_.receive(from, tag, data.data(), bytes);
    for (patience p(seconds); !m->is_done(came); p.pause()) {
      if (!p.is_over()) continue;
      m->cancel();
      return post_state::late;
    }
    process_note n;
    const int tasks = ways_.size();
    if (came != bytes || !read_note(data, n) || n.origin >= tasks || n.waited >= tasks || n.other >= tasks)
      return post_state::garbled;
    out = static_cast<process_note&&>(n);
    return post_state::taken;
  }

 private:
  struct letter {
    std::string bytes;
    ref<pending_message> message;
    letter* next;  // among what was kept
  };

  inline static atomic<letter*> kept_{};

  transport& ways_;
  std::vector<letter*> outbox_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
