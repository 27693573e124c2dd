#include "loadgen/config/config.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tests/catch.h"
#include "tests/environment_variable.h"

using loadgen::Config;

namespace {

struct Outcome {
  std::optional<Config> config;
  int exit_status = 0;  // if there is no config
};

Outcome read(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "loadgen");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  const auto outcome = loadgen::read_config(static_cast<int>(argv.size()), argv.data());
  if (const int* const exit_status = std::get_if<int>(&outcome)) return {{}, *exit_status};
  return {std::get<Config>(outcome)};
}

// A get with the flags that every get needs, and `more`.
Outcome read_get(std::vector<std::string> more) {
  more.insert(more.begin(), {"get", "--user", "u", "--password", "p"});
  return read(more);
}

bool is_refused(const Outcome& outcome) { return !outcome.config && outcome.exit_status == 2; }

}  // namespace

TEST_CASE("a new run needs no flags", "[loadgen]") {
  const auto config = read({"new"}).config;
  REQUIRE(config);
  CHECK(config->request == loadgen::RequestKind::kNew);
  CHECK(config->seconds_ms == 10'000);
  CHECK(config->requests == 0);
  CHECK(config->connection == loadgen::Connection::kPerRequest);
}

TEST_CASE("a put is for HTTP, and has a size", "[loadgen]") {
  const auto put = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"put", "--user", "u", "--password", "p"});
    return read(more);
  };
  const auto config = put({"--protocol", "http", "--size", "3M"}).config;
  REQUIRE(config);
  CHECK(config->request == loadgen::RequestKind::kPut);
  CHECK(config->protocol == loadgen::Protocol::kHttp);
  CHECK(config->size_bytes == 3 * 1024 * 1024);
  CHECK(is_refused(put({"--size", "3M"})));
  CHECK(is_refused(put({"--protocol", "http"})));
  CHECK(is_refused(put({"--protocol", "http", "--size", "0"})));
  CHECK(is_refused(read({"put", "--protocol", "http", "--size", "1"})));
}

TEST_CASE("native is the protocol unless another one is named", "[loadgen]") {
  CHECK(read({"new"}).config->protocol == loadgen::Protocol::kNative);
  CHECK(read({"new", "--protocol", "http"}).config->protocol == loadgen::Protocol::kHttp);
  CHECK(is_refused(read({"new", "--protocol", "ftp"})));
  CHECK(is_refused(read_get({"--file", "f", "--protocol", "http", "--pipeline"})));
}

TEST_CASE("names that the native protocol cannot ask for are names of HTTP", "[loadgen]") {
  for (const std::string& name :
       {std::string("ping"), std::string("new:x"), std::string(2'700, 'a')}) {
    CHECK(is_refused(read_get({"--file", name})));
    CHECK(read_get({"--file", name, "--protocol", "http"}).config);
  }
  CHECK(is_refused(read_get({"--file", std::string(2'701, 'a'), "--protocol", "http"})));
}

TEST_CASE("a get run takes every flag", "[loadgen]") {
  const auto config =
      read_get({"--file", "1KB%d.txt", "--unique", "5", "--threads", "3", "--requests", "7",
                "--pipeline", "--connection", "keep-alive", "--timeout", "0.5", "--json", "-"})
          .config;
  REQUIRE(config);
  CHECK(config->unique == 5);
  CHECK(config->threads == 3);
  CHECK(config->requests == 7);
  CHECK(config->is_pipelined);
  CHECK(config->connection == loadgen::Connection::kKeepAlive);
  CHECK(config->timeout_ms == 500);
  CHECK(config->json == "-");
}

TEST_CASE("there are two kinds of request", "[loadgen]") {
  CHECK(is_refused(read({})));
  CHECK(is_refused(read({"put"})));
  CHECK(is_refused(read({"new", "get"})));
}

TEST_CASE("a get needs user, password and file", "[loadgen]") {
  CHECK(is_refused(read({"get", "--password", "p", "--file", "f"})));
  CHECK(is_refused(read({"get", "--user", "u", "--file", "f"})));
  CHECK(is_refused(read_get({})));
  CHECK(is_refused(read({"get", "--user", "a b", "--password", "p", "--file", "f"})));
  CHECK(is_refused(read({"get", "--user", "u", "--password", "a\tb", "--file", "f"})));
}

TEST_CASE("%d in --file and --unique need each other", "[loadgen]") {
  CHECK(is_refused(read_get({"--file", "f%d"})));
  CHECK(is_refused(read_get({"--file", "f", "--unique", "2"})));
}

TEST_CASE("a --file that the server would not take for a file name is refused", "[loadgen]") {
  for (const std::string& name :
       {std::string("ping"), std::string("new:x"), std::string("a\nb"), std::string(512, 'a')}) {
    CAPTURE(name);
    CHECK(is_refused(read_get({"--file", name})));
  }
  CHECK(read_get({"--file", std::string(511, 'a')}).config);
}

TEST_CASE("a run ends by time or by number, not by both", "[loadgen]") {
  CHECK(is_refused(read({"new", "--seconds", "5", "--requests", "5"})));
  CHECK(is_refused(read({"new", "--seconds", "0"})));
  CHECK(is_refused(read({"new", "--requests", "0"})));
  CHECK(read({"new", "--seconds", "0.5"}).config->seconds_ms == 500);
}

TEST_CASE("the command line decides how a run ends, not the environment", "[loadgen]") {
  const tests::EnvironmentVariable seconds("LOADGEN_SECONDS", "5");
  CHECK(read({"new"}).config->seconds_ms == 5'000);
  CHECK(read({"new", "--requests", "3"}).config->requests == 3);
  const tests::EnvironmentVariable requests("LOADGEN_REQUESTS", "7");
  CHECK(is_refused(read({"new"})));
}

TEST_CASE("a run by time on the command line beats a number of requests in the environment",
          "[loadgen]") {
  const tests::EnvironmentVariable requests("LOADGEN_REQUESTS", "7");
  const auto config = read({"new", "--seconds", "2"}).config;
  REQUIRE(config);
  CHECK(config->seconds_ms == 2'000);
  CHECK(config->requests == 0);
}

TEST_CASE("--once needs --unique", "[loadgen]") {
  CHECK(is_refused(read_get({"--file", "f", "--once"})));
  CHECK(read_get({"--file", "f%d", "--unique", "3", "--once"}).config->asks_once);
}

TEST_CASE("--save refuses names that leave its folder", "[loadgen]") {
  CHECK(read_get({"--file", "a/b%d", "--unique", "2", "--save", "kept"}).config->save == "kept");
  CHECK(is_refused(read_get({"--file", "../f", "--save", "kept"})));
  CHECK(is_refused(read_get({"--file", "a/../../f", "--save", "kept"})));
  CHECK(read_get({"--file", "../f"}).config);
}

TEST_CASE("--verify needs --verify-root", "[loadgen]") {
  CHECK(is_refused(read_get({"--file", "f", "--verify"})));
  CHECK(read_get({"--file", "f", "--verify", "--verify-root", "files"}).config->must_verify);
}

TEST_CASE("more than one account needs %d in --user", "[loadgen]") {
  const auto get = [](const char* user, const char* accounts) {
    return read({"get", "--user", user, "--password", "p", "--file", "f", "--accounts", accounts});
  };
  CHECK(get("u%d", "1000").config->accounts == 1'000);
  CHECK(get("u%d", "1").config);
  CHECK(is_refused(get("u", "1")));
  CHECK(is_refused(get("u", "2")));
  CHECK(is_refused(get("u%d", "0")));
  CHECK(is_refused(read({"new", "--accounts", "2"})));
  CHECK(read({"new", "--accounts", "2", "--user", "u%d", "--password", "p"}).config);
}

TEST_CASE("a new with %d in --user needs a password", "[loadgen]") {
  CHECK(is_refused(read({"new", "--user", "u%d"})));
  CHECK(read({"new", "--user", "u%d", "--password", "p"}).config);
}

TEST_CASE("the longest user and password of a run are checked", "[loadgen]") {
  const auto get = [](const std::string& user, const std::string& password) {
    return read({"get", "--user", user, "--password", password, "--file", "f", "--accounts", "10"});
  };
  CHECK(get(std::string(62, 'u') + "%d", "p").config);
  CHECK(is_refused(get(std::string(63, 'u') + "%d", "p")));
  CHECK(get("u%d", std::string(126, 'p') + "%d").config);
  CHECK(is_refused(get("u%d", std::string(127, 'p') + "%d")));
  CHECK(is_refused(get("u %d", "p")));
}

TEST_CASE("--rate makes the loop open", "[loadgen]") {
  CHECK_FALSE(loadgen::is_open_loop(*read({"new"}).config));
  const auto config = read({"new", "--rate", "0.5", "--arrivals", "poisson", "--seed", "7"}).config;
  REQUIRE(config);
  CHECK(loadgen::is_open_loop(*config));
  CHECK(config->rate_rps == 0.5);
  CHECK(config->arrivals == loadgen::ArrivalKind::kPoisson);
  CHECK(config->seed == 7);
  for (const char* const bad : {"0", "-1", "x", "1x", "", "nan", "inf", "1e9", "0.0001"}) {
    CAPTURE(bad);
    CHECK(is_refused(read({"new", "--rate", bad})));
  }
}

TEST_CASE("a pace is that of users", "[loadgen]") {
  CHECK(is_refused(read_get({"--file", "f", "--pace", "1000"})));
  CHECK(is_refused(read_get({"--file", "f", "--rate", "5", "--pace", "1000"})));
}

TEST_CASE("an open loop ends by time, and not when something is used up", "[loadgen]") {
  CHECK(is_refused(read({"new", "--rate", "5", "--requests", "5"})));
  CHECK(is_refused(read({"new", "--rate", "5", "--user", "u%d", "--password", "p"})));
  CHECK(is_refused(read_get({"--file", "f%d", "--unique", "3", "--once", "--rate", "5"})));
  CHECK(read_get({"--file", "f%d", "--unique", "3", "--rate", "5"}).config);
}

TEST_CASE("a burst is a number of rounds of get in a closed loop", "[loadgen]") {
  const auto burst = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"--file", "a", "--release", "transfer"});
    return read_get(more);
  };
  const auto config = burst({"--requests", "3"}).config;
  REQUIRE(config);
  CHECK(loadgen::is_burst(*config));
  CHECK(loadgen::notes_transfers(*config));
  CHECK(burst({"--requests", "100000", "--connection", "keep-alive"}).config);
  CHECK(burst({"--requests", "3", "--hold", "/sys/fs/cgroup/a"}).config);
  CHECK(is_refused(read_get({"--file", "a", "--hold", "/sys/fs/cgroup/a"})));
  CHECK(is_refused(burst({})));
  CHECK(is_refused(burst({"--seconds", "3"})));
  CHECK(is_refused(burst({"--requests", "100001"})));
  CHECK(is_refused(burst({"--requests", "3", "--rate", "5"})));
  CHECK(is_refused(burst({"--users", "3", "--pace", "5"})));
  CHECK(is_refused(burst({"--requests", "3", "--warmup", "1"})));
  CHECK(is_refused(burst({"--requests", "3", "--pipeline"})));
  CHECK(is_refused(read({"new", "--release", "transfer", "--requests", "3"})));
  CHECK_FALSE(loadgen::is_burst(*read_get({"--file", "a"}).config));
  CHECK_FALSE(loadgen::notes_transfers(*read_get({"--file", "a"}).config));
}

TEST_CASE("the record of transfers is for get and put, but not of a crowd", "[loadgen]") {
  const auto get = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"--file", "a", "--transfers", "t.csv"});
    return read_get(more);
  };
  const auto config = get({}).config;
  REQUIRE(config);
  CHECK(config->transfers == "t.csv");
  CHECK(loadgen::notes_transfers(*config));
  CHECK(get({"--release", "transfer", "--requests", "3", "--json", "r.json"}).config);
  CHECK(get({"--rate", "5"}).config);
  CHECK(is_refused(get({"--users", "2", "--pace", "5"})));
  CHECK(is_refused(get({"--json", "t.csv"})));
  CHECK(is_refused(read({"new", "--transfers", "t.csv"})));
}

TEST_CASE("a run is of one kind", "[loadgen]") {
  using loadgen::RunKind;
  const auto kind = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"--file", "a"});
    return kind_of(*read_get(more).config);
  };
  CHECK(kind({}) == RunKind::kClosed);
  CHECK(kind({"--requests", "3"}) == RunKind::kClosed);
  CHECK(kind({"--rate", "5"}) == RunKind::kOpen);
  CHECK(kind({"--release", "transfer", "--requests", "3"}) == RunKind::kBurst);
  CHECK(kind({"--users", "2", "--pace", "5"}) == RunKind::kCrowd);
}
