#include "serve/line_worker.h"

#include "base/completes.h"

namespace serve {

void LineWorker::serve(Stream& stream) {
  LineConversation connection(stream);
  if (base::completes("a connection failed", [&] { converse(connection); })) return;
  connection.reply_error(base::ErrorCode::kInternal);
  telemetry::count_request(telemetry::Verb::kOther, base::ErrorCode::kInternal);
}

}  // namespace serve
