// Gives what is in the served folder other names.
#pragma once

#include <string>

namespace fileserver {

// For renameat2(). It is RENAME_NOREPLACE, which not all C libraries have.
inline constexpr unsigned kNoReplace = 1;

// A name in an open folder.
struct NameIn {
  int folder;
  const std::string& last;
};

// Fails with EEXIST if something has the new name, also if another program makes it at the same
// moment. Where the file system has no such rename, a file has both names for a moment, and an
// empty folder has the new name of a folder. Where it has no links either, the file of another
// program may be replaced. Returns false with errno; all is as it was then.
bool rename_to_new(const NameIn& from, const NameIn& to);

// Replaces the file or the link that has the new name. Two names of one file become one. Returns
// false with errno.
bool rename_over(const NameIn& from, const NameIn& to);

}  // namespace fileserver
