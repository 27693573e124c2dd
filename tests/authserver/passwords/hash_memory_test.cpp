#include "authserver/passwords/hash_memory.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "authserver/passwords/scheme.h"
#include "tests/catch.h"

using authserver::HashMemory;

TEST_CASE("a region is wiped after a hash, and used by the next one", "[passwords]") {
  HashMemory memory(1);
  void* region = nullptr;
  {
    HashMemory::Use use(memory);
    region = use.map(HashMemory::kRegionBytes);
    REQUIRE(region != nullptr);
    std::memset(region, 'p', HashMemory::kRegionBytes);
    CHECK(use.unmap(region, HashMemory::kRegionBytes));
  }
  CHECK(memory.kept() == 1);
  HashMemory::Use next(memory);
  CHECK(next.map(HashMemory::kRegionBytes) == region);
  const char* const bytes = static_cast<const char*>(region);
  CHECK(std::all_of(bytes, bytes + HashMemory::kRegionBytes, [](char byte) { return byte == 0; }));
  CHECK(next.unmap(region, HashMemory::kRegionBytes));
}

TEST_CASE("two hashes at once have different regions, and no more are kept than allowed",
          "[passwords]") {
  HashMemory memory(1);
  {
    HashMemory::Use first(memory);
    HashMemory::Use second(memory);
    void* const region = first.map(1024);
    void* const other = second.map(1024);
    CHECK(region != other);
    CHECK(second.map(1024) == nullptr);  // until it is given back
    CHECK_FALSE(first.unmap(other, 1024));
    CHECK(first.unmap(region, 1024));
    CHECK(second.unmap(other, 1024));
  }
  CHECK(memory.kept() == 1);
}

TEST_CASE("what needs more than a region comes from the system", "[passwords]") {
  HashMemory memory(1);
  HashMemory::Use use(memory);
  CHECK(use.map(HashMemory::kRegionBytes + 1) == nullptr);
}

#ifdef TURNSTILE_HASH_MEMORY
TEST_CASE("libsodium computes argon2id in the memory that is kept", "[passwords]") {
  REQUIRE(authserver::start_cryptography());
  HashMemory memory(1);
  for (int i = 0; i < 2; ++i) {
    const HashMemory::Use use(memory);
    const auto record = authserver::make_record(authserver::Scheme::kArgon2id, "pw");
    REQUIRE(record);
    CHECK(authserver::matches(*record, "pw"));
    CHECK_FALSE(authserver::matches(*record, "other"));
  }
  CHECK(memory.kept() == 1);
}
#endif
