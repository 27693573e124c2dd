#include "loadgen/merge/part.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "loadgen/figures/schema.h"
#include "loadgen/merge/fields.h"

namespace loadgen::merge {

namespace {

using Json = nlohmann::json;

// The value of a word of the results. Notes it as wrong if no value has it.
template <typename Value>
Value value_of(const std::string& word, std::initializer_list<Value> values, std::string& wrong) {
  for (const Value value : values) {
    if (word == word_of(value)) return value;
  }
  if (wrong.empty()) wrong = fmt::format("this version does not know {}", base::log::quoted(word));
  return *values.begin();
}

std::uint64_t ns_in_all(double mean_ms, std::uint64_t count) {
  return static_cast<std::uint64_t>(std::llround(
      std::min(mean_ms * 1e6 * static_cast<double>(count), static_cast<double>(kMostCount) * 512)));
}

// A histogram from its buckets, and from the block that has its mean, least and most.
Histogram histogram_of(const Fields& all, const char* key, const Json& block, std::string& wrong) {
  const std::vector<Bucket> buckets = all.buckets(key);
  const Fields exact(block, wrong);
  const double min_ms = exact.number("min");
  const double max_ms = exact.number("max");
  if (min_ms > max_ms && wrong.empty()) wrong = "its min is over its max";
  if (!wrong.empty()) return {};
  std::uint64_t count = 0;
  for (const Bucket& bucket : buckets) count += bucket.count;
  return {buckets, {ns_of(min_ms), ns_of(max_ms), ns_in_all(exact.number("mean"), count)}};
}

void read_halves(const Fields& all, Figures& figures, std::string& wrong) {
  if (!all.has("halves")) return;
  const Json& halves = all["halves"];
  if (!halves.is_array() || halves.size() != 2) {
    if (wrong.empty()) wrong = "its halves are not two";
    return;
  }
  const std::vector<Bucket> first = Fields::buckets_of(halves[0], wrong);
  const std::vector<Bucket> second = Fields::buckets_of(halves[1], wrong);
  if (!wrong.empty()) return;
  Histogram sum(first, {});
  const Histogram later(second, {});
  sum.add(later);
  if (sum.buckets() == figures.tally.response_ns.buckets()) {
    figures.tally.second_half_ns = later;
    figures.has_halves = true;
  } else {
    wrong = "its halves are not its distribution";
  }
}

std::vector<Second> per_second(const Fields& all, std::string& wrong) {
  std::vector<Second> seconds;
  if (!all.has("per_second")) return seconds;
  if (!all["per_second"].is_array() && wrong.empty()) wrong = "its per_second is no list";
  for (const Json& row : all["per_second"]) {
    const Fields second(row, wrong);
    const std::uint64_t requests = second.count("requests");
    seconds.push_back({requests, ns_in_all(second.number("mean_ms", 0), requests)});
    if (!wrong.empty()) return {};
  }
  return seconds;
}

void read_errors(const Fields& all, Tally& tally, std::string& wrong) {
  const Json& errors = all.object("errors");
  const Fields counts(errors, wrong);
  const Fields reasons(all.object("first_errors"), wrong);
  std::uint64_t known = 0;
  for (std::size_t i = 0; i < Cause::kCount; ++i) {
    const std::string word(Cause::word_of(i));
    known += tally.errors[i] = counts.count(word.c_str(), 0);
    tally.first_why[i] = reasons.text(word.c_str(), "");
  }
  if (known != counts.count("total") && wrong.empty())
    wrong = "its errors have causes that this version does not know";
}

// Requires: the response times and the errors were read.
void read_pauses(const Fields& all, Tally& tally) {
  if (!all.has("think_s")) return;
  const std::uint64_t requests = tally.succeeded() + tally.errors_total();
  tally.think.emplace().paused_ns = ns_in_all(all.number("think_s") * 1000, requests);
}

// Means over all requests become sums again.
void read_phases(const Fields& all, Tally& tally, std::uint64_t requests, std::string& wrong) {
  const Fields phases(all.object("phases_ms"), wrong);
  const auto sum_of = [&](const char* key) { return ns_in_all(phases.number(key, 0), requests); };
  tally.connect_ns = sum_of("connect");
  tally.logged_in_ns = sum_of("logged_in");
  tally.data_connected_ns = sum_of("data_connect");
  tally.first_byte_ns = sum_of("first_byte");
  tally.data_ended_ns = sum_of("data_end");
}

void read_open_loop(const Fields& all, Part& part, std::string& wrong) {
  if (!all.has("open_loop")) return;
  const Fields open(all.object("open_loop"), wrong);
  part.config.rate_rps = open.number("rate_rps");
  part.config.arrivals =
      value_of(open.text("arrivals", "fixed"), {ArrivalKind::kFixed, ArrivalKind::kPoisson}, wrong);
  OpenTally& tally = part.figures.tally.open.emplace();
  tally.service_ns =
      histogram_of(all, "service_distribution", open.object("service_time_ms"), wrong);
  tally.lateness_ns = histogram_of(all, "lateness_distribution", open.object("lateness_ms"), wrong);
}

// The plan of the whole load, and what this tester has measured in it.
void read_plateau(const Fields& all, Part& part, std::string& wrong) {
  if (!all.has("plateau")) return;
  const Fields plateau(all.object("plateau"), wrong);
  const double start_s = plateau.number("start_s");
  const double elapsed_s = plateau.number("elapsed_s");
  if (std::max(start_s, elapsed_s) > kMostSeconds && wrong.empty())
    wrong = "its plateau is too long";
  if (!wrong.empty()) return;
  part.figures.plateau =
      PlateauTime{.start_ns = ns_of(start_s * 1000), .elapsed_ns = ns_of(elapsed_s * 1000)};
  PlateauTally& tally = part.figures.tally.plateau.emplace();
  tally.response_ns =
      histogram_of(all, "plateau_distribution", plateau.object("response_time_ms"), wrong);
  const auto threads = static_cast<std::uint64_t>(testers_of(part.config));
  tally.busy_ns = ns_in_all(plateau.number("n_check") * elapsed_s * 1000, threads);
}

// Requires: the counts of the block were read.
void read_handshakes(const Fields& all, Tally& tally, std::string& wrong) {
  if (!tally.handshakes) return;
  const Fields tls(all.object("tls"), wrong);
  HandshakeTally& made = *tally.handshakes;
  made.time_ns = histogram_of(all, "handshake_distribution", tls.object("handshake_ms"), wrong);
  if (!wrong.empty()) return;
  if (made.time_ns.count() != made.made) wrong = "its handshakes are not their distribution";
  if (made.resumed > made.made) wrong = "it has more resumed handshakes than handshakes";
}

// Others than texts, numbers and switches are none.
std::vector<flags::Setting> settings_of(const Json& json) {
  std::vector<flags::Setting> settings;
  for (const auto& [name, value] : json.items()) {
    flags::Setting& one = settings.emplace_back(flags::Setting{name});
    if (value.is_boolean()) one.value = value.get<bool>();
    if (value.is_string()) one.value = value.get<std::string>();
    if (value.is_number_float()) one.value = value.get<double>();
    if (value.is_number_integer()) one.value = value.get<std::int64_t>();
  }
  return settings;
}

void read_config(const Fields& all, Config& config, std::string& wrong) {
  config.request = value_of(all.text("request"),
                            {RequestKind::kGet, RequestKind::kNew, RequestKind::kPut}, wrong);
  config.protocol = value_of(all.text("protocol", "native"),
                             {Protocol::kNative, Protocol::kHttp, Protocol::kFtp}, wrong);
  config.connection = value_of(all.text("connection", "per-request"),
                               {Connection::kPerRequest, Connection::kKeepAlive}, wrong);
  const std::string server = all.text("server");
  if (const auto address = net::parse_host_port_or_unix(server)) {
    config.server = *address;
  } else if (wrong.empty()) {
    wrong = "its server is no address";
  }
  constexpr std::uint64_t kMostThreads = 1'000'000;
  config.settings = settings_of(all.object("settings"));
  const std::string think = Fields(all.object("settings"), wrong).text("think", "none");
  config.think = parse_think_time(think).value_or(ThinkTime());
  config.threads =
      static_cast<int>(std::clamp(all.count("threads", 1), std::uint64_t{1}, kMostThreads));
  const Fields users(all.object("users"), wrong);
  config.users = static_cast<int>(std::min(users.count("asked", 0), kMostThreads));
}

// The fields of which the list says that they are read back as they are. A block that is missing
// has none of them.
void read_listed(const Fields& all, Figures& figures, std::string& wrong) {
  for (const Field& field : fields()) {
    if (field.back != Back::kAlways && field.back != Back::kLater) continue;
    const std::string name = field.name;
    const std::size_t point = name.find('.');
    const std::string block = point == std::string::npos ? "" : name.substr(0, point);
    const std::string key = name.substr(point + 1);  // all of it, if there is no point
    if (!block.empty() && !all.has(block.c_str())) continue;
    const Fields inner(all.object(block.c_str()), wrong);
    const Fields& from = block.empty() ? all : inner;
    if (field.back == Back::kLater && !from.has(key.c_str())) continue;
    if (field.set_count) field.set_count(figures, from.count(key.c_str()));
    if (field.set_number) field.set_number(figures, from.number(key.c_str()));
  }
}

// Uploads have one size. Files to get, whose names have a number, may have several.
std::optional<std::uint64_t> size_of(const Fields& settings, const Part& part) {
  const std::uint64_t bytes = part.figures.tally.moved_bytes;
  const bool has_one_size = part.config.request == RequestKind::kPut ||
                            settings.text("file", "%d").find("%d") == std::string::npos;
  if (!has_one_size || part.requests == 0 || bytes % part.requests != 0) return {};
  return bytes / part.requests;
}

std::optional<Share> share_of(const Fields& settings, std::string& wrong) {
  if (!settings.has("share")) return {};
  const auto share = parse_share(settings.text("share"));
  if (!share && wrong.empty()) wrong = "its share is no J/N";
  return share;
}

void read_figures(const Fields& all, Part& part, std::string& wrong) {
  Figures& figures = part.figures;
  Tally& tally = figures.tally;
  tally.response_ns = histogram_of(all, "distribution", all.object("response_time_ms"), wrong);
  read_halves(all, figures, wrong);
  read_open_loop(all, part, wrong);
  read_plateau(all, part, wrong);
  read_listed(all, figures, wrong);
  read_handshakes(all, tally, wrong);
  if (tally.open && tally.open->given_up > tally.response_ns.count() && wrong.empty())
    wrong = "its given_up is over its distribution";
  tally.announced_bytes = tally.moved_bytes = all.count("bytes");
  tally.seconds = per_second(all, wrong);
  read_errors(all, tally, wrong);
  read_pauses(all, tally);
  part.requests = all.count("requests");
  read_phases(all, tally, part.requests, wrong);
  figures.sources = static_cast<int>(std::min<std::uint64_t>(all.count("sources", 1), 1'000'000));
  if (all.has("server_addresses")) figures.servers = all.texts("server_addresses");
  figures.end = value_of(
      all.text("end", "time"),
      {End::kTime, End::kRequests, End::kStable, End::kSignal, End::kFiles, End::kFailed}, wrong);
}

// A result whose list of reasons is empty has one nevertheless, if it is not valid.
void read_verdict(const Fields& all, Part& part) {
  part.elapsed_s = all.number("elapsed_s");
  const bool is_valid = all.truth("valid");
  if (all.has("invalid_because")) part.invalid_because = all.texts("invalid_because");
  if (!is_valid && part.invalid_because.empty()) part.invalid_because.emplace_back("not valid");
}

std::string what_it_is_not(const Fields& all) {
  if (!all["schema"].is_number_unsigned()) return "it is no result of loadgen: it has no schema";
  if (all["schema"] != kSchema)
    return fmt::format("its schema is {}, and this version reads {}", all["schema"].dump(),
                       kSchema);
  if (all.has("merged_from")) return "it is merged already; merge the results that it was made of";
  if (all.has("burst")) return "it is a burst, and bursts do not add up";
  if (all.has("kinds")) return "it mixes kinds of request, and mixes do not add up";
  if (!all.has("distribution")) return "it has no distribution";
  return {};
}

}  // namespace

base::Result<Part> read_part(const std::string& name, std::string_view text) {
  constexpr int kMostDepth = 8;
  const auto keep = [](int depth, Json::parse_event_t, Json&) { return depth < kMostDepth; };
  const Json json = Json::parse(text, keep, false);
  std::string wrong;
  const auto failed = [&] {
    return base::Error{base::ErrorCode::kInvalid, fmt::format("{}: {}", name, wrong)};
  };
  if (!json.is_object()) {
    wrong = "it is no JSON object";
    return failed();
  }
  const Fields all(json, wrong);
  if (wrong = what_it_is_not(all); !wrong.empty()) return failed();
  Part part;
  part.name = name;
  read_config(all, part.config, wrong);
  read_figures(all, part, wrong);
  read_verdict(all, part);
  const Fields settings(all.object("settings"), wrong);
  part.file_bytes = size_of(settings, part);
  part.share = share_of(settings, wrong);
  if (part.elapsed_s > kMostSeconds && wrong.empty()) wrong = "its elapsed_s is too long";
  if (!wrong.empty()) return failed();
  return part;
}

}  // namespace loadgen::merge
