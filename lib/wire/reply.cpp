#include "wire/reply.h"

#include <charconv>

#include "wire/error_word.h"

namespace wire {

namespace {

Reply parse_size(std::string_view digits) {
  std::uint64_t size = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (digits.empty() || failure != std::errc() || end != digits.data() + digits.size())
    return NotAReply{};
  return OkSized{size};
}

Reply parse_error(std::string_view rest) {
  const std::string_view word = rest.substr(0, rest.find(' '));
  for (const base::ErrorCode code : kErrorCodes) {
    if (word == word_of(code)) return Err{code};
  }
  return NotAReply{};
}

}  // namespace

Reply parse_reply(std::string_view line) {
  if (line == "OK") return Ok{};
  if (line.starts_with("OK ")) return parse_size(line.substr(3));
  if (line.starts_with("ERR ")) return parse_error(line.substr(4));
  return NotAReply{};
}

std::string ok_sized_line(std::uint64_t size_bytes) {
  return "OK " + std::to_string(size_bytes) + "\n";
}

std::string error_line(base::ErrorCode code, std::string_view text) {
  std::string line = "ERR ";
  line.append(word_of(code)).append(" ").append(text).append("\n");
  return line;
}

}  // namespace wire
