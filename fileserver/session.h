// Serves one client after another: reads a line, acts on it, replies. docs/protocol.md lists the
// lines and their replies.
#pragma once

#include <cstdint>
#include <string_view>

#include "fileserver/parts.h"
#include "serve/line_conversation.h"
#include "wire/request.h"

namespace fileserver {

// Belongs to one thread.
class Session : public serve::LineWorker {
 public:
  // Sessions share the parts, which must outlive them.
  explicit Session(Parts& parts) : parts_(parts) {}

 private:
  void converse(serve::LineConversation& connection) override;

  // One for each kind of line. Each sends exactly one reply, or cuts the connection.
  void handle(serve::LineConversation& connection, const wire::Ping& ping);
  void handle(serve::LineConversation& connection, const wire::New& request);
  void handle(serve::LineConversation& connection, const wire::Get& request);
  void handle(serve::LineConversation& connection, const wire::FileName& file);
  void handle(serve::LineConversation& connection, const wire::Refused& refused);

  // Asks the authserver again if its last answer is old. Replies and returns false unless it is OK.
  bool is_still_granted(serve::LineConversation& connection, std::string_view name,
                        std::int64_t asked_ns);
  void let_in(serve::LineConversation& connection, wire::Credentials account,
              std::int64_t asked_ns);

  base::Result<OpenedFile> open(serve::LineConversation& connection, std::string_view name);
  void log_transfer(serve::LineConversation& connection, std::string_view name,
                    std::int64_t asked_ns, const base::Status& sent);
  void note_log_in(serve::LineConversation& connection, const wire::Get& request,
                   std::int64_t asked_ns, const base::Status& granted);
  void log_refusal(serve::LineConversation& connection, std::string_view verb,
                   std::string_view user, std::int64_t asked_ns, base::ErrorCode code);

  Parts& parts_;

  // Whether the line that is answered now is the first one of this connection.
  bool is_first_line_ = true;
};

}  // namespace fileserver
