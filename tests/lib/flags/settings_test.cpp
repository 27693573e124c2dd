#include "flags/settings.h"

#include <map>
#include <string>
#include <vector>

#include "flags/alternatives.h"
#include "flags/parse.h"
#include "flags/values.h"
#include "tests/catch.h"
#include "tests/environment_variable.h"

namespace {

enum class Kind { kPlain, kFancy };

struct SettingsSample {
  int count = 1;
  int rounds = 0;
  std::int64_t wait_ms = 2'000;
  std::int64_t size_bytes = 0;
  bool is_loud = false;
  std::string text;
  std::string password;
  Kind kind = Kind::kPlain;
};

using Settings = std::map<std::string, decltype(flags::Setting::value)>;

void declare_settings(flags::App& app, SettingsSample& sample) {
  flags::Option* const count = flags::add_whole(app, "--count", sample.count, 1, 100, "");
  flags::Option* const rounds = flags::add_whole(app, "--rounds", sample.rounds, 1, 100, "");
  rounds->default_str("");
  flags::make_alternatives({count, [&] { sample.count = 1; }},
                           {rounds, [&] { sample.rounds = 0; }});
  flags::add_seconds(app, "--wait-time", sample.wait_ms, "");
  flags::add_size(app, "--size", sample.size_bytes, "");
  app.add_flag("--loud", sample.is_loud, "");
  app.add_option("--text", sample.text, "");
  app.add_option("--password", sample.password, "");
  flags::add_choice<Kind>(app, "--kind", sample.kind,
                          {{"plain", Kind::kPlain}, {"fancy", Kind::kFancy}}, "");
}

// Calls `look` with the options when all were taken. Returns what they have written.
SettingsSample parse_settings(std::vector<std::string> arguments,
                              const std::function<void(flags::App&)>& look) {
  SettingsSample sample;
  std::vector<char*> argv;
  arguments.insert(arguments.begin(), "settler");
  for (std::string& argument : arguments) argv.push_back(argument.data());
  const auto status = flags::parse(
      {"settler", "A sample."}, static_cast<int>(argv.size()), argv.data(),
      [&](flags::App& app) { declare_settings(app, sample); },
      [&](flags::App& app) {
        look(app);
        return std::optional<std::string>();
      });
  CHECK_FALSE(status);
  return sample;
}

Settings settings(const std::vector<std::string>& arguments) {
  Settings all;
  parse_settings(arguments, [&all](flags::App& app) {
    for (const flags::Setting& one : flags::settings_of(app)) all[one.name] = one.value;
  });
  return all;
}

}  // namespace

TEST_CASE("the settings are what was given, or the defaults, but never a password", "[flags]") {
  auto all = settings({});
  CHECK(all.size() == 7);
  CHECK(std::get<std::int64_t>(all["count"]) == 1);
  CHECK(std::get<std::int64_t>(all["wait-time"]) == 2);
  CHECK(std::get<std::string>(all["kind"]) == "plain");
  CHECK(std::get<bool>(all["loud"]) == false);
  for (const char* const name : {"size", "text", "rounds"})
    CHECK(std::holds_alternative<std::monostate>(all[name]));

  all = settings({"--count", "7", "--wait-time", "0.5", "--size", "1M", "--loud", "--text", "12",
                  "--kind", "fancy", "--password", "s3cret"});
  CHECK(std::get<std::int64_t>(all["count"]) == 7);
  CHECK(std::get<double>(all["wait-time"]) == 0.5);
  CHECK(std::get<std::string>(all["size"]) == "1M");
  CHECK(std::get<std::string>(all["text"]) == "12");
  CHECK(std::get<std::string>(all["kind"]) == "fancy");
  CHECK(std::get<bool>(all["loud"]));
  CHECK(all.size() == 7);
  CHECK(std::get<std::int64_t>(settings({"--size", "4096"})["size"]) == 4096);
}

TEST_CASE("a flag whose alternative was given in a higher layer has no value", "[flags]") {
  const tests::EnvironmentVariable variable("SETTLER_COUNT", "5");
  auto all = settings({"--rounds", "3"});
  CHECK(std::get<std::int64_t>(all["rounds"]) == 3);
  CHECK(std::holds_alternative<std::monostate>(all["count"]));
  CHECK(std::get<std::int64_t>(settings({})["count"]) == 5);
}

TEST_CASE("an option knows whether the command line gave it, and can forget it", "[flags]") {
  const tests::EnvironmentVariable variable("SETTLER_COUNT", "5");
  const SettingsSample sample =
      parse_settings({"--text", "a", "--loud", "--kind=fancy"}, [](flags::App& app) {
        for (const char* const name : {"--text", "--loud", "--kind"})
          CHECK(app.find(name)->is_on_command_line);
        CHECK_FALSE(app.find("--count")->is_on_command_line);
        CHECK_FALSE(app.find("--size")->is_on_command_line);
        for (flags::Option& option : app.options()) option.forget();
        CHECK_FALSE(app.find("--text")->is_on_command_line);
      });
  CHECK(sample.count == 1);
  CHECK(sample.text.empty());
  CHECK_FALSE(sample.is_loud);
  CHECK(sample.kind == Kind::kPlain);
}
