#include "loadgen/figures/table.h"

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "loadgen/figures/json.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"
#include "tests/loadgen/figures/two_seconds.h"

using base::kNsPerMs;
using base::kNsPerS;
using loadgen::Cause;
using loadgen::Config;
using loadgen::Fault;
using loadgen::Figures;
using tests::contains;

namespace {

Config get_config() {
  Config config;
  config.threads = 2;
  config.user = "somebody";
  config.password = "topsecret";
  config.file = "1KB1.txt";
  config.warmup_ms = 500;
  return config;
}

// With phases, seconds and the machine.
Figures two_seconds_of_run() {
  Figures result = tests::two_seconds();
  loadgen::Tally& tally = result.tally;
  tally.connect_ns = 400 * kNsPerMs;
  tally.first_byte_ns = 400 * 5 * kNsPerMs;
  tally.seconds = {{199, 199 * 10 * kNsPerMs}, {0, 0}, {201, 201 * 20 * kNsPerMs}};
  result.start_unix_s = 1'700'000'000.25;
  result.cpu = {.used_cores = 0.5, .allowed_cores = 2, .us_per_request = 21.34};
  result.sources = 64;
  result.servers = {"127.0.0.1:9000"};
  return result;
}

// The same as an open loop.
Figures two_seconds_open() {
  Figures result = two_seconds_of_run();
  result.tally.open.emplace();
  result.tally.open->due = result.tally.open->answered = 400;
  for (int i = 0; i < 400; ++i) {
    result.tally.open->service_ns.add(8 * kNsPerMs);
    result.tally.open->lateness_ns.add(kNsPerMs);
  }
  return result;
}

Config open_config() {
  Config config = get_config();
  config.rate_rps = 200;
  config.arrivals = loadgen::ArrivalKind::kPoisson;
  config.seed = 7;
  return config;
}

nlohmann::json parsed(const Config& config, const Figures& result) {
  const auto summary = loadgen::summarize(result, config.threads);
  return nlohmann::json::parse(loadgen::json_of(config, result, summary));
}

std::string table(const Config& config, const Figures& result) {
  const auto summary = loadgen::summarize(result, config.threads);
  return loadgen::table_of(config, result, summary);
}

std::optional<std::string> failure(const Figures& result) {
  return loadgen::failure_of(loadgen::summarize(result, get_config().threads));
}

}  // namespace

TEST_CASE("the JSON has every figure of the contract", "[loadgen]") {
  const nlohmann::json json = parsed(get_config(), two_seconds_of_run());
  CHECK(json["request"] == "get");
  CHECK(json["server"] == "127.0.0.1:9000");
  CHECK(json["threads"] == 2);
  CHECK(json["connection"] == "per-request");
  CHECK(json["elapsed_s"] == 2.0);
  CHECK(json["requests"] == 400);
  CHECK(json["throughput_rps"] == 200.0);
  CHECK(json["bytes"] == 400'000);
  CHECK(json["errors"] == nlohmann::json{{"total", 0}});
  for (const char* key : {"mean", "min", "p50", "p90", "p99", "max"}) {
    CHECK(json["response_time_ms"][key] == 10.0);
  }
  CHECK(json["per_second"].size() == 3);
  CHECK(json["per_second"][0] == nlohmann::json{{"t", 1}, {"requests", 199}, {"mean_ms", 10.0}});
  CHECK(json["per_second"][1] == nlohmann::json{{"t", 2}, {"requests", 0}, {"mean_ms", 0.0}});
  CHECK(json["per_second"][2] == nlohmann::json{{"t", 3}, {"requests", 201}, {"mean_ms", 20.0}});
}

TEST_CASE("the JSON says whether the run is valid, when it ran and what CPU it used", "[loadgen]") {
  const nlohmann::json json = parsed(get_config(), two_seconds_of_run());
  CHECK(json["valid"] == true);
  CHECK(json["invalid_because"].empty());
  CHECK(json["n_check"] == 1.0);
  CHECK(json["started_unix_s"] == 1'700'000'000.25);
  CHECK(json["phases_ms"] ==
        nlohmann::json{{"connect", 1.0}, {"first_byte", 5.0}, {"last_byte", 10.0}});
  CHECK(json["cpu"] == nlohmann::json{{"used_cores", 0.5},
                                      {"allowed_cores", 2.0},
                                      {"us_per_request", 21.34},
                                      {"is_bottleneck", false}});
  CHECK(contains(table(get_config(), two_seconds_of_run()),
                 "0.50 of 2 cores, 21.3 us for each request;"));
  CHECK(json["sources"] == 64);
  CHECK(json["warmup_s"] == 0.5);
}

TEST_CASE("the reports have a part for each kind of a mix", "[loadgen]") {
  Config config = get_config();
  config.mix[index_of(loadgen::RequestKind::kGet)] = 90;
  config.mix[index_of(loadgen::RequestKind::kNew)] = 10;
  Figures result = two_seconds_of_run();
  auto& gets = result.tally.kinds.emplace().of_kind[index_of(loadgen::RequestKind::kGet)];
  for (int i = 0; i < 300; ++i) gets.response_ns.add(8 * kNsPerMs);
  gets.moved_bytes = 300'000;
  gets.errors[Cause(Fault::kMismatch).index()] = 2;

  const auto kinds = parsed(config, result)["kinds"];
  CHECK(kinds.size() == 2);
  CHECK(kinds["new"]["requests"] == 0);
  CHECK(kinds["get"]["requests"] == 300);
  CHECK(kinds["get"]["throughput_rps"] == 150);
  CHECK(kinds["get"]["bytes"] == 300'000);
  CHECK(kinds["get"]["errors"] == nlohmann::json{{"total", 2}, {"mismatch", 2}});
  CHECK(kinds["get"]["response_time_ms"]["mean"] == 8);
  CHECK(contains(table(config, result), "get 90, new 10 at 127.0.0.1:9000"));
  CHECK(contains(table(config, result), "150.0 requests/s; 300 requests"));
  CHECK_FALSE(parsed(get_config(), two_seconds_of_run()).contains("kinds"));

  result.tally.open.emplace();
  gets.answered = 298;
  CHECK(parsed(config, result)["kinds"]["get"]["throughput_rps"] == 149);
}

TEST_CASE("the JSON lists errors by cause beside their total", "[loadgen]") {
  Figures result = two_seconds_of_run();
  result.tally.errors[Cause(base::ErrorCode::kDenied).index()] = 2;
  result.tally.errors[Cause(Fault::kMismatch).index()] = 1;
  CHECK(parsed(get_config(), result)["errors"] ==
        nlohmann::json{{"total", 3}, {"denied", 2}, {"mismatch", 1}});
}

TEST_CASE("the reports show what the system said about the first error of a cause", "[loadgen]") {
  Figures result = two_seconds_of_run();
  CHECK(parsed(get_config(), result)["first_errors"] == nlohmann::json::object());
  result.tally.errors[Cause(Fault::kConnect).index()] = 2;
  result.tally.first_why[Cause(Fault::kConnect).index()] = "connect to x: Connection refused";
  CHECK(parsed(get_config(), result)["first_errors"] ==
        nlohmann::json{{"connect", "connect to x: Connection refused"}});
  CHECK(contains(table(get_config(), result),
                 "the first `connect`: connect to x: Connection refused"));
}

TEST_CASE("kept connections have no time to connect", "[loadgen]") {
  Config config = get_config();
  config.connection = loadgen::Connection::kKeepAlive;
  CHECK_FALSE(parsed(config, two_seconds_of_run())["phases_ms"].contains("connect"));
  CHECK_FALSE(contains(table(config, two_seconds_of_run()), "connected"));
}

TEST_CASE("the reports show the addresses of the server that were used", "[loadgen]") {
  Figures result = two_seconds_of_run();
  CHECK(parsed(get_config(), result)["server_addresses"] ==
        nlohmann::json::array({"127.0.0.1:9000"}));
  CHECK_FALSE(contains(table(get_config(), result), "addresses "));
  result.servers = {"10.0.0.1:9000", "10.0.0.2:9000"};
  CHECK(parsed(get_config(), result)["server_addresses"] ==
        nlohmann::json::array({"10.0.0.1:9000", "10.0.0.2:9000"}));
  CHECK(contains(table(get_config(), result), "addresses      10.0.0.1:9000, 10.0.0.2:9000"));
}

TEST_CASE("neither report holds the password, and the table not even the user", "[loadgen]") {
  CHECK_FALSE(contains(parsed(get_config(), two_seconds_of_run()).dump(), "topsecret"));
  CHECK_FALSE(contains(table(get_config(), two_seconds_of_run()), "topsecret"));
  CHECK_FALSE(contains(table(get_config(), two_seconds_of_run()), "somebody"));
}

TEST_CASE("the table shows the self-check, and why a run is invalid", "[loadgen]") {
  CHECK(contains(table(get_config(), two_seconds_of_run()),
                 "100.0% of their time in requests, in a run under 5 s: not judged"));
  Figures result = two_seconds_of_run();
  result.tally.elapsed_ns = 8 * kNsPerS;
  CHECK(contains(table(get_config(), result), "25.0% of their time in requests: INVALID"));
  CHECK(contains(table(get_config(), result), "X*R is 0.250 of N"));
}

TEST_CASE("an invalid run has failed, and says why", "[loadgen]") {
  Figures result = two_seconds_of_run();
  CHECK_FALSE(failure(result));
  result.tally.elapsed_ns = 8 * kNsPerS;
  CHECK(contains(failure(result).value_or(""), "the run is invalid: X*R is 0.250 of N"));
  CHECK(contains(failure(Figures()).value_or(""), "the run is invalid: no request succeeded"));
}

TEST_CASE("a failed request is the first reason of a failure", "[loadgen]") {
  Figures result = two_seconds_of_run();
  result.tally.elapsed_ns = 8 * kNsPerS;
  result.tally.errors[Cause(Fault::kClosed).index()] = 3;
  CHECK(failure(result) == "3 of 403 requests failed: closed 3");
}

TEST_CASE("a run under five seconds is not judged by its n_check", "[loadgen]") {
  Figures result;
  result.tally.response_ns.add(10 * kNsPerMs);
  result.tally.elapsed_ns = 5 * kNsPerS - 1;
  CHECK(parsed(get_config(), result)["valid"] == true);
  CHECK(contains(table(get_config(), result), "in a run under 5 s: not judged"));
  CHECK_FALSE(failure(result));
  result.tally.announced_bytes = 1;
  CHECK(contains(table(get_config(), result), "in a run under 5 s: INVALID"));
  CHECK(contains(failure(result).value_or(""), "announced 1 bytes"));
  result.tally.announced_bytes = 0;
  result.tally.elapsed_ns = 5 * kNsPerS;
  CHECK(contains(failure(result).value_or(""), "the run is invalid"));
}

TEST_CASE("a closed loop that stood still says so, as its percentiles do not", "[loadgen]") {
  Figures result = two_seconds_of_run();
  result.silence.look(kNsPerS, 100);
  CHECK(parsed(get_config(), result)["longest_silence_s"] == 0);
  CHECK_FALSE(contains(table(get_config(), result), "warning"));
  result.silence.look(kNsPerS + kNsPerS / 2, 100);
  CHECK(contains(table(get_config(), result),
                 "warning: no request ended for 0.5 s, 25% of the run; the percentiles of a closed "
                 "loop hide that"));
  CHECK(parsed(get_config(), result)["longest_silence_s"] == 0.5);
  Figures stopped = result;
  stopped.stalls = {.count = 1, .longest_ns = kNsPerS / 2, .total_ns = kNsPerS / 2};
  CHECK_FALSE(contains(table(get_config(), stopped), "no request ended"));
  result.tally.open.emplace();
  CHECK_FALSE(contains(table(get_config(), result), "no request ended"));
}

TEST_CASE("no silence is told where each request takes as long", "[loadgen]") {
  Figures result = two_seconds_of_run();
  result.silence.look(kNsPerS, 100);
  result.silence.look(kNsPerS + 200 * kNsPerMs, 100);
  CHECK_FALSE(contains(table(get_config(), result), "no request ended"));
  result.silence.look(kNsPerS + 400 * kNsPerMs, 100);
  CHECK(contains(table(get_config(), result), "no request ended"));
  result.tally.response_ns = {};
  for (int i = 0; i < 100; ++i) result.tally.response_ns.add(40 * kNsPerMs);
  CHECK_FALSE(contains(table(get_config(), result), "no request ended"));
}

TEST_CASE("a run of ten seconds shows its intervals", "[loadgen]") {
  Figures result = two_seconds_of_run();
  CHECK_FALSE(contains(table(get_config(), result), "intervals"));
  CHECK_FALSE(parsed(get_config(), result).contains("intervals_95"));
  result.tally.elapsed_ns = 10 * kNsPerS;
  result.tally.seconds.assign(10, {40, 40 * 10 * kNsPerMs});
  CHECK(contains(table(get_config(), result), "95% intervals  40.0 to 40.0 requests/s; mean 1"));
  const auto all = parsed(get_config(), result)["intervals_95"];
  CHECK(all["throughput_rps"] == nlohmann::json::array({40.0, 40.0}));
  CHECK(all["p50_ms"].size() == 2);
  CHECK(all["p99_ms"].is_null());
}

TEST_CASE("the table warns when loadgen itself is the bottleneck", "[loadgen]") {
  Figures result = two_seconds_of_run();
  CHECK_FALSE(contains(table(get_config(), result), "warning"));
  result.cpu = {.used_cores = 1.9, .allowed_cores = 2};
  CHECK(contains(table(get_config(), result), "warning: loadgen itself is the bottleneck"));
}

TEST_CASE("a run whose threads waited for a core is marked", "[loadgen]") {
  Figures result = two_seconds_of_run();
  result.cpu.run_delay_share = 0.1;
  result.cpu.run_delay_ms_per_request = 2.5;
  CHECK(parsed(get_config(), result)["run_delay"] ==
        nlohmann::json{{"share", 0.1}, {"ms_per_request", 2.5}, {"is_starved", false}});
  CHECK_FALSE(contains(table(get_config(), result), "warning"));
  result.cpu.run_delay_ms_per_request = 2.6;
  CHECK(parsed(get_config(), result)["run_delay"]["is_starved"] == true);
  CHECK(contains(table(get_config(), result), "without a core for 2.600 ms of each"));
  CHECK(
      contains(table(get_config(), result),
               "warning: loadgen's threads had to wait for a core, 26% of the time of a request"));
}

TEST_CASE("every kind of run says when loadgen stood still", "[loadgen]") {
  Figures result = two_seconds_of_run();
  result.stalls = {2, 300 * kNsPerMs, 450 * kNsPerMs};
  CHECK(parsed(get_config(), result)["stalls_ms"] ==
        nlohmann::json{{"count", 2}, {"longest", 300.0}, {"total", 450.0}});
  CHECK(parsed(get_config(), result)["valid"] == false);
  CHECK(parsed(open_config(), two_seconds_open())["stalls_ms"]["count"] == 0);
}

TEST_CASE("a percentile of too few requests is the longest time, and a dash in the table",
          "[loadgen]") {
  const Figures result = two_seconds_of_run();
  const auto times = parsed(get_config(), result)["response_time_ms"];
  CHECK(times["p99.9"].is_number());
  CHECK(times["p99.9"] == times["max"]);
  CHECK(contains(table(get_config(), result), "p99.9 -  max"));
}

TEST_CASE("one thread cannot use more than one core", "[loadgen]") {
  CHECK(loadgen::CpuUse{.used_cores = 0.95, .allowed_cores = 2}.is_bottleneck(1));
  CHECK_FALSE(loadgen::CpuUse{.used_cores = 0.95, .allowed_cores = 2}.is_bottleneck(2));
  CHECK_FALSE(loadgen::CpuUse{.used_cores = 0.85, .allowed_cores = 2}.is_bottleneck(1));
}

TEST_CASE("the JSON of a closed loop has nothing of an open one", "[loadgen]") {
  const nlohmann::json json = parsed(get_config(), two_seconds_of_run());
  CHECK_FALSE(json.contains("open_loop"));
  CHECK(json["cooldown_requests"] == 0);
  CHECK_FALSE(contains(table(get_config(), two_seconds_of_run()), "lateness"));
}

TEST_CASE("the reports of an open loop have the schedule and its three times", "[loadgen]") {
  const nlohmann::json json = parsed(open_config(), two_seconds_open());
  const nlohmann::json& open = json["open_loop"];
  CHECK(json["n_check"].is_null());
  CHECK(open["rate_rps"] == 200.0);
  CHECK(open["arrivals"] == "poisson");
  CHECK(open["seed"] == 7);
  CHECK(open["due"] == 400);
  CHECK(open["given_up"] == 0);
  CHECK(open["found_no_thread"] == 0);
  CHECK(open["is_late"] == false);
  CHECK(open["service_time_ms"]["p99"] == 8.0);
  CHECK(open["lateness_ms"]["max"] == 1.0);
  CHECK(json["response_time_ms"]["p99"] == 10.0);
  CHECK(json["phases_ms"]["last_byte"] == 8.0);
  const std::string text = table(open_config(), two_seconds_open());
  CHECK(contains(text, "offered        200 requests/s, poisson; 400 were due"));
  CHECK(contains(text, "service time   mean 8.000"));
  CHECK(contains(text, "lateness       mean 1.000"));
  CHECK(contains(text, "check          valid"));
  CHECK_FALSE(contains(text, "N = X*R"));
}

TEST_CASE("an open loop that was late fails however short it was", "[loadgen]") {
  Figures result = two_seconds_open();
  for (int i = 0; i < 400; ++i) result.tally.open->lateness_ns.add(3 * kNsPerMs);
  CHECK(parsed(open_config(), result)["open_loop"]["is_late"] == true);
  CHECK(parsed(open_config(), result)["valid"] == false);
  CHECK(contains(failure(result).value_or(""),
                 "the run is invalid: the load generator itself was late: p99"));
}

TEST_CASE("the table of an open loop says which times are too low, and warns of too few threads",
          "[loadgen]") {
  Figures result = two_seconds_open();
  CHECK_FALSE(contains(table(open_config(), result), "warning"));
  result.tally.open->found_no_thread = 5;
  result.tally.open->given_up = 2;
  CHECK(contains(table(open_config(), result), "2 requests were given up; the response times"));
  CHECK(contains(table(open_config(), result),
                 "warning: 1.2% of the requests had to wait until a thread was free"));
}
