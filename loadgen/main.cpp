// Reads the flags, checks the host, runs the load and reports the result.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <variant>

#include "base/host.h"
#include "base/stop_signals.h"
#include "flags/parse.h"
#include "loadgen/config.h"
#include "loadgen/preflight.h"
#include "loadgen/report.h"
#include "loadgen/result_file.h"
#include "loadgen/run.h"

namespace {

using loadgen::Config;

int failed(const std::string& why) {
  fmt::print(stderr, "loadgen: {}\n", why);
  return flags::kFailed;
}

int report(const Config& config, const loadgen::RunResult& result) {
  const loadgen::Summary summary = loadgen::summarize(result.tally, config.threads);
  fmt::print(stderr, "{}", loadgen::table_of(config, result, summary));
  const auto written =
      loadgen::write_result_file(config.json, loadgen::json_of(config, result, summary));
  if (!written) return failed(written.error().context);
  if (result.stop_signal != 0) {
    fmt::print(stderr, "loadgen: stopped early by signal {}\n", result.stop_signal);
    return 128 + result.stop_signal;
  }
  if (const auto failure = loadgen::failure_of(summary)) return failed(*failure);
  return flags::kDone;
}

int run(const Config& config) {
  const auto ready = loadgen::prepare(config);
  if (!ready) return failed(ready.error().context);
  const auto writable = loadgen::check_result_file(config.json);
  if (!writable) return failed(writable.error().context);
  for (const std::string& warning : ready->warnings) fmt::print(stderr, "warning: {}\n", warning);
  base::hold_stop_signals();
  const auto result = loadgen::run(config, *ready);
  if (!result) return failed(result.error().context);
  return report(config, *result);
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
