// One kind of account store, such as sqlite: its flags, and how it is prepared and opened.
//
// Adding a store: write a StoreBackend and an AccountStore in files of their own, and give the
// backend a row in store_table.cpp. No other code asks which store it works on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "authserver/stores/account_store.h"
#include "base/result.h"
#include "guard/sandbox.h"

namespace flags {
class App;
}  // namespace flags

namespace authserver {

// What every store is told, whatever its kind.
struct StoreLimits {
  std::int64_t timeout_ms = 2'000;  // the longest wait for an answer of the store
  int most_connections = 1;         // that this authserver may have open at once
};

// Threads: main alone declares the flags and reads the secrets. After that a backend does not
// change, and any thread or process may open stores.
class StoreBackend {
 public:
  virtual ~StoreBackend() = default;

  // Declares the flags of this kind of store. They write into the backend, which must outlive
  // `app`.
  virtual void declare_flags(flags::App& app) = 0;

  // Reads the files that hold the store's passwords. Returns what is wrong with them in one line,
  // or nothing. Called once, after the flags were parsed, even if another store was chosen.
  virtual std::optional<std::string> read_secrets() { return {}; }

  // What the process needs once it serves. All that a store opens or connects to must be named
  // here. Called after read_secrets(); the files that hold passwords are not needed any more. May
  // ask the store where its servers are, within the time-out. Starts no thread.
  virtual guard::Allowed needs(const StoreLimits& limits) const = 0;

  // Called once at start, before any open(). Creates the table if it is missing, checks that
  // accounts can be read and added, and logs what it takes to lose an acknowledged account
  // (durable="..."). The error says why the store cannot be used.
  virtual base::Status prepare(const StoreLimits& limits) const = 0;

  // False if prepare() would make the whole store, because it is a file that is not there.
  // Requires: the flags are read.
  virtual bool is_there() const { return true; }

  // What the log calls the store, such as "redis 127.0.0.1:6379". Requires: the flags are read.
  virtual std::string where() const = 0;

  // Returns a store for one thread or process. The backend must outlive it. A store on another
  // host connects with its first request, so open() does not fail if that host is down.
  virtual base::Result<std::unique_ptr<AccountStore>> open(const StoreLimits& limits) const = 0;
};

enum class StoreConnection { kPersistent, kPerRequest };

// The store that the user chose, and how it is used.
struct StoreConfig {
  base::Status prepare() const { return backend->prepare(limits); }

  // The config must outlive the store.
  base::Result<std::unique_ptr<AccountStore>> open() const { return backend->open(limits); }

  std::unique_ptr<const StoreBackend> backend;  // not null once the flags are read
  StoreConnection connection = StoreConnection::kPersistent;
  StoreLimits limits;
};

struct NamedBackend {
  std::string name;  // as --store takes it
  std::unique_ptr<StoreBackend> backend;
};

// A new backend of each kind, with its defaults, in the order of --help. The first is the default
// of --store.
std::vector<NamedBackend> make_store_backends();

}  // namespace authserver
