// SPDX-License-Identifier: BSL-1.0
// A cluster inside one process is in a header of its own.
// FAIL: \[onto\.option\] simulated_tasks is a cluster inside this process; #include <onto/simulated_cluster\.hpp>
// LINES: 13
#ifdef ONTO_TWIN
#include <onto/simulated_cluster.hpp>
#else
#include <onto/onto.hpp>
#endif

int main() { onto::session sess{{.simulated_tasks = {{"worker", 4}}}}; }
