#include "loadgen/config/effects.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "loadgen/config/config.h"
#include "tests/catch.h"
#include "tests/environment_variable.h"

using loadgen::Config;
using loadgen::Protocol;
using loadgen::RequestKind;
using loadgen::RunKind;
using loadgen::why_without_effect;

namespace {

using Words = std::vector<std::string>;

// Nothing: wrong usage.
std::optional<Config> read_words(Words arguments) {
  arguments.insert(arguments.begin(), "loadgen");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  auto outcome = loadgen::read_config(static_cast<int>(argv.size()), argv.data());
  if (std::holds_alternative<int>(outcome)) return {};
  return std::get<Config>(std::move(outcome));
}

// A kind of run, and the shortest command line for it that has what further flags may need.
struct Run {
  RequestKind request;
  Protocol protocol;
  RunKind kind;

  Words words() const {
    Words all{word_of(request), "--protocol", word_of(protocol)};
    const auto add = [&all](const Words& more) { all.insert(all.end(), more.begin(), more.end()); };
    if (request != RequestKind::kNew) add({"--user", "u%d", "--password", "p"});
    if (request == RequestKind::kGet) add({"--file", "f%d", "--unique", "2"});
    if (request == RequestKind::kPut) add({"--size", "5"});
    if (kind == RunKind::kOpen) add({"--rate", "5", "--arrivals", "poisson"});
    if (kind == RunKind::kBurst) add({"--release", "transfer", "--requests", "2"});
    if (kind == RunKind::kCrowd) add({"--users", "2", "--pace", "5", "--engine", "sigio"});
    return all;
  }
};

std::vector<Run> all_runs() {
  std::vector<Run> runs;
  for (const RunKind kind : {RunKind::kClosed, RunKind::kOpen, RunKind::kBurst, RunKind::kCrowd}) {
    for (const Protocol protocol : {Protocol::kNative, Protocol::kHttp, Protocol::kFtp}) {
      runs.push_back({RequestKind::kGet, protocol, kind});
      if (kind == RunKind::kBurst || kind == RunKind::kCrowd) continue;
      if (protocol != Protocol::kFtp) runs.push_back({RequestKind::kNew, protocol, kind});
      if (protocol != Protocol::kNative) runs.push_back({RequestKind::kPut, protocol, kind});
    }
  }
  return runs;
}

bool always(const Run& /*run*/) { return true; }
bool is_get(const Run& run) { return run.request == RequestKind::kGet; }
bool has_user(const Run& run) { return run.request != RequestKind::kNew; }
bool has_loop(const Run& run) { return run.kind == RunKind::kClosed || run.kind == RunKind::kOpen; }
bool is_crowd(const Run& run) { return run.kind == RunKind::kCrowd; }
bool is_open(const Run& run) { return run.kind == RunKind::kOpen; }
bool is_burst(const Run& run) { return run.kind == RunKind::kBurst; }
bool is_by_number(const Run& run) { return is_burst(run) || run.kind == RunKind::kClosed; }
bool is_by_time(const Run& run) { return !is_burst(run); }
bool has_life(const Run& run) { return run.kind == RunKind::kClosed; }
bool has_ramp(const Run& run) { return has_life(run) || is_crowd(run); }
bool takes_files(const Run& run) { return is_get(run) && !is_crowd(run); }
bool asks_by_number(const Run& run) { return is_get(run) && is_by_number(run); }
bool has_transfers(const Run& run) { return has_user(run) && !is_crowd(run); }
bool is_pipe(const Run& run) {
  return is_get(run) && run.protocol == Protocol::kNative && !is_burst(run);
}

bool can_have_channels(const Run& run) {
  return is_get(run) && has_loop(run) && run.protocol != Protocol::kNative;
}

bool never(const Run&) { return false; }

// A flag as it is given, and in which runs it has an effect.
struct Pairs {
  Words words;
  bool (*has_effect)(const Run&);
};

const std::vector<Pairs> kPairs = {
    {{"--server", "127.0.0.1:1"}, always},
    {{"--threads", "2"}, always},
    {{"--timeout", "2"}, always},
    {{"--json", "r.json"}, always},
    {{"--password", "q"}, has_user},
    {{"--accounts", "1"}, has_user},
    {{"--file", "g%d"}, has_user},
    {{"--unique", "3"}, is_get},
    {{"--once"}, asks_by_number},
    {{"--size", "6"}, [](const Run& run) { return run.request == RequestKind::kPut; }},
    {{"--verify", "--verify-root", "d"}, takes_files},
    {{"--verify-root", "d", "--verify"}, takes_files},
    {{"--save", "d"}, takes_files},
    {{"--think", "exp:1"}, [](const Run& run) { return run.kind == RunKind::kClosed; }},
    {{"--seconds", "2"}, is_by_time},
    {{"--requests", "2"}, is_by_number},
    {{"--warmup", "2"}, has_loop},
    {{"--transfers", "t.csv"}, has_transfers},
    {{"--arrivals", "poisson"}, is_open},
    {{"--mix", "get:1"}, [](const Run& run) { return is_get(run) && has_loop(run); }},
    {{"--files", "3"}, takes_files},
    {{"--popularity", "zipf:1", "--files", "3"}, takes_files},
    {{"--seed", "2"}, always},
    {{"--rate", "7"}, [](const Run& run) { return is_by_time(run) && !is_crowd(run); }},
    {{"--connection", "per-request"}, [](const Run& run) { return !is_crowd(run); }},
    {{"--pipeline"}, is_pipe},
    {{"--ftp-data", "pasv"}, [](const Run& run) { return run.protocol == Protocol::kFtp; }},
    {{"--release", "request"}, asks_by_number},
    {{"--hold", "/g"}, is_burst},
    {{"--channels", "2"}, can_have_channels},
    {{"--pool", "2M", "--channels", "2"}, can_have_channels},
    {{"--pool", "2M"}, never},
    {{"--write", "in-place", "--save", "d", "--channels", "2"}, can_have_channels},
    {{"--write", "in-order", "--save", "d"}, never},
    {{"--write", "in-order", "--channels", "2"}, never},
    {{"--users", "3"}, is_by_time},
    {{"--pace", "900"}, is_crowd},
    {{"--ramp", "2"}, has_ramp},
    {{"--life", "2"}, has_life},
    {{"--start-at", "1790000000.5"}, always},
    {{"--share", "1/1"}, [](const Run& run) { return run.kind == RunKind::kClosed; }},
    {{"--series", "s.csv"}, always},
    {{"--telemetry", "9010"}, [](const Run& run) { return run.protocol != Protocol::kFtp; }},
    {{"--distribution", "d.hgrm"}, [](const Run& run) { return !is_crowd(run); }},
    {{"--until-stable", "2"}, is_crowd},
    {{"--receive-buffer", "5000"}, is_crowd},
    {{"--least-rate", "50"}, is_crowd},
    {{"--too-slow", "fail"}, is_crowd},
    {{"--engine", "sigio"}, is_crowd},
    {{"--signal-queue", "5"}, is_crowd},
};

// The command line of `run` with the flag.
Words words_with(const Pairs& pair, const Run& run) {
  Words words = run.words();
  const bool has_files = std::count(pair.words.begin(), pair.words.end(), "--files") > 0;
  const auto unique = std::find(words.begin(), words.end(), "--unique");
  if (has_files && unique != words.end()) words.erase(unique, unique + 2);  // it goes without
  words.insert(words.end(), pair.words.begin(), pair.words.end());
  return words;
}

}  // namespace

TEST_CASE("each flag is accepted exactly in the kinds of run in which it has an effect",
          "[loadgen][effects][no-threads]") {
  for (const Run& run : all_runs()) {
    REQUIRE(read_words(run.words()));
    for (const Pairs& pair : kPairs) {
      // A closed loop with it is a run of another kind.
      const std::string& flag = pair.words.front();
      if (flag == "--release" && is_burst(run)) continue;
      CAPTURE(run.words(), flag);
      CHECK(read_words(words_with(pair, run)).has_value() == pair.has_effect(run));
    }
  }
}

TEST_CASE("the table of effects has every flag", "[loadgen][effects]") {
  const auto config = read_words({"new"});
  REQUIRE(config);
  CHECK(config->settings.size() > 30);
  for (const flags::Setting& one : config->settings) {
    CAPTURE(one.name);
    CHECK(loadgen::knows_effect_of("--" + one.name));
  }
  CHECK(loadgen::knows_effect_of("--password"));
  CHECK_FALSE(loadgen::knows_effect_of("--fish"));
}

TEST_CASE("a flag without effect is answered with what it needs", "[loadgen][effects]") {
  Config config;
  CHECK(why_without_effect("--tls-ca", config) ==
        "--tls-ca has no effect in this run: it needs --tls");
  CHECK_FALSE(why_without_effect("--seed", config));
  CHECK(why_without_effect("--size", config) == "--size has no effect in this run: it needs put");
  CHECK(why_without_effect("--ftp-data", config) ==
        "--ftp-data has no effect in this run: it needs --protocol ftp");
  CHECK_FALSE(why_without_effect("--requests", config));
  config.rate_rps = 5;
  CHECK(why_without_effect("--requests", config) ==
        "--requests has no effect in this run: it needs a closed loop or a burst (--release "
        "transfer)");
  config.release = loadgen::Release::kTransfer;
  CHECK(why_without_effect("--rate", config) ==
        "--rate has no effect in a burst (--release transfer)");
}

TEST_CASE("users have no ramp and no life", "[loadgen][effects]") {
  const Words users{"get", "--user", "u", "--password", "p", "--file", "f", "--users", "9"};
  REQUIRE(read_words(users));
  for (const Words& more : {Words{"--ramp", "2"}, Words{"--life", "2"}}) {
    Words words = users;
    words.insert(words.end(), more.begin(), more.end());
    CAPTURE(more);
    CHECK_FALSE(read_words(words));
  }
}

TEST_CASE("what the environment sets without effect is as if it were not set",
          "[loadgen][effects]") {
  const tests::EnvironmentVariable ramp("LOADGEN_RAMP", "1");
  const tests::EnvironmentVariable pipeline("LOADGEN_PIPELINE", "true");
  const tests::EnvironmentVariable warmup("LOADGEN_WARMUP", "5");
  const tests::EnvironmentVariable users("LOADGEN_USERS", "5");
  const tests::EnvironmentVariable file("LOADGEN_FILE", "a");
  const tests::EnvironmentVariable popularity("LOADGEN_POPULARITY", "zipf:1");
  const tests::EnvironmentVariable mix("LOADGEN_MIX", "get:1");
  const auto made = read_words({"new"});
  REQUIRE(made);
  CHECK(made->users == 5);
  CHECK(made->crowd.ramp_ms == loadgen::crowd::Options().ramp_ms);
  CHECK_FALSE(made->is_pipelined);
  CHECK(made->file.empty());
  CHECK(made->zipf == 0);
  CHECK_FALSE(is_mixed(*made));
  CHECK(made->warmup_ms == 5'000);
  for (const flags::Setting& one : made->settings) {
    if (one.name == "mix") CHECK(std::holds_alternative<std::monostate>(one.value));
  }
  const auto crowd = read_words({"get", "--user", "u", "--password", "p", "--pace", "5"});
  REQUIRE(crowd);
  CHECK(crowd->users == 5);
  CHECK(crowd->crowd.ramp_ms == 1'000);
  CHECK(crowd->warmup_ms == 0);
}

TEST_CASE("a user in the environment without a number is not for new", "[loadgen][effects]") {
  const tests::EnvironmentVariable password("LOADGEN_PASSWORD", "p");
  {
    const tests::EnvironmentVariable user("LOADGEN_USER", "amy");
    CHECK_FALSE(loadgen::makes_given_accounts(*read_words({"new", "--requests", "3"})));
    CHECK(loadgen::makes_given_accounts(*read_words({"new", "--user", "ann"})));
    CHECK(read_words({"get", "--file", "f"})->user == "amy");
  }
  const tests::EnvironmentVariable user("LOADGEN_USER", "amy%d");
  CHECK(loadgen::makes_given_accounts(*read_words({"new", "--accounts", "3"})));
}

TEST_CASE("a file in the environment is not for put", "[loadgen][effects]") {
  const tests::EnvironmentVariable file("LOADGEN_FILE", "f");
  const Words put{"put", "--user", "u", "--password", "p", "--protocol", "http", "--size", "1"};
  REQUIRE(read_words(put));
  CHECK(read_words(put)->file.empty());
  Words named = put;
  named.insert(named.end(), {"--file", "g"});
  CHECK(read_words(named)->file == "g");
  CHECK(read_words({"get", "--user", "u", "--password", "p"})->file == "f");
}

TEST_CASE("new makes the account that is named, once", "[loadgen][effects]") {
  const auto named = [](Words more) {
    more.insert(more.begin(), {"new", "--user", "amy", "--password", "p"});
    return read_words(more);
  };
  for (const auto& config : {named({}), named({"--requests", "1"}), named({"--seconds", "2"})}) {
    REQUIRE(config);
    CHECK(loadgen::makes_given_accounts(*config));
    CHECK(loadgen::ends_by_number(*config));
  }
  CHECK_FALSE(named({"--requests", "2"}));
  CHECK_FALSE(named({"--requests", "1", "--threads", "2"}));
  CHECK_FALSE(named({"--accounts", "2"}));
  CHECK_FALSE(named({"--rate", "5"}));
  CHECK_FALSE(named({"--life", "5"}));
  CHECK_FALSE(read_words({"new", "--user", "amy"}));
  CHECK_FALSE(read_words({"new", "--password", "p"}));
  CHECK(read_words({"new", "--user", "u%d", "--password", "p", "--requests", "7"}));
  Config config;
  config.request = RequestKind::kNew;
  config.user = "amy";
  config.requests = 2;
  CHECK(why_without_effect("--requests", config)->find("%d in --user") != std::string::npos);
}
