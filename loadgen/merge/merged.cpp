#include "loadgen/merge/merged.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "loadgen/figures/units.h"

namespace loadgen::merge {

namespace {

double start_s(const Part& part) { return part.figures.start_unix_s; }
double end_s(const Part& part) { return start_s(part) + part.elapsed_s; }

// The part of the second `index` of a tester that is between two moments since its start. In its
// last second, only what is before its end counts.
double share_within(const Part& part, std::size_t index, double from_s, double to_s) {
  const auto first_s = static_cast<double>(index);
  const double last_s = std::min(first_s + 1, part.elapsed_s);
  const double within_s = std::min(to_s, last_s) - std::max(from_s, first_s);
  return last_s > first_s ? std::clamp(within_s / (last_s - first_s), 0.0, 1.0) : 0;
}

// A ramp adds up with another part of the same ramp: its testers share one plateau, by their plan.
bool have_one_plateau(const std::optional<PlateauTime>& one,
                      const std::optional<PlateauTime>& other) {
  if (!one || !other) return !one && !other;
  return one->start_ns == other->start_ns && one->elapsed_ns == other->elapsed_ns;
}

bool has_handshakes(const Part& part) { return part.figures.tally.handshakes.has_value(); }

// Why `other` cannot be added to `first`.
std::string difference(const Part& first, const Part& other) {
  const auto differs = [&](const char* what) {
    return fmt::format("{}: it has another {} than {}", other.name, what, first.name);
  };
  if (other.config.request != first.config.request) return differs("request");
  if (other.config.protocol != first.config.protocol) return differs("protocol");
  if (other.config.connection != first.config.connection) return differs("connection");
  if (is_open_loop(other.config) != is_open_loop(first.config)) return differs("kind of loop");
  if (has_handshakes(other) != has_handshakes(first)) return differs("encryption");
  if (!have_one_plateau(first.figures.plateau, other.figures.plateau)) return differs("plateau");
  if (other.config.think != first.config.think) return differs("think time");
  if (other.file_bytes && first.file_bytes && *other.file_bytes != *first.file_bytes)
    return differs("size of files");
  return {};
}

std::string text_of(const std::optional<Share>& share) {
  return share ? fmt::format("the share {}/{}", share->part + 1, share->parts) : "no share";
}

// Why the parts are not those of one load.
std::string wrong_share(const std::vector<Part>& parts) {
  const Part& first = parts.front();
  std::map<int, const Part*> by_number;
  for (const Part& part : parts) {
    const int others = first.share ? first.share->parts : 0;
    if ((part.share ? part.share->parts : 0) != others)
      return fmt::format("{}: it has {}, and {} has {}", part.name, text_of(part.share), first.name,
                         text_of(first.share));
    if (!part.share) continue;
    const auto [same, is_new] = by_number.emplace(part.share->part, &part);
    if (!is_new)
      return fmt::format("{}: it has {}, which {} has too", part.name, text_of(part.share),
                         same->second->name);
  }
  return {};
}

// A setting that is not the same for all is none of the sum.
void keep_common(std::vector<flags::Setting>& settings, const std::vector<flags::Setting>& other) {
  const auto differs = [&other](const flags::Setting& one) {
    return std::none_of(other.begin(), other.end(), [&one](const flags::Setting& same) {
      return same.name == one.name && same.value == one.value;
    });
  };
  settings.erase(std::remove_if(settings.begin(), settings.end(), differs), settings.end());
}

void add(Config& sum, const Config& other) {
  keep_common(sum.settings, other.settings);
  if (sum.users > 0 || other.users > 0) sum.users = testers_of(sum) + testers_of(other);
  sum.threads += other.threads;
  sum.rate_rps += other.rate_rps;
}

void add(CpuUse& sum, const CpuUse& other) {
  sum.used_cores += other.used_cores;
  sum.allowed_cores += other.allowed_cores;
  sum.run_delay_share = std::max(sum.run_delay_share, other.run_delay_share);
}

// Moves the seconds of a tester that began later by as many whole seconds.
void align(Tally& tally, double later_s) {
  const auto whole = static_cast<std::size_t>(std::lround(later_s));
  tally.seconds.insert(tally.seconds.begin(), whole, Second{});
}

// The halves of a sum are known only if those of all parts are.
void add(Merged& sum, const Part& part, double later_s) {
  Tally tally = part.figures.tally;
  align(tally, later_s);
  add(sum.config, part.config);
  sum.figures.tally.add(tally);
  sum.figures.has_halves = sum.figures.has_halves && part.figures.has_halves;
  add(sum.figures.cpu, part.figures.cpu);
  sum.figures.sources += part.figures.sources;
  sum.figures.end = std::max(sum.figures.end, part.figures.end);
  for (const std::string& server : part.figures.servers) {
    auto& servers = sum.figures.servers;
    if (std::find(servers.begin(), servers.end(), server) == servers.end())
      servers.push_back(server);
  }
}

// The CPU time for one request of all testers.
double us_per_request(const std::vector<Part>& parts) {
  double us = 0;
  double requests = 0;
  for (const Part& part : parts) {
    us += part.figures.cpu.us_per_request * static_cast<double>(part.requests);
    requests += static_cast<double>(part.requests);
  }
  return ratio(us, requests);
}

std::vector<std::string> faults_of(const std::vector<Part>& parts, const SharedWindow& window) {
  std::vector<std::string> faults;
  for (const Part& part : parts) {
    for (const std::string& reason : part.invalid_because)
      faults.push_back(fmt::format("{}: {}", part.name, reason));
  }
  if (window.seconds() > 0) return faults;
  const auto starts_before = [](const Part& one, const Part& other) {
    return start_s(one) < start_s(other);
  };
  const auto ends_before = [](const Part& one, const Part& other) {
    return end_s(one) < end_s(other);
  };
  faults.push_back(fmt::format("the runs share no time: {} had ended when {} began",
                               std::min_element(parts.begin(), parts.end(), ends_before)->name,
                               std::max_element(parts.begin(), parts.end(), starts_before)->name));
  return faults;
}

Summary summary_of(const Merged& merged, const std::vector<Part>& parts) {
  Summary summary = summarize(merged.figures, testers_of(merged.config));
  double answered = 0;
  summary.requests = 0;
  for (const Part& part : parts) {
    summary.requests += part.requests;
    answered += requests_within(part, merged.window);
  }
  summary.elapsed_s = merged.window.seconds();
  summary.intervals.reset();  // testers that differ are no parts of one run
  summary.throughput_rps = ratio(answered, summary.elapsed_s);
  summary.invalid_because = faults_of(parts, merged.window);
  if (summary.has_n_check() && !summary.plateau)
    summary.n_check = summary.throughput_rps * summary.cycle_ms() / 1000 /
                      static_cast<double>(testers_of(merged.config));
  return summary;
}

}  // namespace

SharedWindow shared_window(const std::vector<Part>& parts) {
  SharedWindow window{start_s(parts.front()), end_s(parts.front())};
  double first_start_s = window.start_unix_s;
  double last_end_s = window.end_unix_s;
  for (const Part& part : parts) {
    window.start_unix_s = std::max(window.start_unix_s, start_s(part));
    window.end_unix_s = std::min(window.end_unix_s, end_s(part));
    first_start_s = std::min(first_start_s, start_s(part));
    last_end_s = std::max(last_end_s, end_s(part));
  }
  window.start_spread_s = window.start_unix_s - first_start_s;
  window.end_spread_s = last_end_s - window.end_unix_s;
  return window;
}

// A closed loop counts the requests that ended behind its window with those of its last second,
// because its elapsed time goes up to them.
double requests_within(const Part& part, const SharedWindow& window) {
  const double from_s = window.start_unix_s - start_s(part);
  const double to_s = from_s + window.seconds();
  const std::vector<Second>& seconds = part.figures.tally.seconds;
  const auto count = static_cast<std::size_t>(std::ceil(part.elapsed_s));
  double within = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (i >= count && part.figures.tally.open) break;
    const std::size_t second = count > 0 && i >= count ? count - 1 : i;
    within += static_cast<double>(seconds[i].requests) * share_within(part, second, from_s, to_s);
  }
  return within;
}

base::Result<Merged> merge(const std::vector<Part>& parts) {
  const Part& first = parts.front();
  if (std::string why = wrong_share(parts); !why.empty())
    return base::Error{base::ErrorCode::kInvalid, std::move(why)};
  Merged merged{first.config, first.figures, {}, shared_window(parts), parts.size()};
  const bool is_shared = merged.window.seconds() > 0;
  const double began_s = merged.window.start_unix_s - merged.window.start_spread_s;
  const auto later_s = [&](const Part& part) { return is_shared ? start_s(part) - began_s : 0; };
  align(merged.figures.tally, later_s(first));
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Part& part = parts[i];
    if (std::string why = difference(first, part); !why.empty())
      return base::Error{base::ErrorCode::kInvalid, std::move(why)};
    add(merged, part, later_s(part));
  }
  merged.figures.cpu.us_per_request = us_per_request(parts);
  merged.figures.start_unix_s = merged.window.start_unix_s;
  merged.summary = summary_of(merged, parts);
  return merged;
}

}  // namespace loadgen::merge
