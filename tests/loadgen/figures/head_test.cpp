#include "loadgen/figures/schema.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "loadgen/figures/json.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"

using base::kNsPerS;
using loadgen::Config;
using loadgen::End;
using loadgen::Figures;

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Config& config, const Figures& figures) {
  return Json::parse(
      loadgen::json_of(config, figures, loadgen::summarize(figures, config.threads)));
}

// Two requests of 1,000 bytes in two seconds, and one that was denied.
Figures three_requests() {
  Figures figures;
  figures.tally.response_ns.add(kNsPerS);
  figures.tally.response_ns.add(kNsPerS);
  figures.tally.announced_bytes = figures.tally.moved_bytes = 2000;
  figures.tally.errors[loadgen::Cause(base::ErrorCode::kDenied).index()] = 1;
  figures.tally.elapsed_ns = 2 * kNsPerS;
  figures.tally.connections = 5;
  figures.tally.reconnects = 2;
  figures.start_unix_s = 1'700'000'000.25;
  return figures;
}

Figures of_crowd() {
  Figures figures = three_requests();
  figures.tally.crowd.emplace();
  figures.crowd = {.standing = {.started = 3, .left = 2}};
  figures.end = End::kStable;
  return figures;
}

Figures of_burst() {
  Figures figures = three_requests();
  figures.rounds.emplace();
  figures.end = End::kRequests;
  return figures;
}

Figures of_open_loop() {
  Figures figures = three_requests();
  figures.tally.open.emplace();
  return figures;
}

// The server counted another number of requests.
Figures of_another_count() {
  Figures figures = three_requests();
  figures.count_check = {.server = 1, .loadgen = 2};
  return figures;
}

Config crowd_config() {
  Config config;
  config.users = 3;
  config.crowd.pace_bytes_s = 1000;
  return config;
}

const std::vector<std::string> kHead = {
    "schema",         "version",   "request", "protocol",    "server",          "settings",
    "started_unix_s", "elapsed_s", "end",     "valid",       "invalid_because", "requests",
    "throughput_rps", "bytes",     "errors",  "connections", "reconnects"};

}  // namespace

TEST_CASE("the results of all kinds of run begin with the same fields", "[loadgen][head]") {
  for (const Json& json : {json_of({}, three_requests()), json_of({}, of_open_loop()),
                           json_of({}, of_burst()), json_of(crowd_config(), of_crowd())}) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    REQUIRE(keys.size() > kHead.size());
    keys.resize(kHead.size());
    CHECK(keys == kHead);
    CHECK(json["schema"] == 1);
    CHECK_FALSE(json["version"].get<std::string>().empty());
    CHECK(json["started_unix_s"] == 1'700'000'000.25);
    CHECK(json["elapsed_s"] == 2.0);
    CHECK(json["requests"] == 2);
    CHECK(json["bytes"] == 2000);
    CHECK(json["errors"] == Json{{"total", 1}, {"denied", 1}});
    CHECK(json["connections"] == 5);
    CHECK(json["reconnects"] == 2);
    CHECK(json["valid"] == json["invalid_because"].empty());
  }
}

TEST_CASE("a result says why it is not valid", "[loadgen][head]") {
  CHECK(json_of({}, three_requests())["valid"] == true);
  const Json json = json_of({}, of_another_count());
  CHECK(json["valid"] == false);
  CHECK(json["invalid_because"].size() == 1);
}

TEST_CASE("a result says in one word why the run ended", "[loadgen][head]") {
  const auto end = [](End why) {
    Figures figures = three_requests();
    figures.end = why;
    return json_of({}, figures)["end"];
  };
  CHECK(end(End::kTime) == "time");
  CHECK(end(End::kRequests) == "requests");
  CHECK(end(End::kStable) == "stable");
  CHECK(end(End::kSignal) == "signal");
  CHECK(end(End::kFiles) == "files");
  CHECK(end(End::kFailed) == "failed");
}

TEST_CASE("the settings keep their types, whatever bytes a name has", "[loadgen][head]") {
  Config config;
  config.settings = {{"threads", std::int64_t{4}},
                     {"rate", 0.5},
                     {"size", std::string("1M")},
                     {"verify", false},
                     {"hold", {}},
                     {"file", std::string("\xff")}};
  const Json settings = json_of(config, three_requests())["settings"];
  CHECK(settings["threads"] == 4);
  CHECK(settings["rate"] == 0.5);
  CHECK(settings["size"] == "1M");
  CHECK(settings["verify"] == false);
  CHECK(settings["hold"].is_null());
  CHECK(settings["file"] == "\xef\xbf\xbd");
}
