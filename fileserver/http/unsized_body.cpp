#include "fileserver/http/unsized_body.h"

#include <fmt/core.h>

namespace fileserver {

namespace {

constexpr std::size_t kMostPendingBytes = 32 * 1024;

}  // namespace

void UnsizedBody::begin() { stream_.begin_unsized_reply(!has_chunks_); }

bool UnsizedBody::add(std::string_view bytes) {
  size_bytes_ += bytes.size();
  if (pending_.size() + bytes.size() <= kMostPendingBytes) {
    pending_ += bytes;
    return !stream_.is_over();
  }
  if (!send_chunk(pending_)) return false;
  pending_.clear();
  return send_chunk(bytes);
}

bool UnsizedBody::end() {
  if (!send_chunk(pending_)) return false;
  pending_.clear();
  const bool is_sent = !has_chunks_ || stream_.send(fmt::format("{}0\r\n\r\n", before_));
  if (is_sent) stream_.end_unsized_reply();
  return is_sent;
}

bool UnsizedBody::send_chunk(std::string_view bytes) {
  if (bytes.empty()) return !stream_.is_over();  // it would be the last one
  if (!has_chunks_) return stream_.send({}, bytes);
  const std::string head = fmt::format("{}{:x}\r\n", before_, bytes.size());
  before_ = "\r\n";
  return stream_.send(head, bytes);
}

}  // namespace fileserver
