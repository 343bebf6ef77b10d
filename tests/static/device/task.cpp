// SPDX-License-Identifier: BSL-1.0
// Places of tasks: what they are, how scopes combine, and the plans of programs over several tasks.
#include <onto/onto.hpp>

using namespace onto;

// A task is a place without a device, and combines with one.
using worker = task<"worker", 1>;
static_assert(place_type<worker>);
static_assert(worker::value.kind == device_kind::none && worker::value.is_set());
static_assert(worker::value.task->job == "worker" && worker::value.task->task == 1);
static_assert(task<"worker", 1, gpu<2>>::value == detail::merged(worker::value, gpu<2>::value));
static_assert(task<"worker", 1, gpu<2>>::value == detail::merged(gpu<2>::value, worker::value));
static_assert(detail::merged(task<"worker", 1, gpu<2>>::value, cpu<0>::value) == task<"worker", 1, cpu<0>>::value);
static_assert(detail::merged(task<"ps", 0, gpu<2>>::value, worker::value) == task<"worker", 1, gpu<2>>::value);
static_assert(!(task<"worker", 1>::value == task<"worker", 2>::value));
static_assert(!(task<"worker", 1>::value == task<"worken", 1>::value));
static_assert(!(task<"worker", 1, gpu<0>>::value == gpu<0>::value));

// A session of one process is task 0 of `localhost`.
static_assert(detail::task_matches(task<"localhost", 0>::value, cpu<0>::value));
static_assert(!detail::task_matches(task<"localhost", 1>::value, cpu<0>::value));
static_assert(!detail::task_matches(worker::value, cpu<0>::value));
static_assert(detail::task_matches(gpu<0>::value, task<"worker", 1, cpu<0>>::value));

// Tasks of a world stay in their order, the devices of each in the order of preference.
using cluster = world<task<"ps", 0>, task<"worker", 0>, task<"worker", 1>, task<"worker", 0, gpu<0>>>;
static_assert(cluster::places[0] == task<"ps", 0, cpu<0>>::value);
static_assert(cluster::places[1] == task<"worker", 0, gpu<0>>::value);
static_assert(cluster::places[2] == task<"worker", 0, cpu<0>>::value);
static_assert(cluster::places[3] == task<"worker", 1, cpu<0>>::value);

inline constexpr auto a = placeholder<"a", float, 4, 4>;
inline constexpr auto b = placeholder<"b", float, 4, 4>;

// Each part reads its own feed; two values go to the server, and the result stays there.
constexpr auto c1 = on<task<"worker", 0>>(matmul(a, a));
constexpr auto c2 = on<task<"worker", 1>>(matmul(b, b));
constexpr auto total = on<task<"ps", 0>>(add_n(c1, c2));
static_assert(plan_of(total).transfers == 2 && plan_of(total).messages == 2 && plan_of(total).message_bytes == 128);
static_assert(plan_of<cluster>(total).messages == 2);
static_assert(plan_of<cluster>(total).peak_bytes(task<"ps", 0, cpu<0>>{}) ==
              512);  // two values, each rounded up to 256

// A result that no task is asked for arrives in every process: one message for each of the others. Of a sum it is an
// all-reduce of the tasks that have its terms, and a message for each of the others.
constexpr auto everywhere = c1 * on<task<"worker", 1>>(b);
static_assert(plan_of<cluster>(everywhere).messages == 4);
constexpr auto sum_everywhere = add_n(c1, c2);
static_assert(plan_of<cluster>(sum_everywhere).all_reduces == 1 && plan_of<cluster>(sum_everywhere).messages == 1);

// From a GPU to a GPU of another process it is three copies, of which one is a message.
constexpr auto far = on<task<"worker", 1, gpu<0>>>(exp(on<task<"worker", 0, gpu<0>>>(matmul(a, a))));
using gpus = world<task<"worker", 0, gpu<0>>, task<"worker", 0>, task<"worker", 1, gpu<0>>, task<"worker", 1>>;
static_assert(plan_of<gpus>(far).messages == 1 && plan_of<gpus>(far).transfers == 5);

// Programs of one process send none.
static_assert(plan_of(matmul(a, b)).messages == 0);

// Soft placement stays in the task; hard placement refuses.
using no_gpu = world<task<"worker", 0>, task<"worker", 1>>;
static_assert(plan_of<no_gpu>(far).placement[2].where == task<"worker", 1, cpu<0>>::value);
static_assert(!placeable<no_gpu>(far));
static_assert(!plan_of<world<task<"worker", 0>>>(far).placeable);
