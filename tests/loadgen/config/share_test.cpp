#include "loadgen/config/share.h"

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "loadgen/config/config.h"
#include "loadgen/config/ramp.h"
#include "tests/catch.h"

using loadgen::Config;
using loadgen::Ramp;
using loadgen::Share;

namespace {

// The config of tester `share` of a get. Nothing: wrong usage.
std::optional<Config> get(const std::string& share, std::vector<std::string> more) {
  std::vector<std::string> words{"loadgen", "get",    "--user",  "u",  "--password",
                                 "p",       "--file", "--share", share};
  words.insert(words.begin() + 7, "f");
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  auto outcome = loadgen::read_config(static_cast<int>(argv.size()), argv.data());
  if (std::holds_alternative<int>(outcome)) return {};
  return std::get<Config>(std::move(outcome));
}

}  // namespace

TEST_CASE("each client is of exactly one part", "[loadgen]") {
  for (const int clients : {1, 2, 7, 12}) {
    for (const int parts : {1, 2, 3, 7, 13}) {
      std::set<int> seen;
      for (int part = 0; part < parts; ++part) {
        const Share share{.part = part, .parts = parts};
        for (int own = 0; own < share.count_of(clients); ++own) {
          const int number = share.number_of(static_cast<std::uint32_t>(own));
          CHECK(number % parts == part);
          CHECK(seen.insert(number).second);
        }
      }
      CHECK(static_cast<int>(seen.size()) == clients);
      CHECK(*seen.rbegin() == clients - 1);
    }
  }
}

TEST_CASE("a tester has its threads of the whole load", "[loadgen]") {
  const auto config = get("2/3", {"--threads", "8"});
  REQUIRE(config);
  CHECK(config->threads == 3);
  CHECK(testers_of(*config) == 3);
  CHECK(clients_of_load(*config) == 8);
  CHECK(number_in_load(*config, 0) == 1);
  CHECK(number_in_load(*config, 2) == 7);
  const auto last = get("3/3", {"--threads", "8"});
  REQUIRE(last);
  CHECK(last->threads == 2);
}

TEST_CASE("a tester has its users of the whole load, and threads for them", "[loadgen]") {
  const auto config = get("1/4", {"--users", "9", "--threads", "5"});
  REQUIRE(config);
  CHECK(config->users == 3);
  CHECK(config->threads == 3);
  CHECK(clients_of_load(*config) == 9);
  CHECK(number_in_load(*config, 2) == 8);
}

TEST_CASE("without other testers, the load is that of the run", "[loadgen]") {
  const auto config = get("1/1", {"--threads", "8"});
  REQUIRE(config);
  CHECK(config->threads == 8);
  CHECK(clients_of_load(*config) == 8);
  CHECK(number_in_load(*config, 5) == 5);
  Config four;
  four.threads = 4;
  CHECK(clients_of_load(four) == 4);
}

TEST_CASE("the ramp of a tester is that of the whole load", "[loadgen]") {
  const auto config = get("2/2", {"--threads", "4", "--ramp", "8", "--life", "10"});
  REQUIRE(config);
  CHECK(config->threads == 2);
  const Ramp ramp(*config);
  CHECK(ramp.plateau_start_ns() == 6 * base::kNsPerS);
  CHECK(ramp.plateau_end_ns() == 10 * base::kNsPerS);
  CHECK(ramp.last_end_ns() == 16 * base::kNsPerS);
  CHECK(ramp.start_ns(number_in_load(*config, 1)) == 6 * base::kNsPerS);
}

TEST_CASE("a tester without a thread or user is wrong usage", "[loadgen]") {
  CHECK(get("3/3", {"--threads", "3"}));
  CHECK_FALSE(get("4/4", {"--threads", "3"}));
  CHECK(get("2/5", {"--users", "2"}));
  CHECK_FALSE(get("3/5", {"--users", "2"}));
}

TEST_CASE("a share is the number of a tester and how many there are", "[loadgen]") {
  for (const char* const wrong : {"", "1", "/", "1/", "/2", "0/2", "3/2", "-1/2", "+1/2", "1/2/3",
                                  "1 /2", "1/0x2", "1/1000001", "1/99999999999999999999"}) {
    CAPTURE(wrong);
    CHECK_FALSE(get(wrong, {"--threads", "3"}));
  }
  CHECK(get("1/1000000", {}));
}
