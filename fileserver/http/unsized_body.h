// The body of an answer whose size is not known: it is sent in chunks (Transfer-Encoding). HTTP/1.0
// knows none, and gets the bytes as they are until the connection ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "serve/stream.h"

namespace fileserver {

// Collects what is small, so that a chunk is worth its call. Threads: one. The stream must outlive
// it.
class UnsizedBody {
 public:
  explicit UnsizedBody(serve::Stream& stream, bool has_chunks = true)
      : stream_(stream), has_chunks_(has_chunks) {}

  // Called once, just before the head is sent. Without chunks that must say Connection: close. A
  // connection that ends before end() is then reset, so that no client takes the body for whole.
  void begin();

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
  const bool has_chunks_;
  std::string pending_;
  std::string_view before_;  // what ends the chunk before
  std::uint64_t size_bytes_ = 0;
};

}  // namespace fileserver
