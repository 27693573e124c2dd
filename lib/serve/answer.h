// Answers requests, and logs what happened to them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "serve/line_conversation.h"

namespace serve {

// Replies OK, or the error's code with its default text. Calls log_failure().
void answer(LineConversation& connection, const base::Status& status);

// Logs kInternal as an error with its cause, kUnavailable with its cause at debug level, and
// nothing else.
void log_failure(const base::Error& error);

// Logs one line at debug level for a request, such as "get user=amy answer=denied".
void log_request(std::string_view request, std::string_view user, const base::Status& status);

}  // namespace serve
