#include "loadgen/figures/schema.h"

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "loadgen/figures/json.h"
#include "tests/catch.h"

// The results of made-up runs of each kind, as they were when this file was written. A field that
// goes, moves or changes its form is seen. kinds_of_run.json has a result in each line.
namespace kinds_of_run {

namespace {

using Json = nlohmann::ordered_json;

struct Case {
  loadgen::Config config = {};
  loadgen::Figures figures = {};
};

loadgen::Histogram spread(int count, std::int64_t first_ns, std::int64_t step_ns) {
  loadgen::Histogram made;
  for (int i = 0; i < count; ++i) made.add(first_ns + i * step_ns);
  return made;
}

// Every figure of a closed loop has a value that no other has.
Case closed() {
  Case made;
  loadgen::Config& config = made.config;
  config.threads = 3;
  config.user = "amy";
  config.password = "topsecret";
  config.file = "1KB1.txt";
  config.warmup_ms = 1500;
  config.settings = {{"threads", std::int64_t{3}},
                     {"rate", 0.5},
                     {"file", std::string("1KB1.txt")},
                     {"verify", false},
                     {"hold", {}}};
  loadgen::Figures& figures = made.figures;
  loadgen::Tally& tally = figures.tally;
  tally.response_ns = spread(2000, 7'000'001, 1234);
  tally.second_half_ns = spread(900, 7'000'001, 1234);
  tally.connect_ns = 2000 * 400'011ull;
  tally.first_byte_ns = 2000 * 5'000'123ull;
  tally.logged_in_ns = 2000 * 1'000'457ull;
  tally.data_connected_ns = 2000 * 2'000'789ull;
  tally.data_ended_ns = 2000 * 6'000'321ull;
  tally.announced_bytes = tally.moved_bytes = 2'000'000;
  tally.seconds = {{900, 900 * 7'100'000ull}, {0, 0}, {1100, 1100 * 9'200'000ull}};
  tally.failed_ns = 12'345'678;
  tally.warmup_requests = 31;
  tally.cooldown_requests = 37;
  tally.all_succeeded = 2068;
  tally.all_failed = 3;
  tally.connections = 41;
  tally.reconnects = 5;
  tally.elapsed_ns = 5'432'100'000;
  tally.active_ns = 3 * 5'400'000'000ull;
  figures.start_unix_s = 1'700'000'000.25;
  figures.cpu = {.used_cores = 0.512,
                 .allowed_cores = 2,
                 .us_per_request = 21.34,
                 .run_delay_share = 0.07,
                 .run_delay_ms_per_request = 1.25};
  figures.stalls = {.count = 2, .longest_ns = 120'500'000, .total_ns = 230'250'000};
  figures.servers = {"127.0.0.1:9000", "127.0.0.2:9000"};
  figures.sources = 64;
  figures.has_halves = true;
  figures.under_way = {.samples = 40, .sum = 118, .sum_of_squares = 352};
  return made;
}

void fail_some(Case& one) {
  loadgen::Tally& tally = one.figures.tally;
  tally.errors[loadgen::Cause(base::ErrorCode::kDenied).index()] = 2;
  tally.errors[loadgen::Cause(loadgen::Fault::kConnect).index()] = 7;
  tally.first_why[loadgen::Cause(loadgen::Fault::kConnect).index()] = "connect to x: refused";
}

void open_loop(Case& one) {
  one.config.rate_rps = 368.5;
  one.config.seed = 7;
  one.config.arrivals = loadgen::ArrivalKind::kPoisson;
  one.figures.tally.open = {.service_ns = spread(1990, 6'000'001, 1111),
                            .lateness_ns = spread(2003, 10'001, 97),
                            .due = 2003,
                            .answered = 1985,
                            .failed = 4,
                            .found_no_thread = 19,
                            .given_up = 10};
  fail_some(one);
}

void ramp(Case& one) {
  one.config.life_ms = 4000;
  one.figures.plateau = {.start_ns = 1'000'000'000, .elapsed_ns = 3'100'000'000};
  one.figures.tally.plateau = {.threads_started = 3,
                               .response_ns = spread(1100, 7'000'001, 1234),
                               .busy_ns = 9'200'000'000,
                               .paused_ns = 1'000'000};
}

void think(Case& one) {
  one.config.think = loadgen::parse_think_time("exp:20ms").value_or(loadgen::ThinkTime());
  one.config.settings.push_back({"think", std::string("exp:20ms")});
  one.figures.tally.think = {.paused_ns = 2000 * 1'300'007ull, .overslept_ns = 2000 * 7'001ull};
}

void channels(Case& one) {
  one.config.channels.count = 4;
  one.figures.tally.channels = {.reorder_bytes_max = 65'537,
                                .used = 3,
                                .lost = 2,
                                .resumed_bytes = 1'048'576,
                                .begun_again = 1};
}

void mix(Case& one) {
  one.config.mix[index_of(loadgen::RequestKind::kGet)] = 90;
  one.config.mix[index_of(loadgen::RequestKind::kPut)] = 10;
  auto& kinds = one.figures.tally.kinds.emplace();
  auto& gets = kinds.of(loadgen::RequestKind::kGet);
  gets.response_ns = spread(1500, 7'000'001, 1234);
  gets.given_up = 3;
  gets.answered = 1490;
  gets.moved_bytes = 1'500'000;
  gets.errors[loadgen::Cause(loadgen::Fault::kMismatch).index()] = 2;
  kinds.of(loadgen::RequestKind::kPut).response_ns = spread(500, 8'000'001, 999);
}

void burst(Case& one) {
  one.config.release = loadgen::Release::kTransfer;
  one.figures.under_way = {};
  const loadgen::burst::Sums round{.transfers = 2,
                                   .failed = 1,
                                   .bytes = 4000,
                                   .span_ns = 2e9,
                                   .transfer_ns = 1e9,
                                   .capacity_ns = 4e9,
                                   .first_byte_ns = 6e6,
                                   .release_spread_ns = 512'345};
  loadgen::burst::Sums later = round;
  later.bytes = 4567;
  later.release_spread_ns = 612'345;
  one.figures.rounds = {round, later};
}

void crowd(Case& one) {
  one.config.users = 6;
  one.config.crowd.pace_bytes_s = 1000.5;
  one.config.crowd.ramp_ms = 2500;
  one.figures.under_way = {};
  one.figures.end = loadgen::End::kStable;
  one.figures.tally.crowd = loadgen::crowd::Tally{
      .drop_outs = {{.at_ns = 1'500'000'000, .was_in_first_fetch = true},
                    {.at_ns = 2'000'000'001, .cause = loadgen::Fault::kClosed, .why = "reset"},
                    {.at_ns = 2'500'000'000, .cause = loadgen::Fault::kClosed, .why = "later"}},
      .rate_errors = {0.01, 0.2, 0.02},
      .file_bytes = 10'000'000,
      .receive_buffer_bytes = 8192,
      .wakeups = 501,
      .useful_reads = 403,
      .empty_reads = 17,
      .overflows = 6,
      .most_late_ns = 2'345'678,
      .broken_off = 4,
      .late_drops = 1,
      .least_slack_ns = 90'000'000,
      .waiting = {.samples = 300, .sum = 123'457, .most = 4096}};
  one.figures.crowd = loadgen::crowd::Outcome{
      .asked = 6,
      .standing = {.started = 6, .left = 3, .without_fetch = 1},
      .steady_s = 2.9321,
      .cpu = {.least_cores = 0.1, .mean_cores = 0.2, .most_cores = 0.35, .allowed_cores = 2}};
}

Json json_of(const std::function<void(Case&)>& change) {
  Case one = closed();
  change(one);
  auto summary = loadgen::summarize(one.figures, testers_of(one.config));
  if (summary.crowd) summary.crowd->pacing.buffers_bytes = 4'202'496;  // that of another host
  Json json = Json::parse(loadgen::json_of(one.config, one.figures, summary));
  json["version"] = "";
  return json;
}

// Null if there is none.
Json recorded(const std::string& name) {
  std::ifstream file("tests/loadgen/figures/kinds_of_run.json");
  const Json all = Json::parse(file, nullptr, false);
  return all.contains(name) ? all[name] : Json();
}

}  // namespace

TEST_CASE("the result of each kind of run is as it was", "[loadgen][schema]") {
  CHECK(json_of([](Case& one) { one.config.protocol = loadgen::Protocol::kFtp; }) ==
        recorded("ftp"));
  CHECK(json_of(open_loop) == recorded("open"));
  CHECK(json_of([](Case& one) {
          ramp(one);
          think(one);
          one.config.users = 4;
        }) == recorded("ramp"));
  CHECK(json_of(channels) == recorded("channels"));
  CHECK(json_of([](Case& one) {
          one.figures.count_check = {
              .address = "127.0.0.1:1", .server = 2071, .loadgen = 2068, .doubtful = 8};
        }) == recorded("telemetry"));
  CHECK(json_of(mix) == recorded("mix"));
  CHECK(json_of(burst) == recorded("burst"));
  CHECK(json_of(crowd) == recorded("crowd"));
}

}  // namespace kinds_of_run
