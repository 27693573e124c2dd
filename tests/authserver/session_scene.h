// The session with a fileserver, on a store in memory.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "authserver/session.h"
#include "net/connect.h"
#include "net/listen.h"
#include "net/socket_io.h"
#include "serve/options.h"
#include "serve/shared_memory.h"
#include "tests/catch.h"

namespace tests {

inline constexpr std::int64_t kAMinuteMs = 60'000;

inline const base::Error kDown{base::ErrorCode::kUnavailable, "down"};

// What the store holds, and how it was asked.
struct Held {
  std::map<std::string, std::string, std::less<>> records;
  std::vector<std::size_t> asked_for;  // how many users, for each time that it was asked
  int changes = 0;                     // that it was asked for
  bool is_down = false;
  bool are_tokens_down = false;  // their rows alone
  std::function<void()> before_replace_if = [] {};
  std::function<void(std::string_view user)> before_find = [](std::string_view) {};
};

// Without the places that were taken once and are free now, whose rows stay.
inline auto rows_in_use(const Held& held) {
  auto records = held.records;
  std::erase_if(records, [](const auto& row) {
    return row.second == authserver::text_of(authserver::Place());
  });
  return records;
}

class HeldStore : public authserver::AccountStore {
 public:
  explicit HeldStore(Held& held) : held_(held) {}

  base::Status create(const authserver::Account& account) override {
    ++held_.changes;
    const bool is_new = held_.records.emplace(account.user, account.record).second;
    return is_new ? base::Status(base::kDone) : base::Error{base::ErrorCode::kExists, "exists"};
  }
  base::Status replace(const authserver::Account& account) override {
    ++held_.changes;
    held_.records.insert_or_assign(std::string(account.user), std::string(account.record));
    return base::kDone;
  }
  base::Status replace_if(const authserver::Account& account, std::string_view before) override {
    ++held_.changes;
    std::function<void()>(held_.before_replace_if)();  // a copy, because it may set another one
    if (held_.is_down) return kDown;
    const auto found = held_.records.find(account.user);
    if (found == held_.records.end() || found->second != before)
      return base::Error{base::ErrorCode::kNotFound, "no such record"};
    found->second = account.record;
    return base::kDone;
  }
  base::Status remove(std::string_view user) override {
    ++held_.changes;
    const auto found = held_.records.find(user);
    if (found == held_.records.end()) return base::Error{base::ErrorCode::kNotFound, "no user"};
    held_.records.erase(found);
    return base::kDone;
  }
  base::Result<std::string> find_record(std::string_view user) override {
    held_.asked_for.push_back(1);
    held_.before_find(user);
    return find(user);
  }
  std::vector<base::Result<std::string>> find_records(
      std::span<const std::string_view> users) override {
    held_.asked_for.push_back(users.size());
    for (const std::string_view user : users) held_.before_find(user);
    std::vector<base::Result<std::string>> records;
    for (const std::string_view user : users) records.push_back(find(user));
    return records;
  }
  base::Status ping() override { return base::kDone; }
  base::Status for_each(const std::function<void(const authserver::Account&)>& visit) override {
    for (const auto& [user, record] : held_.records) visit({user, record});
    return base::kDone;
  }
  void disconnect() override {}

 private:
  base::Result<std::string> find(std::string_view user) const {
    if (held_.is_down || (held_.are_tokens_down && user.starts_with(':'))) return kDown;
    const auto found = held_.records.find(user);
    if (found == held_.records.end()) return base::Error{base::ErrorCode::kNotFound, "no user"};
    return found->second;
  }

  Held& held_;
};

class FakeBackend : public authserver::StoreBackend {
 public:
  explicit FakeBackend(Held& held) : held_(held) {}

  void declare_flags(flags::App&) override {}
  guard::Allowed needs(const authserver::StoreLimits& /*limits*/) const override { return {}; }
  base::Status prepare(const authserver::StoreLimits&) const override { return base::kDone; }
  std::string where() const override { return "a test"; }
  base::Result<std::unique_ptr<authserver::AccountStore>> open(
      const authserver::StoreLimits&) const override {
    return std::unique_ptr<authserver::AccountStore>(std::make_unique<HeldStore>(held_));
  }

 private:
  Held& held_;
};

// A session on a connection from a client, with one hash lane.
struct SessionScene {
  explicit SessionScene(std::string_view lines, authserver::StoreConnection mode =
                                                    authserver::StoreConnection::kPersistent) {
    REQUIRE(authserver::start_cryptography());
    authenticator.emplace(std::move(*authserver::Authenticator::make(
        {authserver::Scheme::kPlain, kAMinuteMs, kAMinuteMs}, *shared)));
    held.records["amy"] = "$plain$right";
    held.records["bob"] = "$plain$right";
    config.backend = std::make_unique<FakeBackend>(held);
    config.connection = mode;
    const auto listener = net::listen_on({"127.0.0.1", 0}, serve::io_slice_ms(kAMinuteMs));
    client = std::move(*net::connect_to(net::resolve(listener->address)->front(), kAMinuteMs));
    auto accepted = net::accept_from(listener->fd.get());
    stream.emplace(std::move(accepted.fd), accepted.peer, kAMinuteMs, is_draining);
    REQUIRE(net::send_all(client.get(), lines));
    ::shutdown(client.get(), SHUT_WR);
    // All bytes are there before the session looks for them.
    REQUIRE(net::wait_until_readable(stream->fd(), base::Deadline::in_ms(kAMinuteMs)));
  }

  void serve() {
    authserver::Session(*authenticator, config, outages, *tokens).serve(*stream);
    stream.reset();
  }
  std::string received() const {
    std::array<char, 4096> buffer;
    const ssize_t got = net::receive(client.get(), buffer);
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }
  std::string all_received() const {
    std::string all;
    for (std::string part = received(); !part.empty(); part = received()) all += part;
    return all;
  }

  Held held;
  authserver::StoreConfig config;
  authserver::StoreOutages outages;
  serve::Shared<authserver::SharedTokenState> tokens;
  serve::Shared<authserver::SharedPasswordState> shared{std::in_place, 1U};
  std::optional<authserver::Authenticator> authenticator;
  std::atomic<bool> is_draining = false;
  net::Fd client;
  std::optional<serve::Stream> stream;
};

inline const std::string kDenied = "ERR denied wrong user or password\n";

// What the session says to the lines, on a store that others have used.
inline std::string said_to(std::string_view lines, Held& held) {
  SessionScene scene(lines);
  if (!held.records.empty()) scene.held.records = held.records;
  scene.serve();
  held = scene.held;
  return scene.all_received();
}

inline std::string opened(Held& held, const std::string& line) {
  const std::string said = said_to(line, held);
  REQUIRE(said.starts_with("OK 43\n"));
  return said.substr(6);
}

// The content of the only answer.
inline std::string told(Held& held, const std::string& line) {
  const std::string said = said_to(line + "\n", held);
  INFO(line);
  REQUIRE(said.starts_with("OK"));
  const auto lf = said.find('\n');
  return said.substr(lf + 1);
}

// amy is an administrator, bob is not. Each has a session and an application password.
struct People {
  People() {
    held.records["amy"] = "$is$admin$$plain$right";
    held.records["bob"] = "$plain$right";
    for (const char* user : {"amy", "bob"}) {
      sessions.push_back(opened(held, std::string("open:9999:") + user + ":right\n"));
      apps.push_back(told(held, std::string("by:") + user + ":5:right:app:a phone"));
    }
  }
  std::string id_of_app(std::size_t i) const { return apps[i].substr(0, 22); }
  std::string app(std::size_t i) const { return apps[i].substr(23); }

  Held held;
  std::vector<std::string> sessions;
  std::vector<std::string> apps;
};

inline const std::string kInvalid = "ERR invalid user name or password not acceptable\n";

}  // namespace tests
