#include "flags/option.h"

#include <algorithm>

namespace flags {

namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (&text == texts.data() ? "" : ",") + text;
  return list;
}

}  // namespace

Option* Option::type_name(const std::string& text) {
  type = text;
  return this;
}

Option* Option::default_str(const std::string& text) {
  default_text = text;
  return this;
}

Option* Option::default_is(const std::string& words) {
  default_words = words;
  return this;
}

Option* Option::required() {
  is_required = true;
  return this;
}

Option* Option::repeatable() {
  is_repeatable = true;
  return this;
}

std::optional<std::string> Option::take_all(const std::vector<std::string>& texts) {
  const auto values = is_repeatable ? std::vector<std::string>{joined(texts)} : texts;
  for (const std::string& value : values) {
    if (!take(value)) return value;
  }
  for (Option* const other : excluded) other->given.reset();
  given = values.back();
  return {};
}

void Option::forget() {
  reset();
  given.reset();
  is_on_command_line = false;
}

void App::group(const std::string& title, Shown shown) {
  group_ = title;
  shown_ = shown;
}

const Option* App::find(std::string_view name) const {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [name](const Option& option) { return option.name == name; });
  return found == options_.end() ? nullptr : &*found;
}

Option* App::find(std::string_view name) {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [name](const Option& option) { return option.name == name; });
  return found == options_.end() ? nullptr : &*found;
}

Option* App::add_option(const std::string& name, std::string& target, const std::string& help) {
  Option* const option =
      add_parsed(name, "TEXT", "a text", help, [&target](const std::string& text) {
        target = text;
        return true;
      });
  option->initial_text = target;
  option->reset = [&target, initial = target] { target = initial; };
  return option;
}

Option* App::add_flag(const std::string& name, bool& target, const std::string& help) {
  Option* const option = add(name, help);
  option->switch_target = &target;
  option->reset = [&target, initial = target] { target = initial; };
  return option;
}

Option* App::add_words(const std::string& name, const std::string& type,
                       std::vector<std::string>& target, const std::string& help) {
  Option* const option = add(name, help);
  option->type = type;
  option->words_target = &target;
  return option->required();
}

Option* App::add_parsed(const std::string& name, const std::string& type,
                        const std::string& accepted, const std::string& help,
                        const std::function<bool(const std::string&)>& take) {
  Option* const option = add(name, help);
  option->type = type;
  option->accepted = accepted;
  option->take = take;
  return option;
}

Option* App::add(const std::string& name, const std::string& help) {
  Option& option = options_.emplace_back();
  option.name = name;
  option.help = help;
  option.group = group_;
  option.shown = shown_;
  return &option;
}

}  // namespace flags
