#include "loadgen/merge/merged.h"

#include <random>

#include "loadgen/figures/hgrm.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"
#include "tests/loadgen/merge/results.h"

using base::kNsPerMs;
using base::kNsPerS;
using loadgen::Config;
using loadgen::Figures;
using loadgen::merge::Merged;
using loadgen::merge::Part;
using tests::config_of_tester;
using tests::contains;
using tests::figures_of;
using tests::is_near;
using tests::result_of;

namespace {

constexpr double kStart = 1'700'000'000;

Part part_of(const std::string& name, const nlohmann::json& json) {
  const auto part = loadgen::merge::read_part(name, json.dump());
  INFO((part ? "" : part.error().context));
  REQUIRE(part);
  return *part;
}

Part part_of(const std::string& name, const Figures& figures) {
  return part_of(name, result_of(figures));
}

Merged merged(const std::vector<Part>& parts) {
  auto sum = loadgen::merge::merge(parts);
  INFO((sum ? "" : sum.error().context));
  REQUIRE(sum);
  return *sum;
}

std::string refused(const nlohmann::json& one, const nlohmann::json& other) {
  const auto sum = loadgen::merge::merge({part_of("a.json", one), part_of("b.json", other)});
  return sum ? "" : sum.error().context;
}

std::vector<std::int64_t> long_tailed(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> nanoseconds(14, 1.5);
  std::vector<std::int64_t> values(count);
  for (std::int64_t& value : values) value = static_cast<std::int64_t>(nanoseconds(random));
  return values;
}

// Of ten seconds, in each of which `rate` requests of two busy threads ended.
Figures ten_seconds(double start_unix_s, std::uint64_t rate) {
  const std::int64_t response_ns = rate == 0 ? 0 : 2 * kNsPerS / static_cast<std::int64_t>(rate);
  Figures figures = figures_of(std::vector<std::int64_t>(10 * rate, response_ns), start_unix_s);
  figures.tally.seconds.assign(10, {rate, 2 * kNsPerS});
  figures.tally.elapsed_ns = 10 * kNsPerS;
  return figures;
}

}  // namespace

TEST_CASE("the sum of many testers is one histogram that has seen everything",
          "[loadgen][no-threads]") {
  for (const unsigned count : {1U, 2U, 5U, 130U}) {
    CAPTURE(count);
    std::vector<Part> parts;
    loadgen::Histogram all;
    for (unsigned i = 0; i < count; ++i) {
      const Figures figures = figures_of(long_tailed(300 + i, i));
      all.add(figures.tally.response_ns);
      parts.push_back(part_of("part", figures));
    }
    const loadgen::Histogram sum = merged(parts).figures.tally.response_ns;
    CHECK(sum.count() == all.count());
    CHECK(sum.min() == all.min());
    CHECK(sum.max() == all.max());
    CHECK(std::abs(sum.mean() - all.mean()) <= 1);
    CHECK(sum.buckets() == all.buckets());
    for (unsigned per_mille = 1; per_mille <= 1000; ++per_mille)
      REQUIRE(sum.value_at(per_mille) == all.value_at(per_mille));
  }
}

TEST_CASE("counts and bytes and errors of testers are added up", "[loadgen]") {
  Figures one = figures_of({10 * kNsPerMs, 20 * kNsPerMs});
  one.tally.errors[loadgen::Cause(loadgen::Fault::kTimeout).index()] = 3;
  one.tally.first_why[loadgen::Cause(loadgen::Fault::kTimeout).index()] = "too late";
  Figures other = figures_of({30 * kNsPerMs});
  other.tally.errors[loadgen::Cause(loadgen::Fault::kTimeout).index()] = 1;
  other.tally.errors[loadgen::Cause(base::ErrorCode::kDenied).index()] = 5;
  const Merged sum = merged({part_of("a.json", one), part_of("b.json", other)});
  CHECK(sum.parts == 2);
  CHECK(sum.config.threads == 4);
  CHECK(sum.summary.requests == 3);
  CHECK(sum.summary.bytes == 3000);
  CHECK(sum.summary.errors_total == 9);
  CHECK(loadgen::errors_text(sum.summary.errors) == "denied 5, timeout 4");
  REQUIRE(sum.summary.first_errors.size() == 1);
  CHECK(sum.summary.first_errors[0].second == "too late");
}

TEST_CASE("the think time of testers is that of all their requests", "[loadgen]") {
  Config config = config_of_tester();
  config.think = {loadgen::ThinkKind::kExponential, 0.03};
  config.settings.push_back({"think", "exp:0.03"});
  Figures one = ten_seconds(kStart, 100);
  one.tally.think.emplace().paused_ns = 1'000 * 30 * kNsPerMs + 333;
  Figures other = ten_seconds(kStart, 300);
  other.tally.think.emplace().paused_ns = 3'000 * 40 * kNsPerMs;
  const Merged sum = merged(
      {part_of("a.json", result_of(one, config)), part_of("b.json", result_of(other, config))});
  REQUIRE(sum.figures.tally.think);
  CHECK(is_near(static_cast<double>(sum.figures.tally.think->paused_ns), 150e9));
  CHECK(is_near(*sum.summary.think_ms, 37.5));
  CHECK(sum.config.think == config.think);
  const double seconds = sum.summary.response.mean_ms / 1000 + 0.0375;
  CHECK(is_near(sum.summary.n_check, 400 * seconds / 4));
  CHECK(contains(refused(result_of(one, config), result_of(other)), "another think time"));
}

TEST_CASE("handshakes of testers are added up, and their times are those of all", "[loadgen]") {
  const auto with = [](const std::vector<std::int64_t>& times_ns, bool is_resumed) {
    Figures figures = figures_of({kNsPerMs});
    figures.tally.handshakes.emplace();
    for (const std::int64_t ns : times_ns) figures.tally.handshakes->add(ns, is_resumed);
    return result_of(figures);
  };
  const nlohmann::json full = with({4 * kNsPerMs, 6 * kNsPerMs}, false);
  const nlohmann::json resumed = with({kNsPerMs}, true);
  const Merged sum = merged({part_of("a.json", full), part_of("b.json", resumed)});
  const auto json = nlohmann::json::parse(loadgen::json_of(sum.config, sum.figures, sum.summary));
  CHECK(json["tls"]["handshakes"] == 3);
  CHECK(json["tls"]["resumed"] == 1);
  CHECK(is_near(json["tls"]["handshake_ms"]["mean"], 11.0 / 3));
  CHECK(json["tls"]["handshake_ms"]["min"] == 1);
  CHECK(json["tls"]["handshake_ms"]["max"] == 6);
  CHECK(json["handshake_distribution"].size() == 3);
  CHECK(refused(full, result_of({kNsPerMs})) == "b.json: it has another encryption than a.json");
}

TEST_CASE("halves of testers are added up if all have them", "[loadgen]") {
  Figures with = figures_of({10 * kNsPerMs, 20 * kNsPerMs});
  with.tally.second_half_ns.emplace().add(20 * kNsPerMs);
  with.has_halves = true;
  const Part half = part_of("a.json", with);
  REQUIRE(half.figures.has_halves);
  const Merged both = merged({half, half});
  REQUIRE(both.summary.halves.size() == 2);
  CHECK(both.summary.halves[0][0].second == 2);
  CHECK(both.summary.halves[1][0].second == 2);
  Part none = half;
  none.figures.has_halves = false;
  CHECK(merged({half, none}).summary.halves.empty());
  CHECK(merged({none, half}).summary.halves.empty());
  CHECK(merged({none, half, half}).summary.halves.empty());
}

TEST_CASE("the throughput of one tester is what it was", "[loadgen]") {
  Figures figures = ten_seconds(kStart, 100);
  figures.tally.seconds.push_back({7, 7 * kNsPerMs});
  for (int i = 0; i < 7; ++i) figures.tally.response_ns.add(kNsPerMs);
  figures.tally.elapsed_ns += 20 * kNsPerMs;
  const Merged sum = merged({part_of("a.json", figures)});
  CHECK(is_near(sum.summary.throughput_rps, 1007 / 10.02));
  CHECK(is_near(sum.summary.elapsed_s, 10.02));
}

TEST_CASE("the throughput is that of the window that all testers share", "[loadgen]") {
  const Part first = part_of("a.json", ten_seconds(kStart, 100));
  const Part second = part_of("b.json", ten_seconds(kStart + 4, 300));
  const Merged sum = merged({first, second});
  CHECK(is_near(sum.summary.elapsed_s, 6));
  CHECK(is_near(sum.summary.throughput_rps, 400));
  CHECK(is_near(sum.figures.start_unix_s, kStart + 4));
  CHECK(is_near(sum.window.start_spread_s, 4));
  CHECK(is_near(sum.window.end_spread_s, 4));
  CHECK(sum.summary.requests == 4000);
}

TEST_CASE("a second that the shared window cuts counts by its part", "[loadgen]") {
  Figures figures = ten_seconds(kStart, 0);
  figures.tally.seconds[1].requests = 100;
  figures.tally.seconds[2].requests = 10;
  const Part part = part_of("a.json", figures);
  const auto within = [&](double from_s, double to_s) {
    return loadgen::merge::requests_within(part, {kStart + from_s, kStart + to_s});
  };
  CHECK(is_near(within(1.25, 2), 75));
  CHECK(is_near(within(1, 2.5), 105));
  CHECK(is_near(within(0, 10), 110));
  CHECK(within(3, 10) == 0);
}

TEST_CASE("what an open loop answered after its window is no throughput", "[loadgen]") {
  Part part = part_of("a.json", ten_seconds(kStart, 100));
  part.figures.tally.open.emplace();
  part.figures.tally.seconds.push_back({50, 0});
  CHECK(is_near(merged({part}).summary.throughput_rps, 100));
}

TEST_CASE("the seconds of testers that began apart are set beside each other", "[loadgen]") {
  const Part first = part_of("a.json", ten_seconds(kStart, 1));
  const Part second = part_of("b.json", ten_seconds(kStart + 2.3, 10));
  for (const auto& parts : {std::vector{first, second}, std::vector{second, first}}) {
    const auto seconds = merged(parts).summary.per_second;
    REQUIRE(seconds.size() == 12);
    CHECK(seconds[1].requests == 1);
    CHECK(seconds[2].requests == 11);
    CHECK(seconds[11].requests == 10);
  }
}

TEST_CASE("testers that share no time have a sum that is not valid", "[loadgen]") {
  const Part first = part_of("a.json", ten_seconds(kStart, 100));
  const Part second = part_of("b.json", ten_seconds(kStart + 1e6, 100));
  const Merged sum = merged({second, first});
  CHECK(sum.summary.requests == 2000);
  CHECK(sum.summary.throughput_rps == 0);
  CHECK(sum.summary.invalid_because ==
        std::vector<std::string>{"the runs share no time: a.json had ended when b.json began"});
}

TEST_CASE("a sum is valid only if all its parts are", "[loadgen]") {
  const Part good = part_of("a.json", ten_seconds(kStart, 100));
  Part bad = part_of("b.json", ten_seconds(kStart, 100));
  CHECK(merged({good, bad}).summary.invalid_because.empty());
  bad.invalid_because = {"it was late"};
  CHECK(merged({good, bad}).summary.invalid_because ==
        std::vector<std::string>{"b.json: it was late"});
}

TEST_CASE("the settings of a sum are those that all testers had", "[loadgen]") {
  Part one = part_of("a.json", figures_of({kNsPerMs}));
  one.config.settings = {{"file", "a"}, {"seconds", std::int64_t{2}}, {"threads", std::int64_t{2}}};
  Part other = one;
  other.config.settings = {{"file", "b"}, {"seconds", std::int64_t{2}}};
  const auto settings = merged({one, other}).config.settings;
  REQUIRE(settings.size() == 1);
  CHECK(settings[0].name == "seconds");
}

TEST_CASE("results of other requests or sizes do not add up", "[loadgen]") {
  const nlohmann::json one = result_of({kNsPerMs});
  const auto other = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json json = one;
    json[key] = value;
    return refused(one, json);
  };
  CHECK(refused(one, one).empty());
  CHECK(other("request", "put") == "b.json: it has another request than a.json");
  CHECK(other("protocol", "http") == "b.json: it has another protocol than a.json");
  CHECK(other("connection", "keep-alive") == "b.json: it has another connection than a.json");
  nlohmann::json sized = one;
  sized["settings"] = {{"file", "1KB1.txt"}};
  nlohmann::json larger = sized;
  larger["bytes"] = 2000;
  CHECK(refused(sized, larger) == "b.json: it has another size of files than a.json");
  larger["settings"]["file"] = "%d.txt";
  CHECK(refused(sized, larger).empty());
}

TEST_CASE("each share of a load is added once", "[loadgen]") {
  const auto part = [](const std::string& name, const char* share) {
    nlohmann::json json = result_of({kNsPerMs});
    if (share != nullptr) json["settings"]["share"] = share;
    return part_of(name, json);
  };
  const auto why = [&](const char* one, const char* other, const char* third) {
    const auto sum =
        loadgen::merge::merge({part("a.json", one), part("b.json", other), part("c.json", third)});
    return sum ? "" : sum.error().context;
  };
  CHECK(why(nullptr, nullptr, nullptr).empty());
  CHECK(why("3/4", "1/4", "4/4").empty());
  CHECK(why("3/4", "1/4", "1/4") == "c.json: it has the share 1/4, which b.json has too");
  CHECK(why("1/1", "1/1", "1/1") == "b.json: it has the share 1/1, which a.json has too");
  CHECK(why("1/4", "2/4", "3/5") == "c.json: it has the share 3/5, and a.json has the share 1/4");
  CHECK(why("1/4", nullptr, "2/4") == "b.json: it has no share, and a.json has the share 1/4");
  CHECK(why(nullptr, "1/4", nullptr) == "b.json: it has the share 1/4, and a.json has no share");
  const Merged sum = merged({part("a.json", "1/2"), part("b.json", "2/2")});
  CHECK(nlohmann::json::parse(loadgen::json_of(sum.config, sum.figures, sum.summary))["settings"]
            .count("share") == 0);
}

TEST_CASE("results of an open and of a closed loop do not add up", "[loadgen]") {
  loadgen::Config config = config_of_tester();
  config.rate_rps = 100;
  Figures figures = figures_of({kNsPerMs});
  figures.tally.open.emplace().service_ns.add(kNsPerMs);
  figures.tally.open->lateness_ns.add(kNsPerMs / 10);
  figures.tally.open->due = 1;
  const nlohmann::json open = result_of(figures, config);
  CHECK(refused(open, result_of({kNsPerMs})) == "b.json: it has another kind of loop than a.json");
  const Merged sum = merged({part_of("a.json", open), part_of("b.json", open)});
  CHECK(sum.config.rate_rps == 200);
  REQUIRE(sum.summary.open);
  CHECK(sum.summary.open->due == 2);
  CHECK(sum.summary.open->service.max_ms == 1);
  CHECK(sum.summary.open->lateness.max_ms == 0.1);
}
