// SPDX-License-Identifier: BSL-1.0
// onto's side of ./run bench training: a step of training of each network, as a prepared program. usage: PROGRAM
// THREADS
#include "rows.hpp"

#include <cstdlib>

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  beside::rows rows;
  rows["tiny perceptron"] = [=] { return training::tiny(threads); };
  rows["perceptron"] = [=] { return training::perceptron(threads); };
  rows["digits"] = [=] { return training::digits(threads); };
  rows["cifar10"] = [=] { return training::cifar10(threads); };
  rows["transformer block"] = [=] { return training::transformer(threads); };
  return beside::answer(rows);
}
