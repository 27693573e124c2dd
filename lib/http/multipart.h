// The pieces around the parts of a multipart/byteranges answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/range.h"

namespace http {

// For one answer. An uploader who could foresee the boundary could put it into a file, so the
// caller gives a random number.
class Multipart {
 public:
  // `type` and `file_bytes` are those of the file. `type` must outlive this.
  Multipart(std::uint64_t random, std::string_view type, std::uint64_t file_bytes);

  // The value of Content-Type.
  std::string content_type() const;

  // The value of Content-Length for these parts.
  std::uint64_t size_bytes(const std::vector<ByteRange>& parts) const;

  // What goes before the bytes of a part. It ends the part before, if this is not the first one.
  std::string part_head(const ByteRange& part, bool is_first) const;

  // What goes behind the bytes of the last part.
  std::string end() const;

 private:
  std::string boundary_;
  std::string_view type_;
  std::uint64_t file_bytes_;
};

}  // namespace http
