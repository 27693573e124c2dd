// One request of HTTP and its answer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "fileserver/http/guests.h"
#include "fileserver/rights/user_rights.h"
#include "http/basic.h"
#include "http/path.h"
#include "http/request_head.h"
#include "net/ip_address.h"
#include "net/socket_io.h"
#include "serve/http_conversation.h"
#include "telemetry/counters.h"
#include "wire/request.h"

namespace fileserver {

// Belongs to one thread. Exactly one answer is sent, by one of the functions below.
class Exchange {
 public:
  // Both must outlive the exchange.
  Exchange(const http::RequestHead& head, serve::HttpConversation& connection);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Valid until the body is read.
  const http::RequestHead& head() const { return head_; }
  serve::HttpConversation& connection() { return connection_; }
  serve::Stream& stream() { return connection_.stream(); }

  // Also valid when the body was read. Nothing if no file can have this path.
  http::Method method() const { return method_; }
  const std::optional<http::Path>& path() const { return path_; }

  // From now on the request is one for this name, whatever its head says.
  void aim_at(std::string name, bool ends_with_slash);

  // Who sent the request, maybe through proxies. Valid also when the body was read.
  net::IpAddress client = {};

  // The account that was validated for this request.
  std::string user = {};

  // Who asks by a link, and is nobody himself: `user` is who made it.
  std::optional<Guest> guest = {};

  // Whether a session says so, by its cookie, and not the user's password.
  bool is_by_session = false;

  // When the authserver was asked about it.
  std::int64_t validated_ns = 0;

  // The account that the request named, if it was refused for that. It may not even exist.
  std::string refused_user = {};

  // Whether the transfer log has a line for this request.
  bool is_logged = false;

  // What that user may do. A name that may not be read is answered as if it were not there.
  UserRights rights = {};

  // What the answer has besides, whatever it is.
  std::vector<std::pair<std::string_view, std::string>> further_fields = {};

  // As what it counts.
  telemetry::Verb verb = telemetry::Verb::kOther;

  // Whether nobody can take an answer any more: the client is gone, or the server has cut the
  // connection. A client that has only finished sending still takes one.
  bool is_hung_up() const { return net::is_hung_up(connection_.stream().fd()); }

  // Whether the client has finished sending: it is gone, or only takes this answer yet.
  bool has_client_finished() { return connection_.stream().has_peer_finished(); }

  // Begins an answer that the caller sends himself. No page of another origin, such as one of
  // another port of this host, may use the answer as a script, a picture or a style sheet, nor
  // learn from that whether there is such a file.
  http::AnswerHead begin(http::Status status);

  // Sends the head with a body that is short; to HEAD without it.
  void send_text(http::AnswerHead& head, std::string_view type, std::string_view text);

  // Answers with the words of the status as the body, or with a page where a browser asks and there
  // is one for the status (page.h), and with the fields that the status needs: 401 asks for
  // credentials, unless a browser without any shows our page for that; 429 and 503 say when to try
  // again.
  void answer(http::Status status);

  // 405, with the methods that are allowed.
  void answer_not_allowed(std::string_view allowed);

  // What an error of a file, of an account or of the authserver is answered with. Logs what
  // serve::answer() would log.
  void answer(const base::Error& error);

  // Behind an exception: 500, or the connection ends if an answer was begun.
  void fail();

  // The status of the answer; nothing before it.
  std::optional<http::Status> status() const { return status_; }

  // What telemetry counts for the answer.
  telemetry::Outcome outcome() const { return status_ ? status_->outcome() : std::nullopt; }
  telemetry::Ending ending() const;

 private:
  const http::RequestHead& head_;
  serve::HttpConversation& connection_;
  const http::Method method_;
  const bool shows_sign_in_;  // in place of a challenge, which opens a dialogue
  std::optional<http::Status> status_;
  std::string long_path_;
  std::array<char, 192> short_path_;
  std::optional<http::Path> path_;
  std::string long_answer_;
  std::array<char, 1344> answer_;  // room for Location with a name of 255 bytes, encoded
};

inline constexpr std::string_view kCookieName = "turnstile";

// The user and the password of a request, or the token of its session. Decoded from Authorization,
// and overwritten at the end. With Authorization the cookie is not looked at.
class RequestCredentials {
 public:
  explicit RequestCredentials(const http::RequestHead& head);
  ~RequestCredentials();
  RequestCredentials(const RequestCredentials&) = delete;
  RequestCredentials& operator=(const RequestCredentials&) = delete;

  // Nothing if there are none, or if they are malformed or of no possible account. Points into
  // this.
  const std::optional<wire::Credentials>& account() const { return account_; }

  // Empty if there is none, if it cannot be one, or if there are two: a page of a neighbouring
  // host can add a cookie to ours. Points into the head.
  std::string_view token() const { return token_; }

 private:
  void take_cookies(const http::RequestHead& head);

  std::array<char, http::kMaxBasicBytes> bytes_;
  std::optional<wire::Credentials> account_;
  std::string_view token_;
};

}  // namespace fileserver
