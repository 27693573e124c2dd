// FTP (RFC 959), as a client of other people's servers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "loadgen/clients/drivers/driver.h"
#include "loadgen/clients/drivers/ftp_reply.h"

namespace loadgen {

// Logs in once for each connection, with USER, PASS and TYPE I. Then each file takes EPSV or PASV,
// RETR or, for a put, STOR, and a connection for its bytes.
//
// A file is whole when the server says 226 or 250 behind it. If the reply to RETR says how many
// bytes it has, so many must come; otherwise as many as SIZE has told. A refusal is an error of the
// native protocol where there is a matching one, and kProtocol for any other reply.
//
// A part of a file takes REST before RETR, and its connection ends behind the part, so the last
// reply may be a refusal. For no part, SIZE and MDTM tell the size and the version.
class FtpDriver : public Driver {
 public:
  // When SIZE is sent, before EPSV or PASV.
  enum class Sizes {
    kOnce,    // once for each name, and no more when a reply to RETR has told a size; a server need
              // not know SIZE
    kAlways,  // for each file; kData then always has the size
  };
  struct Ways {
    Sizes sizes = Sizes::kOnce;
    bool quits = false;  // QUIT ends each request that has succeeded, and its connection
  };
  explicit FtpDriver(FtpData data) : FtpDriver(data, Ways()) {}
  FtpDriver(FtpData data, Ways ways) : wanted_(data), ways_(ways), data_(data) {}

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
    kModified,  // MDTM
    kAskedPort,
    kRestart,   // REST
    kTransfer,  // RETR or STOR is sent when the data connection is there
    kPromised,  // it was sent
    kData,      // the file has come, or was sent; the last reply comes next
    kQuit,      // QUIT was sent
    kIdle,      // logged in
  };

  Step take(const FtpReply& reply);
  Step command(State state, std::string_view verb, std::string_view argument = {});
  Step begin_file(bool is_log_in_over);
  bool must_ask_size();
  bool is_part() const { return request_->part.has_value(); }
  bool is_only_look() const { return is_part() && request_->part->bytes == 0; }
  bool is_right_end(int code) const;
  bool is_put() const { return request_->kind == RequestKind::kPut; }
  Step ask_port();
  Step take_size(const FtpReply& reply);
  Step take_port(const FtpReply& reply);
  Step take_version(const FtpReply& reply);
  Step ask_for_file();
  Step take_promise(const FtpReply& reply);
  Step finish();

  const FtpData wanted_;
  const Ways ways_;
  FtpData data_;  // of this connection
  State state_ = State::kConnected;
  const Request* request_ = nullptr;
  std::optional<std::uint64_t> size_bytes_;  // that SIZE told
  bool announces_ = false;                   // the last reply to RETR told a size

  // What SIZE has told of each name; empty: nothing. It is cleared when it has kMostSizes.
  static constexpr std::size_t kMostSizes = 100'000;
  std::map<std::string, std::optional<std::uint64_t>, std::less<>> sizes_;
  std::string line_;
  std::string version_;  // of the file of a request for no part
};

}  // namespace loadgen
