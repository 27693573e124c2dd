// Reads the flags, checks the host, runs the load and reports the result.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <variant>

#include "base/host.h"
#include "base/stop_signals.h"
#include "flags/parse.h"
#include "loadgen/config/config.h"
#include "loadgen/figures/crowd_report.h"
#include "loadgen/figures/report.h"
#include "loadgen/figures/result_file.h"
#include "loadgen/loops/crowd/run.h"
#include "loadgen/preflight.h"
#include "loadgen/run.h"

namespace {

using loadgen::Config;

int failed(const std::string& why) {
  fmt::print(stderr, "loadgen: {}\n", why);
  return flags::kFailed;
}

// What is shown at the end of a run of either kind.
struct Report {
  std::string table;
  std::string json;
  int stop_signal = 0;
  std::optional<std::string> failure;
};

int show(const Config& config, const Report& report) {
  fmt::print(stderr, "{}", report.table);
  const auto written = loadgen::write_result_file(config.json, report.json);
  if (!written) return failed(written.error().context);
  if (report.stop_signal != 0) {
    fmt::print(stderr, "loadgen: stopped early by signal {}\n", report.stop_signal);
    return 128 + report.stop_signal;
  }
  return report.failure ? failed(*report.failure) : flags::kDone;
}

int run_loops(const Config& config, const loadgen::Ready& ready) {
  const auto result = loadgen::run(config, ready);
  if (!result) return failed(result.error().context);
  const loadgen::Summary summary =
      loadgen::summarize(result->tally, config.threads, result->rounds);
  return show(config, {.table = loadgen::table_of(config, *result, summary),
                       .json = loadgen::json_of(config, *result, summary),
                       .stop_signal = result->stop_signal,
                       .failure = loadgen::failure_of(summary)});
}

int run_crowd(const Config& config, const loadgen::Ready& ready) {
  const auto result = loadgen::crowd::run(config, ready);
  if (!result) return failed(result.error().context);
  return show(config, {.table = loadgen::crowd::table_of(config, *result),
                       .json = loadgen::crowd::json_of(config, *result),
                       .stop_signal = result->stop_signal,
                       .failure = loadgen::crowd::failure_of(*result)});
}

int run(const Config& config) {
  const auto ready = loadgen::prepare(config);
  if (!ready) return failed(ready.error().context);
  const auto writable = loadgen::check_result_file(config.json);
  if (!writable) return failed(writable.error().context);
  for (const std::string& warning : ready->warnings) fmt::print(stderr, "warning: {}\n", warning);
  base::hold_stop_signals();
  return loadgen::is_crowd(config) ? run_crowd(config, *ready) : run_loops(config, *ready);
}

}  // namespace

int main(int argc, char** argv) {
  const auto config = loadgen::read_config(argc, argv);
  if (const int* const exit_status = std::get_if<int>(&config)) return *exit_status;
  try {
    base::make_threads_small();
    return run(std::get<Config>(config));
  } catch (const std::exception& failure) {
    return failed(failure.what());
  }
}
