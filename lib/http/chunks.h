// Takes a body with "Transfer-Encoding: chunked" apart. No sockets, no clock, no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/status.h"

namespace http {

// Each byte is looked at once, and any cut of the bytes gives the same data. Extensions and
// trailers are checked and dropped. All of a body's together have the limits of a head.
//
//   while (decoder.state() == ChunkDecoder::State::kNeedMore && !bytes.empty()) {
//     use(decoder.take(bytes));  // shortens bytes
//   }
//
// Threads: one.
class ChunkDecoder {
 public:
  enum class State : std::uint8_t {
    kNeedMore,  // the body goes on
    kComplete,  // the body has ended; what is left of the bytes is the next request
    kRefused,   // status() is the answer; the connection is closed after it
  };
  State state() const { return state_; }

  // Takes bytes from the start of `received`, which is what came since the last call and was not
  // taken. Returns the next piece of the body, which points into `received` and may be empty.
  // Requires: state() is kNeedMore and `received` is not empty. Takes at least one byte.
  std::string_view take(std::string_view& received);

  // 400 or 431. Requires: kRefused.
  Status status() const { return status_; }

 private:
  enum class Part : std::uint8_t {
    kSize,
    kExtension,
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailerStart,
    kTrailerName,
    kTrailerValue,
    kTrailerLf,
    kLastLf,
  };

  void step(char byte);
  void take_size(char byte);
  void go_on(bool is_good, Part next);
  void refuse(Status status);
  void take_extra(bool is_good, Part next);

  std::uint64_t left_bytes_ = 0;   // of the chunk
  std::uint16_t extra_bytes_ = 0;  // of extensions and trailers
  Status status_ = 400;
  std::uint8_t digits_ = 0;
  std::uint8_t trailers_ = 0;
  Part part_ = Part::kSize;
  State state_ = State::kNeedMore;
};

}  // namespace http
