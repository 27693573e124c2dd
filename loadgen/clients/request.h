// One request of the load, whatever the protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "loadgen/config/config.h"
#include "wire/request.h"

namespace loadgen {

// Which part of a file a get asks for, by a protocol that can.
struct PartOfFile {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // 0: no part, only the size of the file and its version

  // The part must be of this version of the file, as the answer without a part has told it. FTP
  // cannot ask for that.
  std::string_view version = {};
};

struct Request {
  wire::Credentials account;        // new: the account to make; otherwise who asks
  std::string_view file_name = {};  // empty for new
  std::uint64_t size_bytes = 0;     // of the file that put sends

  // The connection is logged in as this account, so that a protocol which keeps that on the
  // connection need not log in again. HTTP sends the credentials in any case.
  bool is_logged_in = false;

  RequestKind kind = RequestKind::kGet;

  std::optional<PartOfFile> part = {};  // of a get; nothing: the whole file
};

}  // namespace loadgen
