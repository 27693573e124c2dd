// The header fields of uploads in parts: those of draft-ietf-httpbis-resumable-upload-15, which are
// structured fields (RFC 9651), and those of tus 1.0.0. No sockets, no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/digest.h"
#include "http/request_head.h"

namespace http {

// "?1" and "?0", maybe with parameters. Nothing for any other value, also of a field that did not
// come: the draft ignores such a field.
std::optional<bool> parse_boolean_item(std::string_view value);

// An integer from 0 to 999,999,999,999,999, maybe with parameters. Nothing for any other value.
std::optional<std::uint64_t> parse_count_item(std::string_view value);

// Whether Content-Type is this media type, with whatever parameters.
bool has_media_type(const RequestHead& head, std::string_view type);

// The file name in Content-Disposition (RFC 6266): filename*, or else filename. It may be no name
// that a file can have. Nothing if there is none, or it is malformed.
std::optional<std::string> disposition_name(const RequestHead& head);

// The value of a key of Upload-Metadata, decoded. Nothing if there is none, or it is malformed.
std::optional<std::string> metadata_value(std::string_view metadata, std::string_view key);

// Upload-Checksum. kMalformed for other algorithms than sha256, too; kNone if it did not come.
Digest parse_checksum(const RequestHead& head);

}  // namespace http
