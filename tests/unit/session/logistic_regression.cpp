// SPDX-License-Identifier: BSL-1.0
// Logistic regression, in few kernels, learns what plain loops learn.
#include <onto/onto.hpp>

#include "catch.hpp"
#include "session/logistic_regression.hpp"
#include "session/simulated.hpp"

using namespace onto;
using namespace logistic_regression;

namespace {

const auto as_it_is = [](const auto& e) { return e; };

}  // namespace

TEST_CASE("logistic regression learns in every spelling", "[training]") {
  check_models([] { return session_options{}; }, as_it_is);
}

TEST_CASE("logistic regression learns on a simulated GPU", "[training]") {
  check_models([] { return onto_test::simulated_alone({.simulated_gpus = 1}); }, as_it_is);
}

TEST_CASE("numbers of several types are one kernel, and what is the same everywhere is made where it is read") {
  session here, there{onto_test::simulated_alone({.simulated_gpus = 1})};
  check_numbers(here, as_it_is), check_numbers(there, as_it_is);
  check_uniform(here, as_it_is), check_uniform(there, as_it_is);
}
