#include "flags/alternatives.h"

#include <string>
#include <vector>

#include "flags/parse.h"
#include "tests/catch.h"
#include "tests/environment_variable.h"
#include "tests/temporary_folder.h"

using tests::EnvironmentVariable;

namespace {

struct AlternativesSample {
  std::string word;
  std::string word_file;
  std::string host = "here";
  std::string socket;  // overrides the host
};

struct AlternativesOutcome {
  std::optional<int> exit_status;
  AlternativesSample sample;
};

void declare_alternatives(flags::App& app, AlternativesSample& sample) {
  flags::Option* const word = app.add_option("--word", sample.word);
  flags::Option* const word_file = app.add_option("--word-file", sample.word_file);
  flags::make_alternatives({word, [&] { sample.word.clear(); }},
                           {word_file, [&] { sample.word_file.clear(); }});
  flags::forget_when_taken(app.add_option("--host", sample.host), [&] { sample.socket.clear(); });
  app.add_option("--socket", sample.socket);
}

AlternativesOutcome parse_alternatives(std::vector<std::string> arguments) {
  AlternativesOutcome outcome;
  std::vector<char*> argv;
  arguments.insert(arguments.begin(), "sampler");
  for (std::string& argument : arguments) argv.push_back(argument.data());
  outcome.exit_status = flags::parse(
      {"sampler", "A sample."}, static_cast<int>(argv.size()), argv.data(),
      [&](flags::App& app) { declare_alternatives(app, outcome.sample); },
      [](flags::App&) -> std::optional<std::string> { return {}; });
  return outcome;
}

bool is_taken(const AlternativesOutcome& outcome, const std::string& word,
              const std::string& word_file) {
  return !outcome.exit_status && outcome.sample.word == word &&
         outcome.sample.word_file == word_file;
}

}  // namespace

TEST_CASE("of two alternatives, the one from the higher layer counts", "[flags]") {
  const tests::TemporaryFolder folder;
  folder.write("config", "word = low\n");
  const std::string config = folder.path("config");

  CHECK(is_taken(parse_alternatives({"--config", config}), "low", ""));
  CHECK(is_taken(parse_alternatives({"--config", config, "--word-file", "high"}), "", "high"));
  const EnvironmentVariable variable("SAMPLER_WORD_FILE", "middle");
  CHECK(is_taken(parse_alternatives({"--config", config}), "", "middle"));
  CHECK(is_taken(parse_alternatives({"--config", config, "--word", "high"}), "high", ""));
}

TEST_CASE("both alternatives in one layer are wrong usage, even if a higher layer overrides them",
          "[flags]") {
  const tests::TemporaryFolder folder;
  folder.write("config", "word = a\nhost = there\nword-file = b\n");
  CHECK(parse_alternatives({"--word", "a", "--word-file", "b"}).exit_status == flags::kWrongUsage);
  CHECK(parse_alternatives({"--config", folder.path("config")}).exit_status == flags::kWrongUsage);
  CHECK(parse_alternatives({"--config", folder.path("config"), "--word", "c"}).exit_status ==
        flags::kWrongUsage);
  const EnvironmentVariable word("SAMPLER_WORD", "a");
  const EnvironmentVariable word_file("SAMPLER_WORD_FILE", "b");
  CHECK(parse_alternatives({}).exit_status == flags::kWrongUsage);
  CHECK(parse_alternatives({"--word", "c"}).exit_status == flags::kWrongUsage);
}

TEST_CASE("a flag that overrides another one does so in its own layer and in lower ones",
          "[flags]") {
  const tests::TemporaryFolder folder;
  folder.write("config", "socket = s\nhost = there\n");
  const std::string config = folder.path("config");

  CHECK(parse_alternatives({"--socket", "s", "--host", "there"}).sample.socket == "s");
  CHECK(parse_alternatives({"--config", config}).sample.socket == "s");
  CHECK(parse_alternatives({"--config", config, "--host", "elsewhere"}).sample.socket.empty());
  const EnvironmentVariable host("SAMPLER_HOST", "elsewhere");
  CHECK(parse_alternatives({"--config", config}).sample.socket.empty());
  CHECK(parse_alternatives({"--socket", "s"}).sample.socket == "s");
}
