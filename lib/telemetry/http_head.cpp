#include "telemetry/http_head.h"

#include <algorithm>
#include <string>

namespace telemetry {

namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::size_t kMaxFields = 100;

bool is_control(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value < 0x20 || value == 0x7f;
}

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char byte) {
    const char lower = static_cast<char>(byte | 0x20);
    return is_digit(byte) || (lower >= 'a' && lower <= 'z') ||
           kMarks.find(byte) != std::string_view::npos;
  });
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& byte : lower) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte | 0x20);
  }
  return lower;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Whether every LF follows a CR, every CR but a last one precedes an LF, and no other control byte
// but a tab is there. What comes later cannot make up for it.
bool has_good_lines(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool is_bad_cr = bytes[i] == '\r' && i + 1 < bytes.size() && bytes[i + 1] != '\n';
    const bool is_bad_lf = bytes[i] == '\n' && (i == 0 || bytes[i - 1] != '\r');
    const bool is_allowed = bytes[i] == '\r' || bytes[i] == '\n' || bytes[i] == '\t';
    if (is_bad_cr || is_bad_lf || (is_control(bytes[i]) && !is_allowed)) return false;
  }
  return true;
}

std::string_view take_until(std::string_view& text, std::string_view mark) {
  const std::size_t end = text.find(mark);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + mark.size());
  return part;
}

// Checks all fields, and counts those that say where a request goes and how long its body is.
struct Fields {
  int status = 200;
  int hosts = 0;
  int lengths = 0;
  int encodings = 0;

  void check(std::string_view line) {
    const std::size_t colon = line.find(':');
    const std::string name = lower_case(line.substr(0, colon));
    if (colon == std::string_view::npos || !is_token(name)) {
      status = 400;
      return;
    }
    const std::string_view value = trimmed(line.substr(colon + 1));
    hosts += name == "host" ? 1 : 0;
    if (name == "content-length") {
      ++lengths;
      if (value.empty() || value.size() >= 20 || !std::ranges::all_of(value, is_digit))
        status = 400;
    }
    if (name == "transfer-encoding") {
      ++encodings;
      if (lower_case(value) != "chunked") status = 400;
    }
  }
};

int status_of_fields(std::string_view lines, bool is_version_1_0) {
  Fields fields;
  for (std::size_t count = 0; !lines.empty(); ++count) {
    if (count == kMaxFields) return 431;
    fields.check(take_until(lines, kLineEnd));
  }
  const bool has_good_host = fields.hosts == 1 || (fields.hosts == 0 && is_version_1_0);
  const bool has_good_body =
      fields.lengths + fields.encodings <= 1 && !(fields.encodings > 0 && is_version_1_0);
  return has_good_host && has_good_body ? fields.status : 400;
}

int status_of_version(std::string_view version) {
  const bool is_well_formed = version.size() == 8 && version.starts_with("HTTP/") &&
                              is_digit(version[5]) && version[6] == '.' && is_digit(version[7]);
  if (!is_well_formed) return 400;
  return version[5] == '1' ? 200 : 505;
}

// Reads the path out of "/PATH?QUERY" or "http://AUTHORITY/PATH". Empty if the target is neither.
std::string_view path_of(std::string_view target) {
  constexpr std::string_view kScheme = "http://";
  if (lower_case(target.substr(0, kScheme.size())) == kScheme) {
    target.remove_prefix(std::min(target.find('/', kScheme.size()), target.size()));
    if (target.empty()) return "/";
  }
  return target.starts_with('/') ? take_until(target, "?") : std::string_view();
}

HttpHead parse_complete(std::string_view head) {
  std::string_view request = take_until(head, kLineEnd);
  const std::string_view method = take_until(request, " ");
  const std::string_view target = take_until(request, " ");
  const std::string_view version = request;
  if (!is_token(method) || target.empty() || target.find_first_of("\t#") != target.npos)
    return {400};
  if (const int status = status_of_version(version); status != 200) return {status};
  if (const int status = status_of_fields(head, version == "HTTP/1.0"); status != 200)
    return {status};
  if (method != "GET" && method != "HEAD") return {405};
  const std::string_view path = path_of(target);
  return {path.empty() ? 400 : 200, method == "HEAD", path};
}

}  // namespace

HttpHead parse_http_head(std::string_view received) {
  if (received.starts_with(kLineEnd)) received.remove_prefix(kLineEnd.size());
  const std::size_t end = received.find("\r\n\r\n");
  const bool is_complete = end != std::string_view::npos;
  // Bytes behind the head may be a body, which may hold anything.
  const std::string_view head = received.substr(0, is_complete ? end + 2 : received.size());
  if (!has_good_lines(head)) return {400};
  if (head.size() + (is_complete ? 2 : 0) > kMaxHeadBytes)
    return {head.find(kLineEnd) >= kMaxHeadBytes ? 414 : 431};
  return is_complete ? parse_complete(head) : HttpHead{};
}

}  // namespace telemetry
