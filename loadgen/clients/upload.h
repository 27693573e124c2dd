// Sends the file of a put.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "loadgen/figures/thread_series.h"
#include "tls/socket.h"

namespace loadgen {

// The bytes that a put sends, over and over until it has as many as it needs. No compression makes
// them much smaller. The same in each run, and valid until the program ends.
std::string_view upload_bytes();

enum class UploadEnd {
  kWhole,    // all bytes were sent
  kCut,      // the server answered before, or closed the connection; reading tells which
  kTimeout,  // the deadline passed
};

// Sends `size_bytes` of upload_bytes(). Blocks, and stops as soon as the server does not take more
// bytes and has answered. Tells `series`, unless that is null, which bytes move.
UploadEnd send_upload(tls::Socket& socket, std::uint64_t size_bytes, base::Deadline deadline,
                      ThreadSeries* series);

}  // namespace loadgen
