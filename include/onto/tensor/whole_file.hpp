// SPDX-License-Identifier: BSL-1.0
// Files that are written whole or not at all: a program that is killed, a disk that is full and a machine that loses
// power leave the file that was there before.
#pragma once

#include <onto/core/mutex.hpp>
#include <onto/tensor/npy.hpp>

#include <sys/stat.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <fcntl.h>
#endif

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// For tests that make files fail: called before every call of the system's, with its name. What it returns, if not 0,
/// is the errno that the call fails with.
using file_fault = int (*)(const char* call);
inline file_fault fail_file = nullptr;

/// Only one is written at a time.
ONTO_COLD inline mutex& whole_files() {
  static mutex m;
  return m;
}

/// A file that takes the place of another once it is complete: what is written goes to `path.part`, which is synced to
/// the disk and renamed. Only one is written at a time: another, of any thread or process, waits. Without <fcntl.h>,
/// which would give every program a function `open`.
class whole_file {
 public:
  /// *Throws* `not_found_error` where the folder does not exist, `invalid_argument_error` where no file can be made.
  ONTO_COLD whole_file(const std::string& path, const char* tag)
      : turn_(whole_files()), path_(path), part_(path + ".part"), tag_(tag) {
    struct stat mine {
    }, there{};
    do {
      close();
      file_ = refused("open") ? nullptr : std::fopen(part_.c_str(), "ae");
      if (!file_) throw_open(part_, "created", errno, tag_.c_str());
      // Some file systems have no locks; then nobody else writes.
      while (::lockf(number(), F_LOCK, 0) != 0 && errno == EINTR) continue;
      // Who had the lock before may have renamed the file meanwhile.
    } while (::fstat(number(), &mine) != 0 || ::stat(part_.c_str(), &there) != 0 || mine.st_ino != there.st_ino ||
             mine.st_dev != there.st_dev);
    if (refused("ftruncate") || ::ftruncate(number(), 0) != 0) give_up(errno);
  }
  whole_file(const whole_file&) = delete;
  whole_file& operator=(const whole_file&) = delete;
  ~whole_file() { discard(); }

  /// *Throws* `internal_error` where it fails, as `finish`.
  ONTO_COLD void write(const void* data, std::size_t bytes) {
    constexpr std::size_t most = std::size_t{1} << 24;  // at once; systems have a limit
    for (auto* from = static_cast<const char*>(data); bytes > 0;) {
      const ssize_t done = refused("write") ? -1 : ::write(number(), from, bytes < most ? bytes : most);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) give_up(done < 0 ? errno : ENOSPC);
      from += done;
      bytes -= static_cast<std::size_t>(done);
    }
  }

  /// The file is complete: it is on the disk, and then under its name.
  ONTO_COLD void finish() {
    if (refused("fsync") || sync(number()) != 0) give_up(errno);
    if (refused("rename") || std::rename(part_.c_str(), path_.c_str()) != 0) give_up(errno);
    close();
    const std::size_t slash = path_.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
    std::FILE* const directory = refused("open folder") ? nullptr : std::fopen(folder.c_str(), "re");
    const bool synced = directory && !refused("fsync folder") && sync(::fileno(directory)) == 0;
    const int reason = errno;
    if (directory) std::fclose(directory);
    // Where folders cannot be synced at all, there is no more to do.
    if (!synced && reason != EINVAL && reason != EACCES)
      throw internal_error(tag_ + path_ + ": the file is written, but its folder was not synced to the disk: " +
                           std::strerror(reason) + "; after a loss of power the file from before may be there");
  }

 private:
  static bool refused(const char* call) {
    const int reason = fail_file ? fail_file(call) : 0;
    if (reason) errno = reason;
    return reason != 0;
  }
  static int sync(int file) {
    int failed = 0;
    do {
#if defined(F_FULLFSYNC)
      failed = ::fcntl(file, F_FULLFSYNC) == -1 ? ::fsync(file) : 0;  // macOS: fsync alone leaves it to the disk
#else
      failed = ::fsync(file);
#endif
    } while (failed != 0 && errno == EINTR);
    return failed;
  }

  void close() {
    if (file_) std::fclose(file_);
    file_ = nullptr;
  }
  void discard() {
    if (!file_) return;
    ::unlink(part_.c_str());
    close();
  }
  [[noreturn]] ONTO_COLD void give_up(int reason) {
    discard();
    throw internal_error(tag_ + path_ + ": writing failed: " + std::strerror(reason) +
                         "; a file that was there before is still there");
  }

  int number() const { return ::fileno(file_); }

  mutex_lock turn_;
  std::string path_, part_, tag_;
  std::FILE* file_ = nullptr;  // whose buffer is not used
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
