// A front that is open: where its connections are accepted, and who serves them.
#pragma once

#include <string>
#include <utility>

#include "serve/acceptor.h"
#include "serve/servers.h"

namespace serve {

struct Entrance {
  explicit Entrance(Front front)
      : acceptor(std::move(front.listener)),
        make_worker(std::move(front.make_worker)),
        busy_answer(front.busy_answer) {}

  Acceptor acceptor;
  const MakeWorker make_worker;
  std::string (*const busy_answer)();
};

}  // namespace serve
