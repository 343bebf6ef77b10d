// SPDX-License-Identifier: BSL-1.0
// What each worker does is given its session and its number.
// FAIL: \[onto\.cluster\] run_asynchronously calls what each worker does
#include <onto/asynchronous.hpp>

#ifdef ONTO_TWIN
void work(onto::session&, int) {}
#else
void work(onto::session&) {}
#endif
void start() { onto::run_asynchronously({{"ps", 1}, {"worker", 2}}, "worker", work); }
