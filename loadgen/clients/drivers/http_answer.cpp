#include "loadgen/clients/drivers/http_answer.h"

#include <algorithm>
#include <charconv>

namespace loadgen {

namespace {

constexpr std::string_view kVersion = "HTTP/1.";
constexpr std::size_t kMaxLengthDigits = 19;  // so that the number fits into 64 bits

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

char lower(char byte) { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : byte; }

bool is_token_byte(char byte) {
  const char small = lower(byte);
  return (small >= 'a' && small <= 'z') || is_digit(byte) ||
         std::string_view("!#$%&'*+-.^_`|~").find(byte) != std::string_view::npos;
}

// `expected` is in lower case.
bool is_same_word(std::string_view word, std::string_view expected) {
  return std::equal(word.begin(), word.end(), expected.begin(), expected.end(),
                    [](char a, char b) { return lower(a) == b; });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

bool is_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char byte) {
    const auto value = static_cast<unsigned char>(byte);
    return (value >= 0x20 && value != 0x7f) || byte == '\t';
  });
}

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
  return is_text(line) && (status_ == 0 ? read_status_line(line) : read_field(line));
}

// HTTP/1.1 200 OK
bool HttpAnswer::read_status_line(std::string_view line) {
  constexpr std::size_t kUpToReason = std::string_view("HTTP/1.1 200 ").size();
  if (line.size() < kUpToReason || !line.starts_with(kVersion)) return false;
  const char minor = line[kVersion.size()];
  const std::string_view status = line.substr(kVersion.size() + 2, 3);
  if ((minor != '0' && minor != '1') || line[kVersion.size() + 1] != ' ') return false;
  if (!std::all_of(status.begin(), status.end(), is_digit) || status.front() == '0') return false;
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
  if (!std::all_of(name.begin(), name.end(), is_token_byte)) return false;
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (is_same_word(name, "content-length")) return read_content_length(value);
  if (is_same_word(name, "connection")) read_connection(value);
  if (is_same_word(name, "transfer-encoding")) is_encoded_ = true;
  return true;
}

bool HttpAnswer::read_content_length(std::string_view value) {
  const bool is_number = !value.empty() && value.size() <= kMaxLengthDigits &&
                         std::all_of(value.begin(), value.end(), is_digit);
  if (!is_number || content_length_) return false;
  std::from_chars(value.data(), value.data() + value.size(), content_length_.emplace());
  return true;
}

void HttpAnswer::read_connection(std::string_view value) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view word = trimmed(value.substr(0, comma));
    says_close_ = says_close_ || is_same_word(word, "close");
    says_keep_alive_ = says_keep_alive_ || is_same_word(word, "keep-alive");
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
}

}  // namespace loadgen
