// A reply of an FTP server (RFC 959, section 4.2): one line, or several of which the last one
// begins with the same code and a blank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace loadgen {

// The most bytes of one reply. A greeting may be a page of text.
inline constexpr std::size_t kMaxFtpReplyBytes = 16 * 1024;

struct FtpReply {
  enum class State { kWhole, kNeedMore, kMalformed };
  State state;
  int code = 0;                // 100 to 599
  std::string_view text = {};  // of the last line, behind the code
  std::size_t size_bytes = 0;
  std::string_view line = {};  // the last line, with the code; when malformed, all of it
};

// The first reply in `received`. Lines end with LF, and may have a CR before it.
FtpReply read_ftp_reply(std::string_view received);

// The port in the text of a reply to EPSV, "... (|||6446|)", or to PASV, "... (h1,h2,h3,h4,p1,p2)".
// The address in the latter is not used: a client connects to the server that it has logged in to.
// Nothing if there is none, or if it is 0.
std::optional<std::uint16_t> epsv_port(std::string_view text);
std::optional<std::uint16_t> pasv_port(std::string_view text);

// N of "(N bytes)", which many servers say before they send a file.
std::optional<std::uint64_t> announced_bytes(std::string_view text);

// The number that is the text of the reply to SIZE.
std::optional<std::uint64_t> size_in(std::string_view text);

}  // namespace loadgen
