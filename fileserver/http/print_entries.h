// Prints the entries of a folder piece by piece.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "base/waits.h"
#include "fileserver/http/folder_entries.h"
#include "fileserver/http/streamed_text.h"

namespace fileserver {

// The printer has begin(to), add(entry, to) and end(to), as ListingPrinter (listing.h). One that
// has look_at(entries) too is shown those that are added next. Returns as StreamedText::print().
template <typename Printer>
base::Status print_entries(FolderEntries entries, Printer printer, std::string& last,
                           const TakePiece& take) {
  printer.begin(last);
  while (!entries.is_at_end()) {
    const auto batch = base::may_block([&] { return entries.next(); });
    if (!batch) return batch.error();
    for (std::span<const ListedEntry> left(*batch); !left.empty();) {
      const auto some = left.first(std::min(left.size(), kLookedAtOnce));
      left = left.subspan(some.size());
      if constexpr (requires { printer.look_at(some); }) printer.look_at(some);
      for (const ListedEntry& entry : some) {
        printer.add(entry, last);
        if (last.size() < kTextPieceBytes) continue;
        if (!take(last)) return base::kDone;
        last.clear();
      }
    }
  }
  printer.end(last);
  return base::kDone;
}

}  // namespace fileserver
