#include "wire/http_line.h"

#include <algorithm>

namespace wire {

namespace {

bool is_upper_case(char c) { return c >= 'A' && c <= 'Z'; }

bool is_same_letter(char a, char lower_case) {
  return a == lower_case || (is_upper_case(a) && a - 'A' + 'a' == lower_case);
}

constexpr std::string_view kVersion = " http/0.0";  // "0" is any digit

bool has_version(std::string_view line) {
  const auto fits = [](char c, char form) {
    return form == '0' ? c >= '0' && c <= '9' : is_same_letter(c, form);
  };
  return line.size() >= kVersion.size() &&
         std::ranges::equal(line.substr(line.size() - kVersion.size()), kVersion, fits);
}

// What stands before the target, if both and a version are all of the line. Otherwise empty.
std::string_view method_in(std::string_view line) {
  if (!has_version(line)) return {};
  line.remove_suffix(kVersion.size());
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos || blank + 1 == line.size()) return {};
  return line.find(' ', blank + 1) == std::string_view::npos ? line.substr(0, blank)
                                                             : std::string_view();
}

}  // namespace

bool is_http_request_line(std::string_view line) {
  if (!line.ends_with(" HTTP/1.1") && !line.ends_with(" HTTP/1.0")) return false;
  const std::string_view method = method_in(line);
  return !method.empty() && std::ranges::all_of(method, is_upper_case);
}

bool is_line_of_browser(std::string_view line) {
  constexpr std::string_view kHost = "host:";
  const std::string_view method = method_in(line);
  const bool is_request = !method.empty() && method.find(':') == std::string_view::npos;
  return is_request || std::ranges::equal(line.substr(0, kHost.size()), kHost, is_same_letter);
}

}  // namespace wire
