// How a password is kept: a record that names its own scheme.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace authserver {

enum class Scheme {
  kArgon2id,  // "$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH": costs 5 to 20 ms of a core and 19 MiB,
              // on purpose
  kPlain,     // "$plain$PASSWORD": costs nothing and hides nothing; the paper's numbers need it
};

// Once, before anything else here. False when there is no source of randomness.
bool start_cryptography();

// Any thread. kInternal when there is no memory to compute it with.
base::Result<std::string> make_record(Scheme scheme, std::string_view password);

// Nothing known about the record's scheme is an argon2id one that never matches.
Scheme scheme_of(std::string_view record);

// Any thread; compares in a time that does not depend on where the first difference is.
bool matches(std::string_view record, std::string_view password);

// Overwrites a secret before its memory is given back.
void wipe(std::string& secret);

// Overwrites what functions that have returned left of their stack: the library's own copies of
// what it hashed.
void wipe_used_stack();

}  // namespace authserver
