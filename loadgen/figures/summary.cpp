#include "loadgen/figures/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "loadgen/figures/format.h"
#include "loadgen/figures/intervals.h"
#include "loadgen/figures/own_faults.h"
#include "loadgen/figures/units.h"

namespace loadgen {

namespace {

double mean_ms(std::uint64_t sum_ns, std::uint64_t count) { return ms_of(ratio(sum_ns, count)); }

ResponseTimes response_times(const Histogram& response_ns) {
  const auto percentile_ms = [&](unsigned per_mille) {
    return ms_of(static_cast<double>(response_ns.value_at(per_mille)));
  };
  const auto known_ms = [&](unsigned per_mille) {
    return response_ns.knows(per_mille) ? std::optional(percentile_ms(per_mille)) : std::nullopt;
  };
  return {.mean_ms = ms_of(response_ns.mean()),
          .min_ms = ms_of(static_cast<double>(response_ns.min())),
          .p50_ms = percentile_ms(500),
          .p90_ms = known_ms(900),
          .p99_ms = known_ms(990),
          .p999_ms = known_ms(999),
          .max_ms = ms_of(static_cast<double>(response_ns.max()))};
}

Distribution distribution(const std::vector<Bucket>& buckets) {
  Distribution pairs;
  pairs.reserve(buckets.size());
  for (const Bucket& bucket : buckets)
    pairs.emplace_back(rounded(ms_of(static_cast<double>(bucket.upper))), bucket.count);
  return pairs;
}

// If no request began in the second half, no thread has begun it.
std::vector<Distribution> halves(const Figures& figures) {
  if (!figures.has_halves) return {};
  const Histogram& whole = figures.tally.response_ns;
  const Histogram second = figures.tally.second_half_ns.value_or(Histogram());
  return {distribution(whole.buckets_without(second)), distribution(second.buckets())};
}

std::vector<SecondSummary> per_second(const std::vector<Second>& seconds) {
  std::vector<SecondSummary> summaries;
  summaries.reserve(seconds.size());
  for (const Second& second : seconds)
    summaries.push_back({second.requests, mean_ms(second.response_ns, second.requests)});
  return summaries;
}

using CauseCounts = std::array<std::uint64_t, Cause::kCount>;

CausesAndCounts errors_by_cause(const CauseCounts& counts) {
  CausesAndCounts errors;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) errors.emplace_back(Cause::word_of(i), counts[i]);
  }
  return errors;
}

std::vector<KindSummary> kinds_of(const Tally& tally, double elapsed_s) {
  std::vector<KindSummary> kinds;
  if (!tally.kinds) return kinds;
  for (const RequestKind kind : {RequestKind::kGet, RequestKind::kPut, RequestKind::kNew}) {
    const KindTally& one = tally.kinds->of(kind);
    const std::uint64_t in_window = tally.open ? one.answered : one.succeeded();
    KindSummary summary{.kind = kind,
                        .requests = one.succeeded(),
                        .throughput_rps = ratio(static_cast<double>(in_window), elapsed_s),
                        .bytes = one.moved_bytes,
                        .errors = errors_by_cause(one.errors),
                        .response = response_times(one.response_ns)};
    for (const std::uint64_t count : one.errors) summary.errors_total += count;
    kinds.push_back(std::move(summary));
  }
  return kinds;
}

std::vector<std::pair<std::string, std::string>> first_errors(const Tally& tally) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (std::size_t i = 0; i < tally.first_why.size(); ++i) {
    if (!tally.first_why[i].empty()) texts.emplace_back(Cause::word_of(i), tally.first_why[i]);
  }
  return texts;
}

// Says where the time went that is in no response time. `all_ns` is the time of all threads
// together. With the share n_check of the response times, the shares add up to all of it.
std::string time_elsewhere(const Summary& summary, const Tally& tally, double all_ns) {
  const double pauses_ns =
      summary.think_ms.value_or(0) * 1e6 * static_cast<double>(summary.errors_total);
  const double failed = ratio(static_cast<double>(tally.failed_ns) + pauses_ns, all_ns);
  const double ended = 1 - ratio(static_cast<double>(tally.active_ns), all_ns);
  const double between = 1 - summary.n_check - failed - ended;
  return fmt::format(
      "{} is {:.3f} of N. Of the threads' time, {:.1f}% went to failed requests{}, {:.1f}% passed "
      "after a thread had ended before the last one{}, and {:.1f}% passed between requests",
      law_of(summary), summary.n_check, failed * 100,
      tally.think ? " and the pauses before them" : "", ended * 100,
      ended > 0.02 ? " (a longer run helps)" : "", between * 100);
}

std::optional<double> think_ms(const Tally& tally) {
  if (!tally.think) return {};
  return mean_ms(tally.think->paused_ns, tally.succeeded() + tally.errors_total());
}

// By the constants of summary.h. The median is that of a request beside the silence.
bool is_silence_told(const Figures& figures, const Summary& summary) {
  const double silence_s = summary.silence_s.value_or(0);
  const double cycle_s = (summary.response.p50_ms + summary.think_ms.value_or(0)) / 1000;
  return figures.stalls.count == 0 && summary.requests > 0 && silence_s >= kToldSilenceS &&
         silence_s > kToldSilenceShare * summary.elapsed_s &&
         silence_s > kToldSilenceCycles * cycle_s;
}

std::optional<OpenSummary> open_summary(const Tally& tally) {
  if (!tally.open) return {};
  const OpenTally& open = *tally.open;
  return OpenSummary{.due = open.due,
                     .found_no_thread = open.found_no_thread,
                     .given_up = open.given_up,
                     .service = response_times(open.service_ns),
                     .lateness = response_times(open.lateness_ns),
                     .service_distribution = distribution(open.service_ns.buckets()),
                     .lateness_distribution = distribution(open.lateness_ns.buckets()),
                     .is_late = is_late(tally)};
}

std::optional<PlateauSummary> plateau_summary(const Figures& figures, int threads) {
  if (!figures.plateau || !figures.tally.plateau) return {};
  const PlateauTally& tally = *figures.tally.plateau;
  const auto elapsed_ns = static_cast<double>(figures.plateau->elapsed_ns);
  const std::uint64_t requests = tally.response_ns.count();
  return PlateauSummary{
      .threads = static_cast<std::uint64_t>(threads),
      .threads_started = tally.threads_started,
      .start_s = seconds_of(static_cast<double>(figures.plateau->start_ns)),
      .elapsed_s = seconds_of(elapsed_ns),
      .requests = requests,
      .throughput_rps = ratio(static_cast<double>(requests), seconds_of(elapsed_ns)),
      .response = response_times(tally.response_ns),
      .distribution = distribution(tally.response_ns.buckets()),
      .n_check = ratio(static_cast<double>(tally.busy_ns + tally.paused_ns), elapsed_ns * threads)};
}

// What is wrong with a ramp, of which the times of the whole run say nothing.
std::vector<std::string> faults_of_ramp(const Summary& summary) {
  const PlateauSummary& plateau = *summary.plateau;
  std::vector<std::string> faults;
  if (plateau.threads_started < plateau.threads) {
    faults.push_back(fmt::format("the run ended when {} of {} threads had started",
                                 plateau.threads_started, plateau.threads));
  } else if (!summary.is_n_check_good()) {
    faults.push_back(fmt::format(
        "on the plateau {} is {:.3f} of N; the rest of the threads' time went to failed requests, "
        "or passed between requests",
        law_of(summary), plateau.n_check));
  }
  return faults;
}

std::vector<std::string> find_faults(const Figures& figures, const Summary& summary, double all_ns,
                                     int threads) {
  const Tally& tally = figures.tally;
  if (summary.crowd)
    return crowd::faults_of(*tally.crowd, summary.crowd->outcome, summary.requests);
  if (figures.hopeless) {
    return {fmt::format("every request failed with `{}` from the start, so the run ended early",
                        summary.hopeless)};
  }
  if (summary.requests == 0 && summary.errors_total == 0 && tally.think)
    return {"no request was sent, because the run ended in the first pauses of --think"};
  if (summary.requests == 0) return {"no request succeeded"};
  std::vector<std::string> faults;
  if (summary.plateau) {
    faults = faults_of_ramp(summary);
  } else if (!summary.is_n_check_good()) {
    faults.push_back(time_elsewhere(summary, tally, all_ns));
  }
  if (summary.under_way && summary.has_n_check() && summary.is_long_enough()) {
    if (auto fault = fault_of(*summary.under_way, threads)) faults.push_back(std::move(*fault));
  }
  if (tally.announced_bytes != tally.moved_bytes) {
    faults.push_back(fmt::format("the replies announced {} bytes of files, but {} were received",
                                 tally.announced_bytes, tally.moved_bytes));
  }
  return faults;
}

}  // namespace

Summary summarize(const Figures& figures, int threads) {
  const Tally& tally = figures.tally;
  Summary summary;
  summary.elapsed_s = seconds_of(static_cast<double>(tally.elapsed_ns));
  summary.requests = tally.succeeded();
  const std::uint64_t in_window = tally.open ? tally.open->answered : summary.requests;
  summary.throughput_rps = ratio(static_cast<double>(in_window), summary.elapsed_s);
  summary.bytes = tally.moved_bytes;
  summary.errors = errors_by_cause(tally.errors);
  summary.errors_total = tally.errors_total();
  summary.first_errors = first_errors(tally);
  if (figures.hopeless) summary.hopeless = figures.hopeless->word();
  if (tally.handshakes) {
    summary.handshake = response_times(tally.handshakes->time_ns);
    summary.handshake_distribution = distribution(tally.handshakes->time_ns.buckets());
  }
  summary.connect_ms = mean_ms(tally.connect_ns, summary.requests);
  summary.first_byte_ms = mean_ms(tally.first_byte_ns, summary.requests);
  summary.logged_in_ms = mean_ms(tally.logged_in_ns, summary.requests);
  summary.data_connected_ms = mean_ms(tally.data_connected_ns, summary.requests);
  summary.data_ended_ms = mean_ms(tally.data_ended_ns, summary.requests);
  summary.response = response_times(tally.response_ns);
  summary.think_ms = think_ms(tally);
  summary.distribution = distribution(tally.response_ns.buckets());
  summary.halves = halves(figures);
  summary.per_second = per_second(tally.seconds);
  summary.kinds = kinds_of(tally, summary.elapsed_s);

  const double all_ns = static_cast<double>(tally.elapsed_ns) * threads;
  summary.open = open_summary(tally);
  if (figures.rounds) summary.burst = burst::summarize(*figures.rounds);
  if (tally.crowd && figures.crowd) summary.crowd = crowd::summarize(*tally.crowd, *figures.crowd);
  if (summary.has_n_check())
    summary.n_check = ratio(summary.throughput_rps * summary.cycle_ms() / 1000, threads);
  if (!summary.burst && !summary.crowd) summary.under_way = summarize(figures.under_way, tally);
  summary.plateau = plateau_summary(figures, threads);
  if (summary.plateau) summary.n_check = summary.plateau->n_check;
  summary.intervals = intervals_of(summary);
  summary.starvation = starvation_of(figures, summary);
  if (const auto silence_ns = figures.silence.longest_ns(); silence_ns && summary.has_n_check())
    summary.silence_s = seconds_of(static_cast<double>(*silence_ns));
  summary.is_silence_told = is_silence_told(figures, summary);
  summary.invalid_because = own_faults_of(figures, summary);
  std::ranges::move(find_faults(figures, summary, all_ns, threads),
                    std::back_inserter(summary.invalid_because));
  if (figures.count_check && !figures.hopeless) {
    if (auto fault = fault_of(*figures.count_check))
      summary.invalid_because.push_back(std::move(*fault));
  }
  return summary;
}

std::string errors_text(const CausesAndCounts& errors) {
  std::string text;
  for (const auto& [word, count] : errors) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word, grouped(count));
  }
  return text.empty() ? "none" : text;
}

const char* law_of(const Summary& summary) { return summary.think_ms ? "X*(R+Z)" : "X*R"; }

const char* verdict_text(const Summary& summary) {
  return summary.invalid_because.empty() ? "valid" : "INVALID";
}

std::optional<std::string> failure_of(const Summary& summary) {
  if (summary.errors_total > 0 && !summary.crowd) {
    return fmt::format("{} of {} requests failed: {}", summary.errors_total,
                       summary.errors_total + summary.requests, errors_text(summary.errors));
  }
  if (!summary.invalid_because.empty())
    return fmt::format("the run is invalid: {}", fmt::join(summary.invalid_because, "; "));
  if (summary.errors_total == 0) return {};
  return fmt::format("{} of {} users dropped out: {}", summary.errors_total,
                     summary.crowd->outcome.standing.started, errors_text(summary.errors));
}

}  // namespace loadgen
