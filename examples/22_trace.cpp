// SPDX-License-Identifier: BSL-1.0
// What happened when: a trace of the tower program on simulated GPUs, in the time that H200s would take.
#include <onto/onto.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

using namespace onto;
namespace hana = boost::hana;

/// Prints a trace with its events in order: the devices write them as they come.
void print_sorted(const char* path) {
  std::ifstream file(path);
  std::string head, line;
  std::getline(file, head);
  std::vector<std::string> events;
  while (std::getline(file, line) && line != "]}") {
    if (line.ends_with(',')) line.pop_back();
    events.push_back(line);
  }
  std::sort(events.begin(), events.end());
  std::cout << head << '\n';
  for (std::size_t k = 0; k < events.size(); ++k) std::cout << events[k] << (k + 1 < events.size() ? ",\n" : "\n");
  std::cout << "]}\n";
}

int main() {
  const auto sum = on<cpu<0>>(add_n(towers(hana::tuple_t<gpu<2>, gpu<3>>, [](auto) {
    const auto a = constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
    const auto b = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
    return matmul(a, b);
  })));

  // [trace]
  session sess{{.simulated_gpus = 4, .simulation = h200, .trace = "run.json"}};
  sess.run(sum);
  // [trace]
  print_sorted("run.json");
}
