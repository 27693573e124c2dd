// One fileserver's conversation with the authserver: docs/protocol.md, "from the fileserver to the
// authserver".
#pragma once

#include <memory>

#include "authserver/authenticator.h"
#include "authserver/stores/store_backend.h"
#include "serve/connection.h"
#include "serve/options.h"
#include "wire/request.h"

namespace authserver {

// Belongs to one thread or process, and owns its connection to the store, which is made with the
// first request.
class Session : public serve::Worker {
 public:
  Session(const Authenticator& authenticator, const StoreConfig& store_config)
      : authenticator_(authenticator), store_config_(store_config) {}

  void serve(serve::Connection& connection) override;

 private:
  base::Status answer(const wire::Ping& ping);
  base::Status answer(const wire::New& request);
  base::Status answer(const wire::Auth& request);
  base::Status answer(const wire::Refused& refused);

  // With --store-connection per-request, connects anew each time.
  template <typename Ask>
  base::Status with_store(Ask ask);

  const Authenticator& authenticator_;
  const StoreConfig& store_config_;
  std::unique_ptr<AccountStore> store_;
};

}  // namespace authserver
