// SPDX-License-Identifier: BSL-1.0
// Device names: the conformance tables row by row, then the rules behind the rows on generated names.
#include <onto/device/device_name.hpp>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

/// The rows of a table of tests/conformance, cut at tabs, without comments.
std::vector<std::vector<std::string>> table(const std::string& name) {
  std::ifstream file(ONTO_TESTS_DIR "/conformance/" + name);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    auto& row = rows.emplace_back(1);
    for (char c : line) {
      if (c == '\t') {
        row.emplace_back();
      } else {
        row.back() += c;
      }
    }
  }
  return rows;
}

std::string canonical(const std::string& name) { return device_name::parse(name).to_string(); }

/// What parsing says is wrong; empty if nothing.
std::string complaint(const std::string& name) {
  try {
    device_name::parse(name);
  } catch (const invalid_argument_error& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

/// A name under construction: its parts as text, "" for a part left out.
struct draft {
  std::string job, replica, task, device;

  std::vector<std::string> given() const {
    std::vector<std::string> parts;
    for (const auto& part : {job, replica, task, device})
      if (!part.empty()) parts.push_back(part);
    return parts;
  }
};

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const auto& part : parts) all += part;
  return all;
}

/// Names from a fixed seed; few values for each part, so that they often agree.
class names {
 public:
  draft next_draft() {
    draft d;
    if (coin()) d.job = "/job:" + pick({"w", "ps", "localhost", "A_1"});
    if (coin()) d.replica = "/replica:" + number();
    if (coin()) d.task = "/task:" + number();
    const std::string kind = pick({"", "CPU", "GPU", "XLA_GPU", "myspecialdevice"});
    if (!kind.empty()) d.device = "/device:" + kind + ":" + (coin() ? number() : "*");
    return d;
  }
  device_name next() { return device_name::parse(joined(next_draft().given())); }
  std::mt19937& engine() { return engine_; }

 private:
  bool coin() { return engine_() % 2 == 0; }
  std::string pick(const std::vector<std::string>& from) { return from[engine_() % from.size()]; }
  std::string number() { return pick({"0", "1", "12", "2147483647"}); }

  std::mt19937 engine_{20160113};
};

device_name nested(const std::string& scopes) {
  device_name now;
  for (std::size_t at = 0; at != scopes.npos;) {
    const std::size_t end = scopes.find(" > ", at);
    const std::string scope = scopes.substr(at, end == scopes.npos ? end : end - at);
    now = scope == "NONE" ? device_name() : now.merge(device_name::parse(scope));
    at = end == scopes.npos ? end : end + 3;
  }
  return now;
}

}  // namespace

TEST_CASE("device names: the conformance table", "[device]") {
  const auto rows = table("device_names.tsv");
  REQUIRE(rows.size() > 50);
  for (const auto& row : rows) {
    REQUIRE(row.size() >= 2);
    CAPTURE(row[0], row[1]);
    if (row[1] == "REJECT") {
      CHECK_THROWS_AS(device_name::parse(row[0]), invalid_argument_error);
    } else {
      CHECK(canonical(row[0]) == (row[1] == "\"\"" ? "" : row[1]));
    }
  }
}

TEST_CASE("device scopes: the conformance table", "[device]") {
  const auto rows = table("device_scopes.tsv");
  REQUIRE(rows.size() > 10);
  for (const auto& row : rows) {
    REQUIRE(row.size() >= 2);
    CAPTURE(row[0]);
    CHECK(nested(row[0]).to_string() == (row[1] == "\"\"" ? "" : row[1]));
  }
}

TEST_CASE("a printed name parses to an equal name, and prints the same again", "[device]") {
  names some;
  for (int k = 0; k < 2000; ++k) {
    const device_name d = some.next();
    const std::string text = d.to_string();
    CAPTURE(text);
    CHECK(device_name::parse(text) == d);
    CHECK(canonical(text) == text);
  }
}

TEST_CASE("names are equal exactly when they print alike", "[device]") {
  names some;
  int equal = 0;
  for (int k = 0; k < 2000; ++k) {
    const device_name a = some.next(), b = some.next();
    equal += a == b ? 1 : 0;
    CHECK((a == b) == (a.to_string() == b.to_string()));
  }
  CHECK(equal > 0);
}

TEST_CASE("the parts of a name come in any order, each at most once", "[device]") {
  names some;
  for (int k = 0; k < 500; ++k) {
    auto parts = some.next_draft().given();
    const std::string in_order = joined(parts);
    std::shuffle(parts.begin(), parts.end(), some.engine());
    const std::string shuffled = joined(parts);
    CAPTURE(in_order, shuffled);
    CHECK(device_name::parse(shuffled) == device_name::parse(in_order));
    for (const auto& part : parts) {
      CHECK_THROWS_AS(device_name::parse(shuffled + part), invalid_argument_error);
      const std::string open = part.substr(0, part.find(':')) + ":*";
      CHECK_THROWS_AS(device_name::parse(shuffled + open), invalid_argument_error);
      CHECK_THROWS_AS(device_name::parse(open + shuffled), invalid_argument_error);
    }
  }
}

TEST_CASE("the short forms are the same names, in any case", "[device]") {
  const device_name gpu_0 = device_name::parse("/device:GPU:0");
  for (const char* same : {"/gpu:0", "gpu:0", "/GPU:0", "GPU:0", "/gPu:0", "/device:gpu:0", "/device:Gpu:0", "/gpu:00"})
    CHECK(device_name::parse(same) == gpu_0);
  CHECK(canonical("gpu") == "/device:GPU:*");
  CHECK(canonical("cpu:*") == "/device:CPU:*");
  CHECK(canonical("/gpu:1/job:w") == "/job:w/device:GPU:1");
  // Only cpu and gpu have case-blind names: any other kind is told apart by its letters.
  CHECK(device_name::parse("/device:xla_gpu:0") != device_name::parse("/device:XLA_GPU:0"));
}

TEST_CASE("a part left open is the same as one left out", "[device]") {
  CHECK(device_name::parse("/job:*/replica:*/task:*/device:*").constrains_nothing());
  CHECK(device_name::parse("").constrains_nothing());
  CHECK(device_name::parse("/").constrains_nothing());
  CHECK(device_name().constrains_nothing());
  CHECK(device_name().to_string().empty());
  for (const char* something : {"/job:a", "/replica:0", "/task:0", "/gpu", "/gpu:0"})
    CHECK_FALSE(device_name::parse(something).constrains_nothing());
}

TEST_CASE("the parts of a name can be read", "[device]") {
  const device_name d = device_name::parse("/job:w/replica:2/task:3/gpu:4");
  CHECK(d.job() == "w");
  CHECK(d.replica() == 2);
  CHECK(d.task() == 3);
  CHECK(d.kind() == "GPU");
  CHECK(d.index() == 4);
  const device_name open;
  CHECK(open.job().empty());
  CHECK(open.replica() == -1);
  CHECK(open.task() == -1);
  CHECK(open.kind().empty());
  CHECK(open.index() == -1);
}

TEST_CASE("numbers are read exactly or refused", "[device]") {
  for (const char* part : {"/replica:", "/task:", "/gpu:", "/device:GPU:", "/device:tpu:"}) {
    const std::string name = part;
    CAPTURE(name);
    CHECK(contains(canonical(name + "2147483647"), "2147483647"));
    CHECK(canonical(name + "0000000000000000000000000000007") == canonical(name + "7"));
    for (const char* bad : {"2147483648",
                            "2147483650",
                            "2147483700",
                            "4294967295",
                            "4294967296",
                            "18446744073709551616",
                            "99999999999999999999999999999999",
                            "",
                            "-1",
                            "-0",
                            "+1",
                            "0x1",
                            "1.0",
                            "1e3",
                            " 1",
                            "1 ",
                            "1:",
                            "1:2",
                            "**",
                            "*1",
                            "a"}) {
      CAPTURE(bad);
      CHECK_THROWS_AS(device_name::parse(name + bad), invalid_argument_error);
    }
  }
}

TEST_CASE("bytes that are not ASCII, and zeros, are refused and shown readably", "[device]") {
  using namespace std::string_literals;
  CHECK(contains(complaint("/gpu:0\0"s), "column 6: '0\\x00' is not a number"));
  CHECK(contains(complaint("/job:\xc3\xa4"), "'\\xc3\\xa4'"));
  CHECK(contains(complaint("/job:a\n"), "white space"));
  // However long the text, the sentence stays short.
  CHECK(complaint("/job:" + std::string(100000, '-')).size() < 400);
}

TEST_CASE("an error names the whole text, the column, the offending part and what to write", "[device]") {
  struct wrong {
    const char *name, *where, *hint;
  };
  for (const auto& [name, where, hint] : {
           wrong{"/job:123", "column 6: '123'", "starts with a letter"},
           wrong{"/job:w/task:-1", "column 13: '-1'", "write digits"},
           wrong{"/task:2147483648", "column 7: '2147483648'", "the largest number is 2147483647"},
           wrong{"/device:GPU:", "column 13: the end", "write digits"},
           wrong{"/gpu:0 ", "column 6: '0 '", "white space"},
           wrong{"/gpu:0/", "column 8: the end", "remove the '/'"},
           wrong{"//gpu:0", "column 2: the empty text", "remove the '/'"},
           wrong{"/gpu:0/cpu:1", "column 8: 'cpu'", "one name has one device"},
           wrong{"/job:a/job:a", "column 8: 'job'", "given twice"},
           wrong{"/device:*:0", "column 9: '*'", "write the kind"},
           wrong{"/job", "column 5: the end", "'/job:NAME'"},
           wrong{"/device", "column 8: the end", "'/device:KIND:INDEX'"},
           wrong{"/Job:foo", "column 2: 'Job'", "did you mean 'job'?"},
           wrong{"/job:a/tsak:1", "column 8: 'tsak'", "did you mean 'task'?"},
           wrong{"/devcie:GPU:0", "column 2: 'devcie'", "did you mean 'device'?"},
           wrong{"/gpus:0", "column 2: 'gpus'", "did you mean 'gpu'?"},
           wrong{"/cuda:0", "column 2: 'cuda'", "did you mean 'gpu'?"},
           wrong{"/physical_device:GPU:0", "column 2: 'physical_device'", "did you mean 'device'?"},
           wrong{"/gpu0", "column 2: 'gpu0'", "did you mean 'gpu:0'?"},
           wrong{"/tpu:0", "column 2: 'tpu'", "/device:KIND:INDEX"},
           wrong{"job:w", "column 1: 'job'", "did you mean '/job:w'?"},
           wrong{"gpu:0/job:w", "column 1: 'g'", "write '/'"},
           wrong{"foobar", "column 1: 'foobar'", "/device:KIND:INDEX"},
       }) {
    const std::string said = complaint(name);
    CAPTURE(name, said);
    CHECK(contains(said, "[onto.device]"));
    CHECK(contains(said, std::string("'") + name + "'"));
    CHECK(contains(said, where));
    CHECK(contains(said, hint));
  }
}

TEST_CASE("did you mean: every single slip in a word finds the word, unless it is as near to another", "[device]") {
  for (const std::string word : {"job", "replica", "task", "device"}) {
    for (std::size_t k = 0; k < word.size(); ++k) {
      std::string missing = word, doubled = word, replaced = word;
      missing.erase(k, 1);
      doubled.insert(k, 1, word[k]);
      replaced[k] = 'z';
      for (const auto& slip : {missing, doubled, replaced}) {
        CAPTURE(slip);
        CHECK(contains(complaint("/" + slip + ":0"), "did you mean '" + word + "'?"));
      }
    }
  }
  CHECK_FALSE(contains(complaint("/xpu:0"), "did you mean"));
}

TEST_CASE("merging: the inner name wins part by part", "[device]") {
  names some;
  for (int k = 0; k < 2000; ++k) {
    const device_name outer = some.next(), inner = some.next(), both = outer.merge(inner);
    CAPTURE(outer.to_string(), inner.to_string(), both.to_string());
    CHECK(inner.matches(both));
    CHECK(device_name::parse(both.to_string()) == both);
    const bool other_job = !inner.job().empty() && !outer.job().empty() && inner.job() != outer.job();
    const bool other_kind = !inner.kind().empty() && inner.kind() != outer.kind();
    CHECK(both.job() == (inner.job().empty() ? outer.job() : inner.job()));
    CHECK(both.kind() == (inner.kind().empty() ? outer.kind() : inner.kind()));
    CHECK(both.replica() == (inner.replica() >= 0 ? inner.replica() : other_job ? -1 : outer.replica()));
    CHECK(both.task() == (inner.task() >= 0 ? inner.task() : other_job ? -1 : outer.task()));
    CHECK(both.index() == (inner.index() >= 0 ? inner.index() : other_kind ? -1 : outer.index()));
  }
}

TEST_CASE("merging: nothing changes nothing, and a name merged with itself is itself", "[device]") {
  names some;
  for (int k = 0; k < 500; ++k) {
    const device_name d = some.next();
    CHECK(d.merge(device_name()) == d);
    CHECK(device_name().merge(d) == d);
    CHECK(d.merge(d) == d);
  }
}

TEST_CASE("merging is associative while no two of the names differ in job or kind", "[device]") {
  names some;
  const auto agree = [](const std::string& a, const std::string& b) { return a.empty() || b.empty() || a == b; };
  int asked = 0;
  for (int k = 0; k < 5000; ++k) {
    const device_name a = some.next(), b = some.next(), c = some.next();
    if (!agree(a.job(), b.job()) || !agree(b.job(), c.job()) || !agree(a.job(), c.job())) continue;
    if (!agree(a.kind(), b.kind()) || !agree(b.kind(), c.kind()) || !agree(a.kind(), c.kind())) continue;
    ++asked;
    CAPTURE(a.to_string(), b.to_string(), c.to_string());
    CHECK(a.merge(b).merge(c) == a.merge(b.merge(c)));
  }
  CHECK(asked > 100);
}

TEST_CASE("merging runs from the outermost scope in: what a scope dropped does not come back", "[device]") {
  const device_name a = gpu<0>{}, b = device_name::parse("/cpu:*"), c = device_name::parse("/gpu:*");
  CHECK(a.merge(b).merge(c).to_string() == "/device:GPU:*");
  CHECK(a.merge(b.merge(c)).to_string() == "/device:GPU:0");
}

TEST_CASE("naming a job where there was none drops nothing", "[device]") {
  CHECK(nested("/task:1 > /job:w").to_string() == "/job:w/task:1");
  CHECK(nested("/job:a/replica:1/task:2 > /job:b").to_string() == "/job:b");
  CHECK(nested("/job:a/replica:1/task:2 > /job:a/gpu:1").to_string() == "/job:a/replica:1/task:2/device:GPU:1");
  CHECK(nested("/job:a/replica:1/task:2 > /job:b/task:3").to_string() == "/job:b/task:3");
}

TEST_CASE("matching: every part that is given must be there and equal", "[device]") {
  const device_name full = device_name::local(place{device_kind::gpu, 1});
  for (const char* request : {"", "/gpu", "/gpu:1", "/job:localhost", "/replica:0/gpu:1", "/task:0",
                              "/job:localhost/replica:0/task:0/device:GPU:1"})
    CHECK(device_name::parse(request).matches(full));
  for (const char* request : {"/gpu:0", "/cpu", "/cpu:1", "/job:w", "/replica:1", "/task:1/gpu:1", "/device:XLA_GPU:1"})
    CHECK_FALSE(device_name::parse(request).matches(full));
  // A part that is given is not satisfied by one left open.
  CHECK_FALSE(device_name::parse("/gpu:1").matches(device_name::parse("/gpu")));
  CHECK_FALSE(device_name::parse("/job:w").matches(device_name()));

  names some;
  for (int k = 0; k < 1000; ++k) {
    const device_name a = some.next(), b = some.next();
    CHECK(a.matches(a));
    CHECK(device_name().matches(a));
    CHECK((a.matches(b) && b.matches(a)) == (a == b));
    CHECK(a.matches(b) == (b.merge(a) == b));
  }
}

TEST_CASE("a place is a device name", "[device]") {
  STATIC_REQUIRE(std::is_convertible_v<gpu<0>, device_name>);
  STATIC_REQUIRE(std::is_convertible_v<cpu<0>, device_name>);
  STATIC_REQUIRE(std::is_convertible_v<place, device_name>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<int, device_name>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<const char*, device_name>);

  CHECK(device_name(gpu<2>{}) == device_name::parse("/gpu:2"));
  CHECK(device_name::parse("cpu:0") == cpu<0>{});
  CHECK(device_name(place{device_kind::gpu, 3}).to_string() == "/device:GPU:3");
  CHECK(device_name(place{device_kind::cpu, -1}).to_string() == "/device:CPU:*");
  CHECK(device_name(place{device_kind::cpu, -5}) == device_name::parse("/cpu"));
  CHECK(device_name(place{}).constrains_nothing());
  CHECK(device_name(place{device_kind::none, 3}).constrains_nothing());
}

TEST_CASE("the devices of this process have full names", "[device]") {
  CHECK(device_name::local(gpu<0>::value).to_string() == "/job:localhost/replica:0/task:0/device:GPU:0");
  CHECK(device_name::local(cpu<1>::value).to_string() == "/job:localhost/replica:0/task:0/device:CPU:1");
}

TEST_CASE("a name becomes a place: there and back for every place", "[device]") {
  for (device_kind kind : {device_kind::cpu, device_kind::gpu})
    for (int index : {-1, 0, 1, 17, 2147483647}) {
      const place p{kind, index};
      CHECK(device_name(p).to_place() == p);
      CHECK(device_name::local(p).to_place() == p);
    }
  CHECK(device_name().to_place() == place{});
  CHECK(device_name::parse("/job:w/task:1").to_place() == place{});
  CHECK(device_name::parse("/gpu").to_place() == place{device_kind::gpu, -1});
}

TEST_CASE("a kind that onto has no place for is refused, not forgotten", "[device]") {
  const device_name xla = device_name::parse("/device:XLA_GPU:0");
  CHECK_FALSE(xla.has_place());
  CHECK_THROWS_AS(xla.to_place(), invalid_argument_error);
  CHECK(device_name::parse("/gpu:0").has_place());
  CHECK(device_name().has_place());
}

TEST_CASE("devices print as their names", "[device_name]") {
  std::ostringstream out;
  out << device_name::parse("/job:w/gpu:1") << ' ' << gpu<0>{} << ' ' << cpu<2>{};
  CHECK(out.str() == "/job:w/device:GPU:1 /device:GPU:0 /device:CPU:2");
}
