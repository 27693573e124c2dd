// The body of an answer whose size is not known: it is sent in chunks (Transfer-Encoding).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "serve/stream.h"

namespace fileserver {

// Collects what is small, so that a chunk is worth its call. Requires: the head was sent. Threads:
// one. The stream must outlive it.
class ChunkedBody {
 public:
  explicit ChunkedBody(serve::Stream& stream) : stream_(stream) {}

  // Returns false once the stream is over.
  bool add(std::string_view bytes);

  // How many bytes were added.
  std::uint64_t size_bytes() const { return size_bytes_; }

  // Sends the rest, and the mark that this was all. Without it the client knows that the body was
  // cut. Returns false once the stream is over.
  bool end();

 private:
  bool send_chunk(std::string_view bytes);

  serve::Stream& stream_;
  std::string pending_;
  std::string_view before_;  // what ends the chunk before
  std::uint64_t size_bytes_ = 0;
};

}  // namespace fileserver
