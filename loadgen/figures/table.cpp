#include "loadgen/figures/table.h"

#include <fmt/format.h>

#include "base/units.h"
#include "loadgen/figures/format.h"
#include "loadgen/figures/units.h"

namespace loadgen {

namespace {

std::string mix_text(const Config& config) {
  std::string text;
  for (const RequestKind kind : {RequestKind::kGet, RequestKind::kPut, RequestKind::kNew}) {
    if (!sends(config, kind)) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", word_of(kind), config.mix[index_of(kind)]);
  }
  return text;
}

std::string testers_text(const Config& config) {
  const std::string threads = counted(static_cast<std::uint64_t>(config.threads), "thread");
  if (config.users == 0) return threads;
  return fmt::format("{} on {}", counted(static_cast<std::uint64_t>(config.users), "user"),
                     threads);
}

std::string title(const Config& config, const Figures& figures, const Summary& summary) {
  std::string line = fmt::format(
      "{} {} {}: {}, {}{}", is_mixed(config) ? mix_text(config) : word_of(config.request),
      is_mixed(config)                      ? "at"
      : config.request == RequestKind::kPut ? "to"
                                            : "from",
      net::to_string(config.server), testers_text(config),
      config.protocol == Protocol::kNative ? "" : std::string(word_of(config.protocol)) + ", ",
      word_of(config.connection));
  if (figures.sources > 1) line += fmt::format(" from {} local addresses", figures.sources);
  return line + fmt::format(", {:.3f} s\n", summary.elapsed_s);
}

std::string throughput_text(const Summary& summary) {
  const auto bytes = static_cast<double>(summary.bytes);
  const auto requests = static_cast<double>(summary.requests);
  const double bytes_per_s = requests > 0 ? summary.throughput_rps * bytes / requests : 0;
  return fmt::format("{:.1f} requests/s, {}/s; {} requests, {}", summary.throughput_rps,
                     base::human_bytes(bytes_per_s), grouped(summary.requests),
                     base::human_bytes(bytes));
}

std::string known_ms(const std::optional<double>& percentile_ms) {
  return percentile_ms ? fmt::format("{:.3f}", *percentile_ms) : "-";
}

std::string response_time_text(const ResponseTimes& response) {
  return fmt::format("mean {:.3f}  min {:.3f}  p50 {:.3f}  p90 {}  p99 {}  p99.9 {}  max {:.3f} ms",
                     response.mean_ms, response.min_ms, response.p50_ms, known_ms(response.p90_ms),
                     known_ms(response.p99_ms), known_ms(response.p999_ms), response.max_ms);
}

std::string text_of(const Interval& interval, int digits) {
  return fmt::format("{:.{}f} to {:.{}f}", interval.low, digits, interval.high, digits);
}

std::string intervals_text(const Intervals& all) {
  std::string text = fmt::format("{} requests/s; mean {}", text_of(all.throughput_rps, 1),
                                 text_of(all.mean_ms, 3));
  const auto add = [&text](const char* name, const std::optional<Interval>& one) {
    if (one) text += fmt::format("  {} {}", name, text_of(*one, 3));
  };
  add("p50", all.p50_ms);
  add("p90", all.p90_ms);
  add("p99", all.p99_ms);
  return text + " ms";
}

std::string kind_rows(const Config& config, const std::vector<KindSummary>& kinds) {
  std::string rows;
  for (const KindSummary& one : kinds) {
    if (!sends(config, one.kind)) continue;
    rows += row(
        word_of(one.kind),
        fmt::format("{:.1f} requests/s; {} requests, {}; mean {:.3f}  p50 {:.3f}  p99 "
                    "{} ms; errors: {}",
                    one.throughput_rps, grouped(one.requests),
                    base::human_bytes(static_cast<double>(one.bytes)), one.response.mean_ms,
                    one.response.p50_ms, known_ms(one.response.p99_ms), errors_text(one.errors)));
  }
  return rows;
}

std::string channels_text(const Config& config, const ChannelTally& channels) {
  std::string text = fmt::format(
      "{} of {} connections brought parts of a file; at most {} waited for earlier bytes; {} lost",
      channels.used, config.channels.count,
      base::human_bytes(static_cast<double>(channels.reorder_bytes_max)), channels.lost);
  if (channels.resumed_bytes > 0)
    text += fmt::format("; {} of an earlier run were kept",
                        base::human_bytes(static_cast<double>(channels.resumed_bytes)));
  if (channels.begun_again > 0)
    text += fmt::format("; {} begun again, because what an earlier run left was of no use",
                        counted(channels.begun_again, "file"));
  return text;
}

std::string phases_text(const Config& config, const Summary& summary) {
  const bool is_ftp = config.protocol == Protocol::kFtp;
  const bool starts_with_release = is_burst(config);
  std::string text;
  if (config.connection == Connection::kPerRequest && !starts_with_release) {
    text += fmt::format("connected {:.3f}  ", summary.connect_ms);
    if (is_ftp) text += fmt::format("logged in {:.3f}  ", summary.logged_in_ms);
  }
  if (is_ftp && !starts_with_release)
    text += fmt::format("connected for data {:.3f}  ", summary.data_connected_ms);
  return text + fmt::format("first byte {:.3f}  last byte {:.3f} ms after the start, on average",
                            summary.first_byte_ms, summary.last_byte_ms());
}

std::string rate_text(const Config& config, const OpenSummary& open) {
  return fmt::format("{:g} requests/s, {}; {} were due", config.rate_rps, word_of(config.arrivals),
                     grouped(open.due));
}

// The times that a closed loop does not have, and what they do not show.
std::string open_loop_rows(const Config& config, const Summary& summary) {
  const OpenSummary& open = *summary.open;
  std::string rows = row("offered", rate_text(config, open));
  rows += row("service time", response_time_text(open.service));
  rows += row("lateness", response_time_text(open.lateness));
  rows += row("check", verdict_text(summary));
  if (open.given_up > 0) {
    rows += row("", fmt::format("{} requests were given up; the response times have the time that "
                                "had passed, so the highest ones are too low",
                                grouped(open.given_up)));
  }
  return rows;
}

std::string thread_warning(const OpenSummary& open) {
  if (open.found_no_thread * 100 <= open.due) return {};
  return fmt::format(
      "warning: {:.1f}% of the requests had to wait until a thread was free, and the response "
      "times "
      "include this; if the server can take more requests at a time, use more threads\n",
      100 * static_cast<double>(open.found_no_thread) / static_cast<double>(open.due));
}

std::string plateau_rows(const PlateauSummary& plateau) {
  const std::string rates =
      fmt::format("{:.3f} s from {:.3f} s on: {:.1f} requests/s; {} requests", plateau.elapsed_s,
                  plateau.start_s, plateau.throughput_rps, grouped(plateau.requests));
  return row("plateau", rates) + row("", response_time_text(plateau.response));
}

std::string silence_warning(const Summary& summary) {
  if (!summary.is_silence_told) return {};
  return fmt::format(
      "warning: no request ended for {:.1f} s, {:.0f}% of the run; the percentiles of a closed "
      "loop "
      "hide that, those of an open one (--rate) do not\n",
      *summary.silence_s, 100 * ratio(*summary.silence_s, summary.elapsed_s));
}

// A run that is too short for its check, and has no other fault.
const char* closed_verdict_text(const Summary& summary) {
  const bool is_judged = summary.is_long_enough() || !summary.invalid_because.empty();
  return is_judged ? verdict_text(summary) : "not judged";
}

std::string ramp_check_text(const Summary& summary) {
  return fmt::format("N = {} on the plateau: ratio {:.3f}: {}", law_of(summary), summary.n_check,
                     closed_verdict_text(summary));
}

std::string check_text(const Config& config, const Summary& summary) {
  const double mean_ms = summary.response.mean_ms;
  const std::string cycle = summary.think_ms
                                ? fmt::format("({:.3f} + {:.3f})", mean_ms, *summary.think_ms)
                                : fmt::format("{:.3f}", mean_ms);
  const std::string too_short =
      summary.is_long_enough() ? "" : fmt::format(", in a run under {:g} s", kLeastElapsedS);
  return fmt::format(
      "N = {}: {} {}, {:.1f}/s * {} ms = {:.3f}, {:.1f}% of their time in requests{}{}: {}",
      law_of(summary), testers_of(config), config.users > 0 ? "users" : "threads",
      summary.throughput_rps, cycle, summary.throughput_rps * summary.cycle_ms() / 1000,
      summary.n_check * 100, summary.think_ms ? " and pauses" : "", too_short,
      closed_verdict_text(summary));
}

// How the run was checked, by the kind of the run.
std::string check_rows(const Config& config, const Summary& summary) {
  if (summary.open) return open_loop_rows(config, summary);
  if (summary.plateau)
    return plateau_rows(*summary.plateau) + row("check", ramp_check_text(summary));
  if (!summary.burst) return row("check", check_text(config, summary));
  return row("burst", burst::text_of(*summary.burst)) + row("check", verdict_text(summary));
}

}  // namespace

std::string table_of(const Config& config, const Figures& figures, const Summary& summary) {
  if (summary.crowd) return crowd::table_of(config, figures, summary);
  const CpuUse& cpu = figures.cpu;
  std::string table = title(config, figures, summary);
  if (figures.servers.size() > 1)
    table += row("addresses", fmt::format("{}", fmt::join(figures.servers, ", ")));
  if (figures.start_late_s)
    table += row("start", fmt::format("{:.3f} s after --start-at", *figures.start_late_s));
  table += row("throughput", throughput_text(summary));
  if (summary.response.max_ms > 0) {
    table += row("response time", response_time_text(summary.response));
    if (summary.intervals) table += row("95% intervals", intervals_text(*summary.intervals));
    table += row("phases", phases_text(config, summary));
  }
  if (figures.tally.channels)
    table += row("channels", channels_text(config, *figures.tally.channels));
  if (summary.handshake) {
    const HandshakeTally& made = *figures.tally.handshakes;
    table +=
        row("TLS handshakes", fmt::format("{}, of which {} resumed; {}", made.made, made.resumed,
                                          response_time_text(*summary.handshake)));
  }
  if (summary.think_ms) {
    table += row("think time", fmt::format("mean {:.3f} ms, as measured; asked for: {}",
                                           *summary.think_ms, text_of(config.think)));
  }
  table += row("errors", errors_text(summary.errors));
  table += kind_rows(config, summary.kinds);
  for (const auto& [word, text] : summary.first_errors)
    table += row("", fmt::format("the first `{}`: {}", word, text));
  if (const std::string hint = hint_of(config, summary); !hint.empty()) table += row("hint", hint);
  table += check_rows(config, summary);
  if (summary.under_way) table += row("under way", text_of(*summary.under_way));
  if (figures.count_check) table += row("telemetry", text_of(*figures.count_check));
  for (const std::string& reason : summary.invalid_because) table += row("", reason);
  table +=
      row("loadgen's CPU",
          fmt::format("{:.2f} of {:g} cores, {:.1f} us for each request; ready to run without a "
                      "core for {:.3f} ms of each",
                      cpu.used_cores, cpu.allowed_cores, cpu.us_per_request,
                      cpu.run_delay_ms_per_request));
  if (summary.requests > 0 && cpu.is_bottleneck(config.threads)) {
    table +=
        "warning: loadgen itself is the bottleneck; the figures show its limits, not the "
        "server's\n";
  }
  if (summary.requests > 0 && summary.is_starved()) {
    table += fmt::format(
        "warning: loadgen's threads had to wait for a core, {:.0f}% of {}; use fewer threads, or "
        "give loadgen cores of its own\n",
        summary.starvation * 100, summary.has_n_check() ? "the time of a request" : "their time");
  }
  table += silence_warning(summary);
  if (summary.open) table += thread_warning(*summary.open);
  if (summary.burst) table += burst::warning_of(*summary.burst);
  if (figures.warning) table += "warning: " + *figures.warning + "\n";
  return table;
}

}  // namespace loadgen
