// HTTP/1.1: a request and an answer, with Basic credentials.
#pragma once

#include <optional>
#include <string>

#include "loadgen/clients/drivers/driver.h"
#include "loadgen/clients/drivers/http_answer.h"

namespace loadgen {

// get is GET /NAME, put is PUT /NAME, and new is POST /-/accounts with JSON. Only these answers
// are right: to get 200, to put 201 or 204, to new 201, all but 204 with Content-Length. A refusal
// is an error of the native protocol where there is a matching one, and kProtocol for any other
// status, those of 1xx included.
//
// A part of a file is asked for with Range and If-Range, and only 206 with exactly these bytes is
// right; one with another ETag is Fault::kChanged. For no part it sends HEAD, and the version is
// the strong ETag.
class HttpDriver : public Driver {
 public:
  // `host` is what the field Host names. Unless `is_kept`, each request asks for the end of its
  // connection.
  HttpDriver(std::string host, bool is_kept) : host_(std::move(host)), is_kept_(is_kept) {}

  void begin(const Request& request) override;
  Step next(std::string_view received) override;

 private:
  enum class State {
    kBegun,  // nothing was sent
    kSent,   // the request was sent, but for the rest of the file of a put
    kAsked,  // the answer comes next
    kRead,   // the answer and its body were received
  };

  void compose_new(const Request& request);
  void compose_with_credentials(const Request& request);
  void add_part(const PartOfFile& part);
  bool is_right() const;
  bool is_right_part() const;
  Cause cause() const;
  Step judge(std::string_view status_line);
  Step judge_head(std::string_view status_line);
  Step done() const;

  const std::string host_;
  const bool is_kept_;
  std::optional<PartOfFile> part_;        // of the request
  RequestKind kind_ = RequestKind::kGet;  // of the request

  State state_ = State::kBegun;
  std::string version_;             // of the part
  std::string request_;             // the head, and the body or its beginning
  std::uint64_t first_bytes_ = 0;   // of the body, in request_
  std::uint64_t unsent_bytes_ = 0;  // of the body, behind those
  HttpAnswer answer_;

  // What becomes of the request when the body of the answer was received.
  std::optional<Cause> failure_;
  std::string why_;
  bool keeps_connection_ = false;
};

}  // namespace loadgen
