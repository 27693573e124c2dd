#include "serve/answer.h"

#include "base/log.h"
#include "wire/error_word.h"

namespace serve {

void log_failure(const base::Error& error) {
  switch (error.code) {
    case base::ErrorCode::kInternal:
      base::log::error("a request failed reason={}", base::log::quoted_long(error.context));
      break;
    case base::ErrorCode::kUnavailable:
      base::log::debug("a request cannot be answered now reason={}",
                       base::log::quoted_long(error.context));
      break;
    case base::ErrorCode::kSyntax:
    case base::ErrorCode::kTooLong:
    case base::ErrorCode::kInvalid:
    case base::ErrorCode::kDenied:
    case base::ErrorCode::kExists:
    case base::ErrorCode::kNotFound:
    case base::ErrorCode::kBusy: break;
  }
}

void answer(LineConversation& connection, const base::Status& status) {
  if (status) {
    connection.reply_ok();
  } else {
    log_failure(status.error());
    connection.reply_error(status.error().code);
  }
}

void log_request(std::string_view request, std::string_view user, const base::Status& status) {
  base::log::debug("{} user={} answer={}", request, user,
                   status ? "OK" : wire::word_of(status.error().code));
}

}  // namespace serve
