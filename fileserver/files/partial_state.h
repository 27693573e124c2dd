// What is known of an upload that comes in parts, but for its bytes, and the file that keeps it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fileserver {

struct PartialState {
  enum class Protocol : std::uint8_t { kParts, kTus };
  Protocol protocol = Protocol::kParts;
  std::string user;                           // nobody else ever meets it
  std::string head;                           // of a PUT of the file: its name and its conditions
  std::optional<std::uint64_t> length_bytes;  // of the whole file, once the client has told it
  std::optional<std::uint64_t> kept_bytes;    // what comes behind them is kept if its digest holds
  bool is_complete = false;                   // the file has its name, and the bytes are gone
};

// What the head asks for; empty if no file can have that name.
std::string file_name_of(const PartialState& state);

// The name of the file, in the folder where the bytes have the id as theirs.
inline constexpr std::string_view kStateEnd = ".state";

// Nothing with errno if there is no such file, or it is none of ours. changed_s becomes that of the
// file if it is later. May block.
std::optional<PartialState> read_state(int folder, const std::string& id, std::int64_t& changed_s);

// The file is there whole, or as it was. is_durable: its name is on disk too, as its bytes always
// are. Returns false with errno. May block.
bool write_state(int folder, const std::string& id, const PartialState& state, bool is_durable);

// May block.
void remove_state(int folder, const std::string& id);

}  // namespace fileserver
