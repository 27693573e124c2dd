// Reads the flags, checks the host, runs the load and reports the result.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <variant>

#include "base/host.h"
#include "base/stop_signals.h"
#include "flags/parse.h"
#include "loadgen/config.h"
#include "loadgen/preflight.h"
#include "loadgen/report.h"
#include "loadgen/run.h"

namespace {

using loadgen::Config;

int failed(const std::string& why) {
  fmt::print(stderr, "loadgen: {}\n", why);
  return flags::kFailed;
}

// Requires: errno is that of the write that has just failed.
std::string cannot_write(const std::string& json_path) {
  return base::errno_error(base::ErrorCode::kInternal, "--json: write " + json_path, errno).context;
}

// Returns where the JSON is written, or null if the user wants none. It is opened before the run,
// so that a wrong path is reported before the time is spent. The caller checks the stream's state.
std::ostream* open_json(const std::string& path, std::ofstream& file) {
  if (path == "-") return &std::cout;
  if (!path.empty()) file.open(path);
  return path.empty() ? nullptr : &file;
}

int report(const Config& config, const loadgen::RunResult& result, std::ostream* json) {
  const loadgen::Summary summary = loadgen::summarize(result.tally, config.threads);
  fmt::print(stderr, "{}", loadgen::table_of(config, result, summary));
  if (json != nullptr && !(*json << loadgen::json_of(config, result, summary) << std::flush))
    return failed(cannot_write(config.json));
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
  std::ofstream file;
  std::ostream* const json = open_json(config.json, file);
  if (json != nullptr && !*json) return failed(cannot_write(config.json));
  for (const std::string& warning : ready->warnings) fmt::print(stderr, "warning: {}\n", warning);
  const auto result = loadgen::run(config, *ready);
  if (!result) return failed(result.error().context);
  return report(config, *result, json);
}

}  // namespace

int main(int argc, char** argv) {
  const auto config = loadgen::read_config(argc, argv);
  if (const int* const exit_status = std::get_if<int>(&config)) return *exit_status;
  try {
    base::hold_stop_signals();
    base::make_threads_small();
    return run(std::get<Config>(config));
  } catch (const std::exception& failure) {
    return failed(failure.what());
  }
}
