#include "fileserver/http/token_json.h"

#include <fmt/core.h>

#include <functional>

#include "base/json_text.h"
#include "fileserver/http/asker.h"

namespace fileserver {

namespace {

std::string json_array(std::string_view lines,
                       const std::function<std::string(std::string_view line)>& object_of) {
  std::string json = "[";
  while (!lines.empty()) {
    json += json.size() == 1 ? "\n" : ",\n";
    json += object_of(take_piece(lines, '\n'));
  }
  return json += json.size() == 1 ? "]\n" : "\n]\n";
}

std::string quoted_text(std::string_view text) {
  return base::json_text(text, base::JsonText::kUtf8);
}

// A number of the authserver; anything else is 0.
std::string_view whole(std::string_view digits) {
  const bool is_whole = !digits.empty() && digits.size() < 20 &&
                        digits.find_first_not_of("0123456789") == std::string_view::npos;
  return is_whole ? digits : "0";
}

// What follows the times, such as "read - open docs/".
std::string end_of_link(std::string_view ends, std::string_view rest) {
  const std::string_view may = take_piece(rest, ' ');
  const std::string_view uses = take_piece(rest, ' ');
  const bool is_locked = take_piece(rest, ' ') == "locked";
  return fmt::format(", \"end\": {}, \"may\": {}, \"uses\": {}, \"password\": {}, \"path\": {}}}",
                     ends == "0" ? "null" : ends, quoted_text(may),
                     uses == "-" ? "null" : whole(uses), is_locked, quoted_text(rest));
}

std::string token_object(std::string_view line) {
  const std::string_view id = take_piece(line, ' ');
  const std::string_view kind = take_piece(line, ' ');
  const std::string_view made = whole(take_piece(line, ' '));
  const std::string_view used = whole(take_piece(line, ' '));
  const std::string_view ends = whole(take_piece(line, ' '));
  std::string object = fmt::format("{{\"id\": {}, \"kind\": {}, \"made\": {}, \"used\": {}",
                                   quoted_text(id), quoted_text(kind), made, used);
  if (kind == "link") return object += end_of_link(ends, line);
  object += kind == "app" ? fmt::format(", \"name\": {}}}", quoted_text(line))
                          : fmt::format(", \"end\": {}}}", ends);
  return object;
}

std::string user_object(std::string_view line) {
  const std::string_view user = take_piece(line, ' ');
  bool is_admin = false;
  bool is_disabled = false;
  bool is_invited = false;
  while (!line.empty()) {
    const std::string_view mark = take_piece(line, ' ');
    is_admin = is_admin || mark == "admin";
    is_disabled = is_disabled || mark == "disabled";
    is_invited = is_invited || mark == "invited";
  }
  return fmt::format("{{\"user\": {}, \"admin\": {}, \"disabled\": {}, \"invited\": {}}}",
                     quoted_text(user), is_admin, is_disabled, is_invited);
}

}  // namespace

void send_json(Exchange& exchange, http::Status status, std::string_view json) {
  http::AnswerHead head = exchange.begin(status);
  head.field("Cache-Control", "no-store");
  exchange.send_text(head, "application/json; charset=utf-8", json);
}

std::string tokens_as_json(std::string_view lines) { return json_array(lines, &token_object); }

std::string users_as_json(std::string_view lines) { return json_array(lines, &user_object); }

}  // namespace fileserver
