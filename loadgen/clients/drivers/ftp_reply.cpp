#include "loadgen/clients/drivers/ftp_reply.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace loadgen {

namespace {

constexpr std::size_t kCodeDigits = 3;

using base::is_digit;

// Texts are in any encoding. What would not be text in any of them is refused.
bool is_text(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char byte) {
    const auto value = static_cast<unsigned char>(byte);
    return (value >= 0x20 && value != 0x7f) || byte == '\t';
  });
}

// 0 if the line does not begin with a code.
int code_of(std::string_view line) {
  if (line.size() < kCodeDigits || !std::all_of(line.begin(), line.begin() + kCodeDigits, is_digit))
    return 0;
  const int code = (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
  return code >= 100 && code < 600 ? code : 0;
}

// Whether a line that begins with a code ends the reply.
bool is_last(std::string_view line) {
  return line.size() == kCodeDigits || line[kCodeDigits] == ' ';
}

// Reads a number from the start of `text` and removes it. Nothing if it has none, or one over
// `most`.
std::optional<std::uint64_t> take_number(std::string_view& text, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || number > most) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

std::optional<std::uint16_t> as_port(std::optional<std::uint64_t> number) {
  if (!number || *number == 0 || *number > UINT16_MAX) return {};
  return static_cast<std::uint16_t>(*number);
}

}  // namespace

FtpReply read_ftp_reply(std::string_view received) {
  using State = FtpReply::State;
  const FtpReply malformed{.state = State::kMalformed, .line = received};
  int code = 0;
  for (std::size_t begin = 0;;) {
    const std::size_t lf = received.find('\n', begin);
    if (std::min(lf, received.size()) >= kMaxFtpReplyBytes) return malformed;
    if (lf == std::string_view::npos) return {State::kNeedMore};
    std::string_view line = received.substr(begin, lf - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!is_text(line)) return malformed;
    begin = lf + 1;
    const int code_here = code_of(line);
    if (code == 0) {
      code = code_here;
      if (code == 0 || (!is_last(line) && line[kCodeDigits] != '-')) return malformed;
    }
    if (code_here != code || !is_last(line)) continue;
    const auto text = line.substr(std::min(line.size(), kCodeDigits + 1));
    return {State::kWhole, code, text, begin, line};
  }
}

std::optional<std::uint16_t> epsv_port(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) return {};
  text.remove_prefix(open + 1);
  if (!take(text, "|||")) return {};
  const auto port = take_number(text, UINT16_MAX);
  return take(text, "|)") ? as_port(port) : std::nullopt;
}

std::optional<std::uint16_t> pasv_port(std::string_view text) {
  constexpr int kNumbers = 6;
  const auto digit = std::find_if(text.begin(), text.end(), is_digit);
  text.remove_prefix(static_cast<std::size_t>(digit - text.begin()));
  std::uint64_t port = 0;
  for (int i = 0; i < kNumbers; ++i) {
    if (i > 0 && !take(text, ",")) return {};
    const auto number = take_number(text, UINT8_MAX);
    if (!number) return {};
    port = (port << 8 | *number) & UINT16_MAX;
  }
  return as_port(port);
}

std::optional<std::uint64_t> size_in(std::string_view text) {
  const auto number = take_number(text, UINT64_MAX - 1);
  return text.empty() ? number : std::nullopt;
}

std::optional<std::uint64_t> announced_bytes(std::string_view text) {
  const std::size_t open = text.rfind('(');
  if (open == std::string_view::npos) return {};
  text.remove_prefix(open + 1);
  const auto number = take_number(text, UINT64_MAX - 1);
  return take(text, " bytes)") ? number : std::nullopt;
}

}  // namespace loadgen
