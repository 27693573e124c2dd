#include "loadgen/figures/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/log.h"

namespace loadgen {

namespace {

std::string_view first_error(const Summary& summary, std::string_view cause) {
  for (const auto& [word, text] : summary.first_errors) {
    if (word == cause) return text;
  }
  return {};
}

bool only(const Summary& summary, std::string_view cause) {
  if (summary.hopeless == cause) return true;
  return !summary.errors.empty() &&
         std::ranges::all_of(summary.errors, [&](const auto& one) { return one.first == cause; });
}

}  // namespace

std::string hint_of(const Config& config, const Summary& summary) {
  const bool has_failed = summary.errors_total > 0 || !summary.hopeless.empty();
  if (summary.requests > 0 || !has_failed) return {};
  const std::string_view protocol = first_error(summary, "protocol");
  const bool is_http = config.protocol == Protocol::kHttp;
  if (!is_http && protocol.find("HTTP/1.") != std::string_view::npos)
    return "this port speaks HTTP; try --protocol http";
  if (is_http && protocol.find("HTTP/1.1 400") != std::string_view::npos) {
    return "the native port of a fileserver answers so; is this the port of its --http-listen?";
  }
  if (only(summary, "denied") && config.request != RequestKind::kNew) {
    return fmt::format(
        "is there an account {}, and is this its password? loadgen new --user NAME%d "
        "--accounts COUNT makes accounts",
        config.user);
  }
  if (only(summary, "not-found") && config.request == RequestKind::kGet) {
    return fmt::format(
        "is there a file {} in the folder of the server? scripts/make-files makes files",
        base::log::quoted(config.file));
  }
  if (only(summary, "connect")) return "is the server running, and is this its port?";
  return {};
}

}  // namespace loadgen
