// SPDX-License-Identifier: BSL-1.0
// Messages by MPI, version 3.1 and later, by nonblocking calls alone: a call that waits inside MPI takes the core from
// the process that it waits for, and cannot be given up.
#pragma once

#include <onto/backend/cluster/patience.hpp>
#include <onto/backend/cluster/transport.hpp>
#include <onto/core/message.hpp>

#if !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX 1  // MPI's old classes for C++, of which no line is used here
#endif
#if !defined(MPICH_SKIP_MPICXX)
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// *Throws* `internal_error` with MPI's words.
ONTO_NOINLINE inline void check_mpi(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  if (MPI_Error_string(status, text, &length) != MPI_SUCCESS) length = 0;
  for (int k = 0; k < length; ++k)
    if (text[k] == '\n') text[k] = ' ';
  fail<internal_error>(message("[onto.cluster] ")
                       << call << " failed: " << std::string_view(text, static_cast<std::size_t>(length)));
}

/// A message in pieces, since MPI counts elements with an int.
class mpi_message final : public pending_message {
 public:
  mpi_message(bool comes, std::int64_t bytes) : comes_(comes), bytes_(bytes) {}

  MPI_Request* add_piece() {
    requests_.push_back(MPI_REQUEST_NULL);
    return &requests_.back();
  }
  void reserve(std::size_t pieces) { requests_.reserve(pieces); }

  bool is_done(std::int64_t& bytes) override {
    for (; at_ < requests_.size(); ++at_) {
      int done = 0;
      MPI_Status status;
      check_mpi(MPI_Test(&requests_[at_], &done, &status), "MPI_Test");
      if (!done) return false;
      if (!comes_) continue;
      int count = 0;
      check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
      came_ += count;
      if (at_ > 0 || count > 0) continue;
      // An empty message comes in place of all pieces.
      ++at_;
      cancel();
    }
    bytes = comes_ ? came_ : bytes_;
    return true;
  }

  void cancel() noexcept override {
    for (; at_ < requests_.size(); ++at_) {
      if (requests_[at_] == MPI_REQUEST_NULL) continue;
      // Waits for nobody: a message that has not come will not.
      if (MPI_Cancel(&requests_[at_]) == MPI_SUCCESS) MPI_Wait(&requests_[at_], MPI_STATUS_IGNORE);
    }
  }

 private:
  std::vector<MPI_Request> requests_;
  std::size_t at_ = 0;
  bool comes_;
  std::int64_t bytes_;
  std::int64_t came_ = 0;
};

/// What MPI has of its own for all processes, in pieces. Nothing can be given up: it goes on until all processes have
/// come, or the end.
class mpi_collective final : public pending_message {
 public:
  explicit mpi_collective(std::size_t pieces) { requests_.reserve(pieces); }
  MPI_Request* add_piece() {
    requests_.push_back(MPI_REQUEST_NULL);
    return &requests_.back();
  }
  bool is_done(std::int64_t&) override {
    bool all = true;
    for (MPI_Request& r : requests_) {
      int done = 1;
      if (r != MPI_REQUEST_NULL) check_mpi(MPI_Test(&r, &done, MPI_STATUS_IGNORE), "MPI_Test");
      all = all && done;
    }
    return all;
  }
  void cancel() noexcept override {}

  std::vector<int> counts, places;  // MPI reads them until the end

 private:
  std::vector<MPI_Request> requests_;
};

/// MPI's name of an element type, where it can add up such; halves it cannot.
inline MPI_Datatype mpi_number(element type) {
  switch (type) {
    case element::float32: return MPI_FLOAT;
    case element::float64: return MPI_DOUBLE;
    case element::int8: return MPI_INT8_T;
    case element::uint8: return MPI_UINT8_T;
    case element::int16: return MPI_INT16_T;
    case element::uint16: return MPI_UINT16_T;
    case element::int32: return MPI_INT32_T;
    case element::uint32: return MPI_UINT32_T;
    case element::int64: return MPI_INT64_T;
    case element::uint64: return MPI_UINT64_T;
    default: return MPI_DATATYPE_NULL;
  }
}

/// Whether MPI sends from the memory of GPUs of CUDA's, and receives into it, as it was built and is set up. *Source*
/// "CUDA-aware support" in Open MPI's documentation; MPICH has the same function from version 4.0 on.
inline bool mpi_takes_cuda_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT) || (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

class mpi_transport final : public transport {
 public:
  /// `piece`: the most bytes of one message of MPI's.
  explicit mpi_transport(MPI_Comm comm, std::int64_t piece = std::int64_t{1} << 30) : comm_(comm), piece_(piece) {
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  bool takes_cuda_memory() const override { return mpi_takes_cuda_memory(); }

  ref<pending_message> send(int to, int tag, const void* data, std::int64_t bytes) override {
    return pieces(false, bytes, [&](std::int64_t at, int count, MPI_Request* r) {
      check_mpi(MPI_Isend(static_cast<const char*>(data) + at, count, MPI_BYTE, to, tag, comm_, r), "MPI_Isend");
    });
  }
  ref<pending_message> receive(int from, int tag, void* data, std::int64_t most) override {
    return pieces(true, most, [&](std::int64_t at, int count, MPI_Request* r) {
      check_mpi(MPI_Irecv(static_cast<char*>(data) + at, count, MPI_BYTE, from, tag, comm_, r), "MPI_Irecv");
    });
  }
  bool probe(int from, int tag, int& source, std::int64_t& bytes) override {
    int there = 0, count = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(from < 0 ? MPI_ANY_SOURCE : from, tag, comm_, &there, &status), "MPI_Iprobe");
    if (!there) return false;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    source = status.MPI_SOURCE;
    bytes = count;
    return true;
  }
  ref<pending_message> all_reduce(element type, const void* from, void* to, std::int64_t count) override {
    const MPI_Datatype number = mpi_number(type);
    if (number == MPI_DATATYPE_NULL) return {};
    const std::int64_t most = piece_ / size_of(type);
    const ref<mpi_collective> r(new mpi_collective(static_cast<std::size_t>(count / most + 1)));
    for (std::int64_t at = 0; at < count; at += most) {
      const int piece = static_cast<int>(count - at < most ? count - at : most);
      check_mpi(
          MPI_Iallreduce(static_cast<const char*>(from) + at * size_of(type),
                         static_cast<char*>(to) + at * size_of(type), piece, number, MPI_SUM, comm_, r->add_piece()),
          "MPI_Iallreduce");
    }
    return kept(r);
  }

  ref<pending_message> reduce_scatter(element type, const void* from, void* to,
                                      const std::vector<std::int64_t>& counts) override {
    const MPI_Datatype number = mpi_number(type);
    const ref<mpi_collective> r(new mpi_collective(1));
    if (number == MPI_DATATYPE_NULL || !count(*r, counts)) return {};
    check_mpi(MPI_Ireduce_scatter(from, to, r->counts.data(), number, MPI_SUM, comm_, r->add_piece()),
              "MPI_Ireduce_scatter");
    return kept(r);
  }
  ref<pending_message> all_gather(void* data, const std::vector<std::int64_t>& bytes) override {
    const ref<mpi_collective> r(new mpi_collective(1));
    if (!count(*r, bytes)) return {};
    check_mpi(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, data, r->counts.data(), r->places.data(), MPI_BYTE, comm_,
                              r->add_piece()),
              "MPI_Iallgatherv");
    return kept(r);
  }
  ref<pending_message> broadcast(int root, void* data, std::int64_t bytes) override {
    const ref<mpi_collective> r(new mpi_collective(static_cast<std::size_t>(bytes / piece_ + 1)));
    for (std::int64_t at = 0; at < bytes; at += piece_) {
      const int piece = static_cast<int>(bytes - at < piece_ ? bytes - at : piece_);
      check_mpi(MPI_Ibcast(static_cast<char*>(data) + at, piece, MPI_BYTE, root, comm_, r->add_piece()), "MPI_Ibcast");
    }
    return kept(r);
  }

 private:
  static ref<pending_message> kept(const ref<mpi_collective>& r) {
    r->retain();
    return ref<pending_message>(r.get());
  }
  /// Numbers as MPI wants them. *Returns* whether they fit.
  bool count(mpi_collective& r, const std::vector<std::int64_t>& numbers) const {
    std::int64_t all = 0;
    for (const std::int64_t n : numbers) {
      r.counts.push_back(static_cast<int>(n < piece_ ? n : piece_));
      r.places.push_back(static_cast<int>(all < piece_ ? all : piece_));
      all += n;
    }
    return all <= piece_;
  }

  template <class Start>
  ref<pending_message> pieces(bool comes, std::int64_t bytes, const Start& start) {
    const ref<mpi_message> m(new mpi_message(comes, bytes));
    m->reserve(static_cast<std::size_t>(bytes / piece_ + 1));
    std::int64_t at = 0;
    do {
      const std::int64_t count = bytes - at < piece_ ? bytes - at : piece_;
      start(at, static_cast<int>(count), m->add_piece());
      at += count;
    } while (at < bytes);
    m->retain();
    return ref<pending_message>(m.get());
  }

  MPI_Comm comm_;
  std::int64_t piece_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
