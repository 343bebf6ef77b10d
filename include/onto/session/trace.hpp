// SPDX-License-Identifier: BSL-1.0
// A trace of what every stream did and when, as Chrome's and Perfetto's viewers read it.
#pragma once

#include <onto/core/json.hpp>
#include <onto/runtime/work.hpp>
#include <onto/session/makers.hpp>

#include <time.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Writes spans to a file. A device is a process of the trace, a stream a thread.
class trace_file : public trace_sink {
 public:
  /// *Throws* `invalid_argument_error` where the file cannot be written, or another session of this process writes it.
  ONTO_COLD explicit trace_file(const std::string& path) : path_(path) {
    registry& open = files();
    mutex_lock lock(open.guard);
    for (const trace_file* f = open.first; f; f = f->next_)
      if (f->path_ == path)
        fail<invalid_argument_error>(message("[onto.option] trace: '")
                                     << path << "' is written by another session; give each a file of its own");
    file_ = std::fopen(path.c_str(), "w");
    if (file_) std::fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", file_);
    if (!file_ || !flush()) {
      message m("[onto.option] trace: '");
      m << path << "' cannot be written: " << std::strerror(errno);
      if (file_) std::fclose(file_);
      fail<invalid_argument_error>(m);
    }
    next_ = open.first;
    open.first = this;
  }
  trace_file(const trace_file&) = delete;
  trace_file& operator=(const trace_file&) = delete;
  ~trace_file() override {
    registry& open = files();
    mutex_lock lock(open.guard);
    trace_file** at = &open.first;
    while (*at != this) at = &(*at)->next_;
    *at = next_;
    std::fclose(file_);
  }

  std::int64_t now() const noexcept override { return clock() - start_; }

  ONTO_NOINLINE void add(const trace_span& s) noexcept override {
    try {
      mutex_lock lock(mutex_);
      if (s.what > trace_span::wait) return add_shared(s);
      introduce(s);
      const std::int64_t took = s.end - s.begin;
      begin_line(s, category(s.what), static_cast<int>(s.stream), s.begin);
      if (s.what != trace_span::wait) {
        line_ << "\"operation\": ";
        write_json_string(line_, s.label->operation);
        write_amount("bytes", "GB/s", s.label->bytes, took);
        if (s.what == trace_span::kernel) write_amount("flops", "GFLOP/s", s.label->flops, took);
      }
      line_ << "}}";
      put();
    } catch (...) {  // a span is missing; the run is worth more
    }
  }

  /// Ends the file here: it is whole after every run.
  /// *Returns* false once, when the file could not be written any more; what follows is not in it.
  ONTO_NOINLINE bool flush() override {
    mutex_lock lock(mutex_);
    return end_here();
  }
  std::string_view path() const override { return path_; }

 protected:
  /// What several processes have a part in, where there are several.
  virtual void add_shared(const trace_span&) {}
  /// A line of this process's was written.
  virtual void written(const std::string&) {}

  bool end_here() {
    if (failed_) return true;
    const long end = std::ftell(file_);
    std::fputs("\n]}\n", file_);
    failed_ = std::fflush(file_) != 0 || std::ferror(file_) != 0;
    if (end >= 0) std::fseek(file_, end, SEEK_SET);
    return !failed_;
  }

  static std::int64_t clock() noexcept {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return std::int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
  }
  int process_of(const place& p) const {
    return first_process_ + (p.kind == device_kind::gpu ? 2 * p.index + 2 : 2 * p.index + 1);
  }

  /// A span's line up to its arguments.
  void begin_line(const trace_span& s, const char* category, int thread, std::int64_t begin) {
    line_.clear();
    line_ << "{\"ph\": \"X\", \"name\": ";
    write_json_string(line_, s.label->name);
    line_ << ", \"cat\": \"" << category << "\", \"pid\": " << process_of(s.where) << ", \"tid\": " << thread
          << ", \"ts\": ";
    write_microseconds(begin);
    line_ << ", \"dur\": ";
    write_microseconds(s.end - begin);
    line_ << ", \"args\": {";
  }
  void write_microseconds(std::int64_t ns) {
    if (ns < 0) line_ << "-";
    if (ns < 0) ns = -ns;
    const int rest = static_cast<int>(ns % 1000);
    line_ << ns / 1000 << "." << rest / 100 << rest / 10 % 10 << rest % 10;
  }

  /// An amount and the rate at which it was done; units of 1e9 a second are units a nanosecond.
  void write_amount(const char* name, const char* rate, std::int64_t amount, std::int64_t ns) {
    if (amount < 0) return;
    line_ << ", \"" << name << "\": " << amount;
    if (ns <= 0) return;
    const double tenths = static_cast<double>(amount) * 10 / static_cast<double>(ns);
    const auto rounded = static_cast<std::int64_t>(tenths + 0.5);
    line_ << ", \"" << rate << "\": " << rounded / 10 << "." << rounded % 10;
  }

  /// Names a device when it is first seen.
  void introduce_device(const place& where) {
    const int process = process_of(where);
    if (process - first_process_ >= most_processes || known_[process - first_process_]) return;
    known_[process - first_process_] = std::uint64_t{1} << 63;
    line_.clear();
    write_short(
        line_ << "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": " << process << ", \"args\": {\"name\": \"",
        where)
        << "\"}}";
    put();
    line_.clear();
    line_ << "{\"ph\": \"M\", \"name\": \"process_sort_index\", \"pid\": " << process
          << ", \"args\": {\"sort_index\": " << process << "}}";
    put();
  }

  /// Writes the line.
  void put() {
    put(line_.text());
    written(line_.text());
  }
  void put(const std::string& lines) {
    std::fputs(any_ ? ",\n" : "\n", file_);
    any_ = true;
    std::fwrite(lines.data(), 1, lines.size(), file_);
  }

  static constexpr int most_processes = 2048;

  std::int64_t start_ = clock();  // when it is 0 in the trace
  int first_process_ = 0;         // the numbers of this process's devices are above
  mutex mutex_;
  message line_;

 private:
  /// The files of this process's sessions.
  struct registry {
    mutex guard;
    trace_file* first = nullptr;
  };
  static registry& files() {
    static registry all;
    return all;
  }

  static const char* category(trace_span::kind k) {
    return k == trace_span::kernel ? "kernel" : k == trace_span::copy ? "copy" : "wait";
  }

  /// Names a stream when it is first seen.
  void introduce(const trace_span& s) {
    introduce_device(s.where);
    const int process = process_of(s.where), number = process - first_process_;
    const std::uint64_t bit = std::uint64_t{1} << static_cast<int>(s.stream);
    if (number >= most_processes || (known_[number] & bit)) return;
    known_[number] |= bit;
    line_.clear();
    line_ << "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": " << process
          << ", \"tid\": " << static_cast<int>(s.stream) << ", \"args\": {\"name\": \""
          << (s.where.kind == device_kind::cpu   ? "host"
              : s.stream == stream_kind::compute ? "compute"
              : s.stream == stream_kind::in      ? "copies in"
                                                 : "copies out")
          << "\"}}";
    put();
  }

  std::string path_;
  std::FILE* file_ = nullptr;
  trace_file* next_ = nullptr;
  bool failed_ = false;
  std::uint64_t known_[most_processes] = {};
  bool any_ = false;
};

#if ONTO_DEFINITIONS
ONTO_RUNTIME trace_sink* make_trace(const std::string& path) { return new trace_file(path); }
#endif

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
