#include "loadgen/config/mixed_work.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/catch.h"

using loadgen::Config;
using loadgen::RequestKind;

namespace {

// Nothing: wrong usage.
std::optional<Config> read_mix(std::vector<std::string> arguments, std::vector<std::string> more) {
  arguments.insert(arguments.begin(), "loadgen");
  arguments.insert(arguments.end(), more.begin(), more.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  auto outcome = loadgen::read_config(static_cast<int>(argv.size()), argv.data());
  if (std::holds_alternative<int>(outcome)) return {};
  return std::get<Config>(std::move(outcome));
}

std::optional<Config> get_mix(const std::string& file, std::vector<std::string> more) {
  return read_mix({"get", "--user", "u", "--password", "p", "--file", file}, std::move(more));
}

// A get by HTTP with a mix.
std::optional<Config> mixed(const std::string& mix, std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--protocol", "http", "--size", "1K", "--mix", mix});
  return get_mix("f", std::move(more));
}

}  // namespace

TEST_CASE("--files goes with %d in --file and without --unique", "[loadgen]") {
  CHECK(get_mix("f%d", {"--files", "1000000000"})->files == 1'000'000'000);
  CHECK_FALSE(get_mix("f", {"--files", "3"}));
  CHECK_FALSE(get_mix("f%d", {"--files", "3", "--unique", "3"}));
  CHECK_FALSE(get_mix("f%d", {"--files", "0"}));
  CHECK_FALSE(get_mix("f%d", {"--files", "3", "--users", "2", "--pace", "1000"}));
}

TEST_CASE("the longest name that --files can draw is checked", "[loadgen]") {
  const std::string name = std::string(508, 'f') + "%d";
  CHECK(get_mix(name, {"--files", "999"}));
  CHECK_FALSE(get_mix(name, {"--files", "1000"}));
}

TEST_CASE("--popularity is uniform, or zipf with an exponent", "[loadgen]") {
  const auto exponent = [](const std::string& popularity) -> std::optional<double> {
    const auto config = get_mix("f%d", {"--files", "3", "--popularity", popularity});
    return config ? std::optional(config->zipf) : std::nullopt;
  };
  CHECK(exponent("uniform") == 0);
  CHECK(exponent("zipf:0.9") == 0.9);
  CHECK(exponent("zipf:1") == 1);
  for (const std::string wrong :
       {"", "zipf", "zipf:", "zipf:x", "zipf:-1", "zipf:11", "zipf:nan", "zipf:1x", "uniform:1"})
    CHECK_FALSE(exponent(wrong));
  CHECK_FALSE(get_mix("f", {"--popularity", "zipf:1"}));
}

TEST_CASE("--mix names kinds with their shares", "[loadgen]") {
  const auto config = mixed("get:90,put:9,new:1");
  REQUIRE(config);
  CHECK(is_mixed(*config));
  CHECK(config->mix[index_of(RequestKind::kGet)] == 90);
  CHECK(config->mix[index_of(RequestKind::kPut)] == 9);
  CHECK(config->mix[index_of(RequestKind::kNew)] == 1);
  CHECK_FALSE(sends(*get_mix("f", {"--mix", "get:1"}), RequestKind::kPut));
  for (const std::string wrong :
       {"", "get", "get,put:1", "get:,put:1", "get:0,put:1", "get:-1,put:1", "get:1.5,put:1",
        "get:1,put:1,", ",get:1,put:1", "get:1,put:1,put:2", "head:1,get:1,put:1", "get:9 put:1",
        "get:1,put:1000001"}) {
    CAPTURE(wrong);
    CHECK_FALSE(mixed(wrong));
  }
}

TEST_CASE("a mix needs what its kinds need", "[loadgen]") {
  const std::vector<std::string> account{"get", "--user", "u", "--password", "p"};
  CHECK_FALSE(read_mix(account, {"--mix", "get:1,new:1"}));
  CHECK(read_mix(account, {"--mix", "get:1,new:1", "--file", "f"}));
  CHECK_FALSE(read_mix({"get", "--file", "f"}, {"--mix", "get:1,new:1"}));
  CHECK_FALSE(read_mix(account, {"--mix", "put:1", "--protocol", "http"}));
  CHECK(read_mix(account, {"--mix", "put:1", "--protocol", "http", "--size", "1K"}));
}

TEST_CASE("a flag of a kind that the mix does not have is refused", "[loadgen]") {
  CHECK_FALSE(get_mix("f", {"--mix", "get:1,new:1", "--size", "1K"}));
  CHECK_FALSE(mixed("put:1,new:1"));  // has a --file
  const std::vector<std::string> put{"get",        "--user", "u",      "--password", "p",
                                     "--protocol", "http",   "--size", "1K",         "--mix"};
  CHECK(read_mix(put, {"put:1"}));
  CHECK_FALSE(read_mix(put, {"put:1", "--verify"}));
  CHECK_FALSE(read_mix({"get", "--user", "u", "--password", "p"}, {"--mix", "new:1"}));
}

TEST_CASE("a mix goes where its kinds go", "[loadgen]") {
  CHECK_FALSE(get_mix("f", {"--mix", "get:1,put:1", "--size", "1K"}));
  CHECK_FALSE(get_mix("f", {"--mix", "get:1,new:1", "--protocol", "ftp"}));
  CHECK(get_mix("f", {"--mix", "get:1,put:1", "--size", "1K", "--protocol", "ftp"}));
  CHECK_FALSE(read_mix({"new"}, {"--mix", "new:1"}));
  CHECK_FALSE(
      read_mix({"new", "--user", "u", "--password", "p", "--file", "f"}, {"--mix", "get:1"}));
  CHECK_FALSE(get_mix("f", {"--mix", "get:1", "--users", "2", "--pace", "1000"}));
  CHECK_FALSE(get_mix("f", {"--mix", "get:1", "--release", "transfer", "--requests", "2"}));
  CHECK(mixed("get:1,put:1", {"--rate", "5"}));
}
