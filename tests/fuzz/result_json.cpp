// Random bytes as the result of a tester. What is read can be added up, to twice as much.
#include <nlohmann/json.hpp>
#include <string_view>

#include "loadgen/figures/hgrm.h"
#include "loadgen/figures/json.h"
#include "loadgen/figures/table.h"
#include "loadgen/merge/merged.h"
#include "tests/fuzz/require.h"

using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto part = loadgen::merge::read_part("a.json", text);
  if (!part) {
    require(part.error().context.starts_with("a.json: "));
    require(part.error().context.find('\n') == std::string::npos);
    return 0;
  }
  const auto sum = loadgen::merge::merge({*part, *part});
  require(sum.ok());
  require(sum->summary.requests == 2 * part->requests);
  require(sum->figures.tally.response_ns.count() == 2 * part->figures.tally.response_ns.count());
  const auto json = loadgen::json_of(sum->config, sum->figures, sum->summary);
  require(nlohmann::json::accept(json));
  require(!loadgen::table_of(sum->config, sum->figures, sum->summary).empty());
  require(!loadgen::hgrm_of(sum->figures.tally.response_ns).empty());
  return 0;
}
