#include "loadgen/merge/options.h"

#include <optional>
#include <string_view>

#include "flags/parse.h"
#include "flags/values.h"

namespace loadgen::merge {

namespace {

void declare(flags::App& app, Options& options) {
  app.group("Results");
  app.add_words("result", "FILE...", options.results,
                "results that --json has written, one of each tester");
  app.group("Output");
  flags::add_path(app, "--json", options.json,
                  "write the sum as JSON to FILE; `-` is standard output")
      ->required()
      ->has_variable = false;
  flags::add_path(app, "--distribution", options.distribution,
                  "write the distribution of all response times to FILE; in the text form of "
                  "HdrHistogram (.hgrm); `-` is standard output")
      ->has_variable = false;
}

flags::Program program() {
  return {"loadgen merge",
          "Makes one result of those of several testers, which measured the same server at the "
          "same time.\n\n"
          "Counts, bytes, errors and distributions are added exactly, so the percentiles are those "
          "of one tester that had sent all requests. The throughput is that of the time in which "
          "all testers were measuring, by the clocks of their hosts.\n\n"
          "The sum is valid if all results are, and if they share a time. All must be of one "
          "request, protocol, kind of connection, kind of loop and think time, and ramps of one "
          "plateau: with --share, testers have parts of one load. Bursts and crowds do not "
          "add up. With --start-at, testers begin together.",
          {{"Add up what two testers have measured",
            "loadgen merge tester1.json tester2.json --json all.json --distribution all.hgrm"}},
          1,
          {"loadgen(1)"}};
}

}  // namespace

bool is_asked_for(int argc, char** argv) {
  return argc > 1 && std::string_view(argv[1]) == "merge";
}

std::variant<Options, int> read_options(int argc, char** argv) {
  Options options;
  const auto exit_status = flags::parse(
      program(), argc - 1, argv + 1, [&](flags::App& app) { declare(app, options); },
      [&](flags::App&) -> std::optional<std::string> {
        if (options.json != options.distribution || options.json == "-") return {};
        return "--json and --distribution need different files";
      });
  if (exit_status) return *exit_status;
  return options;
}

}  // namespace loadgen::merge
