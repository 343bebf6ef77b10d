// SPDX-License-Identifier: BSL-1.0
// NCCL as far as the library uses it, between GPUs of one process, by a library that takes its documents at their word:
// nothing is in a stream before it says so, what GPUs do together begins when it is the next in the streams of all that
// have a part in it, sums are added up in another order each time, and who does not come is waited for, until the
// communicator is aborted.
#include "nccl.hpp"

#include <onto/core/half.hpp>

#include <cstring>
#include <map>
#include <string>

#include "emulator.hpp"

namespace cuda_emulation {
namespace {

enum class deed { all_reduce, reduce, reduce_scatter, all_gather, broadcast, message };

/// What some GPUs do together.
struct meeting {
  deed what{};
  std::size_t count = 0;  // of elements that each gives, or, where each gets a part of the sum, gets
  ncclDataType_t type{};
  int root = 0;            // of a sum for one, and of what is one's; of a message, who sends it
  std::vector<int> ranks;  // who has a part in it
  std::vector<const void*> from;
  std::vector<bool> come;
  std::vector<char> result;
  bool done = false;
};

struct membership;

struct clique {
  std::vector<std::shared_ptr<membership>> members;          // by rank; null: has not come
  std::map<std::size_t, std::shared_ptr<meeting>> meetings;  // of all
  std::map<std::pair<int, int>, std::map<std::size_t, std::shared_ptr<meeting>>> messages;  // from one to another
};

/// One GPU's part.
struct membership {
  std::shared_ptr<clique> all;
  int rank = 0;
  int device = 0;
  bool aborted = false;
  std::size_t issued = 0;
  std::map<std::pair<int, int>, std::size_t> messages;  // from one to another
  std::size_t polls = 0;                                // until what was called is there
  std::vector<std::function<void()>> held;
  ncclResult_t failure = ncclSuccess;
  std::string words;
};

}  // namespace
}  // namespace cuda_emulation

struct ncclComm {
  std::shared_ptr<cuda_emulation::membership> own;
};

namespace cuda_emulation {
namespace {

struct nccl_state {
  std::map<std::string, std::shared_ptr<clique>> cliques;  // by id
  std::map<ncclComm_t, bool> alive;
  std::string last_error;
  std::uint64_t ids = 0;
  nccl_counts counts;
};
nccl_state& state() {
  static nccl_state& s = *new nccl_state;
  return s;
}

/// A group that a thread has begun.
thread_local int depth = 0;
thread_local std::vector<std::pair<ncclComm_t, std::function<void()>>> grouped;

ncclResult_t wrong(const char* function, const std::string& what) {
  violation(std::string(function) + ": " + what);
  state().last_error = what;
  return ncclInvalidUsage;
}

ncclResult_t begin(const char* name) {
  const cudaError_t status = begin_call(name);
  if (status == cudaSuccess) return ncclSuccess;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  state().last_error = std::string("Cuda failure '") + cudaGetErrorString(status) + "'";
  return ncclUnhandledCudaError;
}

bool is_alive(ncclComm_t c) { return state().alive.count(c) != 0; }

std::size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8: return 1;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32: return 4;
    default: return 8;
  }
}

template <class T, class Added>
void add_as(meeting& m, const std::vector<void*>& terms) {
  const std::size_t first = any_below(terms.size());
  for (std::size_t k = 0; k < m.result.size() / sizeof(T); ++k) {
    T sum{};
    for (std::size_t t = 0; t < terms.size(); ++t) {
      T x;
      std::memcpy(&x, static_cast<const char*>(terms[(first + t) % terms.size()]) + k * sizeof(T), sizeof(T));
      sum = t == 0 ? x : static_cast<T>(static_cast<Added>(sum) + static_cast<Added>(x));
    }
    std::memcpy(m.result.data() + k * sizeof(T), &sum, sizeof(T));
  }
}

void add(meeting& m, const std::vector<void*>& terms) {
  switch (m.type) {
    case ncclInt8:
    case ncclUint8: return add_as<std::uint8_t, unsigned>(m, terms);
    case ncclInt32:
    case ncclUint32: return add_as<std::uint32_t, std::uint32_t>(m, terms);
    case ncclInt64:
    case ncclUint64: return add_as<std::uint64_t, std::uint64_t>(m, terms);
    case ncclFloat16: return add_as<onto::half, float>(m, terms);
    case ncclBfloat16: return add_as<onto::bfloat16, float>(m, terms);
    case ncclFloat32: return add_as<float, float>(m, terms);
    case ncclFloat64: return add_as<double, double>(m, terms);
  }
}

/// All have come: makes of what they give what they get.
void perform(const char* function, meeting& m, const clique& all) {
  m.done = true;
  const std::size_t bytes = m.count * size_of(m.type), tasks = m.ranks.size();
  const bool of_one = m.what == deed::broadcast || m.what == deed::message;
  std::vector<void*> given;
  for (std::size_t k = 0; k < tasks; ++k) {
    if (of_one && m.ranks[k] != m.root) continue;
    const auto r = static_cast<std::size_t>(m.ranks[k]);
    given.push_back(device_bytes(m.from[k], m.what == deed::reduce_scatter ? tasks * bytes : bytes, function,
                                 all.members[r]->device));
    if (!given.back()) return;
  }
  m.result.resize(m.what == deed::reduce_scatter ? tasks * bytes : bytes);
  if (of_one) {
    std::memcpy(m.result.data(), given[0], bytes);
  } else if (m.what == deed::all_gather) {
    m.result.resize(tasks * bytes);
    for (std::size_t k = 0; k < tasks; ++k) std::memcpy(m.result.data() + k * bytes, given[k], bytes);
  } else {
    add(m, given);
  }
}

/// What a GPU gets: where it begins in the result, and how much it is.
std::pair<std::size_t, std::size_t> part_of(const meeting& m, int rank) {
  const std::size_t bytes = m.count * size_of(m.type);
  if (m.what == deed::reduce_scatter) return {static_cast<std::size_t>(rank) * bytes, bytes};
  if (m.what == deed::reduce) return {0, rank == m.root ? bytes : 0};
  if (m.what == deed::message) return {0, rank == m.root ? 0 : bytes};
  return {0, m.result.size()};
}

/// One value on one GPU; the lock is held.
void put(const char* function, const std::shared_ptr<membership>& own, const std::shared_ptr<meeting>& m, void* to,
         cudaStream_t stream) {
  piece p;
  p.what = function;
  p.may_begin = [own, m] {
    if (own->aborted) return true;
    bool all = true;
    for (std::size_t k = 0; k < m->ranks.size(); ++k) {
      if (m->ranks[k] == own->rank) m->come[k] = true;
      const auto& other = own->all->members[static_cast<std::size_t>(m->ranks[k])];
      all = all && m->come[k] && !(other->aborted && !m->done);
    }
    return all;
  };
  p.run = [function, own, m, to](std::int64_t& nanoseconds) {
    nanoseconds += 5000;
    if (own->aborted) return cudaSuccess;
    if (!m->done) perform(function, *m, *own->all);
    ++(m->what == deed::message ? state().counts.messages
       : m->what == deed::all_reduce || m->what == deed::reduce || m->what == deed::reduce_scatter
           ? state().counts.sums
           : state().counts.copies);
    const auto [begin, bytes] = part_of(*m, own->rank);
    void* const memory = bytes > 0 ? device_bytes(to, bytes, function, own->device) : nullptr;
    if (memory && m->result.size() >= begin + bytes) std::memcpy(memory, m->result.data() + begin, bytes);
    return cudaSuccess;
  };
  if (is_capturing(stream)) (void)wrong(function, "a recording is under way, of which not all tasks are part");
  (void)issue(stream, std::move(p));
}

/// Takes part in what some GPUs do, or refuses.
ncclResult_t enter(const char* function, deed what, const void* from, void* to, std::size_t count, ncclDataType_t type,
                   int root, int peer, ncclComm_t c, cudaStream_t stream) {
  if (const ncclResult_t failed = begin(function); failed != ncclSuccess) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  if (!is_alive(c)) return wrong(function, "no communicator, or no more");
  const std::shared_ptr<membership> own = c->own;
  const auto tasks = static_cast<int>(own->all->members.size());
  if (own->polls > 0 || !own->held.empty()) return wrong(function, "what was called before is in progress");
  if (device_of(stream) != own->device) return wrong(function, "the stream is of another GPU");
  if (depth == 0) return wrong(function, "no group was begun");
  if (root < 0 || root >= tasks || peer < -1 || peer >= tasks || peer == own->rank)
    return wrong(function, "there is no such rank");
  const std::pair<int, int> way{root, root == own->rank ? peer : own->rank};
  std::shared_ptr<meeting>& m =
      what == deed::message ? own->all->messages[way][own->messages[way]++] : own->all->meetings[own->issued++];
  if (!m) {
    m = std::make_shared<meeting>();
    m->what = what;
    m->count = count;
    m->type = type;
    m->root = root;
    if (what == deed::message)
      m->ranks = {way.first, way.second};
    else
      for (int r = 0; r < tasks; ++r) m->ranks.push_back(r);
    m->from.resize(m->ranks.size());
    m->come.resize(m->ranks.size());
  }
  if (m->what != what || m->count != count || m->type != type || m->root != root)
    return wrong(function, "the others do something else, or with values of another size or type");
  for (std::size_t k = 0; k < m->ranks.size(); ++k)
    if (m->ranks[k] == own->rank) m->from[k] = from;
  grouped.emplace_back(c, [function, own, m = m, to, stream] { put(function, own, m, to, stream); });
  return ncclSuccess;
}

/// What was called is there now.
void settle(membership& own) {
  const std::vector<std::function<void()>> all = std::move(own.held);
  own.held.clear();
  for (const auto& put_it : all) put_it();
}

}  // namespace

nccl_counts take_nccl_counts() {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  return std::exchange(state().counts, {});
}

}  // namespace cuda_emulation

using namespace cuda_emulation;

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (const ncclResult_t failed = begin("ncclGetUniqueId"); failed != ncclSuccess) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  const std::uint64_t number = ++state().ids;
  for (char& c : id->internal) c = static_cast<char>(random_numbers()());
  std::memcpy(id->internal + sizeof id->internal - sizeof number, &number, sizeof number);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* to, int count, ncclUniqueId id, int rank, ncclConfig_t* config) {
  static constexpr const char* function = "ncclCommInitRankConfig";
  if (const ncclResult_t failed = begin(function); failed != ncclSuccess) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  const ncclConfig_t expected = NCCL_CONFIG_INITIALIZER;
  if (config->size != expected.size || config->magic != expected.magic) return wrong(function, "no configuration");
  if (config->blocking != 0) return wrong(function, "it blocks until all have come");
  if (rank < 0 || rank >= count) return wrong(function, "there is no such rank");
  const auto r = static_cast<std::size_t>(rank);
  std::shared_ptr<clique>& all = state().cliques[std::string(id.internal, sizeof id.internal)];
  if (!all) {
    all = std::make_shared<clique>();
    all->members.resize(static_cast<std::size_t>(count));
  }
  if (all->members.size() != static_cast<std::size_t>(count)) return wrong(function, "others are of another number");
  if (all->members[r]) return wrong(function, "the rank is another one's");
  auto own = std::make_shared<membership>();
  own->all = all;
  own->rank = rank;
  own->device = current_device();
  own->polls = any_below(4);
  for (const auto& other : all->members)
    if (other && other->device == own->device) {
      own->failure = other->failure = ncclInvalidUsage;
      own->words = other->words = "Duplicate GPU detected";
    }
  all->members[r] = own;
  *to = new ncclComm{own};
  state().alive[*to] = true;
  note_object("NCCL communicators", 1);
  return ncclInProgress;
}

ncclResult_t ncclCommAbort(ncclComm_t c) {
  (void)begin("ncclCommAbort");
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  if (!is_alive(c)) return wrong("ncclCommAbort", "no communicator, or no more");
  c->own->aborted = true;
  settle(*c->own);
  state().alive.erase(c);
  delete c;
  note_object("NCCL communicators", -1);
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t c, ncclResult_t* result) {
  if (const ncclResult_t failed = begin("ncclCommGetAsyncError"); failed != ncclSuccess) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  if (!is_alive(c)) return wrong("ncclCommGetAsyncError", "no communicator, or no more");
  membership& own = *c->own;
  *result = own.failure;
  if (own.failure != ncclSuccess) return ncclSuccess;
  *result = ncclInProgress;
  for (const auto& other : own.all->members)
    if (!other) return ncclSuccess;
  if (own.polls > 0 && --own.polls > 0) return ncclSuccess;
  settle(own);
  *result = ncclSuccess;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclUnhandledCudaError ? "unhandled cuda error" : result == ncclInvalidUsage ? "invalid usage" : "?";
}
const char* ncclGetLastError(ncclComm_t c) {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  thread_local std::string words;
  words = c && is_alive(c) && !c->own->words.empty() ? c->own->words : state().last_error;
  return words.c_str();
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t c,
                           cudaStream_t stream) {
  if (op != ncclSum) return wrong("ncclAllReduce", "sums alone are emulated");
  return enter("ncclAllReduce", deed::all_reduce, from, to, count, type, 0, -1, c, stream);
}
ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t c, cudaStream_t stream) {
  if (op != ncclSum) return wrong("ncclReduce", "sums alone are emulated");
  return enter("ncclReduce", deed::reduce, from, to, count, type, root, -1, c, stream);
}
ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t c, cudaStream_t stream) {
  if (op != ncclSum) return wrong("ncclReduceScatter", "sums alone are emulated");
  return enter("ncclReduceScatter", deed::reduce_scatter, from, to, count, type, 0, -1, c, stream);
}
ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type, ncclComm_t c,
                           cudaStream_t stream) {
  return enter("ncclAllGather", deed::all_gather, from, to, count, type, 0, -1, c, stream);
}
ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root, ncclComm_t c,
                           cudaStream_t stream) {
  return enter("ncclBroadcast", deed::broadcast, from, to, count, type, root, -1, c, stream);
}
ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer, ncclComm_t c,
                      cudaStream_t stream) {
  const int own = c ? c->own->rank : 0;
  return enter("ncclSend", deed::message, from, nullptr, count, type, own, peer, c, stream);
}
ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t c, cudaStream_t stream) {
  return enter("ncclRecv", deed::message, nullptr, to, count, type, peer, -1, c, stream);
}

ncclResult_t ncclGroupStart() {
  if (const ncclResult_t failed = begin("ncclGroupStart"); failed != ncclSuccess) return failed;
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  const ncclResult_t failed = begin("ncclGroupEnd");
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  if (depth == 0) return wrong("ncclGroupEnd", "no group was begun");
  const auto all = std::exchange(grouped, {});
  --depth;
  if (failed != ncclSuccess || all.empty()) return failed;
  ++state().counts.groups;
  for (const auto& [c, put_it] : all) {
    c->own->held.push_back(put_it);
    c->own->polls = any_below(3);
  }
  membership& own = *all.front().first->own;
  if (own.polls > 0) return ncclInProgress;
  settle(own);
  return ncclSuccess;
}

}  // extern "C"
