#include "loadgen/config/crowd.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "loadgen/config/config.h"
#include "tests/catch.h"

using loadgen::Config;

namespace {

// Nothing: wrong usage.
std::optional<Config> crowd(std::vector<std::string> more) {
  std::vector<std::string> arguments{"loadgen", "get",    "--user", "u",       "--password",
                                     "p",       "--file", "f",      "--users", "10"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  auto outcome = loadgen::read_config(static_cast<int>(argv.size()), argv.data());
  if (std::holds_alternative<int>(outcome)) return {};
  return std::get<Config>(std::move(outcome));
}

}  // namespace

TEST_CASE("a crowd has users, a pace and the defaults of the paper", "[loadgen]") {
  const auto config = crowd({"--pace", "1000"});
  REQUIRE(config);
  CHECK(loadgen::is_crowd(*config));
  CHECK_FALSE(loadgen::is_open_loop(*config));
  CHECK(loadgen::testers_of(*config) == 10);
  CHECK(config->connection == loadgen::Connection::kKeepAlive);
  CHECK(config->crowd.pace_bytes_s == 1000);
  CHECK(config->crowd.least_rate_percent == 75);
  CHECK(config->crowd.until_stable_ms == 20'000);
}

TEST_CASE("a crowd ends by time only if that is asked for", "[loadgen]") {
  const auto by_time = crowd({"--pace", "1000", "--ramp", "1", "--seconds", "3"});
  REQUIRE(by_time);
  CHECK(by_time->crowd.until_stable_ms == 0);
  CHECK(by_time->seconds_ms == 3000);
  CHECK_FALSE(crowd({"--pace", "1000", "--seconds", "3", "--until-stable", "4"}));
}

TEST_CASE("a crowd has as many threads as cores, or as asked for, or as users", "[loadgen]") {
  CHECK(crowd({"--pace", "1000"})->threads >= 1);
  CHECK(crowd({"--pace", "1000", "--threads", "3"})->threads == 3);
  CHECK(crowd({"--pace", "1000", "--threads", "30"})->threads == 10);
}

TEST_CASE("users without a pace are no crowd", "[loadgen]") {
  const auto closed = crowd({});
  REQUIRE(closed);
  CHECK_FALSE(loadgen::is_crowd(*closed));
  CHECK(loadgen::has_users(*closed));
  CHECK(loadgen::kind_of(*closed) == loadgen::RunKind::kClosed);
  CHECK(loadgen::testers_of(*closed) == 10);
  CHECK(closed->connection == loadgen::Connection::kPerRequest);
  const auto open = crowd({"--rate", "1000"});
  REQUIRE(open);
  CHECK(loadgen::kind_of(*open) == loadgen::RunKind::kOpen);
}

TEST_CASE("the pace of users is no rate of requests", "[loadgen]") {
  for (const char* const bad : {"0", "0.5", "-1", "x", "1e9", "nan"}) {
    CAPTURE(bad);
    CHECK_FALSE(crowd({"--pace", bad}));
  }
  CHECK(crowd({"--pace", "1e3"})->crowd.pace_bytes_s == 1000);
  CHECK(crowd({"--pace", "2.5"})->crowd.pace_bytes_s == 2.5);
  CHECK_FALSE(crowd({"--pace", "1000", "--rate", "1000"}));
}

TEST_CASE("what a crowd does not do is wrong usage", "[loadgen]") {
  CHECK_FALSE(crowd({"--pace", "1000", "--requests", "5"}));
  CHECK_FALSE(crowd({"--pace", "1000", "--save", "/tmp"}));
  CHECK_FALSE(crowd({"--pace", "1000", "--warmup", "1"}));
  CHECK_FALSE(crowd({"--pace", "1000", "--receive-buffer", "0"}));
  CHECK_FALSE(crowd({"--pace", "1000", "--least-rate", "100"}));
  CHECK(crowd({"--pace", "1000", "--least-rate", "99"}));
}

TEST_CASE("a crowd does not end before all its users are started", "[loadgen]") {
  CHECK_FALSE(crowd({"--pace", "1000", "--seconds", "5", "--ramp", "5"}));
  CHECK(crowd({"--pace", "1000", "--seconds", "5", "--ramp", "4.9"}));
  CHECK(crowd({"--pace", "1000", "--seconds", "5"})->crowd.ramp_ms == 2500);
  CHECK(crowd({"--pace", "1000", "--seconds", "60"})->crowd.ramp_ms == 10'000);
  CHECK(crowd({"--pace", "1000", "--until-stable", "5", "--ramp", "20"}));
}
