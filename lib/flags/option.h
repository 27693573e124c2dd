// The options of a program as plain data, independent of the library that parses them.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace flags {

// Where the flags of a group are shown.
enum class Shown {
  kInEveryHelp,
  kInFullHelp,  // only in --help=all, the man page and the configuration file
};

// One flag, or one positional argument. App makes options, and parse() reads them.
//
// The setters return the option itself, so that one statement declares it.
struct Option {
  std::string name;  // "--listen", or "request" for a positional argument
  std::string help;
  std::string group;  // the title that it stands under in --help
  Shown shown = Shown::kInEveryHelp;
  std::string type;          // what --help shows for the value, such as FILE
  std::string default_text;  // a value: what --help shows as the default
  std::string
      default_words;  // says what the default is where that is no value, such as "half of RAM"
  std::string initial_text;  // the text that its target held when it was declared
  std::string accepted;      // says which texts take() accepts
  std::function<bool(const std::string&)> take;  // stores the value; false refuses the text
  std::function<void()> reset;    // gives its target the value from when it was declared
  bool* switch_target = nullptr;  // set only for App::add_flag(), which has no take()
  bool is_number = false;         // its values are numbers, or some of them are
  std::vector<std::string>* words_target = nullptr;  // set only for App::add_words(), the same
  bool is_required = false;
  bool is_repeatable = false;
  bool has_variable = true;                        // whether the environment may give it
  std::vector<std::function<void()>> before_take;  // called before the value is stored
  std::vector<Option*> excluded;                   // wrong usage where one layer gives both

  // Written by parse(). Nothing is noted of the value of a switch.
  std::optional<std::string> given;  // the value that counts; nothing: it was not given
  bool is_on_command_line = false;

  Option* type_name(const std::string& text);
  Option* default_str(const std::string& text);
  Option* default_is(const std::string& words);
  Option* capture_default_str() { return default_str(initial_text); }
  Option* required();

  // If one layer gives the flag several times, take() gets all the values, with commas between
  // them. Otherwise the last one counts.
  Option* repeatable();

  bool is_flag() const { return name.starts_with("--"); }
  bool is_switch() const { return switch_target != nullptr; }

  // Takes the values that one layer gives, and notes what counts. If it is not repeatable, that is
  // the last one, but each of them must be acceptable. Returns the one that is not. Requires: one
  // at least, and take().
  std::optional<std::string> take_all(const std::vector<std::string>& texts);

  // Makes it as if nobody had given it. Requires: it has reset().
  void forget();

  // The name without its dashes.
  std::string plain_name() const { return is_flag() ? name.substr(2) : name; }
};

// All options of one program, in groups.
//
// The App owns the options; pointers to them are valid as long as it lives. Whatever an option
// writes into must outlive parse().
class App {
 public:
  // The options that are declared next belong to the group with this title, which may have others
  // already. --help shows the groups in the order of the first option of each.
  void group(const std::string& title, Shown shown = Shown::kInEveryHelp);

  // An option that takes any text.
  Option* add_option(const std::string& name, std::string& target, const std::string& help = "");

  // A switch, which needs no value.
  Option* add_flag(const std::string& name, bool& target, const std::string& help);

  // An option whose text `take` converts and stores. `accepted` ends the message "TEXT is not ...".
  Option* add_parsed(const std::string& name, const std::string& type, const std::string& accepted,
                     const std::string& help, const std::function<bool(const std::string&)>& take);

  // All words that are neither flags nor values of flags. One at least is required.
  Option* add_words(const std::string& name, const std::string& type,
                    std::vector<std::string>& target, const std::string& help);

  // Where --log-level is written, which add_log_level() sets. Null: the program has no such flag.
  const base::log::Level* log_level = nullptr;

  const std::deque<Option>& options() const { return options_; }
  std::deque<Option>& options() { return options_; }

  // The option with this name, such as "--listen". Null if there is none.
  const Option* find(std::string_view name) const;
  Option* find(std::string_view name);

 private:
  Option* add(const std::string& name, const std::string& help);

  std::string group_ = "Flags";
  Shown shown_ = Shown::kInEveryHelp;
  std::deque<Option> options_;  // a deque does not move its elements when it grows
};

}  // namespace flags
