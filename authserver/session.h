// One fileserver's conversation with the authserver: docs/protocol.md, "from the fileserver to the
// authserver".
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "authserver/authenticator.h"
#include "authserver/stores/store_backend.h"
#include "authserver/stores/watched_store.h"
#include "authserver/tokens.h"
#include "serve/line_conversation.h"
#include "telemetry/counters.h"
#include "wire/request.h"

namespace authserver {

// `auth:` and `token:` requests that have been received together are answered together: the store
// is asked once for all of them, and their replies are sent with one system call. The replies have
// the order of the requests; those that are ready are sent before a hash is computed. With
// --store-connection per-request, each is answered by itself.
//
// Serves the connections of one thread or process, one after another. It owns that thread's store,
// which it opens with the first request.
class Session : public serve::LineWorker {
 public:
  // All must outlive the session. `store_outages` and `tokens` are shared by all sessions of this
  // authserver.
  Session(const Authenticator& authenticator, const StoreConfig& store_config,
          StoreOutages& store_outages, SharedTokenState& tokens)
      : authenticator_(authenticator),
        store_config_(store_config),
        store_outages_(store_outages),
        tokens_(tokens) {}

 private:
  void converse(serve::LineConversation& connection) override;

  // What each kind of request does when it is answered alone. The status becomes the reply; the
  // text, unless it is empty, its content.
  using Answer = base::Result<std::string>;
  Answer answer(const wire::Ping& ping);
  Answer answer(const wire::New& request);
  Answer answer(const wire::Auth& request);
  Answer answer(const wire::Open& request);
  Answer answer(const wire::Token& request);
  Answer answer(const wire::Close& request);
  Answer answer(const wire::NewPassword& request);
  Answer answer(const wire::As& request);
  Answer answer(const wire::Refused& refused);

  // If `first` is an `auth:` or `token:` and further ones are at hand, takes these and returns all
  // of them. Otherwise returns nothing, and `first` is answered alone.
  std::vector<wire::AuthRequest> take_together(serve::LineConversation& connection,
                                               const wire::AuthRequest& first) const;
  void answer_alone(serve::LineConversation& connection, const wire::AuthRequest& request,
                    const telemetry::RequestTimer& timer);
  void answer_together(serve::LineConversation& connection,
                       const std::vector<wire::AuthRequest>& requests,
                       const telemetry::RequestTimer& timer);

  // A request that is answered together with others, and what the store has about it.
  struct Asked;
  Answer answer_one(const wire::AuthRequest& request);
  static void look_up(AccountStore& store, std::vector<Asked>& all);
  Answer verdict_on(Asked& one, const Authenticator::BeforeHash& before_hash);

  base::Result<std::unique_ptr<AccountStore>> open_store();

  // Calls `ask` with the store, which is opened first if need be.
  template <typename Ask>
  auto with_store(Ask ask) -> decltype(ask(std::declval<AccountStore&>()));

  // With --store-connection per-request, after each request.
  void disconnect_after_reply(serve::LineConversation& connection);

  const Authenticator& authenticator_;
  const StoreConfig& store_config_;
  StoreOutages& store_outages_;
  SharedTokenState& tokens_;
  std::unique_ptr<AccountStore> store_;
};

}  // namespace authserver
