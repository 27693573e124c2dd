#include "http/chunks.h"

#include <algorithm>

#include "http/request_head.h"
#include "http/syntax.h"

namespace http {

namespace {

constexpr int kMaxDigits = 16;

}  // namespace

std::string_view ChunkDecoder::take(std::string_view& received) {
  while (state_ == State::kNeedMore && !received.empty()) {
    if (part_ == Part::kData) {
      const std::size_t size =
          static_cast<std::size_t>(std::min<std::uint64_t>(left_bytes_, received.size()));
      const std::string_view piece = received.substr(0, size);
      received.remove_prefix(size);
      left_bytes_ -= size;
      if (left_bytes_ == 0) part_ = Part::kDataCr;
      return piece;
    }
    step(received.front());
    received.remove_prefix(1);
  }
  return {};
}

void ChunkDecoder::step(char byte) {
  switch (part_) {
    case Part::kSize: return take_size(byte);
    case Part::kExtension:
      if (byte == '\r') return go_on(true, Part::kSizeLf);
      return take_extra(is_value_byte(byte), Part::kExtension);
    case Part::kSizeLf:
      digits_ = 0;
      return go_on(byte == '\n', left_bytes_ == 0 ? Part::kTrailerStart : Part::kData);
    case Part::kData: return;  // take() has done it
    case Part::kDataCr: return go_on(byte == '\r', Part::kDataLf);
    case Part::kDataLf: return go_on(byte == '\n', Part::kSize);
    case Part::kTrailerStart:
      if (byte == '\r') return go_on(true, Part::kLastLf);
      if (trailers_++ == kMaxFields) return refuse(431);
      return take_extra(is_token_byte(byte), Part::kTrailerName);
    case Part::kTrailerName:
      if (byte == ':') return take_extra(true, Part::kTrailerValue);
      return take_extra(is_token_byte(byte), Part::kTrailerName);
    case Part::kTrailerValue:
      if (byte == '\r') return take_extra(true, Part::kTrailerLf);
      return take_extra(is_value_byte(byte), Part::kTrailerValue);
    case Part::kTrailerLf: return take_extra(byte == '\n', Part::kTrailerStart);
    case Part::kLastLf:
      go_on(byte == '\n', Part::kLastLf);
      if (state_ == State::kNeedMore) state_ = State::kComplete;
      return;
  }
}

void ChunkDecoder::take_size(char byte) {
  const int value = hex_value(byte);
  if (value >= 0) {
    if (digits_++ == kMaxDigits) return refuse(400);
    left_bytes_ = left_bytes_ << 4 | static_cast<std::uint64_t>(value);
    return;
  }
  if (byte == '\r') return go_on(digits_ > 0, Part::kSizeLf);
  take_extra(digits_ > 0 && byte == ';', Part::kExtension);
}

void ChunkDecoder::go_on(bool is_good, Part next) {
  if (!is_good) return refuse(400);
  part_ = next;
}

// Takes a byte that is dropped.
void ChunkDecoder::take_extra(bool is_good, Part next) {
  if (is_good && extra_bytes_++ == kMaxHeadBytes) return refuse(431);
  go_on(is_good, next);
}

void ChunkDecoder::refuse(Status status) {
  status_ = status;
  state_ = State::kRefused;
}

}  // namespace http
