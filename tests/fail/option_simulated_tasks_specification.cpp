// SPDX-License-Identifier: BSL-1.0
// The tasks of a specification want the header of simulated clusters, too.
// FAIL: \[onto\.option\] simulated_tasks is a cluster inside this process; #include <onto/simulated_cluster\.hpp>
// LINES: 13
#ifdef ONTO_TWIN
#include <onto/simulated_cluster.hpp>
#else
#include <onto/onto.hpp>

#include <onto/backend/cluster/spec.hpp>
#endif

int main() { onto::session sess{{.simulated_tasks = onto::cluster_spec{{"worker", 4}}}}; }
