#include "loadgen/workload.h"

#include <set>
#include <string>
#include <variant>

#include "tests/catch.h"
#include "wire/request.h"

using loadgen::Config;
using loadgen::file_name;
using loadgen::file_number;
using loadgen::Workload;

namespace {

Config get_config(const std::string& file, int unique) {
  Config config;
  config.request = loadgen::RequestKind::kGet;
  config.user = "u";
  config.password = "p";
  config.file = file;
  config.unique = unique;
  return config;
}

}  // namespace

TEST_CASE("thread t asks for t*COUNT+1 to (t+1)*COUNT, in order, wrapping", "[loadgen]") {
  CHECK(file_number(0, 3, 0) == 1);
  CHECK(file_number(0, 3, 1) == 2);
  CHECK(file_number(0, 3, 2) == 3);
  CHECK(file_number(0, 3, 3) == 1);
  CHECK(file_number(2, 3, 0) == 7);
  CHECK(file_number(2, 3, 2) == 9);
  CHECK(file_number(2, 3, 3) == 7);
}

TEST_CASE("no two threads ever ask for the same file, and together they ask for all", "[loadgen]") {
  constexpr int kThreads = 7;
  constexpr int kCount = 5;
  std::set<std::int64_t> seen;
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int request = 0; request < kCount; ++request)
      CHECK(seen.insert(file_number(thread, kCount, request)).second);
  }
  CHECK(*seen.begin() == 1);
  CHECK(*seen.rbegin() == kThreads * kCount);
}

TEST_CASE("file numbers do not overflow", "[loadgen]") {
  CHECK(file_number(99'999, 1'000'000'000, 999'999'999) == 100'000'000'000'000);
}

TEST_CASE("every %d in a name is replaced by the number", "[loadgen]") {
  CHECK(file_name("1KB%d.txt", 12) == "1KB12.txt");
  CHECK(file_name("%d/%d", 3) == "3/3");
  CHECK(file_name("1KB1.txt", 12) == "1KB1.txt");
  CHECK(file_name("100%.txt", 12) == "100%.txt");
}

TEST_CASE("a get is two lines, available separately and in one piece", "[loadgen]") {
  const Config config = get_config("1KB%d.txt", 2);
  Workload workload(config, "run", 3);
  const loadgen::Request first = workload.next();
  CHECK(first.opening == "get:u:p\n");
  CHECK(first.file_line == "1KB7.txt\n");
  CHECK(first.both == "get:u:p\n1KB7.txt\n");
  CHECK(first.file_name == "1KB7.txt");
  CHECK(workload.next().file_name == "1KB8.txt");
  CHECK(workload.next().file_name == "1KB7.txt");
}

TEST_CASE("with --once a workload is used up after each file was asked for", "[loadgen]") {
  Config config = get_config("1KB%d.txt", 2);
  CHECK_FALSE(Workload(config, "run", 0).is_used_up());
  config.asks_once = true;
  Workload workload(config, "run", 0);
  for (const bool is_used_up : {false, true}) {
    workload.next();
    CHECK(workload.is_used_up() == is_used_up);
  }
}

TEST_CASE("a new is one line that the fileserver accepts", "[loadgen]") {
  Config config;
  config.request = loadgen::RequestKind::kNew;
  Workload workload(config, loadgen::random_word(), 99'999);
  const loadgen::Request request = workload.next();
  CHECK(request.file_line.empty());
  CHECK(request.both == request.opening);
  REQUIRE(request.opening.ends_with('\n'));
  const auto line = request.opening.substr(0, request.opening.size() - 1);
  CHECK(std::holds_alternative<wire::New>(wire::parse_client_line(line)));
}

TEST_CASE("no two requests, threads or runs make the same user name", "[loadgen]") {
  Config config;
  config.request = loadgen::RequestKind::kNew;
  std::set<std::string> users;
  for (const std::string& run_name : {loadgen::random_word(), loadgen::random_word()}) {
    for (const int thread : {0, 1, 11}) {
      Workload workload(config, run_name, thread);
      for (int i = 0; i < 20; ++i) {
        const std::string line(workload.next().opening);
        CHECK(users.insert(line.substr(4, line.find(':', 4) - 4)).second);
      }
    }
  }
}
