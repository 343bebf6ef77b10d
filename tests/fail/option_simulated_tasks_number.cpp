// SPDX-License-Identifier: BSL-1.0
// Tasks of a cluster are those of its jobs.
// FAIL: \[onto\.option\] simulated_tasks are of a job; give it a name
// LINES: 14
#include <onto/simulated_cluster.hpp>

#ifdef ONTO_TWIN
int main() { onto::session sess{{.simulated_tasks = {{"worker", 4}}}}; }
#else
int main() { onto::session sess{{.simulated_tasks = 4}}; }
#endif
