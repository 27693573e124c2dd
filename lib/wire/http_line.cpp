#include "wire/http_line.h"

#include <algorithm>

namespace wire {

namespace {

bool is_upper_case(char c) { return c >= 'A' && c <= 'Z'; }

bool is_same_letter(char a, char lower_case) {
  return a == lower_case || (is_upper_case(a) && a - 'A' + 'a' == lower_case);
}

}  // namespace

bool is_http_request_line(std::string_view line) {
  constexpr std::string_view kVersions[] = {" HTTP/1.1", " HTTP/1.0"};
  const bool has_version =
      std::ranges::any_of(kVersions, [&](std::string_view v) { return line.ends_with(v); });
  if (!has_version) return false;
  line.remove_suffix(kVersions[0].size());
  const std::size_t blank = line.find(' ');
  if (blank == 0 || blank == std::string_view::npos || blank + 1 == line.size()) return false;
  const std::string_view method = line.substr(0, blank);
  return std::ranges::all_of(method, is_upper_case) &&
         line.find(' ', blank + 1) == std::string_view::npos;
}

bool is_line_of_browser(std::string_view line) {
  constexpr std::string_view kHost = "host:";
  return is_http_request_line(line) ||
         std::ranges::equal(line.substr(0, kHost.size()), kHost, is_same_letter);
}

}  // namespace wire
