// One file by several channels: what is asked for, what is saved, and when it has ended.
#include "loadgen/clients/channels/transfer.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

using loadgen::Cause;
using loadgen::Config;
using loadgen::Exchange;
using loadgen::Fault;
using loadgen::FilePart;
using loadgen::Protocol;
using loadgen::Request;
using loadgen::Transfer;
using loadgen::Write;

namespace {

constexpr std::uint64_t kSize = 900'000;

char byte_at(std::uint64_t offset) { return static_cast<char>(offset * 7 + offset / 251); }

std::string content(std::uint64_t bytes = kSize) {
  std::string all(bytes, '\0');
  for (std::uint64_t i = 0; i < bytes; ++i) all[i] = byte_at(i);
  return all;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Config config_with(int channels, const std::string& save = "") {
  Config config;
  config.protocol = Protocol::kHttp;
  config.channels.count = channels;
  config.channels.pool_bytes = least_pool_bytes(config.channels);
  config.save = save;
  return config;
}

// Brings at most so many bytes of the part. Returns how many.
std::size_t bring(Transfer& transfer, const FilePart& part, std::size_t most) {
  if (!transfer.has_room(part)) return 0;
  const std::uint64_t from = part.offset + transfer.come(part);
  const auto room = transfer.room(part);
  const std::size_t count = std::min(most, room.size());
  for (std::size_t i = 0; i < count; ++i) room[i] = std::byte(byte_at(from + i));
  transfer.filled(part, count);
  return count;
}

// A file by channels that are served and lost at random. `most`: bytes after which it is left.
void run(Transfer& transfer, int channels, std::mt19937& random, std::size_t most = SIZE_MAX) {
  struct Channel {
    FilePart part;
    std::size_t left;
  };
  std::vector<Channel> busy;
  for (std::size_t moved = 0; !transfer.has_ended() && moved < most;) {
    if (busy.size() < static_cast<std::size_t>(channels)) {
      if (const auto part = transfer.take()) {
        busy.push_back({*part, part->bytes - transfer.come(*part)});
      }
    }
    REQUIRE_FALSE(busy.empty());
    const auto one = busy.begin() + static_cast<std::ptrdiff_t>(random() % busy.size());
    if (random() % 20 == 0) {
      transfer.give_back(one->part);
      busy.erase(one);
      continue;
    }
    const std::size_t brought = bring(transfer, one->part, random() % 40'000 + 1);
    moved += brought;
    if ((one->left -= brought) == 0) busy.erase(one);
  }
}

}  // namespace

TEST_CASE("a file that comes by channels at random is saved byte for byte", "[channels]") {
  std::mt19937 random(7);
  const tests::TemporaryFolder folder;
  for (const Write how : {Write::kInOrder, Write::kInPlace}) {
    for (const int channels : {1, 2, 5, 16}) {
      Config config = config_with(channels, folder.path());
      config.channels.write = how;
      Transfer transfer(config, 0, nullptr);
      const Request request{.account = {}, .file_name = "sub/file"};
      Exchange exchange;
      transfer.begin(request, exchange);
      REQUIRE(transfer.take_look());
      CHECK_FALSE(transfer.take_look());
      CHECK_FALSE(transfer.take());
      transfer.learn(kSize, "\"1\"", false);
      run(transfer, channels, random);
      transfer.end(1);
      CHECK_FALSE(exchange.failure);
      CHECK((exchange.announced_bytes == kSize && exchange.moved_bytes == kSize));
      CHECK(read(folder.path("sub/file")) == content());
      CHECK(std::distance(std::filesystem::directory_iterator(folder.path("sub")), {}) == 1);
    }
  }
}

TEST_CASE("what was left of the same version is kept, and nothing of another one", "[channels]") {
  std::mt19937 random(8);
  for (const std::string version : {"\"1\"", "\"2\"", ""}) {
    const tests::TemporaryFolder folder;
    const Config config = config_with(4, folder.path());
    const Request request{.account = {}, .file_name = "file"};
    const std::string part = folder.path("file.loadgen-3.part");
    std::size_t left = 0;
    {
      Transfer killed(config, 3, nullptr);
      Exchange exchange;
      killed.begin(request, exchange);
      killed.learn(kSize, "\"1\"", false);
      run(killed, 4, random, 400'000);
      left = read(part).size();
      CHECK((left > 0 && read(part) == content(left)));
    }
    Transfer transfer(config, 3, nullptr);
    Exchange exchange;
    transfer.begin(request, exchange);
    transfer.learn(kSize, version, false);
    const bool is_same = version == "\"1\"";
    CHECK(transfer.tally().resumed_bytes == (is_same ? left : 0));
    CHECK(transfer.tally().begun_again == (is_same ? 0 : 1));
    CHECK(exchange.announced_bytes == (is_same ? kSize - left : kSize));
    run(transfer, 4, random);
    transfer.end(1);
    CHECK(read(folder.path("file")) == content());
  }
}

TEST_CASE("a file that failed comes whole with the next request of the same run", "[channels]") {
  std::mt19937 random(11);
  const tests::TemporaryFolder folder;
  const Config config = config_with(4, folder.path());
  const Request request{.account = {}, .file_name = "file"};
  Transfer transfer(config, 0, nullptr);
  for (const bool is_cut : {true, false}) {
    Exchange exchange;
    transfer.begin(request, exchange);
    transfer.learn(kSize, "\"1\"", false);
    run(transfer, 4, random, is_cut ? 400'000 : SIZE_MAX);
    if (is_cut) transfer.fail(Fault::kTimeout, "");
    transfer.end(1);
    CHECK(exchange.announced_bytes == kSize);
    CHECK((exchange.moved_bytes == kSize) == !is_cut);
  }
  CHECK((transfer.tally().resumed_bytes == 0 && transfer.tally().begun_again == 0));
  CHECK(read(folder.path("file")) == content());
}

TEST_CASE("a file that was left whole needs no part", "[channels]") {
  const tests::TemporaryFolder folder;
  const Config config = config_with(2, folder.path());
  folder.write("file.loadgen-0.part", content());
  folder.write("file.loadgen-0.version", "900000 \"1\"\n");
  Transfer transfer(config, 0, nullptr);
  const Request request{.account = {}, .file_name = "file"};
  Exchange exchange;
  transfer.begin(request, exchange);
  transfer.learn(kSize, "\"1\"", false);
  CHECK(transfer.has_ended());
  transfer.end(0);
  CHECK(read(folder.path("file")) == content());
}

TEST_CASE("more than the whole file is of no use", "[channels]") {
  const tests::TemporaryFolder folder;
  const Config config = config_with(2, folder.path());
  folder.write("file.loadgen-0.part", content() + "x");
  folder.write("file.loadgen-0.version", "900000 \"1\"\n");
  Transfer transfer(config, 0, nullptr);
  const Request request{.account = {}, .file_name = "file"};
  Exchange exchange;
  transfer.begin(request, exchange);
  transfer.learn(kSize, "\"1\"", false);
  CHECK(transfer.tally().begun_again == 1);
  CHECK(read(folder.path("file.loadgen-0.part")).empty());
}

TEST_CASE("what is kept of a file is compared with its copy", "[channels]") {
  std::mt19937 random(9);
  const tests::TemporaryFolder folder;
  const tests::TemporaryFolder copies;
  copies.write("file", content());
  for (const bool is_wrong : {false, true}) {
    std::string kept = content(100'000);
    if (is_wrong) ++kept[50'000];
    Config config = config_with(2, folder.path());
    config.must_verify = true;
    config.verify_root = copies.path();
    folder.write("file.loadgen-0.part", kept);
    folder.write("file.loadgen-0.version", "900000 \"1\"\n");
    Transfer transfer(config, 0, nullptr);
    const Request request{.account = {}, .file_name = "file"};
    Exchange exchange;
    transfer.begin(request, exchange);
    transfer.learn(kSize, "\"1\"", false);
    run(transfer, 2, random);
    transfer.end(1);
    CHECK(exchange.failure == (is_wrong ? std::optional<Cause>(Fault::kMismatch) : std::nullopt));
  }
}

TEST_CASE("two programs do not write the same file", "[channels]") {
  const tests::TemporaryFolder folder;
  const Config config = config_with(2, folder.path());
  const Request request{.account = {}, .file_name = "file"};
  Transfer first(config, 0, nullptr);
  Transfer second(config, 0, nullptr);
  Exchange exchange;
  Exchange other;
  first.begin(request, exchange);
  first.learn(kSize, "\"1\"", false);
  second.begin(request, other);
  second.learn(kSize, "\"1\"", false);
  CHECK_FALSE(first.save_failure());
  REQUIRE(second.save_failure());
  CHECK(second.save_failure()->find("another program writes") != std::string::npos);
}

TEST_CASE("FTP looks at the file again when all has come", "[channels]") {
  std::mt19937 random(10);
  for (const bool is_replaced : {false, true}) {
    const tests::TemporaryFolder folder;
    Config config = config_with(2, folder.path());
    config.protocol = Protocol::kFtp;
    Transfer transfer(config, 0, nullptr);
    const Request request{.account = {}, .file_name = "file"};
    Exchange exchange;
    transfer.begin(request, exchange);
    REQUIRE(transfer.take_look());
    transfer.learn(1'000, "20260101000000", false);
    transfer.learn(1'000, "20260101000000", false);  // another connection
    const auto part = transfer.take();
    REQUIRE(part);
    bring(transfer, *part, 1'000);
    CHECK_FALSE(transfer.has_ended());
    REQUIRE(transfer.is_checking());
    REQUIRE(transfer.take_look());
    transfer.learn(1'000, "20260101000000", false);  // of a connection that looked before
    CHECK_FALSE(transfer.has_ended());
    transfer.give_look_back();  // its connection was lost
    REQUIRE(transfer.take_look());
    transfer.learn(1'000, is_replaced ? "20260101000001" : "20260101000000", true);
    CHECK(transfer.has_ended());
    CHECK(exchange.failure == (is_replaced ? std::optional<Cause>(Fault::kChanged) : std::nullopt));
    transfer.end(1);
    // What came may be of both versions, so no later run goes on with it.
    CHECK(std::filesystem::exists(folder.path("file.loadgen-0.part")) == is_replaced);
    CHECK_FALSE(std::filesystem::exists(folder.path("file.loadgen-0.version")));
  }
}

TEST_CASE("a connection that sees another size finds that the file has changed", "[channels]") {
  const Config config = config_with(2);
  Transfer transfer(config, 0, nullptr);
  const Request request{.account = {}, .file_name = "file"};
  Exchange exchange;
  transfer.begin(request, exchange);
  transfer.learn(kSize, "v", false);
  transfer.learn(kSize + 1, "v", false);
  CHECK(exchange.failure == Fault::kChanged);
}
