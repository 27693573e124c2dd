#include "fileserver/transfers/transfer_line.h"

#include <fmt/format.h>

#include <iterator>

#include "base/json_text.h"
#include "base/utf8.h"
#include "wire/error_word.h"

namespace fileserver {

namespace {

// Seconds with six digits behind the point.
void append_time(const char* key, std::int64_t at_ns, std::string& to) {
  const std::int64_t us = at_ns / 1000;
  fmt::format_to(std::back_inserter(to), ",\"{}\":{}.{:06}", key, us / 1'000'000, us % 1'000'000);
}

// Only ASCII is written as it is. So a name cannot send control codes to the terminal that shows
// the log.
void append_name(const char* key, std::string_view name, std::string& to) {
  fmt::format_to(std::back_inserter(to), ",\"{}\":{}", key,
                 base::json_text(name, base::JsonText::kAscii));
  if (base::is_utf8(name)) return;
  fmt::format_to(std::back_inserter(to), ",\"{}_hex\":\"", key);
  for (const char c : name)
    fmt::format_to(std::back_inserter(to), "{:02x}", static_cast<unsigned char>(c));
  to += '"';
}

std::string_view result_of(const Transfer& transfer) {
  if (transfer.error) return wire::word_of(*transfer.error);
  return transfer.reply.is_whole ? "ok" : "aborted";
}

// The last byte of each range is the last one of it, as in Content-Range.
void append_ranges(const Transfer& transfer, std::string& to) {
  to += ",\"range\":[";
  for (std::size_t i = 0; i < transfer.range_count; ++i) {
    const http::ByteRange& range = transfer.ranges[i];
    fmt::format_to(std::back_inserter(to), "{}[{},{}]", i > 0 ? "," : "", range.begin,
                   range.end - 1);
  }
  to += ']';
}

std::string_view word_of(Change change) {
  switch (change) {
    case Change::kNone: break;
    case Change::kPut: return "put";
    case Change::kDelete: return "delete";
    case Change::kMkcol: return "mkcol";
    case Change::kMove: return "move";
    case Change::kCopy: return "copy";
    case Change::kLock: return "lock";
    case Change::kUnlock: return "unlock";
  }
  return {};
}

// A user and a link need no escapes, because only names of that form get here.
void append_user(const Transfer& transfer, std::string& to) {
  const std::string_view quote = transfer.user.empty() ? "" : "\"";
  const std::string_view user = transfer.user.empty() ? "null" : transfer.user;
  fmt::format_to(std::back_inserter(to), ",\"user\":{}{}{}", quote, user, quote);
  if (!transfer.link.empty())
    fmt::format_to(std::back_inserter(to), ",\"link\":\"{}\"", transfer.link);
  if (!transfer.method.empty())
    fmt::format_to(std::back_inserter(to), ",\"method\":\"{}\"", transfer.method);
  if (transfer.status != 0)
    fmt::format_to(std::back_inserter(to), ",\"status\":{}", transfer.status);
}

}  // namespace

void append_line_of(const Transfer& transfer, std::int64_t clock_offset_ns, LogUsers users,
                    std::string& to) {
  const serve::SizedReply& reply = transfer.reply;
  fmt::format_to(std::back_inserter(to), "{{\"result\":\"{}\"", result_of(transfer));
  append_time("asked", transfer.asked_ns + clock_offset_ns, to);
  if (reply.first_byte_ns != 0) {
    append_time("first_byte", reply.first_byte_ns + clock_offset_ns, to);
    append_time("last_byte", reply.last_byte_ns + clock_offset_ns, to);
  }
  fmt::format_to(std::back_inserter(to), ",\"bytes\":{}", reply.sent_bytes);
  const bool has_size = transfer.change == Change::kNone || transfer.change == Change::kPut;
  if (!transfer.error && has_size)
    fmt::format_to(std::back_inserter(to), ",\"size\":{}", transfer.size_bytes);
  if (transfer.range_count > 0) append_ranges(transfer, to);
  if (transfer.change != Change::kNone)
    fmt::format_to(std::back_inserter(to), ",\"change\":\"{}\"", word_of(transfer.change));
  fmt::format_to(std::back_inserter(to), ",\"client\":\"{}\"", transfer.client.text());
  if (users == LogUsers::kOn) append_user(transfer, to);
  if (transfer.has_name) append_name("name", transfer.name, to);
  if (!transfer.to.empty()) append_name("to", transfer.to, to);
  to += "}\n";
}

}  // namespace fileserver
