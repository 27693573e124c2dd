// How the trash lies on the disk: its names, and the record of what was deleted or replaced.
//
// It lies in the folder kTrashFolder of the served one. In there, ID is what was deleted, and
// ID.old its record: a text with the name that it had. ID.gone is being removed. An ID begins with
// the time, so that the oldest is the first by name.
//
//   turnstile-trash 1
//   not 131                 the inode of the file that replaces it, or 0
//   name docs/plan.txt
//
// The record is on disk before anything gets the name ID, and goes after it. An ID with the inode
// of the record is not the old file but the new one, whose server was killed before the exchange.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fileserver {

// What a record says.
struct TrashRecord {
  ino_t not_inode = 0;  // on the same file system, whose own number may change with a mount
  std::string name = {};
};

constexpr std::size_t kTrashIdSize = 32;
bool is_trash_id(std::string_view text);
std::string new_trash_id();

// When it was made. Requires: is_trash_id(id).
std::int64_t trash_time_ns(std::string_view id);

// Of the same clock.
std::int64_t trash_clock_ns();

inline constexpr std::string_view kGoneEnd = ".gone";
std::string record_of(const std::string& id);
std::string gone_of(const std::string& id);

std::string text_of(const TrashRecord& record);

// Nothing if there is none, with errno, or if it is malformed.
std::optional<TrashRecord> read_record(int folder, const std::string& id);

// The status of what has this name in the folder. Returns false with errno.
bool status_at(int folder, const std::string& last, struct stat& status);

// Whether somebody is about to put something into the place. Without a record nobody is.
bool is_in_use(int folder, const std::string& id);

}  // namespace fileserver
