// FTP (RFC 959), as a client of other people's servers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "loadgen/clients/drivers/driver.h"
#include "loadgen/clients/drivers/ftp_reply.h"

namespace loadgen {

// Logs in once for each connection, with USER, PASS and TYPE I. Then each file takes EPSV or PASV,
// RETR, and a connection for its bytes. QUIT is not sent: the connection is just closed.
//
// A file is whole when the server says 226 or 250 behind it. If the reply to RETR says how many
// bytes it has, so many must come. With Sizes::kAsked, SIZE is sent first, and kData always has the
// size. A refusal is an error of the native protocol where there is a
// matching one, and kProtocol for any other reply.
class FtpDriver : public Driver {
 public:
  enum class Sizes { kAsAnnounced, kAsked };
  explicit FtpDriver(FtpData data, Sizes sizes = Sizes::kAsAnnounced)
      : wanted_(data), sizes_(sizes), data_(data) {}

  void begin_connection() override {
    state_ = State::kConnected;
    data_ = wanted_;
  }
  void begin(const Request& request) override;
  Step next(std::string_view received) override;

 private:
  enum class State {
    kConnected,  // the greeting comes next
    kUser,       // each of these was sent, and its reply comes next
    kPassword,
    kType,
    kSize,
    kAskedPort,
    kRetrieve,  // RETR is sent when the data connection is there
    kPromised,  // RETR was sent
    kData,      // the file was received; the last reply comes next
    kIdle,      // logged in
  };

  Step take(const FtpReply& reply);
  Step command(State state, std::string_view verb, std::string_view argument = {});
  Step begin_file(bool is_log_in_over);
  Step ask_port();
  Step take_size(const FtpReply& reply);
  Step take_port(const FtpReply& reply);

  const FtpData wanted_;
  const Sizes sizes_;
  FtpData data_;  // of this connection
  State state_ = State::kConnected;
  const Request* request_ = nullptr;
  std::optional<std::uint64_t> size_bytes_;  // that SIZE told
  std::string line_;
};

}  // namespace loadgen
