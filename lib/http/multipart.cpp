#include "http/multipart.h"

#include <fmt/core.h>

namespace http {

Multipart::Multipart(std::uint64_t random, std::string_view type, std::uint64_t file_bytes)
    : boundary_(fmt::format("{:016x}", random)), type_(type), file_bytes_(file_bytes) {}

std::string Multipart::content_type() const {
  return "multipart/byteranges; boundary=" + boundary_;
}

std::uint64_t Multipart::size_bytes(const std::vector<ByteRange>& parts) const {
  std::uint64_t size = end().size();
  for (const ByteRange& part : parts)
    size += part_head(part, &part == &parts.front()).size() + part.size_bytes();
  return size;
}

std::string Multipart::part_head(const ByteRange& part, bool is_first) const {
  return fmt::format("{}--{}\r\nContent-Type: {}\r\nContent-Range: bytes {}-{}/{}\r\n\r\n",
                     is_first ? "" : "\r\n", boundary_, type_, part.begin, part.end - 1,
                     file_bytes_);
}

std::string Multipart::end() const { return "\r\n--" + boundary_ + "--\r\n"; }

}  // namespace http
