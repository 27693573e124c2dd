#include "loadgen/clients/drivers/http_answer.h"

#include <algorithm>
#include <charconv>

#include "http/syntax.h"

namespace loadgen {

namespace {

constexpr std::string_view kVersion = "HTTP/1.";

}  // namespace

HttpAnswer::State HttpAnswer::read(std::string_view received) {
  for (;;) {
    const std::size_t lf = received.find('\n', searched_bytes_);
    if (std::min(lf, received.size()) >= kMaxHeadBytes) return State::kMalformed;
    if (lf == std::string_view::npos) {
      searched_bytes_ = received.size();
      const std::string_view begun = received.substr(0, kVersion.size());
      return kVersion.starts_with(begun) ? State::kNeedMore : State::kMalformed;
    }
    const std::string_view line = received.substr(read_bytes_, lf - read_bytes_);
    read_bytes_ = searched_bytes_ = lf + 1;
    if (line == "\r" && status_ != 0) return State::kComplete;
    if (!line.ends_with('\r') || !read_line(line.substr(0, line.size() - 1)))
      return State::kMalformed;
  }
}

bool HttpAnswer::read_line(std::string_view line) {
  const bool is_text = std::all_of(line.begin(), line.end(), http::is_value_byte);
  return is_text && (status_ == 0 ? read_status_line(line) : read_field(line));
}

// HTTP/1.1 200 OK
bool HttpAnswer::read_status_line(std::string_view line) {
  constexpr std::size_t kUpToReason = std::string_view("HTTP/1.1 200 ").size();
  if (line.size() < kUpToReason || !line.starts_with(kVersion)) return false;
  const char minor = line[kVersion.size()];
  const std::string_view status = line.substr(kVersion.size() + 2, 3);
  if ((minor != '0' && minor != '1') || line[kVersion.size() + 1] != ' ') return false;
  if (!std::all_of(status.begin(), status.end(), http::is_digit) || status.front() == '0')
    return false;
  if (line[kUpToReason - 1] != ' ') return false;
  is_version_11_ = minor == '1';
  std::from_chars(status.data(), status.data() + status.size(), status_);
  status_line_bytes_ = line.size();
  return true;
}

bool HttpAnswer::read_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  const std::string_view name = line.substr(0, colon);
  if (!std::all_of(name.begin(), name.end(), http::is_token_byte)) return false;
  const std::string_view value = http::trimmed(line.substr(colon + 1));
  if (http::is_same(name, "content-length")) return read_content_length(value);
  if (http::is_same(name, "content-range")) return read_range(value);
  if (http::is_same(name, "etag") && value.starts_with('"')) etag_ = value;
  if (http::is_same(name, "connection")) read_connection(value);
  if (http::is_same(name, "transfer-encoding")) is_encoded_ = true;
  return true;
}

bool HttpAnswer::read_content_length(std::string_view value) {
  if (content_length_) return false;
  content_length_ = http::parse_digits(value);
  return content_length_.has_value();
}

// bytes 0-65535/1000000. That of a refusal, bytes */1000000, and a size that is not known are no
// range.
bool HttpAnswer::read_range(std::string_view value) {
  if (range_) return false;
  constexpr std::string_view kUnit = "bytes ";
  const std::size_t dash = value.find('-');
  const std::size_t slash = value.find('/');
  if (!value.starts_with(kUnit) || dash == std::string_view::npos) return true;
  if (slash == std::string_view::npos || slash < dash) return true;
  const auto first = http::parse_digits(value.substr(kUnit.size(), dash - kUnit.size()));
  const auto last = http::parse_digits(value.substr(dash + 1, slash - dash - 1));
  const auto size = http::parse_digits(value.substr(slash + 1));
  if (first && last && size) range_ = Range{*first, *last, *size};
  return true;
}

void HttpAnswer::read_connection(std::string_view value) {
  while (!value.empty()) {
    const std::string_view word = http::take_element(value);
    says_close_ = says_close_ || http::is_same(word, "close");
    says_keep_alive_ = says_keep_alive_ || http::is_same(word, "keep-alive");
  }
}

}  // namespace loadgen
