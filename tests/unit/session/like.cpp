// SPDX-License-Identifier: BSL-1.0
// Counting and random numbers in the shape of another tensor: what they are with extents in the type, and of views.
#include <onto/onto.hpp>

#include <string>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto open = placeholder<"open", float, dyn, dyn>;
constexpr auto known = placeholder<"known", float, 3, 5>;
constexpr auto line = placeholder<"line", half, dyn>;
const tensor<float, 3, 5> X = evaluate(reshape<3, 5>(iota<float, 15>()) - 7.f);

/// Both are the same on the CPU and on a simulated GPU.
template <class Open, class Known>
bool agree(const Open& o, const Known& k) {
  session sess{{.simulated_gpus = 1}};
  const auto wanted = sess.run(k);
  return sess.run(on<cpu<0>>(o), open = X) == wanted && sess.run(on<gpu<0>>(o), open = X) == wanted;
}

}  // namespace

TEST_CASE("numbers along an axis are those of the type's extents", "[session]") {
  CHECK(agree(iota_like(open), iota_like(known)));
  CHECK(agree(iota_like<0>(open), iota_like<0>(known)));
  CHECK(agree(iota_like<0, int>(open), iota_like<0, int>(known)));
  CHECK(agree(iota_like<1, std::int64_t>(transpose(open)), iota_like<1, std::int64_t>(transpose(known))));
  CHECK(agree(iota_like<1>(flip<1>(open)) * 2.f + iota_like<0>(open), iota_like<1>(known) * 2.f + iota_like<0>(known)));
  session sess;
  CHECK(sess.run(iota_like<0>(known)) == tensor<float, 3, 5>{{0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}, {2, 2, 2, 2, 2}});
  CHECK(sess.run(iota_like(line), line = tensor<half, 3>{7, 8, 9}) == tensor<half, 3>{0, 1, 2});
  CHECK(sess.run(iota_like<0>(open), open = tensor<float, 3, 0>{}).size() == 0);
}

TEST_CASE("triangles of extents that only the run knows are those of the type's", "[session]") {
  const auto same = [](const auto& o, const auto& k) {
    session sess{{.simulated_gpus = 1}};
    const auto wanted = sess.run(k, known = X);
    return sess.run(on<cpu<0>>(o), open = X) == wanted && sess.run(on<gpu<0>>(o), open = X) == wanted;
  };
  CHECK(same(tril(open), tril(known)));
  CHECK(same(triu<1>(open) * 2.f, triu<1>(known) * 2.f));
  CHECK(same(tril<-2>(stack(exp(open), open)), tril<-2>(stack(exp(known), known))));
  CHECK(same(triu<-1>(transpose(open)), triu<-1>(transpose(known))));
  CHECK(same(sum<0>(tril(open) * open), sum<0>(tril(known) * known)));
  session sess;
  CHECK(sess.run(gradient(sum(square(tril(open))), open), open = X) == sess.run(2.f * tril(known), known = X));
  CHECK(sess.run(tril(open), open = tensor<float, 0, 2>{}).size() == 0);
  constexpr auto partly = placeholder<"partly", bool, dyn, 2>;
  CHECK(sess.run(triu(partly), partly = tensor<bool, 3, 2>{{true, true}, {true, true}, {true, true}}) ==
        tensor<bool, 3, 2>{{true, true}, {false, true}, {false, false}});
}

TEST_CASE("random numbers like a tensor are those of the type's extents", "[session]") {
  CHECK(agree(random_uniform_like(open, 7), random_uniform<float, 3, 5>(7)));
  CHECK(agree(random_normal_like(open, 7), random_normal<float, 3, 5>(7)));
  CHECK(agree(random_uniform_like(exp(transpose(open)), 3) + 1.f, random_uniform<float, 5, 3>(3) + 1.f));
  session sess;
  const tensor<half, dyn> X({100});
  CHECK(sess.run(random_uniform_like(line, 1), line = X) == sess.run(random_uniform<half, 100>(1)));
}

TEST_CASE("where extents are in the type, the other tensor need not run", "[session]") {
  CHECK(plan_of(random_uniform_like(exp(known), 1)).nodes == plan_of(random_uniform<float, 3, 5>(1)).nodes);
  CHECK(plan_of(iota_like<0>(exp(known))).text().find("Exp") == std::string::npos);
}
