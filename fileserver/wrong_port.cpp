#include "fileserver/wrong_port.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "http/answer.h"
#include "http/date.h"

namespace fileserver {

namespace {

constexpr std::string_view kWrongPort = "This port speaks the native protocol, not HTTP.\n";
constexpr std::string_view kNoHttp =
    "Start the fileserver with --http-listen 8080, and ask that port.\n";

bool is_upper_case(char c) { return c >= 'A' && c <= 'Z'; }

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

std::string wrong_port_answer(const std::optional<net::HostPort>& http) {
  std::string body(kWrongPort);
  body += http ? "HTTP is served at " + net::to_string(*http) + " (--http-listen).\n"
               : std::string(kNoHttp);
  std::array<char, 300> buffer;
  http::AnswerHead head(buffer, 400);
  head.field("Date", http::date_text(std::time(nullptr)).view())
      .field("Connection", "close")
      .field("Content-Type", "text/plain; charset=utf-8")
      .field("Content-Length", body.size());
  return std::string(head.finish()) + body;
}

}  // namespace fileserver
