#include "loadgen/figures/json.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "loadgen/figures/schema.h"

namespace loadgen {

namespace {

using Json = nlohmann::ordered_json;

// The value of a field, or of one in a block.
Json& place_of(Json& json, std::string_view name) {
  const std::size_t point = name.find('.');
  if (point == std::string_view::npos) return json[std::string(name)];
  return json[std::string(name.substr(0, point))][std::string(name.substr(point + 1))];
}

// The lines of a value, each within the object of the result.
std::string indented(const Json& value) {
  const auto replace = Json::error_handler_t::replace;  // a flag may hold any bytes
  std::string lines;
  for (const char one : value.dump(2, ' ', false, replace)) {
    lines += one;
    if (one == '\n') lines += "  ";
  }
  return lines;
}

}  // namespace

std::string json_of(const Config& config, const Figures& figures, const Summary& summary,
                    const Json& more) {
  const Report report{config, figures, summary};
  Json json = Json::object();
  Json distributions = Json::object();
  for (const Field& field : fields()) {
    if (field.when.has && !field.when.has(report)) continue;
    Json value = field.write(report);
    if (value.is_discarded()) continue;
    const bool is_distribution = std::string_view(field.unit) == kCounts;
    place_of(is_distribution ? distributions : json, field.name) = std::move(value);
  }
  json.update(more);
  std::string text = "{";
  const auto add = [&text](const std::string& name, const std::string& value) {
    text += fmt::format("{}\n  \"{}\": {}", text == "{" ? "" : ",", name, value);
  };
  for (const auto& [name, value] : json.items()) add(name, indented(value));
  for (const auto& [name, counts] : distributions.items()) add(name, counts.dump());
  return text + "\n}\n";
}

}  // namespace loadgen
