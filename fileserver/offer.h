// What a fileserver offers to its clients: plain values, with their defaults.
#pragma once

#include <cstdint>
#include <string>

namespace fileserver {

// Who may create accounts through this server: everybody, or nobody.
enum class NewAccounts { kOpen, kClosed };

// Whether PUT is refused, changes the served folder, or is only counted.
enum class UploadMode { kOff, kFolder, kSink };

struct Offer {
  bool has_listings = true;
  UploadMode uploads = UploadMode::kOff;
  std::int64_t max_upload_bytes = 0;        // 0: no limit
  std::int64_t parts_keep_ms = 86'400'000;  // how long an upload in parts is kept unfinished
  NewAccounts new_accounts = NewAccounts::kOpen;
  std::string share_name = {};  // that pages show; empty: none
};

}  // namespace fileserver
