// SPDX-License-Identifier: BSL-1.0
// One trace of several processes: each writes its own part, in the time of the first one, and gives it to the first one
// after every run. What is in the first one's file need not stay elsewhere.
#pragma once

#include <onto/runtime/process_group.hpp>
#include <onto/session/trace.hpp>

#include <cstdio>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class joined_trace final : public trace_file {
 public:
  /// `task`: whose part it is, which is a file of its own until all is in the first one's.
  joined_trace(const std::string& path, const task_name& task, ref<trace_exchange> others)
      : trace_file(others->number() == 0 ? path : part_of(path, task)),
        others_(static_cast<ref<trace_exchange>&&>(others)) {
    first_process_ = others_->number() * 2 * most_processes;
  }
  ~joined_trace() override {
    bool all = false;
    {
      mutex_lock lock(mutex_);
      if (!is_first()) give();
      all = others_->close(
          [](void* self, const std::string& lines) { return static_cast<joined_trace*>(self)->write(lines); }, this);
    }
    if (all && !is_first()) std::remove(std::string(path()).c_str());
  }

  /// All processes call it, before the first run. In simulated time each has a clock of its own, which begins at 0.
  /// *Throws* where one does not come in time.
  void align(const place& here, bool simulated) {
    simulated_ = simulated;
    const clock_difference d = others_->compare_clocks(*this);
    mutex_lock lock(mutex_);
    if (!simulated) start_ -= d.ahead;
    introduce_device(here);
    line_.clear();
    line_ << "{\"ph\": \"M\", \"name\": \"process_labels\", \"pid\": " << process_of(here)
          << ", \"args\": {\"labels\": \"";
    if (simulated)
      line_ << "simulated time of this task";
    else if (is_first())
      line_ << "its clock is the trace's";
    else
      write_microseconds_of(line_ << "clock within ", d.error) << " us of the first task's";
    line_ << "\"}}";
    put();
  }

  bool flush() override {
    {
      mutex_lock lock(mutex_);
      if (is_first()) {
        std::string lines;
        others_->take(lines);
        if (!lines.empty()) put(lines);
      } else {
        give();
      }
    }
    return trace_file::flush();
  }

 protected:
  void written(const std::string& line) override {
    if (is_first()) return;
    if (!given_.empty()) given_ += ",\n";
    given_ += line;
  }

  /// A message, or a sum over tasks, in a lane of its own: from when it was begun here, or the one before was over.
  void add_shared(const trace_span& s) override {
    if (simulated_) return;
    introduce_device(s.where);
    lane& l = lane_of(s);
    const std::int64_t begin = s.begin > l.end ? s.begin : l.end;
    l.end = s.end;
    // A collective's name is a literal.
    begin_line(s, s.what == trace_span::collective ? s.label->name.data() : "message", l.thread, begin);
    line_ << "\"operation\": ";
    write_json_string(line_, s.label->operation);
    write_amount("bytes", "GB/s", s.label->bytes, s.end - begin);
    line_ << ", \"begun\": ";
    write_microseconds(s.begin);
    if (s.what != trace_span::collective) line_ << ", \"number\": " << s.number;
    line_ << "}}";
    put();
    if (s.what == trace_span::collective) return;
    // An arrow from the one end to the other.
    const bool sends = s.what == trace_span::send;
    line_.clear();
    line_ << "{\"ph\": \"" << (sends ? "s" : "f\", \"bp\": \"e")
          << "\", \"name\": \"message\", \"cat\": \"message\", \"id\": \"";
    const place& from = sends ? s.where : s.other;
    const place& to = sends ? s.other : s.where;
    line_ << from.task->job << "-" << from.task->task << " " << to.task->job << "-" << to.task->task << " " << s.number
          << "\", \"pid\": " << process_of(s.where) << ", \"tid\": " << l.thread << ", \"ts\": ";
    write_microseconds(sends ? begin : s.end);
    line_ << "}";
    put();
  }

 private:
  struct lane {
    std::uint64_t id;
    int thread;
    std::int64_t end;
  };

  static std::string part_of(const std::string& path, const task_name& task) {
    message m(path);
    return (m << "." << task.job << "-" << task.task).text();
  }
  static message& write_microseconds_of(message& m, std::int64_t ns) {
    return m << ns / 1000 << "." << static_cast<int>(ns % 1000 / 100);
  }

  bool is_first() const { return others_->number() == 0; }

  void give() {
    if (!given_.empty() && others_->give(given_)) given_.clear();
  }
  bool write(const std::string& lines) {
    if (!lines.empty()) put(lines);
    return end_here();
  }

  lane& lane_of(const trace_span& s) {
    const std::uint64_t id =
        hash_mix(s.what == trace_span::collective ? 0 : s.other.task->id, static_cast<std::uint64_t>(s.what));
    for (lane& l : lanes_)
      if (l.id == id) return l;
    lanes_.push_back({id, stream_kinds + static_cast<int>(lanes_.size()), 0});
    line_.clear();
    line_ << "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": " << process_of(s.where)
          << ", \"tid\": " << lanes_.back().thread << ", \"args\": {\"name\": \"";
    if (s.what == trace_span::collective)
      line_ << "collectives";
    else
      line_ << (s.what == trace_span::send ? "messages to " : "messages from ") << s.other.task->job << "-"
            << s.other.task->task;
    line_ << "\"}}";
    put();
    return lanes_.back();
  }

  ref<trace_exchange> others_;
  std::string given_;  // lines that the first process has not got
  std::vector<lane> lanes_;
  bool simulated_ = false;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
