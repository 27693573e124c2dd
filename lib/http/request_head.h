// Parses the head of a request: request line and fields. No sockets, no clock, no allocation.
//
//   http::HeadParser parser;
//   while (parser.parse(received) == http::HeadParser::State::kNeedMore)
//     received = the same bytes and those that came since;
//
// docs/http.md, "Framing", has the rules. Everything that they do not name is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/fields.h"
#include "http/status.h"

namespace http {

// A head of so many bytes is taken, from the method to the last CRLF.
inline constexpr std::size_t kMaxHeadBytes = 16 * 1024;
inline constexpr std::size_t kMaxTargetBytes = 8 * 1024;
inline constexpr std::size_t kMaxFields = 100;

// What follows the head on the connection.
struct Body {
  enum class Kind : std::uint8_t { kNone, kSized, kChunked };  // kSized may be 0 bytes
  Kind kind = Kind::kNone;
  std::uint64_t size_bytes = 0;  // for kSized

  // Whether bytes follow that must be read before the next request.
  bool is_empty() const { return kind == Kind::kNone || (kind == Kind::kSized && size_bytes == 0); }
};

// A well-formed head. Its texts point into the bytes that were given to the last parse().
class RequestHead {
 public:
  Method method() const { return method_; }
  std::string_view method_text() const { return text_.substr(method_begin_, method_size_); }

  // As it was sent.
  std::string_view target() const { return text_.substr(target_begin_, target_size_); }

  // The path of the target, still percent-encoded, without scheme, authority and query. It begins
  // with "/". It is "*" for "OPTIONS *", and the whole target for CONNECT.
  std::string_view path() const {
    return has_bare_authority_ ? "/" : text_.substr(path_begin_, path_size_);
  }

  // The authority of a target such as "http://host:80/path". Empty if it has none, and for CONNECT.
  std::string_view authority() const;

  bool is_1_0() const { return is_1_0_; }
  const Body& body() const { return body_; }

  // Whether the client wants to send further requests on this connection. The answer to a client
  // of HTTP/1.0 must then say "Connection: keep-alive".
  bool keeps_connection() const { return keeps_connection_; }

  // Whether the client waits for "100 Continue". False for HTTP/1.0, which does not know it.
  bool expects_continue() const { return expects_continue_; }

  // A head that points into `bytes`, which get a copy of this head and must outlive it.
  RequestHead copied_to(std::string& bytes) const;

  std::size_t count(Field field) const { return occurrence(field).count; }
  bool has(Field field) const { return count(field) > 0; }

  // The value of a field that came exactly once, without blanks around it. Empty if the field did
  // not come, or came more than once. Requires: field != Field::kOther.
  std::string_view value(Field field) const {
    return occurrence(field).count == 1 ? first_value(field) : std::string_view();
  }

  // Calls visit(value) for each field line of this name, in order.
  template <typename Visit>
  void each(Field field, Visit visit) const {
    std::size_t line = occurrence(field).line_begin;
    for (std::size_t left = occurrence(field).count; left > 0;) {
      const FieldLine parts = line_at(line);
      line = parts.end;
      if (field_of(parts.name) != field) continue;
      visit(parts.value);
      --left;
    }
  }

 private:
  friend class HeadParser;

  // Where a field came first. 16 bits are enough for any place in a head.
  struct Occurrence {
    std::uint16_t line_begin = 0;
    std::uint16_t count = 0;
  };
  struct FieldLine {
    std::string_view name;
    std::string_view value;
    std::size_t end;  // where the next line begins
  };

  const Occurrence& occurrence(Field field) const {
    return occurrences_[static_cast<std::size_t>(field)];
  }
  std::string_view first_value(Field field) const {
    return line_at(occurrence(field).line_begin).value;
  }
  FieldLine line_at(std::size_t begin) const;

  std::string_view text_;  // all bytes that were given to parse()
  std::array<Occurrence, kKnownFields> occurrences_{};
  Body body_;
  std::uint16_t size_bytes_ = 0;  // in text_
  std::uint16_t method_begin_ = 0;
  std::uint16_t method_size_ = 0;
  std::uint16_t target_begin_ = 0;
  std::uint16_t target_size_ = 0;
  std::uint16_t path_begin_ = 0;
  std::uint16_t path_size_ = 0;
  Method method_ = Method::kOther;
  bool has_bare_authority_ = false;  // "http://host", whose path is "/"
  bool is_1_0_ = false;
  bool keeps_connection_ = false;
  bool expects_continue_ = false;
};

// Parses one head. Each byte is looked at once, however the bytes are cut, and any cut gives the
// same result. Threads: one.
class HeadParser {
 public:
  enum class State : std::uint8_t {
    kNeedMore,  // well-formed so far
    kComplete,  // head() and size_bytes() are valid
    kRefused,   // status() is the answer; the connection is closed after it
  };

  // `received` is all bytes since the end of the request before. A later call gets the same bytes
  // and those that came since; they may be at another place in memory. One empty line before the
  // request is skipped. Malformed bytes are refused as soon as they come. Requires: the last call
  // returned kNeedMore, or there was none.
  State parse(std::string_view received);

  // 400, 414 (target too long), 417 (unknown expectation), 431 (head too long, or too many fields)
  // or 505 (version is not 1.x). Requires: kRefused.
  Status status() const { return status_; }

  // Requires: kComplete. Valid as long as the bytes that were given to the last parse().
  const RequestHead& head() const { return head_; }

  // Where the body begins, a skipped empty line included. Requires: kComplete.
  std::size_t size_bytes() const { return at_; }

 private:
  enum class Part : std::uint8_t {
    kStart,        // nothing has come yet
    kEmptyLineLf,  // the CR of an empty line has come
    kMethod,
    kTarget,
    kVersion,    // with its CRLF
    kFieldName,  // with its colon; or the CR of the last line
    kFieldValue,
    kFieldLf,
    kLastLf,
  };

  State refuse(Status status);
  State step(std::string_view text);
  void start_part(Part part);
  State take_method(std::string_view text);
  State take_target(std::string_view text);
  State take_version(std::string_view text);
  State take_field_name(std::string_view text);
  State take_field_value(std::string_view text);
  State end_field(std::string_view text);
  State finish();
  bool find_path();
  bool is_acceptable(Field field, std::string_view value);

  RequestHead head_;
  Status status_ = 400;
  std::size_t at_ = 0;            // all bytes before this one have been looked at
  std::uint16_t begin_ = 0;       // of the head: 2 after an empty line, else 0
  std::uint16_t part_begin_ = 0;  // of the part that is being read; for a value, of its name
  std::uint8_t fields_ = 0;
  Part part_ = Part::kStart;
};

}  // namespace http
