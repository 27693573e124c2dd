#include "loadgen/config/decimal.h"

#include <charconv>
#include <system_error>

namespace loadgen {

namespace {

// Nothing: `text` is no number, or more than one.
std::optional<double> decimal(std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace

flags::Option* add_decimal(flags::App& app, const std::string& name, const std::string& type_name,
                           const std::string& accepted, const std::string& help, double least,
                           double most, double& target) {
  const auto take = [&target, least, most](const std::string& text) {
    const auto value = decimal(text);
    if (!value || !(*value >= least && *value <= most)) return false;
    target = *value;
    return true;
  };
  flags::Option* const option = app.add_parsed(name, type_name, accepted, help, take);
  option->is_number = true;
  option->reset = [&target, initial = target] { target = initial; };
  return option;
}

std::optional<double> number_behind(std::string_view word, std::string_view text) {
  if (!text.starts_with(word)) return {};
  return decimal(text.substr(word.size()));
}

}  // namespace loadgen
