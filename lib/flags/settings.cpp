#include "flags/settings.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "flags/secrets.h"

namespace flags {

namespace {

template <typename Number>
std::optional<Number> whole_text(const std::string& text) {
  Number number = {};
  const char* const past_end = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), past_end, number);
  return failure == std::errc() && end == past_end ? std::optional(number) : std::nullopt;
}

bool is_replaced(const Option& option) {
  return !option.given && std::any_of(option.excluded.begin(), option.excluded.end(),
                                      [](const Option* other) { return other->given.has_value(); });
}

decltype(Setting::value) value_of(const Option& option) {
  if (option.is_switch()) return *option.switch_target;
  const std::string otherwise =
      option.default_text.empty() ? option.initial_text : option.default_text;
  if (is_replaced(option) || (!option.given && otherwise.empty())) return {};
  const std::string text = option.given.value_or(otherwise);
  if (!option.is_number) return text;
  if (const auto number = whole_text<std::int64_t>(text)) return *number;
  if (const auto number = whole_text<double>(text)) return *number;
  return text;
}

}  // namespace

std::vector<Setting> settings_of(const App& app) {
  std::vector<Setting> settings;
  for (const Option& option : app.options()) {
    if (option.is_flag() && !is_secret(option.name))
      settings.push_back({option.plain_name(), value_of(option)});
  }
  return settings;
}

}  // namespace flags
