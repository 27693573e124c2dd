#include "flags/parse.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <vector>

#include "base/log.h"
#include "flags/config_file.h"
#include "flags/secrets.h"
#include "version.h"

namespace flags {

namespace {

// One line that says what is wrong.
using Wrong = std::string;

std::string variable_of(const std::string& program, const std::string& flag) {
  std::string name = program + "_" + flag;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(std::toupper(c));
  });
  return name;
}

// A flag from a file or the environment, and where it was found.
struct Given {
  std::string name;
  std::string value;
  std::string where;
};

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Wraps Option::take for CLI11.
CLI::callback_t callback_of(const Option& option) {
  return [&option](const CLI::results_t& results) {
    std::string text = option.is_repeatable ? results.front() : results.back();
    for (std::size_t i = 1; option.is_repeatable && i < results.size(); ++i)
      text.append(",").append(results[i]);
    if (!option.take(text)) {
      throw CLI::ValidationError(
          option.name, fmt::format("{} is not {}", base::log::quoted(text), option.accepted));
    }
    return true;
  };
}

// What CLI11 does with `--name=` is to take the next argument as the value. So an empty value
// becomes an argument of its own here.
std::vector<std::string> with_empty_values_apart(const CLI::App& cli,
                                                 const std::vector<std::string>& arguments) {
  std::vector<std::string> apart;
  bool is_value = false;  // whether the flag in front takes this argument, whatever it looks like
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    const CLI::Option* const option =
        is_value || !name.starts_with("--") ? nullptr : cli.get_option_no_throw(name);
    const bool takes_value = option != nullptr && option->get_items_expected_max() > 0;
    const bool is_empty = option != nullptr && argument == name + "=";
    if (is_empty && !takes_value)
      throw CLI::ValidationError(name, "\"\" is neither true nor false");
    apart.push_back(is_empty ? name : argument);
    if (is_empty) apart.emplace_back();
    is_value = takes_value && argument == name;
  }
  return apart;
}

// `arguments` without the program's name.
void parse_with(CLI::App& cli, const std::vector<std::string>& arguments) {
  std::vector<std::string> apart = with_empty_values_apart(cli, arguments);
  std::reverse(apart.begin(), apart.end());  // CLI11 wants the last one first
  cli.parse(std::move(apart));
}

CLI::Option* add_to(CLI::App& cli, const Option& option) {
  if (option.switch_target != nullptr)
    return cli.add_flag(option.name, *option.switch_target, option.help);
  CLI::Option* const added = cli.add_option(option.name, callback_of(option), option.help);
  if (option.is_repeatable) added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return added->type_name(option.type)->type_size(1)->default_str(option.default_text);
}

void add_all_to(CLI::App& cli, const App& app, bool with_required) {
  std::map<const Option*, CLI::Option*> added;
  for (const Option& option : app.options()) {
    CLI::Option* const one = added[&option] = add_to(cli, option);
    one->required(with_required && option.is_required);
    for (const auto& action : option.before_take)
      one->each([action](const std::string&) { action(); });
  }
  for (const auto& [option, one] : added) {
    for (const Option* const other : option->excluded) one->excludes(added.at(other));
  }
}

class Parser {
 public:
  Parser(const Program& program, const App& app) : program_(program), app_(app) {}

  std::string config_path;

  // Throws CLI::ParseError if a flag is wrong, and CLI::Success after printing --help or --version.
  void take_command_line(int argc, char** argv) {
    const auto cli = fresh_cli(true);
    try {
      parse_with(*cli, {argv + 1, argv + std::max(argc, 1)});
    } catch (const CLI::Success& asked_for) {
      // The names are only set for --help to show them. CLI11 would let the file override the
      // environment, so take_environment() and take_file() read both instead.
      for (CLI::Option* option : cli->get_options()) {
        if (is_settable(*option))
          option->envname(variable_of(program_.name, option->get_single_name()));
      }
      cli->exit(asked_for);
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
    std::vector<Given> layer;
    for (const Option& option : app_.options()) {
      if (!option.is_flag()) continue;
      const std::string variable = variable_of(program_.name, option.plain_name());
      const char* const value = std::getenv(variable.c_str());
      if (value == nullptr || *value == '\0') continue;  // an empty variable counts as not set
      layer.push_back({option.plain_name(), value, variable});
    }
    return take_layer("the environment", layer);
  }

 private:
  // A new parser for each layer, because CLI11 remembers which flags it has seen.
  std::unique_ptr<CLI::App> fresh_cli(bool with_required) {
    auto cli = std::make_unique<CLI::App>(program_.description, program_.name);
    // If a flag is given twice, the last one counts. So flags can be overridden by appending.
    cli->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    cli->set_version_flag(
        "--version",
        program_.name + " " TURNSTILE_VERSION " (compiler " __VERSION__ "; " TURNSTILE_FLAGS ")",
        "print the version and the compiler's flags, and exit");
    cli->set_help_flag("--help", "print this help and exit");
    cli->add_option("--config", config_path, "read flags from FILE, one `flag = value` per line")
        ->type_name("FILE")
        ->check([](const std::string& path) -> std::string {
          return path.empty() ? "\"\" is not a file" : "";
        });
    add_all_to(*cli, app_, with_required);
    cli->footer(
        "The command line overrides the environment, which overrides the file, which overrides the "
        "default.");
    return cli;
  }

  static bool is_settable(const CLI::Option& option) {
    return !option.get_positional() && option.get_single_name() != "help" &&
           option.get_single_name() != "version";
  }

  bool is_flag(const std::string& plain_name) const {
    return std::any_of(app_.options().begin(), app_.options().end(),
                       [&](const Option& option) { return option.name == "--" + plain_name; });
  }

  // First takes each flag alone, so that an error names its place. Then takes all of them together,
  // because some exclude each other.
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
      parse_with(*fresh_cli(false), arguments);
    } catch (const CLI::ParseError& failure) {
      return fmt::format("{}: {}", where, failure.what());
    }
    return {};
  }

  const Program& program_;
  const App& app_;
};

int wrong_usage(const Program& program, const Wrong& what) {
  std::cerr << program.name << ": " << one_line(what) << " (see --help)\n";
  return kWrongUsage;
}

}  // namespace

std::optional<int> parse(const Program& program, int argc, char** argv, const Declare& declare,
                         const Check& check) {
  App app;
  declare(app);
  Parser parser(program, app);
  const std::string config_variable = variable_of(program.name, "config");
  if (const char* const path = std::getenv(config_variable.c_str())) parser.config_path = path;
  try {
    // The command line is taken twice. The first time finds --help and --config; the second time
    // overrides the file and the environment.
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
  hide_secrets(argc, argv, variable_of(program.name, ""));
  if (const auto wrong = check()) return wrong_usage(program, *wrong);
  return {};
}

}  // namespace flags
