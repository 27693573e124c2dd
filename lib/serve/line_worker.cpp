#include "serve/line_worker.h"

#include <exception>

#include "base/log.h"

namespace serve {

void LineWorker::serve(Stream& stream) {
  LineConversation connection(stream);
  try {
    converse(connection);
  } catch (const std::exception& failure) {  // out of memory, or a bug
    base::log::error("a connection failed reason=\"{}\"", failure.what());
    connection.reply_error(base::ErrorCode::kInternal);
    telemetry::count_request(telemetry::Verb::kOther, base::ErrorCode::kInternal);
  }
}

}  // namespace serve
