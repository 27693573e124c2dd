#include "flags/parse.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <vector>

#include "base/file_io.h"
#include "base/log.h"
#include "flags/about.h"
#include "flags/arguments.h"
#include "flags/config_file.h"
#include "flags/nearest.h"
#include "flags/page.h"
#include "flags/secrets.h"

namespace flags {

namespace {

// One line that says what is wrong.
using Wrong = std::string;

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

int wrong_usage(const Program& program, const Wrong& what) {
  std::cerr << program.name << ": " << one_line(what) << " (see --help)\n";
  return kWrongUsage;
}

// "; did you mean --root?" if one of the flags has a name like `typed`. Otherwise empty.
std::string did_you_mean(const std::string& typed, const std::string& dashes,
                         const std::vector<const App*>& apps) {
  std::vector<std::string> names;
  for (const App* const app : apps) {
    for (const Option& option : app->options()) {
      if (option.is_flag()) names.push_back(option.plain_name());
    }
  }
  const std::string meant = nearest(typed, names);
  return meant.empty() ? "" : fmt::format("; did you mean {}{}?", dashes, meant);
}

// What is wrong with a flag that the program had once. Nothing for any other.
std::optional<Wrong> removed_flag(const Program& program, std::string_view plain_name,
                                  const std::string& shown_name) {
  for (const RemovedFlag& removed : program.removed) {
    if (removed.name == plain_name)
      return fmt::format("there is no flag {} any more; {}", shown_name, removed.replacement);
  }
  return {};
}

// Wraps Option::take_all for CLI11.
CLI::callback_t callback_of(Option& option) {
  return [&option](const CLI::results_t& results) {
    if (const auto refused = option.take_all(results)) {
      throw CLI::ValidationError(
          option.name, fmt::format("{} is not {}", base::log::quoted(*refused), option.accepted));
    }
    return true;
  };
}

// Empty if CLI11 takes the value of a switch.
std::string refusal_of_switch(const std::string& text) {
  bool is_on = false;
  if (CLI::detail::lexical_cast(text, is_on)) return {};
  return base::log::quoted(text) + " is neither true nor false";
}

// What CLI11 does with `--name=` is to take the next argument as the value. So an empty value
// becomes an argument of its own here.
std::vector<std::string> with_empty_values_apart(const std::vector<Argument>& arguments) {
  std::vector<std::string> apart;
  for (const Argument& argument : arguments) {
    const std::string name = argument.name();
    const bool is_empty = argument.option != nullptr && argument.text == name + "=";
    if (is_empty && argument.option->is_switch())
      throw CLI::ValidationError(name, "\"\" is neither true nor false");
    apart.push_back(is_empty ? name : argument.text);
    if (is_empty) apart.emplace_back();
  }
  return apart;
}

// Throws CLI::ParseError if an argument is wrong.
void parse_with(CLI::App& cli, const std::vector<Argument>& arguments) {
  std::vector<std::string> apart = with_empty_values_apart(arguments);
  std::reverse(apart.begin(), apart.end());  // CLI11 wants the last one first
  cli.parse(std::move(apart));
}

CLI::Option* add_words_to(CLI::App& cli, const Option& option) {
  const auto take_all = [&option](const CLI::results_t& results) {
    *option.words_target = results;
    return true;
  };
  return cli.add_option(option.name, take_all, option.help)
      ->type_size(1)
      ->expected(-1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option* add_to(CLI::App& cli, Option& option) {
  if (option.words_target != nullptr) return add_words_to(cli, option);
  if (option.switch_target != nullptr)
    return cli.add_flag(option.name, *option.switch_target, option.help)->check(refusal_of_switch);
  CLI::Option* const added = cli.add_option(option.name, callback_of(option), option.help);
  if (option.is_flag()) added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return added->type_name(option.type)->type_size(1)->default_str(option.default_text);
}

void add_all_to(CLI::App& cli, App& app, bool with_required) {
  std::map<const Option*, CLI::Option*> added;
  for (Option& option : app.options()) {
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
  Parser(const Program& program, App& app) : program_(program), app_(app) {
    common_.group("Help and configuration");
    const auto take_path = [this](const std::string& path) {
      config_path = path;
      return !path.empty();
    };
    common_.add_parsed("--config", "FILE", "a file",
                       "read flags from FILE, one `flag = value` per line", take_path);
    declare_about(common_);
  }

  std::string config_path;

  // Prints what --help or --version asks for. Nothing if the command line has neither.
  std::optional<int> answer(const std::vector<std::string>& texts) {
    const auto text = answer_about(read_arguments(texts, app_, common_), program_, app_, common_);
    if (!text) return wrong_usage(program_, text.error().context);
    if (!*text) return {};
    std::cout << **text;
    return kDone;
  }

  std::optional<Wrong> take_command_line(const std::vector<std::string>& texts) {
    const auto arguments = read_arguments(texts, app_, common_);
    if (auto wrong = wrong_flag(arguments)) return wrong;
    for (const Argument& argument : arguments) {
      if (argument.option == nullptr) continue;
      if (Option* const given = app_.find(argument.option->name)) given->is_on_command_line = true;
    }
    try {
      parse_with(*fresh_cli(true), arguments);
    } catch (const CLI::ExtrasError& failure) {
      return stray_word(arguments).value_or(failure.what());
    } catch (const CLI::RequiredError& failure) {
      return missing_word().value_or(failure.what());
    } catch (const CLI::ParseError& failure) {
      return failure.what();
    }
    return {};
  }

  std::optional<Wrong> take_file() {
    const auto entries = read_config_file(config_path);
    if (!entries) return entries.error().context;
    std::vector<Given> layer;
    for (const ConfigEntry& entry : *entries) {
      const std::string where = fmt::format("{} line {}", config_path, entry.line);
      if (const auto removed = removed_flag(program_, entry.name, entry.name))
        return fmt::format("{}: {}", where, *removed);
      if (app_.find("--" + entry.name) == nullptr) {
        return fmt::format("{}: there is no flag {}{}", where, entry.name,
                           did_you_mean(entry.name, "", {&app_}));
      }
      layer.push_back({entry.name, entry.value, where});
      file_has_secret_ = file_has_secret_ || (is_secret(entry.name) && !entry.value.empty());
    }
    return take_layer(config_path, layer);
  }

  std::optional<Wrong> take_environment() {
    for (const RemovedFlag& removed : program_.removed) {
      const std::string variable = variable_of(program_.name, removed.name);
      const char* const value = std::getenv(variable.c_str());
      if (value != nullptr && *value != '\0') return removed_flag(program_, removed.name, variable);
    }
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

  // A misspelt variable does not end the program, because it may belong to somebody else.
  void warn_of_unknown_variables() const {
    if (!may_warn()) return;
    for (const std::string& line : unknown_variables(program_.name, app_, common_))
      base::log::warn("{}", line);
  }

  void warn_if_others_can_read_a_secret() const {
    if (!may_warn()) return;
    if (file_has_secret_) warn_if_others_can_read(config_path);
    for (const Option& option : app_.options()) {
      if (is_secret_file(option.name) && option.given) warn_if_others_can_read(*option.given);
    }
  }

 private:
  static void warn_if_others_can_read(const std::string& path) {
    if (const auto mode = base::mode_open_to_others(path)) {
      base::log::warn("a password can be read by others path={} mode={} hint=\"chmod o-r\"", path,
                      *mode);
    }
  }

  bool may_warn() const {
    return app_.log_level == nullptr || *app_.log_level <= base::log::Level::kWarn;
  }

  // A new parser for each layer, because CLI11 remembers which flags it has seen.
  std::unique_ptr<CLI::App> fresh_cli(bool with_required) {
    auto cli = std::make_unique<CLI::App>();
    // If a flag is given twice, the last one counts. So flags can be overridden by appending.
    cli->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    cli->set_help_flag();  // none, because answer() has seen it before
    add_to(*cli, *common_.find("--config"));
    add_all_to(*cli, app_, with_required);
    return cli;
  }

  // What is wrong whatever the values are.
  std::optional<Wrong> wrong_flag(const std::vector<Argument>& arguments) const {
    for (const Argument& argument : arguments) {
      if (argument.is_flag() && argument.option == nullptr) return unknown_flag(argument.name());
    }
    if (arguments.empty()) return {};
    const Argument& last = arguments.back();
    if (last.option == nullptr || last.option->take == nullptr || last.value()) return {};
    return fmt::format("{} needs a value: {}", last.text, last.option->type);
  }

  // Names the first word that is neither a flag, nor a value, nor a positional argument.
  std::optional<Wrong> stray_word(const std::vector<Argument>& arguments) const {
    auto places = std::count_if(app_.options().begin(), app_.options().end(),
                                [](const Option& option) { return !option.is_flag(); });
    for (const Argument& argument : arguments) {
      if (!argument.is_flag() && !argument.is_value && argument.text != "--" && places-- == 0)
        return fmt::format("unexpected argument {}", base::log::quoted(argument.text));
    }
    return {};
  }

  // The positional argument that cannot be left out.
  std::optional<Wrong> missing_word() const {
    for (const Option& option : app_.options()) {
      if (option.is_required) return fmt::format("the {} is missing: {}", option.name, option.type);
    }
    return {};
  }

  Wrong unknown_flag(const std::string& name) const {
    const std::string plain_name = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    if (auto removed = removed_flag(program_, plain_name, name)) return *removed;
    return fmt::format("there is no flag {}{}", name,
                       did_you_mean(plain_name, "--", {&app_, &common_}));
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
      parse_with(*fresh_cli(false), read_arguments(arguments, app_, common_));
    } catch (const CLI::ParseError& failure) {
      return fmt::format("{}: {}", where, failure.what());
    }
    return {};
  }

  const Program& program_;
  App& app_;
  App common_;  // what every program has
  bool file_has_secret_ = false;
};

}  // namespace

std::optional<int> parse(const Program& program, int argc, char** argv, const Declare& declare,
                         const Check& check) {
  App app;
  declare(app);
  Parser parser(program, app);
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (const auto status = parser.answer(arguments)) return status;
  const std::string config_variable = variable_of(program.name, "config");
  if (const char* const path = std::getenv(config_variable.c_str())) parser.config_path = path;
  // The command line is taken twice. The first time finds --config; the second time overrides the
  // file and the environment.
  if (const auto wrong = parser.take_command_line(arguments)) return wrong_usage(program, *wrong);
  if (!parser.config_path.empty()) {
    if (const auto wrong = parser.take_file()) return wrong_usage(program, *wrong);
  }
  if (const auto wrong = parser.take_environment()) return wrong_usage(program, *wrong);
  if (const auto wrong = parser.take_command_line(arguments)) return wrong_usage(program, *wrong);
  hide_secrets(argc, argv, variable_of(program.name, ""));
  if (const auto wrong = check(app)) return wrong_usage(program, *wrong);
  parser.warn_of_unknown_variables();
  parser.warn_if_others_can_read_a_secret();
  return {};
}

}  // namespace flags
