// A front that is open: where its connections are accepted, and who serves them.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "serve/acceptor.h"
#include "serve/servers.h"

namespace serve {

struct Entrance {
  explicit Entrance(Front front)
      : acceptor(std::move(front.listener)),
        make_worker(std::move(front.make_worker)),
        busy_answer(front.busy_answer),
        encryption(front.encryption),
        take_beyond_limit(std::move(front.take_beyond_limit)) {}

  // Answers a connection that has no place, or lets another one do that.
  void turn_away(Arrival&& arrival) const {
    if (!take_beyond_limit || !take_beyond_limit(arrival))
      refuse(std::move(arrival.fd), busy_answer);
  }

  Acceptor acceptor;
  const MakeWorker make_worker;
  std::string (*const busy_answer)();
  const Encryption* const encryption;                     // null: none
  const std::function<bool(Arrival&)> take_beyond_limit;  // see Front
};

}  // namespace serve
