// Prints the entries of a folder piece by piece.
#pragma once

#include <string>

#include "base/waits.h"
#include "fileserver/http/folder_entries.h"
#include "fileserver/http/streamed_text.h"

namespace fileserver {

// The printer has begin(to), add(entry, to) and end(to), as ListingPrinter (listing.h). Returns as
// StreamedText::print().
template <typename Printer>
base::Status print_entries(FolderEntries entries, Printer printer, std::string& last,
                           const TakePiece& take) {
  printer.begin(last);
  for (;;) {
    const auto batch = base::may_block([&] { return entries.next(); });
    if (!batch) return batch.error();
    if (batch->empty()) break;
    for (const ListedEntry& entry : *batch) {
      printer.add(entry, last);
      if (last.size() < kTextPieceBytes) continue;
      if (!take(last)) return base::kDone;
      last.clear();
    }
  }
  printer.end(last);
  return base::kDone;
}

}  // namespace fileserver
