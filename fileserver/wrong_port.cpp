#include "fileserver/wrong_port.h"

#include <array>
#include <ctime>

#include "http/answer.h"
#include "http/date.h"

namespace fileserver {

namespace {

constexpr std::string_view kWrongPort = "This port speaks the native protocol, not HTTP.\n";
constexpr std::string_view kNoHttp =
    "Start the fileserver with --http-listen 8080, and ask that port.\n";

}  // namespace

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
