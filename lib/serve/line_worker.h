// A worker whose clients speak in lines.
#pragma once

#include "serve/line_conversation.h"
#include "serve/options.h"

namespace serve {

class LineWorker : public Worker {
 public:
  // If converse() throws, logs the reason and answers `internal`, behind the replies that wait.
  void serve(Stream& stream) final;

 private:
  // Returns when the conversation is over.
  virtual void converse(LineConversation& connection) = 0;
};

}  // namespace serve
