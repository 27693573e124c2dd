// One fileserver's conversation with the authserver: docs/protocol.md, "from the fileserver to the
// authserver".
#pragma once

#include <memory>

#include "authserver/authenticator.h"
#include "authserver/stores/store_backend.h"
#include "base/outage.h"
#include "serve/connection.h"
#include "serve/options.h"
#include "wire/request.h"

namespace authserver {

// Serves the connections of one thread or process, one after another. It owns that thread's store,
// which it opens with the first request.
class Session : public serve::Worker {
 public:
  // All must outlive the session. `store_outage` is shared by all sessions of this authserver.
  Session(const Authenticator& authenticator, const StoreConfig& store_config,
          base::Outage& store_outage)
      : authenticator_(authenticator), store_config_(store_config), store_outage_(store_outage) {}

  void serve(serve::Connection& connection) override;

 private:
  // What each kind of request does. The status becomes the reply.
  base::Status answer(const wire::Ping& ping);
  base::Status answer(const wire::New& request);
  base::Status answer(const wire::Auth& request);
  base::Status answer(const wire::Refused& refused);

  base::Result<std::unique_ptr<AccountStore>> open_store();

  // Calls `ask` with the store, which is opened first if need be.
  template <typename Ask>
  base::Status with_store(Ask ask);

  // With --store-connection per-request, after each request.
  void disconnect_after_reply(serve::Connection& connection);

  const Authenticator& authenticator_;
  const StoreConfig& store_config_;
  base::Outage& store_outage_;
  std::unique_ptr<AccountStore> store_;
};

}  // namespace authserver
