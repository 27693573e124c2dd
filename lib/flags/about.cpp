#include "flags/about.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "flags/commit.h"
#include "flags/page.h"
#include "flags/wrap.h"
#include "version.h"

namespace flags {

namespace {

using base::Error;
using base::ErrorCode;
using Text = std::optional<std::string>;

// The words that --help takes, each with what it prints.
constexpr std::pair<const char*, std::string (*)(const Page&)> kHelps[] = {
    {"all", [](const Page& page) { return full_help(page, columns_for_help()); }},
    {"man", [](const Page& page) { return man_page(page); }},
    {"config", [](const Page& page) { return config_template(page); }},
};

std::string words_with(const char* separator) {
  std::string words;
  for (const auto& [word, print] : kHelps)
    words += (words.empty() ? "" : separator) + std::string(word);
  return words;
}

base::Result<Text> version_of(const Argument& argument, const Program& program) {
  if (argument.value()) return Error{ErrorCode::kInvalid, "--version takes no value"};
  const std::string built_from = commit().empty() ? "" : "commit " + commit() + "; ";
  return Text(program.name + " " TURNSTILE_VERSION " (" + built_from +
              "compiler " __VERSION__ "; " TURNSTILE_FLAGS ")\n");
}

base::Result<Text> help_of(const Argument& argument, const Page& page) {
  const auto wanted = argument.value();
  if (!wanted) return Text(short_help(page, columns_for_help()));
  for (const auto& [word, print] : kHelps) {
    if (*wanted == word) return Text(print(page));
  }
  return Error{ErrorCode::kInvalid, fmt::format("--help: {} is not one of {}",
                                                base::log::quoted(*wanted), words_with("|"))};
}

}  // namespace

std::string version() { return TURNSTILE_VERSION; }

void declare_about(App& common) {
  common
      .add_parsed("--help", "[=" + words_with("|") + "], -h", "",
                  "print help and exit; all: about every flag; man: as a manual page; config: as "
                  "a file for --config",
                  nullptr)
      ->has_variable = false;
  common
      .add_parsed("--version", "", "",
                  "print the version and exit; with the commit, the compiler and its flags",
                  nullptr)
      ->has_variable = false;
}

base::Result<Text> answer_about(const std::vector<Argument>& arguments, const Program& program,
                                const App& app, const App& common) {
  const auto asked =
      std::find_if(arguments.begin(), arguments.end(), [&common](const Argument& argument) {
        return argument.option != nullptr && argument.option->take == nullptr &&
               argument.option == common.find(argument.option->name);
      });
  if (asked == arguments.end()) return Text();
  if (asked->option->name == "--version") return version_of(*asked, program);
  Page page{program, TURNSTILE_VERSION, groups_of(app)};
  // The file for --config has only what the program itself declares.
  if (asked->value() != "config") {
    for (Group& group : groups_of(common)) page.groups.push_back(std::move(group));
  }
  return help_of(*asked, page);
}

}  // namespace flags
