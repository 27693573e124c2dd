#include "flags/parse.h"

#include "flags/about.h"
#include "flags/commit.h"
#include "flags/values.h"
#include "tests/catch.h"
#include "tests/environment_variable.h"
#include "tests/temporary_folder.h"

namespace {

struct Sample {
  int count = 1;
  std::int64_t wait_ms = 2000;
  bool is_loud = false;
  std::string text = "default";
  std::string list;
};

struct Outcome {
  std::optional<int> exit_status;
  Sample sample;
};

Outcome parse(std::vector<std::string> arguments) {
  Outcome outcome;
  std::vector<char*> argv;
  arguments.insert(arguments.begin(), "sampler");
  for (std::string& argument : arguments) argv.push_back(argument.data());
  outcome.exit_status = flags::parse(
      {"sampler", "A sample."}, static_cast<int>(argv.size()), argv.data(),
      [&](flags::App& app) {
        flags::add_whole(app, "--count", outcome.sample.count, 1, 100, "how many");
        flags::add_seconds(app, "--wait-time", outcome.sample.wait_ms, "how long");
        app.add_flag("--loud", outcome.sample.is_loud, "a switch");
        app.add_option("--text", outcome.sample.text, "a text");
        app.add_option("--item", outcome.sample.list, "of a list")->repeatable();
      },
      [](flags::App&) -> std::optional<std::string> { return {}; });
  return outcome;
}

}  // namespace

TEST_CASE("without flags the defaults hold", "[flags]") {
  const auto outcome = parse({});
  REQUIRE_FALSE(outcome.exit_status);
  CHECK(outcome.sample.count == 1);
  CHECK_FALSE(outcome.sample.is_loud);
}

TEST_CASE("the command line overrides the environment, which overrides the file", "[flags]") {
  const tests::TemporaryFolder folder;
  folder.write("config", "# a comment\n\n  count = 2\nwait-time=0.5\nloud = true\n");
  const std::string config = folder.path("config");

  CHECK(parse({"--config", config}).sample.count == 2);
  CHECK(parse({"--config", config}).sample.wait_ms == 500);
  CHECK(parse({"--config", config}).sample.is_loud);
  const tests::EnvironmentVariable variable("SAMPLER_COUNT", "3");
  CHECK(parse({"--config", config}).sample.count == 3);
  CHECK(parse({"--config", config, "--count", "4"}).sample.count == 4);
  CHECK(parse({"--config", config, "--count", "4", "--count", "5"}).sample.count == 5);
}

TEST_CASE("the file may be named by its variable", "[flags]") {
  const tests::TemporaryFolder folder;
  folder.write("config", "count = 7\n");
  const tests::EnvironmentVariable variable("SAMPLER_CONFIG", folder.path("config").c_str());
  CHECK(parse({}).sample.count == 7);
}

TEST_CASE("a value that is not accepted is wrong usage in every layer", "[flags]") {
  const tests::TemporaryFolder folder;
  folder.write("bad-value", "count = many\n");
  folder.write("bad-name", "counts = 1\n");
  folder.write("no-value", "count\n");
  CHECK(parse({"--count", "0"}).exit_status == flags::kWrongUsage);
  CHECK(parse({"--count", "101"}).exit_status == flags::kWrongUsage);
  CHECK(parse({"--count", "1x"}).exit_status == flags::kWrongUsage);
  CHECK(parse({"--count"}).exit_status == flags::kWrongUsage);
  CHECK(parse({"--wait-time", "-1"}).exit_status == flags::kWrongUsage);
  CHECK(parse({"--unknown"}).exit_status == flags::kWrongUsage);
  CHECK(parse({"stray"}).exit_status == flags::kWrongUsage);
  for (const char* name : {"bad-value", "bad-name", "no-value", "missing", "."}) {
    CAPTURE(name);
    CHECK(parse({"--config", folder.path(name), "--count", "5"}).exit_status == flags::kWrongUsage);
  }
  const tests::EnvironmentVariable variable("SAMPLER_COUNT", "none");
  CHECK(parse({"--count", "5"}).exit_status == flags::kWrongUsage);
}

TEST_CASE("a value that is not accepted is wrong usage before an accepted one too", "[flags]") {
  CHECK(parse({"--count", "x", "--count", "5"}).exit_status == flags::kWrongUsage);
  CHECK(parse({"--count", "5", "--count=101"}).exit_status == flags::kWrongUsage);
  CHECK(parse({"--loud=maybe", "--loud"}).exit_status == flags::kWrongUsage);
  const auto outcome = parse({"--loud=false", "--count=4", "--loud", "--count=5"});
  REQUIRE_FALSE(outcome.exit_status);
  CHECK(outcome.sample.count == 5);
  CHECK(outcome.sample.is_loud);
}

TEST_CASE("a file that stops being readable is wrong usage", "[flags]") {
  CHECK(parse({"--config", "/proc/self/mem"}).exit_status == flags::kWrongUsage);
}

TEST_CASE("an empty variable counts as not set", "[flags]") {
  const tests::EnvironmentVariable variable("SAMPLER_COUNT", "");
  const auto outcome = parse({});
  REQUIRE_FALSE(outcome.exit_status);
  CHECK(outcome.sample.count == 1);
}

TEST_CASE("an empty value does not swallow the flag behind it", "[flags]") {
  const auto outcome = parse({"--text=", "--count=7", "--loud"});
  REQUIRE_FALSE(outcome.exit_status);
  CHECK(outcome.sample.text.empty());
  CHECK(outcome.sample.count == 7);
  CHECK(outcome.sample.is_loud);
  CHECK(parse({"--text", "", "--count", "8"}).sample.count == 8);
}

TEST_CASE("an empty value is wrong usage where the flag needs one", "[flags]") {
  CHECK(parse({"--count=", "5"}).exit_status == flags::kWrongUsage);
  CHECK(parse({"--loud=", "--count=5"}).exit_status == flags::kWrongUsage);
  CHECK(parse({"--config=", "--count=5"}).exit_status == flags::kWrongUsage);
  CHECK(parse({"--config", "", "--count=5"}).exit_status == flags::kWrongUsage);
  CHECK(parse({"--unknown=", "--count=5"}).exit_status == flags::kWrongUsage);
}

TEST_CASE("an empty value in the file is like one on the command line", "[flags]") {
  const tests::TemporaryFolder folder;
  folder.write("config", "text =\ncount = 7\n");
  const auto outcome = parse({"--config", folder.path("config")});
  REQUIRE_FALSE(outcome.exit_status);
  CHECK(outcome.sample.text.empty());
  CHECK(outcome.sample.count == 7);
}

TEST_CASE("a value may look like a flag with an empty value", "[flags]") {
  CHECK(parse({"--text", "--base64=", "--count=7"}).sample.text == "--base64=");
  CHECK(parse({"--text", "--text=", "--count=7"}).sample.text == "--text=");
  CHECK(parse({"--text=--text=", "--count=7"}).sample.text == "--text=");
}

TEST_CASE("words that belong to no flag are all taken as they are", "[flags]") {
  std::vector<std::string> words;
  std::string text;
  const auto read = [&](std::vector<std::string> arguments) {
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    return flags::parse(
        {"sampler", "A sample."}, static_cast<int>(argv.size()), argv.data(),
        [&](flags::App& app) {
          app.add_words("word", "WORD...", words, "some words");
          app.add_option("--text", text, "a text");
        },
        [](flags::App&) -> std::optional<std::string> { return {}; });
  };
  CHECK_FALSE(read({"sampler", "a,b", "--text", "c", "d", "--", "--e"}));
  CHECK(words == std::vector<std::string>{"a,b", "d", "--e"});
  CHECK(text == "c");
  CHECK(read({"sampler", "--text", "c"}) == flags::kWrongUsage);
  CHECK(read({"sampler", "a", "--wrong"}) == flags::kWrongUsage);
}

TEST_CASE("a repeatable flag gets all values of the highest layer", "[flags]") {
  const tests::TemporaryFolder folder;
  folder.write("config", "item = a,b\nitem = c\n");
  const std::string config = folder.path("config");
  CHECK(parse({"--item", "a"}).sample.list == "a");
  CHECK(parse({"--item", "a", "--count", "2", "--item=b,c", "--item", "d"}).sample.list ==
        "a,b,c,d");
  CHECK(parse({"--config", config}).sample.list == "a,b,c");
  CHECK(parse({"--config", config, "--item", "d"}).sample.list == "d");
  const tests::EnvironmentVariable variable("SAMPLER_ITEM", "e,f");
  CHECK(parse({"--config", config}).sample.list == "e,f");
}

TEST_CASE("--version names the version and, where it is known, the commit", "[flags]") {
  const flags::Program program{"sampler", "A sample."};
  const flags::App app;
  flags::App common;
  flags::declare_about(common);
  const auto arguments = flags::read_arguments({"--version"}, app, common);
  const auto text = flags::answer_about(arguments, program, app, common);
  REQUIRE(text);
  REQUIRE(*text);
  const auto commit = flags::commit().empty() ? "" : "commit " + flags::commit() + "; ";
  CHECK((*text)->rfind("sampler " + flags::version() + " (" + commit + "compiler ", 0) == 0);
}
