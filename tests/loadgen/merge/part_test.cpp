#include "loadgen/merge/part.h"

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"
#include "tests/loadgen/merge/results.h"

using base::kNsPerMs;
using loadgen::merge::read_part;
using tests::contains;
using tests::result_of;

namespace {

std::string wrong(const nlohmann::json& json) {
  const auto part = read_part("a.json", json.dump());
  return part ? "" : part.error().context;
}

// The result of a run of a few requests, with one field changed.
nlohmann::json changed(const char* key, const nlohmann::json& value) {
  nlohmann::json json = result_of({10 * kNsPerMs, 20 * kNsPerMs});
  json[key] = value;
  return json;
}

}  // namespace

TEST_CASE("what json_of() wrote is read back", "[loadgen]") {
  const auto part = read_part("a.json", result_of({10 * kNsPerMs, 20 * kNsPerMs}).dump());
  REQUIRE(part);
  CHECK(part->requests == 2);
  CHECK(part->figures.tally.response_ns.count() == 2);
  CHECK(part->figures.tally.response_ns.min() == 10 * kNsPerMs);
  CHECK(part->figures.tally.response_ns.max() == 20 * kNsPerMs);
  CHECK(part->figures.tally.response_ns.sum() == 30 * kNsPerMs);
  CHECK(part->figures.tally.moved_bytes == 2000);
  CHECK(part->file_bytes == 1000);
  CHECK(part->config.threads == 2);
  CHECK(part->elapsed_s == 2.0);
  CHECK(part->invalid_because.empty());
}

TEST_CASE("a result that cannot be added up is refused in one line with the name of its file",
          "[loadgen]") {
  CHECK(contains(wrong(changed("schema", 2)), "a.json: its schema is 2, and this version reads 1"));
  CHECK(contains(wrong(changed("schema", nullptr)), "it has no schema"));
  CHECK(contains(wrong(changed("distribution", nullptr)), "it has no distribution"));
  CHECK(contains(wrong(changed("merged_from", 2)), "merged already"));
  CHECK(contains(wrong(changed("burst", nlohmann::json::object())), "bursts do not add up"));
  CHECK(contains(wrong(changed("plateau", nlohmann::json::object())), "its start_s is no number"));
  CHECK(contains(wrong(changed("kinds", nlohmann::json::object())), "mixes do not add up"));
  CHECK(contains(wrong(changed("request", "take")), "does not know \"take\""));
  CHECK(contains(wrong(changed("requests", -1)), "its requests is no count"));
  CHECK(contains(wrong(changed("valid", "yes")), "its valid is neither true nor false"));
  CHECK(contains(wrong(changed("elapsed_s", 1e9)), "too long"));
  CHECK(contains(wrong(changed("server", "nowhere")), "no address"));
}

TEST_CASE("a distribution of a stranger is checked before it is counted", "[loadgen]") {
  const auto list = [](const char* text) { return nlohmann::json::parse(text); };
  for (const char* const text : {"3", "[3]", "[[1]]", "[[1,2,3]]", "[[-1,2]]", "[[1,-2]]",
                                 "[[1,2.5]]", "[[1e300,2]]", "[[\"1\",2]]", "{\"a\":[1,2]}"}) {
    CAPTURE(text);
    CHECK(contains(wrong(changed("distribution", list(text))), "a.json: "));
  }
  CHECK(contains(wrong(changed("distribution", list("[[2,1],[1,1]]"))), "not ascending"));
  CHECK(contains(wrong(changed("distribution", list("[[1,9007199254740992],[2,1]]"))),
                 "counts too much"));
  CHECK(contains(wrong(changed("halves", list("[[]]"))), "not two"));
  CHECK(contains(wrong(changed("halves", list("[[],[[10,1]]]"))), "not its distribution"));
}

TEST_CASE("handshakes of a stranger are checked", "[loadgen]") {
  auto figures = tests::figures_of({10 * kNsPerMs});
  figures.tally.handshakes.emplace().add(kNsPerMs, true);
  const nlohmann::json right = result_of(figures);
  CHECK(wrong(right).empty());
  const auto with = [&right](const char* pointer, const nlohmann::json& value) {
    nlohmann::json json = right;
    json[nlohmann::json::json_pointer(pointer)] = value;
    return wrong(json);
  };
  CHECK(contains(with("/tls/handshakes", 2), "its handshakes are not their distribution"));
  CHECK(contains(with("/tls/resumed", 2), "more resumed handshakes than handshakes"));
  CHECK(contains(with("/tls/handshake_ms", nullptr), "no number"));
  CHECK(contains(with("/handshake_distribution", nullptr), "it has no handshake_distribution"));
  CHECK(contains(with("/tls", 1), "its tls is no object"));
}

TEST_CASE("text that is no result is refused", "[loadgen][no-threads]") {
  for (const std::string text : {"", "null", "[]", "3", "{", "\"schema\"", "\xff"}) {
    CAPTURE(text);
    const auto part = read_part("a.json", text);
    REQUIRE_FALSE(part);
    CHECK(part.error().context == "a.json: it is no JSON object");
  }
  CHECK_FALSE(read_part("a.json", std::string(1'000'000, '[')));
}

TEST_CASE("texts of a stranger cannot mislead a terminal", "[loadgen]") {
  nlohmann::json json = changed("valid", false);
  json["invalid_because"] = {"\x1b[2Jall is well\n", std::string(5000, 'x')};
  const auto part = read_part("a.json", json.dump());
  REQUIRE(part);
  CHECK(part->invalid_because[0] == "?[2Jall is well?");
  CHECK(part->invalid_because[1].size() == 1000);
}

TEST_CASE("a share of a stranger is checked", "[loadgen]") {
  const auto settings = [](const nlohmann::json& share) {
    return changed("settings", {{"share", share}});
  };
  const auto part = read_part("a.json", settings("3/4").dump());
  REQUIRE(part);
  CHECK(part->share == loadgen::Share{.part = 2, .parts = 4});
  CHECK_FALSE(read_part("a.json", settings(nullptr).dump())->share);
  for (const char* const text : {"", "5/4", "1/2/3"})
    CHECK(wrong(settings(text)) == "a.json: its share is no J/N");
  CHECK(wrong(settings(3)) == "a.json: its share is no text");
}

TEST_CASE("a result that is not valid has a reason", "[loadgen]") {
  const auto part = read_part("a.json", changed("valid", false).dump());
  REQUIRE(part);
  CHECK(part->invalid_because == std::vector<std::string>{"not valid"});
}
