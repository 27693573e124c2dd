#include <fmt/format.h>

#include "base/units.h"
#include "loadgen/report.h"

namespace loadgen {

namespace {

// "9,121"
std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

std::string row(const char* name, const std::string& text) {
  return fmt::format("  {:<15}{}\n", name, text);
}

std::string title(const Report& report) {
  const Config& config = report.config;
  std::string line = fmt::format("{} from {}: {} thread{}, {}", word_of(config.request),
                                 net::to_string(config.server), config.threads,
                                 config.threads == 1 ? "" : "s", word_of(config.connection));
  if (report.sources > 1) line += fmt::format(" from {} local addresses", report.sources);
  return line + fmt::format(", {:.3f} s\n", report.summary.elapsed_s);
}

std::string response_time_text(const Histogram& response_ns) {
  return fmt::format(
      "mean {:.3f}  min {:.3f}  p50 {:.3f}  p90 {:.3f}  p99 {:.3f}  p99.9 {:.3f}  max {:.3f} ms",
      response_ns.mean() / 1e6, ms(response_ns.min()), ms(response_ns.value_at(500)),
      ms(response_ns.value_at(900)), ms(response_ns.value_at(990)), ms(response_ns.value_at(999)),
      ms(response_ns.max()));
}

std::string phases_text(const Report& report) {
  const bool has_connect = report.config.connection == Connection::kPerRequest;
  const std::string connected =
      has_connect ? fmt::format("connected {:.3f}  ", report.summary.connect_ms) : "";
  return fmt::format("{}first byte {:.3f}  last byte {:.3f} ms after the start, in the mean",
                     connected, report.summary.first_byte_ms, report.summary.mean_ms);
}

std::string check_text(const Report& report) {
  const Summary& summary = report.summary;
  const double product = summary.throughput_rps * summary.mean_ms / 1000;
  return fmt::format("N = X*R: {} threads, {:.1f}/s * {:.3f} ms = {:.3f}, ratio {:.3f}: {}",
                     report.config.threads, summary.throughput_rps, summary.mean_ms, product,
                     summary.n_check, summary.invalid_because.empty() ? "valid" : "INVALID");
}

}  // namespace

std::string errors_text(const Summary& summary) {
  std::string text;
  for (const auto& [word, count] : summary.errors) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word, grouped(count));
  }
  return text.empty() ? "none" : text;
}

std::string table_of(const Report& report) {
  const Summary& summary = report.summary;
  const CpuUse& cpu = report.result.cpu;
  const double bytes_per_s =
      summary.elapsed_s > 0 ? static_cast<double>(summary.bytes) / summary.elapsed_s : 0;
  std::string table = title(report);
  table += row("throughput",
               fmt::format("{:.1f} requests/s, {}/s; {} requests, {}", summary.throughput_rps,
                           base::human_bytes(bytes_per_s), grouped(summary.requests),
                           base::human_bytes(static_cast<double>(summary.bytes))));
  if (summary.requests > 0) {
    table += row("response time", response_time_text(report.result.tally.response_ns));
    table += row("phases", phases_text(report));
  }
  table += row("errors", errors_text(summary));
  table += row("check", check_text(report));
  for (const std::string& reason : summary.invalid_because) table += row("", reason);
  table +=
      row("loadgen's CPU", fmt::format("{:.2f} of {:g} cores", cpu.used_cores, cpu.allowed_cores));
  if (summary.requests > 0 && cpu.is_bottleneck(report.config.threads)) {
    table += "warning: loadgen itself is the bottleneck: these are its limits, not the server's\n";
  }
  if (report.warning) table += "warning: " + *report.warning + "\n";
  return table;
}

}  // namespace loadgen
