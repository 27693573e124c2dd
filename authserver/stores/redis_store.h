// Accounts in Redis: key "user:NAME", value the password record.
#pragma once

#include <hiredis/hiredis.h>

#include <initializer_list>
#include <memory>

#include "authserver/stores/account_store.h"
#include "authserver/stores/backoff.h"
#include "authserver/stores/store_config.h"

namespace authserver {

// Durable as the server's own setting says; prepare() logs what that means. Connects with the first
// request, and again when the connection was lost.
class RedisStore : public AccountStore {
 public:
  explicit RedisStore(const StoreConfig& config) : config_(config) {}

  static base::Status prepare(const StoreConfig& config);

  base::Status create(const Account& account) override;
  base::Result<std::string> find_record(std::string_view user) override;
  base::Status ping() override;
  base::Status for_each(const std::function<void(const Account&)>& visit) override;

 private:
  struct FreeContext {
    void operator()(redisContext* context) const { ::redisFree(context); }
  };
  struct FreeReply {
    void operator()(redisReply* reply) const { ::freeReplyObject(reply); }
  };
  using Reply = std::unique_ptr<redisReply, FreeReply>;
  using Words = std::initializer_list<std::string_view>;
  enum class Repeat { kSafe, kUnsafe };

  // One command, as words and never as pasted text; an answer that is an error is an Error here.
  base::Result<Reply> ask(Words words, Repeat repeat);
  base::Result<Reply> ask_once(Words words);
  base::Status connect();
  base::Status log_in();
  std::string setting(std::string_view name);
  std::string meaning_of_durable();

  const StoreConfig& config_;
  std::unique_ptr<redisContext, FreeContext> context_;
  Backoff backoff_;
};

}  // namespace authserver
