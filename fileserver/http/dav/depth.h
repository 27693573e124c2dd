// The field Depth of a request of WebDAV.
#pragma once

#include <cstdint>
#include <optional>

#include "http/request_head.h"

namespace fileserver::dav {

// How far below the named folder a request reaches.
enum class Depth : std::uint8_t { kZero, kOne, kInfinity };

// kInfinity if the field did not come. Nothing if it is malformed, or came more than once.
std::optional<Depth> depth_of(const http::RequestHead& head);

}  // namespace fileserver::dav
