// What the handlers of requests work with.
#pragma once

#include "fileserver/auth/auth_client.h"
#include "fileserver/auth/log_in.h"
#include "fileserver/config.h"
#include "fileserver/files/files.h"
#include "fileserver/files/uploads.h"
#include "fileserver/http/exchange.h"
#include "fileserver/transfers/transfer_log.h"
#include "fileserver/writers.h"

namespace fileserver {

// What clients may change.
struct UploadParts {
  UploadMode mode;
  std::uint64_t most_bytes;  // of one body
  Uploads* folder;           // set with UploadMode::kFolder
  const Writers& writers;    // who may change the folder
};

// Shared by all sessions; it and what it refers to must outlive them. Any thread.
struct HttpParts {
  AuthClient& auth;
  AuthClient& health;  // its time-out is less than a second
  LogIn& log_in;
  Files& files;
  const Fence& fence;         // lists folders
  TransferLog* transfer_log;  // null: there is no such log
  bool has_listings;
  NewAccounts new_accounts;
  const TrustedProxies& trusted_proxies;
  UploadParts uploads;

  // The time for the transfer log; 0 without one.
  std::int64_t time_for_log() const { return transfer_log == nullptr ? 0 : base::now_ns(); }
};

// Answers one request, whose credentials were validated. Sends exactly one answer. The path is one
// that a file can have, except for put_nowhere().
using Handler = void (*)(Exchange& exchange, const HttpParts& parts);

}  // namespace fileserver
