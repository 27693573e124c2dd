// The body of a request of WebDAV: a small XML document, or nothing.
#pragma once

#include <cstddef>
#include <optional>

#include "fileserver/http/exchange.h"
#include "xml/element.h"

namespace fileserver::dav {

inline constexpr std::size_t kMaxBodyBytes = 64 << 10;

struct XmlBody {
  std::optional<xml::Element> root;  // nothing: the body is empty
};

// Reads the whole body. Nothing if it was refused, and the answer was sent then: 400 (it is no XML
// or ends early), 413 (over kMaxBodyBytes) or 415 (Content-Encoding). It has to come in the time
// of the head.
//
// Requires: the head of the request is still valid. It is not afterwards.
std::optional<XmlBody> read_xml(Exchange& exchange);

}  // namespace fileserver::dav
