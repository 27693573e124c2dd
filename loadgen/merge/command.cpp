#include "loadgen/merge/command.h"

#include <fmt/core.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/result.h"
#include "base/standard_streams.h"
#include "flags/parse.h"
#include "loadgen/figures/format.h"
#include "loadgen/figures/hgrm.h"
#include "loadgen/figures/json.h"
#include "loadgen/figures/result_file.h"
#include "loadgen/figures/table.h"
#include "loadgen/merge/merged.h"

namespace loadgen::merge {

namespace {

using OrderedJson = nlohmann::ordered_json;

// The result of a run of a day has about 8 MiB.
constexpr std::size_t kMostResultBytes = 16 << 20;

// Testers that begin together do so within a tenth of a second, if their clocks are right.
constexpr double kMostSpreadS = 0.1;

base::Result<std::string> text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostResultBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.good())
    return base::Error{base::ErrorCode::kTooLong, path + ": it is too large for a result"};
  if (file.bad() || !file.eof())
    return base::errno_error(base::ErrorCode::kNotFound, "read " + path, errno);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

base::Result<Merged> merge_files(const std::vector<std::string>& paths) {
  std::vector<Part> parts;
  for (const std::string& path : paths) {
    const auto text = text_of(path);
    if (!text) return text.error();
    auto part = read_part(path, *text);
    if (!part) return part.error();
    parts.push_back(std::move(*part));
  }
  return merge(parts);
}

OrderedJson merge_json(const Merged& sum) {
  return {{"merged_from", sum.parts},
          {"start_spread_ms", rounded(sum.window.start_spread_s * 1000)},
          {"end_spread_ms", rounded(sum.window.end_spread_s * 1000)}};
}

std::string merge_rows(const Merged& sum) {
  std::string rows =
      row("merged", fmt::format("from {}; they began within {:.1f} ms of each other, "
                                "by their own clocks",
                                counted(sum.parts, "result"), sum.window.start_spread_s * 1000));
  if (sum.window.start_spread_s > kMostSpreadS && sum.window.seconds() > 0) {
    rows +=
        "warning: the testers did not begin together, or their clocks differ; the throughput is "
        "that of the time which they share\n";
  }
  return rows;
}

base::Status write(const Options& options, const Merged& sum) {
  const auto json = json_of(sum.config, sum.figures, sum.summary, merge_json(sum));
  if (auto written = write_result_file("--json", options.json, json); !written) return written;
  return write_result_file("--distribution", options.distribution,
                           hgrm_of(sum.figures.tally.response_ns));
}

int failed(const std::string& why) {
  base::tell("loadgen merge: " + why + "\n");
  return flags::kFailed;
}

}  // namespace

int run(const Options& options) {
  const auto sum = merge_files(options.results);
  if (!sum) return failed(sum.error().context);
  const auto written = write(options, *sum);
  base::tell(table_of(sum->config, sum->figures, sum->summary) + merge_rows(*sum));
  if (!written) return failed(written.error().context);
  const auto failure = failure_of(sum->summary);
  return failure ? failed(*failure) : flags::kDone;
}

}  // namespace loadgen::merge
