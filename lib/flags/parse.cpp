#include "flags/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <vector>

#include "flags/config_file.h"
#include "flags/secrets.h"
#include "flags/version.h"

namespace flags {

namespace {

// What is wrong, in one line.
using Wrong = std::string;

std::string variable_of(const std::string& program, const std::string& flag) {
  std::string name = program + "_" + flag;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(std::toupper(c));
  });
  return name;
}

// A flag as a file or the environment gives it, and where.
struct Given {
  std::string name;
  std::string value;
  std::string where;
};

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

class Parser {
 public:
  Parser(const Program& program, const Declare& declare) : program_(program), declare_(declare) {}

  std::string config_path;

  // A fresh app, as CLI11 remembers what it has seen.
  std::unique_ptr<CLI::App> app() {
    auto made = std::make_unique<CLI::App>(program_.description, program_.name);
    // Of a flag that is given twice the last one counts, so that a script can be corrected at its
    // end.
    made->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    made->set_version_flag("--version", program_.name + " " + kVersion,
                           "print the version and exit");
    made->set_help_flag("--help", "print this help and exit");
    made->add_option("--config", config_path, "read flags from FILE, one `flag = value` a line")
        ->type_name("FILE");
    declare_(*made);
    made->footer(
        "The command line beats the environment, which beats the file, which beats the default.");
    return made;
  }

  // Throws CLI::ParseError, and CLI::Success after printing what was asked for.
  void take_command_line(int argc, char** argv) {
    const auto all = app();
    try {
      all->parse(argc, argv);
    } catch (const CLI::Success& asked_for) {
      // Only for --help to show: CLI11 would give the file the better of the environment, so we
      // read both ourselves.
      for (CLI::Option* option : all->get_options()) {
        if (is_settable(*option))
          option->envname(variable_of(program_.name, option->get_single_name()));
      }
      all->exit(asked_for);
      throw;
    }
  }

  std::optional<Wrong> take_file() {
    const auto entries = read_config_file(config_path);
    if (!entries) return entries.error().context;
    std::vector<Given> layer;
    for (const ConfigEntry& entry : *entries) {
      const std::string where = fmt::format("{} line {}", config_path, entry.line);
      if (!is_flag(entry.name)) return fmt::format("{}: there is no flag {}", where, entry.name);
      layer.push_back({entry.name, entry.value, where});
    }
    return take_layer(config_path, layer);
  }

  std::optional<Wrong> take_environment() {
    const auto all = app();
    std::vector<Given> layer;
    for (const CLI::Option* option : all->get_options()) {
      if (!is_settable(*option) || option->get_single_name() == "config") continue;
      const std::string variable = variable_of(program_.name, option->get_single_name());
      const char* const value = std::getenv(variable.c_str());
      if (value == nullptr || *value == '\0') continue;  // an empty variable is one that is not set
      layer.push_back({option->get_single_name(), value, variable});
    }
    return take_layer("the environment", layer);
  }

 private:
  static bool is_settable(const CLI::Option& option) {
    return !option.get_positional() && option.get_single_name() != "help" &&
           option.get_single_name() != "version";
  }

  bool is_flag(const std::string& name) {
    const auto all = app();
    const CLI::Option* const option = all->get_option_no_throw("--" + name);
    return option != nullptr && is_settable(*option) && name != "config";
  }

  // Each flag by itself, so that a wrong one is told with its place; then all of them, as some
  // exclude one another.
  std::optional<Wrong> take_layer(const std::string& name, const std::vector<Given>& layer) {
    std::vector<std::string> arguments;
    for (const Given& given : layer) {
      arguments.push_back("--" + given.name + "=" + given.value);
      if (auto wrong = take({arguments.back()}, given.where)) return wrong;
    }
    return take(arguments, name);
  }

  std::optional<Wrong> take(const std::vector<std::string>& arguments, const std::string& where) {
    try {
      const auto all = app();
      for (CLI::Option* option : all->get_options()) option->required(false);
      all->parse(std::vector<std::string>(arguments.rbegin(),
                                          arguments.rend()));  // CLI11 wants the last one first
    } catch (const CLI::ParseError& failure) {
      return fmt::format("{}: {}", where, failure.what());
    }
    return {};
  }

  const Program& program_;
  const Declare& declare_;
};

int wrong_usage(const Program& program, const Wrong& what) {
  std::cerr << program.name << ": " << one_line(what) << " (see --help)\n";
  return kWrongUsage;
}

}  // namespace

std::optional<int> parse(const Program& program, int argc, char** argv, const Declare& declare,
                         const Check& check) {
  Parser parser(program, declare);
  const std::string config_variable = variable_of(program.name, "config");
  if (const char* const path = std::getenv(config_variable.c_str())) parser.config_path = path;
  try {
    // Twice: the first time finds --help and --config, the second time beats what file and
    // environment have said.
    parser.take_command_line(argc, argv);
    if (!parser.config_path.empty()) {
      if (const auto wrong = parser.take_file()) return wrong_usage(program, *wrong);
    }
    if (const auto wrong = parser.take_environment()) return wrong_usage(program, *wrong);
    parser.take_command_line(argc, argv);
  } catch (const CLI::Success&) {
    return kDone;
  } catch (const CLI::ParseError& failure) {
    return wrong_usage(program, failure.what());
  }
  hide_secrets(argc, argv);
  if (const auto wrong = check()) return wrong_usage(program, *wrong);
  return {};
}

}  // namespace flags
