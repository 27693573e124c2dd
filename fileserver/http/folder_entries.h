// The entries of a folder in their order, read in batches, so that no folder is in memory as a
// whole unless it is small or there is room.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/waits.h"
#include "fileserver/files/fence.h"
#include "fileserver/files/files.h"
#include "fileserver/files/memory_budget.h"
#include "fileserver/http/listing.h"
#include "fileserver/http/streamed_text.h"
#include "fileserver/rights/user_rights.h"

namespace fileserver {

// "/-/" is ours, and not the folder of this name.
inline constexpr std::string_view kServerFolder = "-";

// What a batch may take without asking, and with a share of the budget.
inline constexpr std::size_t kSmallBatchBytes = 64 << 10;
inline constexpr std::size_t kLargeBatchBytes = 4 << 20;

// How many entries of a batch are looked at further in one job of a helper, so that none is held up
// for long.
inline constexpr std::size_t kLookedAtOnce = 64;

// Roughly what one entry takes in memory.
std::size_t memory_of(const ListedEntry& entry);

// Each batch reads the folder again, and keeps the first names behind those of the last batch. A
// folder that does not fit into the small batch gets a large one if the budget has room, and keeps
// it as long as this object lives. So most folders are one batch. What is made or removed between
// two batches may be missing or not; no name comes twice.
//
// Threads: one. All that the constructor takes must outlive it.
class FolderEntries {
 public:
  // `files` tell which versions are distinct; without them no entry is.
  FolderEntries(const Fence& fence, std::string_view folder, MemoryBudget& budget,
                UserRights rights, const Files* files = nullptr)
      : fence_(fence),
        folder_(folder),
        budget_(budget),
        rights_(std::move(rights)),
        files_(files) {}

  // The next entries that a GET of the user would give (permitted.h); empty at the end. kNotFound
  // when there is no such folder, or no longer the one of the first batch. kInternal if it cannot
  // be read to its end.
  base::Result<std::vector<ListedEntry>> next();

  // Whether next() has nothing more, and need not be called.
  bool is_at_end() const { return is_at_end_; }

 private:
  class Names;
  base::Result<std::vector<ListedEntry>> next_names();
  base::Status check_identity(int fd);
  bool has_room_for(std::size_t bytes, bool has_dropped);
  base::Result<bool> complete(ListedEntry& entry) const;

  const Fence& fence_;
  const std::string_view folder_;
  MemoryBudget& budget_;
  const UserRights rights_;
  const Files* const files_;
  std::optional<MemoryShare> share_;
  std::optional<struct stat> identity_;  // of the folder
  std::optional<std::string> last_;      // the last name of the batches so far
  bool is_at_end_ = false;
};

// Prints the entries piece by piece. The printer has begin(to), add(entry, to) and end(to), as
// ListingPrinter (listing.h). One that has look_at(entries) too is shown those that are added next.
// Returns as StreamedText::print().
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
