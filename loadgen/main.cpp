// Reads the flags, checks the host, runs the load and reports the result.
#include <fmt/core.h>

#include <exception>
#include <string>
#include <utility>
#include <variant>

#include "base/host.h"
#include "base/standard_streams.h"
#include "base/stop_signals.h"
#include "flags/parse.h"
#include "loadgen/config/config.h"
#include "loadgen/figures/hgrm.h"
#include "loadgen/figures/json.h"
#include "loadgen/figures/result_file.h"
#include "loadgen/figures/summary.h"
#include "loadgen/figures/table.h"
#include "loadgen/merge/command.h"
#include "loadgen/merge/options.h"
#include "loadgen/preflight.h"
#include "loadgen/run.h"

namespace {

using loadgen::Config;

int failed(const std::string& why) {
  base::tell("loadgen: " + why + "\n");
  return flags::kFailed;
}

base::Status write(const Config& config, const loadgen::Figures& figures,
                   const loadgen::Summary& summary) {
  auto written =
      loadgen::write_result_file("--json", config.json, loadgen::json_of(config, figures, summary));
  if (!written) return written;
  return loadgen::write_result_file("--distribution", config.distribution,
                                    loadgen::hgrm_of(figures.tally.response_ns));
}

// The result is written first, because printing may take long.
int report(const Config& config, const loadgen::Figures& figures) {
  const loadgen::Summary summary = loadgen::summarize(figures, testers_of(config));
  const auto written = write(config, figures, summary);
  base::tell(loadgen::table_of(config, figures, summary));
  if (!written) return failed(written.error().context);
  if (figures.stop_signal != 0) {
    base::tell(fmt::format("loadgen: stopped early by signal {}\n", figures.stop_signal));
    return 128 + figures.stop_signal;
  }
  const auto failure = loadgen::failure_of(summary);
  return failure ? failed(*failure) : flags::kDone;
}

int run(const Config& config) {
  const auto ready = loadgen::prepare(config);
  if (!ready) return failed(ready.error().context);
  for (const auto& [flag, path] :
       {std::pair{"--json", &config.json}, std::pair{"--distribution", &config.distribution}}) {
    const auto writable = loadgen::check_result_file(flag, *path);
    if (!writable) return failed(writable.error().context);
  }
  for (const std::string& warning : ready->warnings) base::tell("warning: " + warning + "\n");
  base::hold_stop_signals();
  const auto figures = loadgen::run(config, *ready);
  return figures ? report(config, *figures) : failed(figures.error().context);
}

int measure(int argc, char** argv) {
  const auto config = loadgen::read_config(argc, argv);
  if (const int* const exit_status = std::get_if<int>(&config)) return *exit_status;
  base::make_threads_small();
  return run(std::get<Config>(config));
}

int merge(int argc, char** argv) {
  const auto options = loadgen::merge::read_options(argc, argv);
  if (const int* const exit_status = std::get_if<int>(&options)) return *exit_status;
  return loadgen::merge::run(std::get<loadgen::merge::Options>(options));
}

}  // namespace

int main(int argc, char** argv) {
  base::secure_standard_streams();
  try {
    return loadgen::merge::is_asked_for(argc, argv) ? merge(argc, argv) : measure(argc, argv);
  } catch (const std::exception& failure) {
    return failed(failure.what());
  }
}
