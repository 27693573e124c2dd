#include "loadgen/figures/schema.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <tuple>
#include <type_traits>
#include <variant>

#include "flags/about.h"
#include "loadgen/figures/format.h"
#include "loadgen/figures/units.h"

namespace loadgen {

namespace {

using Json = nlohmann::ordered_json;
using enum InSum;
using enum Back;

// The drop-outs that are listed one by one. Thousands of times would say no more.
constexpr std::size_t kMostListed = 1000;

// Which runs have a field.

bool is_no_crowd(const Report& all) { return !all.summary.crowd; }
bool is_over_ftp(const Report& all) {
  return is_no_crowd(all) && all.config.protocol == Protocol::kFtp;
}

// The requests of a burst start with its release, when all is connected.
bool connects_within(const Report& all) {
  return is_no_crowd(all) && !is_burst(all.config) &&
         all.config.connection == Connection::kPerRequest;
}
bool logs_in_within(const Report& all) { return connects_within(all) && is_over_ftp(all); }
bool connects_for_data(const Report& all) { return is_over_ftp(all) && !is_burst(all.config); }
bool has_users_asked(const Report& all) { return !is_no_crowd(all) || all.config.users > 0; }

constexpr When kAll{"all"};
constexpr When kRequests{"all but crowds", is_no_crowd};
constexpr When kCrowd{"crowds", [](const Report& all) { return !is_no_crowd(all); }};
constexpr When kConnects{"`per-request`, but no bursts", connects_within};
constexpr When kLogsIn{"FTP `per-request`, but no bursts", logs_in_within};
constexpr When kConnectsForData{"FTP, but no bursts", connects_for_data};
constexpr When kFtp{"FTP", is_over_ftp};
constexpr When kUsers{"`--users`", has_users_asked};
constexpr When kMix{"`--mix`", [](const Report& all) { return !all.summary.kinds.empty(); }};
constexpr When kChannels{"`--channels`"};
constexpr When kThink{"`--think`"};
constexpr When kTls{"`--tls`"};
constexpr When kLoops{"closed and open loops"};
constexpr When kClosed{"closed loops"};
constexpr When kLongLoops{"closed and open loops of 10 s"};
constexpr When kTelemetry{"`--telemetry`"};
constexpr When kOpen{"open loops", [](const Report& all) { return all.summary.open.has_value(); }};
constexpr When kStartAt{"`--start-at`"};
constexpr When kRamp{"ramps"};
constexpr When kBurst{"bursts"};

// The objects that have the members. Null: the run has none.

template <typename Object>
const Object* in(const std::optional<Object>& object) {
  return object ? &*object : nullptr;
}
template <typename Block, typename Object>
const Object* in(const std::optional<Block>& block, Object Block::*object) {
  return block ? &((*block).*object) : nullptr;
}

auto objects_of(const Report& all) {
  const auto& [config, figures, summary] = all;
  const Tally& tally = figures.tally;
  const auto* const outcome = in(summary.crowd, &crowd::Summary::outcome);
  return std::tuple(&config, &config.crowd, tally.channels ? &config.channels : nullptr,  //
                    &figures, &figures.cpu, &figures.stalls, in(figures.count_check),     //
                    &tally, in(tally.open), in(tally.channels), in(tally.handshakes),     //
                    summary.plateau ? in(tally.plateau) : nullptr,                        //
                    in(tally.crowd), in(tally.crowd, &crowd::Tally::waiting),             //
                    &summary, in(summary.under_way), in(summary.open), in(summary.plateau),
                    in(summary.crowd), in(summary.crowd, &crowd::Summary::rates),
                    in(summary.crowd, &crowd::Summary::pacing), outcome,
                    outcome ? &outcome->standing : nullptr, outcome ? &outcome->cpu : nullptr);
}

// Where a value that is read back goes. What only some kinds of run have is made.
CpuUse& into(Figures& figures, const CpuUse*) { return figures.cpu; }
Figures& into(Figures& figures, const Figures*) { return figures; }
Tally& into(Figures& figures, const Tally*) { return figures.tally; }
HandshakeTally& into(Figures& figures, const HandshakeTally*) {
  return figures.tally.handshakes ? *figures.tally.handshakes : figures.tally.handshakes.emplace();
}
OpenTally& into(Figures& figures, const OpenTally*) {
  return figures.tally.open ? *figures.tally.open : figures.tally.open.emplace();
}
PlateauTally& into(Figures& figures, const PlateauTally*) {
  return figures.tally.plateau ? *figures.tally.plateau : figures.tally.plateau.emplace();
}

// How values are written.

Json json(double value) { return rounded(value); }
Json json(const net::HostPort& server) { return net::to_string(server); }

template <typename Value>
Json json(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return word_of(value);
  } else {
    return value;
  }
}

Json exact(double value) { return value; }
Json is_none(const std::vector<std::string>& texts) { return texts.empty(); }
Json ms_of_ns(std::int64_t ns) { return rounded(ms_of(static_cast<double>(ns))); }
Json s_of_ms(std::int64_t ms) { return static_cast<double>(ms) / 1000; }
Json think_s(double think_ms) { return std::round(think_ms * 1e6) / 1e9; }

// A percentile of too few requests is the longest time, as of the rank that is nearest.
Json json(const ResponseTimes& response) {
  const double max_ms = response.max_ms;
  return {{"mean", rounded(response.mean_ms)},
          {"min", rounded(response.min_ms)},
          {"p50", rounded(response.p50_ms)},
          {"p90", rounded(response.p90_ms.value_or(max_ms))},
          {"p99", rounded(response.p99_ms.value_or(max_ms))},
          {"p99.9", rounded(response.p999_ms.value_or(max_ms))},
          {"max", rounded(max_ms)}};
}

Json json(const Interval& interval) { return {rounded(interval.low), rounded(interval.high)}; }

Json json_or_null(const std::optional<Interval>& interval) {
  return interval ? json(*interval) : Json();
}

Json json(const Intervals& all) {
  return {{"throughput_rps", json(all.throughput_rps)},
          {"mean_ms", json(all.mean_ms)},
          {"p50_ms", json_or_null(all.p50_ms)},
          {"p90_ms", json_or_null(all.p90_ms)},
          {"p99_ms", json_or_null(all.p99_ms)}};
}

// The halves are not always known.
Json json(const std::vector<Distribution>& halves) {
  return halves.empty() ? Json() : Json(halves);
}

// Names with their values, in this order.
template <typename Value>
Json json(const std::vector<std::pair<std::string, Value>>& pairs) {
  Json object = Json::object();
  for (const auto& [name, value] : pairs) object[name] = value;
  return object;
}

Json json(const std::vector<flags::Setting>& settings) {
  Json object = Json::object();
  for (const flags::Setting& one : settings) {
    Json& value = object[one.name];
    std::visit(
        [&value](const auto& given) {
          if constexpr (!std::is_same_v<decltype(given), const std::monostate&>) value = given;
        },
        one.value);
  }
  return object;
}

Json json(const std::vector<SecondSummary>& seconds) {
  Json rows = Json::array();
  for (const SecondSummary& second : seconds) {
    rows.push_back({{"t", rows.size() + 1},
                    {"requests", second.requests},
                    {"mean_ms", rounded(second.mean_ms)}});
  }
  return rows;
}

Json errors_json(const CausesAndCounts& causes, std::uint64_t total) {
  Json errors{{"total", total}};
  errors.update(json(causes));
  return errors;
}

Json kinds_json(const Report& all) {
  Json kinds = Json::object();
  for (const KindSummary& one : all.summary.kinds) {
    if (!sends(all.config, one.kind)) continue;
    kinds[word_of(one.kind)] = {{"requests", one.requests},
                                {"throughput_rps", rounded(one.throughput_rps)},
                                {"bytes", one.bytes},
                                {"errors", errors_json(one.errors, one.errors_total)},
                                {"response_time_ms", json(one.response)}};
  }
  return kinds;
}

Json json(const burst::SumsSummary& one) {
  return {{"transfers", one.transfers},
          {"failed", one.failed},
          {"bytes", one.bytes},
          {"span_s", rounded(one.span_s)},
          {"rate_bytes_s", rounded(one.rate_bytes_s)},
          {"simultaneity", rounded(one.simultaneity)},
          {"release_spread_ms", rounded(one.release_spread_ms)},
          {"first_byte_ms", rounded(one.first_byte_ms)}};
}

Json json(const burst::Summary& burst) {
  Json all{{"rounds", burst.rounds.size()}};
  all.update(json(burst.all));
  Json& rounds = all["per_round"] = Json::array();
  for (const burst::SumsSummary& one : burst.rounds) {
    Json round{{"round", rounds.size() + 1}};
    round.update(json(one));
    rounds.push_back(std::move(round));
  }
  return all;
}

Json json(const std::vector<crowd::DropOut>& drop_outs) {
  Json times = Json::array();
  for (std::size_t at = 0; at < std::min(kMostListed, drop_outs.size()); ++at) {
    const crowd::DropOut& one = drop_outs[at];
    times.push_back({{"t_s", rounded(seconds_of(static_cast<double>(one.at_ns)))},
                     {"cause", one.cause.word()},
                     {"in_first_fetch", one.was_in_first_fetch}});
  }
  return times;
}

// Without a user that holds, there are no rates.
template <auto kMember>
Json of_rates(const Report& all) {
  const crowd::RateErrors& rates = all.summary.crowd->rates;
  return rates.users > 0 ? Json(rounded(rates.*kMember)) : Json();
}

Json dropped_json(const Report& all) {
  const crowd::Standing& now = all.summary.crowd->outcome.standing;
  return now.started - now.left;
}

Json n_check_json(const Report& all) {
  return all.summary.has_n_check() ? Json(rounded(all.summary.n_check)) : Json();
}

Json server_requests_json(const Report& all) {
  const auto& check = all.figures.count_check;
  if (!check) return Json::value_t::discarded;
  return check->why_unknown.empty() ? Json(check->server) : Json();
}

// Fields that are members.

template <typename Member>
struct Parts;
template <typename TheObject, typename TheValue>
struct Parts<TheValue TheObject::*> {
  using Object = TheObject;
  using Value = TheValue;
};
template <auto kMember>
using ObjectOf = typename Parts<decltype(kMember)>::Object;

struct Plain {
  template <typename Value>
  Json operator()(const Value& value) const {
    return json(value);
  }
};

// A value that only some runs have is an optional.
template <auto kMember, auto kJson>
Json written(const Report& all) {
  const auto* const object = std::get<const ObjectOf<kMember>*>(objects_of(all));
  if (object == nullptr) return Json::value_t::discarded;
  const auto& value = std::invoke(kMember, *object);
  if constexpr (requires { value.has_value(); }) {
    return value ? kJson(*value) : Json(Json::value_t::discarded);
  } else {
    return kJson(value);
  }
}

template <auto kMember, auto kJson = Plain()>
constexpr Field shown(const char* name, const char* unit, When when, InSum in_sum = kNone,
                      Back back = kNo) {
  return {name, unit, when, in_sum, back, written<kMember, kJson>};
}

// The same of one that is read back: a count, or a number.
template <auto kMember>
constexpr Field kept(const char* name, const char* unit, When when, InSum in_sum, Back back) {
  using Value = typename Parts<decltype(kMember)>::Value;
  constexpr auto kSet = [](Figures& figures, Value value) {
    into(figures, static_cast<const ObjectOf<kMember>*>(nullptr)).*kMember = value;
  };
  Field field = shown<kMember>(name, unit, when, in_sum, back);
  if constexpr (std::is_same_v<Value, std::uint64_t>) {
    field.set_count = kSet;
  } else {
    field.set_number = kSet;
  }
  return field;
}

// Ordered as the result is. A block of one kind of run may stand among those of others.
constexpr Field kFields[] = {
    {"schema", "number", kAll, kSame, kByHand, [](const Report&) { return Json(kSchema); }},
    {"version", "text", kAll, kNone, kNo, [](const Report&) { return Json(flags::version()); }},
    shown<&Config::request>("request", "word", kAll, kSame, kByHand),
    shown<&Config::protocol>("protocol", "word", kAll, kSame, kByHand),
    shown<&Config::server>("server", "address", kAll, kSame, kByHand),
    shown<&Config::settings>("settings", "object", kAll, kSame, kByHand),
    kept<&Figures::start_unix_s>("started_unix_s", "s", kAll, kAgain, kAlways),
    shown<&Summary::elapsed_s>("elapsed_s", "s", kAll, kAgain, kByHand),
    shown<&Figures::end>("end", "word", kAll, kMost, kByHand),
    shown<&Summary::invalid_because, is_none>("valid", "yes or no", kAll, kAgain, kByHand),
    shown<&Summary::invalid_because>("invalid_because", "texts", kAll, kAdded, kByHand),
    shown<&Summary::requests>("requests", "count", kAll, kAdded, kByHand),
    shown<&Summary::throughput_rps>("throughput_rps", "1/s", kAll, kAgain),
    shown<&Summary::bytes>("bytes", "bytes", kAll, kAdded, kByHand),
    {"errors", "by cause", kAll, kAdded, kByHand,
     [](const Report& all) { return errors_json(all.summary.errors, all.summary.errors_total); }},
    kept<&Tally::connections>("connections", "count", kAll, kAdded, kLater),
    kept<&Tally::reconnects>("reconnects", "count", kAll, kAdded, kLater),
    kept<&HandshakeTally::made>("tls.handshakes", "count", kTls, kAdded, kAlways),
    kept<&HandshakeTally::resumed>("tls.resumed", "count", kTls, kAdded, kAlways),
    shown<&Summary::handshake>("tls.handshake_ms", "times", kTls, kAgain, kByHand),

    shown<&crowd::Options::engine>("engine", "word", kCrowd),
    shown<&Config::threads>("threads", "count", kAll, kAdded, kByHand),
    shown<&Config::connection>("connection", "word", kRequests, kSame, kByHand),
    shown<&Summary::response>("response_time_ms", "times", kRequests, kAgain, kByHand),
    shown<&Summary::per_second>("per_second", "list", kRequests, kAdded, kByHand),
    shown<&Summary::intervals>("intervals_95", "object", kLongLoops),
    shown<&Summary::connect_ms>("phases_ms.connect", "ms", kConnects, kAgain, kByHand),
    shown<&Summary::logged_in_ms>("phases_ms.logged_in", "ms", kLogsIn, kAgain, kByHand),
    shown<&Summary::data_connected_ms>("phases_ms.data_connect", "ms", kConnectsForData, kAgain,
                                       kByHand),
    shown<&Summary::first_byte_ms>("phases_ms.first_byte", "ms", kRequests, kAgain, kByHand),
    shown<&Summary::data_ended_ms>("phases_ms.data_end", "ms", kFtp, kAgain, kByHand),
    shown<&Summary::last_byte_ms>("phases_ms.last_byte", "ms", kRequests, kAgain),
    {"n_check", "share", kRequests, kAgain, kNo, n_check_json},
    shown<&Config::warmup_ms, s_of_ms>("warmup_s", "s", kRequests),
    kept<&Tally::warmup_requests>("warmup_requests", "count", kRequests, kAdded, kLater),
    kept<&Tally::cooldown_requests>("cooldown_requests", "count", kRequests, kAdded, kLater),
    kept<&CpuUse::used_cores>("cpu.used_cores", "cores", kRequests, kAdded, kLater),
    kept<&CpuUse::allowed_cores>("cpu.allowed_cores", "cores", kRequests, kAdded, kLater),
    kept<&CpuUse::us_per_request>("cpu.us_per_request", "us", kRequests, kAgain, kLater),
    {"cpu.is_bottleneck", "yes or no", kRequests, kAgain, kNo,
     [](const Report& all) { return Json(all.figures.cpu.is_bottleneck(all.config.threads)); }},
    shown<&Summary::first_errors>("first_errors", "by cause", kRequests, kSame, kByHand),
    shown<&ChannelOptions::count>("channels.asked", "count", kChannels),
    shown<&ChannelTally::used>("channels.used", "count", kChannels),
    shown<&ChannelOptions::pool_bytes>("channels.pool_bytes", "bytes", kChannels),
    shown<&ChannelTally::reorder_bytes_max>("channels.reorder_bytes_max", "bytes", kChannels),
    shown<&ChannelTally::lost>("channels.lost", "count", kChannels),
    shown<&ChannelTally::resumed_bytes>("channels.resumed_bytes", "bytes", kChannels),
    shown<&ChannelTally::begun_again>("channels.begun_again", "count", kChannels),

    shown<&crowd::Options::pace_bytes_s, exact>("pace_bytes_s", "bytes/s", kCrowd),
    shown<&crowd::Options::least_rate_percent>("least_rate_percent", "%", kCrowd),
    shown<&crowd::Options::too_slow>("too_slow", "word", kCrowd),
    shown<&crowd::Options::ramp_ms, s_of_ms>("ramp_s", "s", kCrowd),
    shown<&crowd::Outcome::steady_s>("steady_s", "s", kCrowd),
    shown<&Config::users>("users.asked", "count", kUsers, kAdded, kByHand),
    shown<&crowd::Standing::started>("users.started", "count", kCrowd),
    shown<&crowd::Standing::held>("users.held", "count", kCrowd),
    shown<&crowd::Standing::without_fetch>("users.without_fetch", "count", kCrowd),
    {"users.dropped", "count", kCrowd, kNone, kNo, dropped_json},
    shown<&Summary::think_ms, think_s>("think_s", "s", kThink, kAgain, kByHand),
    shown<&crowd::Summary::drop_outs_in_first_fetch>("drop_outs.in_first_fetch", "count", kCrowd),
    shown<&crowd::Tally::late_drops>("drop_outs.while_late", "count", kCrowd),
    shown<&crowd::Summary::causes>("drop_outs.causes", "by cause", kCrowd),
    shown<&crowd::Summary::first_reasons>("drop_outs.first_reasons", "by cause", kCrowd),
    shown<&crowd::Tally::drop_outs>("drop_outs.times", "list", kCrowd),
    shown<&crowd::RateErrors::users>("rate_error.users", "count", kCrowd),
    {"rate_error.worst", "share", kCrowd, kNone, kNo, of_rates<&crowd::RateErrors::worst>},
    {"rate_error.p50", "share", kCrowd, kNone, kNo, of_rates<&crowd::RateErrors::p50>},
    {"rate_error.share_within_5_percent", "share", kCrowd, kNone, kNo,
     of_rates<&crowd::RateErrors::share_within_5_percent>},
    shown<&crowd::Tally::wakeups>("wakeups.wakeups", "count", kCrowd),
    shown<&crowd::Tally::useful_reads>("wakeups.useful_reads", "count", kCrowd),
    shown<&crowd::Tally::empty_reads>("wakeups.empty_reads", "count", kCrowd),
    shown<&crowd::Tally::most_late_ns, ms_of_ns>("wakeups.most_late_ms", "ms", kCrowd),
    shown<&crowd::Summary::wakeups_per_useful_read>("wakeups.per_useful_read", "number", kCrowd),
    shown<&crowd::Tally::overflows>("wakeups.signal_overflows", "count", kCrowd),
    shown<&crowd::Pacing::name>("pacing.name", "text", kCrowd),
    shown<&crowd::Tally::file_bytes>("pacing.file_bytes", "bytes", kCrowd),
    shown<&crowd::Tally::receive_buffer_bytes>("pacing.receive_buffer_bytes", "bytes", kCrowd),
    shown<&crowd::Pacing::buffers_bytes>("pacing.buffers_bytes", "bytes", kCrowd),
    shown<&crowd::Summary::waiting_bytes_mean>("pacing.waiting_bytes_mean", "bytes", kCrowd),
    shown<&crowd::WaitingBytes::most>("pacing.waiting_bytes_max", "bytes", kCrowd),
    shown<&crowd::WaitingBytes::samples>("pacing.waiting_samples", "count", kCrowd),
    shown<&crowd::CpuSamples::least_cores>("cpu.least_cores", "cores", kCrowd),
    shown<&crowd::CpuSamples::mean_cores>("cpu.used_cores", "cores", kCrowd),
    shown<&crowd::CpuSamples::most_cores>("cpu.most_cores", "cores", kCrowd),
    shown<&crowd::CpuSamples::allowed_cores>("cpu.allowed_cores", "cores", kCrowd),

    kept<&CpuUse::run_delay_share>("run_delay.share", "share", kAll, kMost, kLater),
    shown<&CpuUse::run_delay_ms_per_request>("run_delay.ms_per_request", "ms", kAll),
    shown<&Summary::is_starved>("run_delay.is_starved", "yes or no", kAll, kAgain),
    shown<&Stalls::count>("stalls_ms.count", "count", kAll),
    shown<&Stalls::longest_ns, ms_of_ns>("stalls_ms.longest", "ms", kAll),
    shown<&Stalls::total_ns, ms_of_ns>("stalls_ms.total", "ms", kAll),
    shown<&Figures::servers>("server_addresses", "texts", kAll, kAdded, kByHand),
    shown<&Figures::sources>("sources", "count", kAll, kAdded, kByHand),
    shown<&UnderWaySummary::samples>("under_way.samples", "count", kLoops),
    shown<&UnderWaySummary::mean>("under_way.mean", "number", kLoops),
    shown<&UnderWaySummary::expected>("under_way.expected", "number", kLoops),
    shown<&Summary::silence_s>("longest_silence_s", "s", kClosed),
    shown<&CountCheck::address>("telemetry.address", "address", kTelemetry),
    {"telemetry.server_requests", "count", kTelemetry, kNone, kNo, server_requests_json},
    shown<&CountCheck::loadgen>("telemetry.loadgen_requests", "count", kTelemetry),
    shown<&CountCheck::agrees>("telemetry.agrees", "yes or no", kTelemetry),

    shown<&Config::rate_rps, exact>("open_loop.rate_rps", "1/s", kOpen, kAdded, kByHand),
    shown<&Config::arrivals>("open_loop.arrivals", "word", kOpen, kSame, kByHand),
    shown<&Config::seed>("open_loop.seed", "number", kOpen),
    kept<&OpenTally::due>("open_loop.due", "count", kOpen, kAdded, kAlways),
    kept<&OpenTally::found_no_thread>("open_loop.found_no_thread", "count", kOpen, kAdded, kAlways),
    kept<&OpenTally::given_up>("open_loop.given_up", "count", kOpen, kAdded, kAlways),
    shown<&OpenSummary::service>("open_loop.service_time_ms", "times", kOpen, kAgain, kByHand),
    shown<&OpenSummary::lateness>("open_loop.lateness_ms", "times", kOpen, kAgain, kByHand),
    shown<&OpenSummary::is_late>("open_loop.is_late", "yes or no", kOpen, kAgain),
    shown<&Figures::start_late_s>("start_late_s", "s", kStartAt),
    kept<&PlateauTally::threads_started>("plateau.threads_started", "count", kRamp, kAdded,
                                         kAlways),
    shown<&PlateauSummary::start_s>("plateau.start_s", "s", kRamp, kSame, kByHand),
    shown<&PlateauSummary::elapsed_s>("plateau.elapsed_s", "s", kRamp, kSame, kByHand),
    shown<&PlateauSummary::requests>("plateau.requests", "count", kRamp, kAdded, kByHand),
    shown<&PlateauSummary::throughput_rps>("plateau.throughput_rps", "1/s", kRamp, kAgain),
    shown<&PlateauSummary::response>("plateau.response_time_ms", "times", kRamp, kAgain, kByHand),
    shown<&PlateauSummary::n_check>("plateau.n_check", "share", kRamp, kAgain, kByHand),
    {"kinds", "object", kMix, kNone, kNo, kinds_json},
    shown<&Summary::burst>("burst", "object", kBurst),

    shown<&Summary::distribution>("distribution", kCounts, kRequests, kAdded, kByHand),
    shown<&Summary::halves>("halves", kCounts, kRequests, kAdded, kByHand),
    shown<&PlateauSummary::distribution>("plateau_distribution", kCounts, kRamp, kAdded, kByHand),
    shown<&OpenSummary::service_distribution>("service_distribution", kCounts, kOpen, kAdded,
                                              kByHand),
    shown<&OpenSummary::lateness_distribution>("lateness_distribution", kCounts, kOpen, kAdded,
                                               kByHand),
    shown<&Summary::handshake_distribution>("handshake_distribution", kCounts, kTls, kAdded,
                                            kByHand),
};

}  // namespace

std::span<const Field> fields() { return kFields; }

}  // namespace loadgen
