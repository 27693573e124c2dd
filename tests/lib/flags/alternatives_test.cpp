#include "flags/alternatives.h"

#include <string>
#include <vector>

#include "flags/parse.h"
#include "tests/catch.h"
#include "tests/environment_variable.h"
#include "tests/temporary_folder.h"

using tests::EnvironmentVariable;

namespace {

struct Sample {
  std::string word;
  std::string word_file;
  std::string host = "here";
  std::string socket;  // overrides the host
};

struct Outcome {
  std::optional<int> exit_status;
  Sample sample;
};

void declare(flags::App& app, Sample& sample) {
  flags::Option* const word = app.add_option("--word", sample.word);
  flags::Option* const word_file = app.add_option("--word-file", sample.word_file);
  flags::make_alternatives({word, [&] { sample.word.clear(); }},
                           {word_file, [&] { sample.word_file.clear(); }});
  flags::forget_when_taken(app.add_option("--host", sample.host), [&] { sample.socket.clear(); });
  app.add_option("--socket", sample.socket);
}

Outcome parse(std::vector<std::string> arguments) {
  Outcome outcome;
  std::vector<char*> argv;
  arguments.insert(arguments.begin(), "sampler");
  for (std::string& argument : arguments) argv.push_back(argument.data());
  outcome.exit_status = flags::parse(
      {"sampler", "A sample."}, static_cast<int>(argv.size()), argv.data(),
      [&](flags::App& app) { declare(app, outcome.sample); },
      [](flags::App&) -> std::optional<std::string> { return {}; });
  return outcome;
}

bool is_taken(const Outcome& outcome, const std::string& word, const std::string& word_file) {
  return !outcome.exit_status && outcome.sample.word == word &&
         outcome.sample.word_file == word_file;
}

}  // namespace

TEST_CASE("of two alternatives, the one from the higher layer counts", "[flags]") {
  const tests::TemporaryFolder folder;
  folder.write("config", "word = low\n");
  const std::string config = folder.path("config");

  CHECK(is_taken(parse({"--config", config}), "low", ""));
  CHECK(is_taken(parse({"--config", config, "--word-file", "high"}), "", "high"));
  const EnvironmentVariable variable("SAMPLER_WORD_FILE", "middle");
  CHECK(is_taken(parse({"--config", config}), "", "middle"));
  CHECK(is_taken(parse({"--config", config, "--word", "high"}), "high", ""));
}

TEST_CASE("both alternatives in one layer are wrong usage, even if a higher layer overrides them",
          "[flags]") {
  const tests::TemporaryFolder folder;
  folder.write("config", "word = a\nhost = there\nword-file = b\n");
  CHECK(parse({"--word", "a", "--word-file", "b"}).exit_status == flags::kWrongUsage);
  CHECK(parse({"--config", folder.path("config")}).exit_status == flags::kWrongUsage);
  CHECK(parse({"--config", folder.path("config"), "--word", "c"}).exit_status ==
        flags::kWrongUsage);
  const EnvironmentVariable word("SAMPLER_WORD", "a");
  const EnvironmentVariable word_file("SAMPLER_WORD_FILE", "b");
  CHECK(parse({}).exit_status == flags::kWrongUsage);
  CHECK(parse({"--word", "c"}).exit_status == flags::kWrongUsage);
}

TEST_CASE("a flag that overrides another one does so in its own layer and in lower ones",
          "[flags]") {
  const tests::TemporaryFolder folder;
  folder.write("config", "socket = s\nhost = there\n");
  const std::string config = folder.path("config");

  CHECK(parse({"--socket", "s", "--host", "there"}).sample.socket == "s");
  CHECK(parse({"--config", config}).sample.socket == "s");
  CHECK(parse({"--config", config, "--host", "elsewhere"}).sample.socket.empty());
  const EnvironmentVariable host("SAMPLER_HOST", "elsewhere");
  CHECK(parse({"--config", config}).sample.socket.empty());
  CHECK(parse({"--socket", "s"}).sample.socket == "s");
}
