#include "flags/values.h"

#include <fmt/core.h>

#include <charconv>
#include <string_view>

#include "base/units.h"

namespace flags {

namespace {

std::string seconds_text(std::int64_t ms) {
  return ms % 1000 == 0 ? std::to_string(ms / 1000)
                        : fmt::format("{:g}", static_cast<double>(ms) / 1000);
}

// Makes `option` able to forget what it was given.
template <typename Value>
Option* with_reset(Option* option, Value& target) {
  option->reset = [&target, initial = target] { target = initial; };
  return option;
}

template <typename Value>
Option* of_number(Option* option, Value& target) {
  option->is_number = true;
  return with_reset(option, target);
}

// A port alone is one of this host.
std::string with_host(const std::string& text) {
  return text.find(':') == std::string::npos ? "127.0.0.1:" + text : text;
}

}  // namespace

Option* add_whole(App& app, const std::string& name, int& target, int least, int most,
                  const std::string& help) {
  const auto take = [&target, least, most](const std::string& text) {
    int value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size() || value < least || value > most)
      return false;
    target = value;
    return true;
  };
  const std::string accepted = fmt::format("a whole number from {} to {}", least, most);
  return of_number(app.add_parsed(name, "N", accepted, help, take), target)
      ->default_str(std::to_string(target));
}

Option* add_path(App& app, const std::string& name, std::string& target, const std::string& help) {
  const auto take = [&target](const std::string& text) {
    if (text.empty()) return false;
    target = text;
    return true;
  };
  Option* const option = app.add_parsed(name, "FILE", "a path", help, take);
  option->initial_text = target;
  return with_reset(option, target);
}

Option* add_address(App& app, const std::string& name, net::HostPort& target,
                    const std::string& help) {
  const auto take = [&target](const std::string& text) {
    const auto parsed = net::parse_host_port_or_unix(with_host(text));
    if (parsed) target = *parsed;
    return parsed.has_value();
  };
  const std::string accepted = fmt::format(
      "HOST:PORT or a port, such as 127.0.0.1:9000, or unix:PATH with an absolute path of at "
      "most {} bytes",
      net::kMaxUnixPathBytes);
  return with_reset(app.add_parsed(name, "HOST:PORT", accepted, help + "; or unix:PATH", take),
                    target)
      ->default_str(net::to_string(target));
}

Option* add_address_or_tls(App& app, const std::string& name, net::HostPort& target,
                           bool& is_encrypted, const std::string& help) {
  Option* const option = add_address(app, name, target, help);
  option->help += ", or tls:HOST:PORT";
  option->accepted += ", or tls:HOST:PORT";
  option->take = [&target, &is_encrypted, in_clear = option->take](const std::string& text) {
    constexpr std::string_view kTls = "tls:";
    is_encrypted = text.starts_with(kTls) && text.find(':', kTls.size()) != std::string::npos;
    if (!is_encrypted) return in_clear(text);
    const auto parsed = net::parse_host_port(text.substr(kTls.size()));
    if (parsed) target = *parsed;
    return parsed.has_value();
  };
  option->reset = [&is_encrypted, in_clear = option->reset] {
    in_clear();
    is_encrypted = false;
  };
  return option;
}

Option* add_optional_address(App& app, const std::string& name,
                             std::optional<net::HostPort>& target, const std::string& help,
                             UnixPath unix_path) {
  const bool takes_unix = unix_path == UnixPath::kAccepted;
  const auto take = [&target, takes_unix](const std::string& text) {
    if (text == "off") {
      target.reset();
      return true;
    }
    const std::string whole = with_host(text);
    const auto parsed =
        takes_unix ? net::parse_host_port_or_unix(whole) : net::parse_host_port(whole);
    if (parsed) target = *parsed;
    return parsed.has_value();
  };
  Option* const option =
      app.add_parsed(name, "HOST:PORT",
                     takes_unix ? "HOST:PORT or a port, such as 127.0.0.1:9010, unix:PATH, or off"
                                : "HOST:PORT or a port, such as 127.0.0.1:9010, or off",
                     takes_unix ? help + "; or unix:PATH" : help, take);
  return with_reset(option, target)->default_str(target ? net::to_string(*target) : "off");
}

Option* add_seconds(App& app, const std::string& name, std::int64_t& target_ms,
                    const std::string& help, std::int64_t least_ms) {
  const auto take = [&target_ms, least_ms](const std::string& text) {
    const auto parsed = base::parse_seconds_as_ms(text);
    if (!parsed || *parsed < least_ms) return false;
    target_ms = *parsed;
    return true;
  };
  const std::string accepted =
      least_ms > 0 ? "a number of seconds over 0" : "a number of seconds, 0 or more";
  return of_number(app.add_parsed(name, "SECONDS", accepted, help, take), target_ms)
      ->default_str(seconds_text(target_ms));
}

Option* add_size(App& app, const std::string& name, std::int64_t& target_bytes,
                 const std::string& help, const SizeRange& range) {
  const auto take = [&target_bytes, least = range.least_bytes,
                     most = range.most_bytes](const std::string& text) {
    const auto parsed = base::parse_size_bytes(text);
    if (!parsed || *parsed < least || *parsed > most) return false;
    target_bytes = *parsed;
    return true;
  };
  const std::string bounds = range.text.empty() ? "" : " " + range.text;
  const std::string accepted =
      "a size" + bounds + ": bytes, or with K, M or G (1024 each), such as 512K";
  return of_number(app.add_parsed(name, "SIZE", accepted, help, take), target_bytes);
}

Option* add_log_level(App& app, base::log::Level& target) {
  using base::log::Level;
  app.log_level = &target;
  return add_choice<Level>(app, "--log-level", target,
                           {{"debug", Level::kDebug},
                            {"info", Level::kInfo},
                            {"warn", Level::kWarn},
                            {"error", Level::kError}},
                           "the lowest level that is logged; `debug` logs each request");
}

}  // namespace flags
