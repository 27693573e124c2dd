#include "loadgen/config/mixed_work.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tests/catch.h"

using loadgen::Config;

namespace {

// Nothing: wrong usage.
std::optional<Config> get(const std::string& file, std::vector<std::string> more) {
  std::vector<std::string> arguments{"loadgen",    "get", "--user", "u",
                                     "--password", "p",   "--file", file};
  arguments.insert(arguments.end(), more.begin(), more.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  auto outcome = loadgen::read_config(static_cast<int>(argv.size()), argv.data());
  if (std::holds_alternative<int>(outcome)) return {};
  return std::get<Config>(std::move(outcome));
}

}  // namespace

TEST_CASE("--files goes with %d in --file and without --unique", "[loadgen]") {
  CHECK(get("f%d", {"--files", "1000000000"})->files == 1'000'000'000);
  CHECK_FALSE(get("f", {"--files", "3"}));
  CHECK_FALSE(get("f%d", {"--files", "3", "--unique", "3"}));
  CHECK_FALSE(get("f%d", {"--files", "0"}));
  CHECK_FALSE(get("f%d", {"--files", "3", "--users", "2", "--pace", "1000"}));
}

TEST_CASE("the longest name that --files can draw is checked", "[loadgen]") {
  const std::string name = std::string(508, 'f') + "%d";
  CHECK(get(name, {"--files", "999"}));
  CHECK_FALSE(get(name, {"--files", "1000"}));
}

TEST_CASE("--popularity is uniform, or zipf with an exponent", "[loadgen]") {
  const auto exponent = [](const std::string& popularity) -> std::optional<double> {
    const auto config = get("f%d", {"--files", "3", "--popularity", popularity});
    return config ? std::optional(config->zipf) : std::nullopt;
  };
  CHECK(exponent("uniform") == 0);
  CHECK(exponent("zipf:0.9") == 0.9);
  CHECK(exponent("zipf:1") == 1);
  for (const std::string wrong :
       {"", "zipf", "zipf:", "zipf:x", "zipf:-1", "zipf:11", "zipf:nan", "zipf:1x", "uniform:1"})
    CHECK_FALSE(exponent(wrong));
  CHECK_FALSE(get("f", {"--popularity", "zipf:1"}));
}
