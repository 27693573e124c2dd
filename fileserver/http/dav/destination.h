// Where MOVE and COPY are to put something: the fields Destination, Overwrite and Depth (RFC 4918,
// section 10).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/path.h"
#include "http/request_head.h"

namespace fileserver {

// Of the value of Destination. Owns the name.
class Destination {
 public:
  enum class Kind {
    kPath,       // on this server
    kElsewhere,  // on another one: 502
    kMalformed,  // 400
  };

  // `value` is a path, or a URI with http or https. Its authority is compared with `host`, the
  // value of Host, but for the scheme's own port: a proxy that ends TLS passes Host on. User
  // information and a query do not count, as in a target.
  Destination(std::string_view value, std::string_view host);
  Destination(const Destination&) = delete;
  Destination& operator=(const Destination&) = delete;

  Kind kind() const { return kind_; }

  // Requires: kPath. Valid as long as this is.
  const http::Path& path() const { return *path_; }

 private:
  Kind kind_ = Kind::kMalformed;
  std::string decoded_;
  std::optional<http::Path> path_;
};

// Whether what has the name may be replaced: T, which is the default, or F. Nothing for all else.
std::optional<bool> parse_overwrite(const http::RequestHead& head);

enum class CopyDepth { kZero, kInfinity };

// Infinity is the default. Nothing for all else, 1 too.
std::optional<CopyDepth> parse_copy_depth(const http::RequestHead& head);

// How far below the named folder another request of WebDAV reaches.
enum class Depth : std::uint8_t { kZero, kOne, kInfinity };

// kInfinity if the field Depth did not come. Nothing if it is malformed, or came more than once.
std::optional<Depth> depth_of(const http::RequestHead& head);

}  // namespace fileserver
