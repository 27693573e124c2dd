// The methods that are told apart, and the header fields that are looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace http {

// kOther is any other method: docs/http.md answers 501.
enum class Method : std::uint8_t {
  kGet,
  kHead,
  kPut,
  kDelete,
  kPost,
  kPatch,
  kOptions,
  kMkcol,
  kPropfind,
  kProppatch,
  kMove,
  kCopy,
  kLock,
  kUnlock,
  kConnect,
  kTrace,
  kOther,
};

// Such as "GET"; empty for kOther. The text lives for ever.
std::string_view text_of(Method method);

// Methods are case-sensitive.
Method method_of(std::string_view text);

enum class Field : std::uint8_t {
  kAccept,
  kAuthorization,
  kConnection,
  kContentDigest,
  kContentDisposition,
  kContentEncoding,
  kContentLength,
  kContentRange,
  kContentType,
  kCookie,
  kDepth,
  kDestination,
  kExpect,
  kHost,
  kIf,
  kIfMatch,
  kIfModifiedSince,
  kIfNoneMatch,
  kIfRange,
  kIfUnmodifiedSince,
  kLockToken,
  kOrigin,
  kOverwrite,
  kRange,
  kReprDigest,
  kSecFetchDest,
  kSecFetchSite,
  kTimeout,
  kTransferEncoding,
  kTusResumable,
  kUploadChecksum,
  kUploadComplete,
  kUploadDeferLength,
  kUploadDraftInteropVersion,
  kUploadLength,
  kUploadMetadata,
  kUploadOffset,
  kWantReprDigest,
  kXForwardedFor,
  kXHttpMethodOverride,
  kXOcMtime,
  kOther,  // any other field: its name is checked, and its value is dropped
};
inline constexpr std::size_t kKnownFields = static_cast<std::size_t>(Field::kOther);

// The case of letters does not matter.
Field field_of(std::string_view name);

}  // namespace http
