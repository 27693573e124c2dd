// Random password records, as a store or an import may hold them. A record that is_affordable()
// must cost no more than ours, and none may match a password that it was not made of.
#include <cstdio>
#include <string>

#include "authserver/passwords/scheme.h"
#include "tests/fuzz/require.h"

namespace {

using authserver::Scheme;
using fuzz::require;

// Costs that libsodium would pay for the record. 0 unless it is an argon2id record.
struct Costs {
  unsigned long long kib = 0;
  unsigned long long passes = 0;
};

Costs costs_of(const std::string& record) {
  Costs costs;
  const char* const form = "$argon2id$v=19$m=%19llu,t=%19llu,p=";
  if (std::sscanf(record.c_str(), form, &costs.kib, &costs.passes) != 2) return {};
  return costs;
}

void check_record(const std::string& record) {
  constexpr unsigned long long kOurKib = 19 * 1024;
  constexpr unsigned long long kOurPasses = 2;
  if (!authserver::is_affordable(record)) return;
  const Costs costs = costs_of(record);
  require(costs.kib <= kOurKib && costs.kib * costs.passes <= kOurKib * kOurPasses);
  // A hash takes milliseconds, so only the cheap ones are computed. No password has a line ending.
  constexpr unsigned long long kCheapKib = 64;
  if (costs.kib * costs.passes <= kCheapKib && authserver::scheme_of(record) != Scheme::kPlain)
    require(!authserver::matches(record, "\n"));
}

// What was made of a password matches it, and not a longer one.
void check_plain(std::string_view password) {
  const auto record = authserver::make_record(Scheme::kPlain, password);
  require(record.ok() && authserver::scheme_of(*record) == Scheme::kPlain);
  require(authserver::is_affordable(*record));
  require(authserver::matches(*record, password));
  require(!authserver::matches(*record, std::string(password) + "x"));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  require(authserver::start_cryptography());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  check_record(std::string(fuzz::text_of(data, size)));
  check_plain(fuzz::text_of(data, size));
  return 0;
}
