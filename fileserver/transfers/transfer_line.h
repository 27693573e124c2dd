// A transfer as a line of JSON. docs/transfer-log.md describes the line.
#pragma once

#include <cstdint>
#include <string>

#include "fileserver/transfers/transfer.h"

namespace fileserver {

// No line is longer, whatever the names are.
inline constexpr std::size_t kMaxTransferLineBytes = 10'500;

// Whether each line says who it was: its user, and by HTTP the method and the status.
enum class LogUsers : bool { kOff, kOn };

// Appends the line with its LF. It is ASCII, and has no other control byte. `clock_offset_ns` is
// what must be added to base::now_ns() to get the time of day.
void append_line_of(const Transfer& transfer, std::int64_t clock_offset_ns, LogUsers users,
                    std::string& to);

}  // namespace fileserver
