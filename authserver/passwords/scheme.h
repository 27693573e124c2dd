// How a password is stored: as a record that names its own scheme.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace authserver {

enum class Scheme {
  // "$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH". Computing it takes 5 to 20 ms of a core and 19 MiB,
  // which makes guessing passwords expensive.
  kArgon2id,

  // "$plain$PASSWORD". Costs nothing and hides nothing. For measurements that must not include the
  // cost of hashing.
  kPlain,
};

// Call once, before anything else in this file. False if the system has no source of random
// numbers.
bool start_cryptography();

// The record of a password; argon2id with a new random salt each time. Any thread. kInternal if
// there is no memory to compute it.
base::Result<std::string> make_record(Scheme scheme, std::string_view password);

// A record without a known prefix counts as argon2id, and matches no password.
Scheme scheme_of(std::string_view record);

// Whether the record belongs to this password. Any thread. The time does not depend on where the
// first difference is.
bool matches(std::string_view record, std::string_view password);

// Whether checking a password against the record takes no more memory and time than against a
// record of make_record(). Anybody may guess, so a more expensive record would let anybody use up
// our memory. False for an argon2 record that cannot be read.
bool is_affordable(std::string_view record);

// Whether checking a password against the record takes as long as against a record of
// make_record(kArgon2id). Other programs make cheaper records, and an import takes them.
bool costs_as_ours(std::string_view record);

// Overwrites a secret, so that it does not stay in memory that is freed.
void wipe(std::string& secret);

// Overwrites the stack below the caller. The library leaves copies of what it hashed there.
void wipe_used_stack();

}  // namespace authserver
