// The files that clients may fetch. Read this header first: it shows what the folder consists of.
//
//   Files              opens a file for a session; --files chooses the implementation
//     DiskFiles          opens the file on disk for each request
//     PrefetchedFiles    reads all files at start, and opens them in memory
//   OpenedFile         one version of a file for one request, and how its bytes are sent
//   FileCache          the prefetched files by name
//     CachedFile         one version of one file, whole, in memory
//     MemoryBudget       how much of --memory-limit is used
//     demand.h           which files have the memory if it has no room for all
//   CacheUpdater       the thread that brings the cache up to date
//     FolderWatch        tells it what changed in the served folder (inotify)
//     file_system.h      where it does not, so that the folder is listed every second
//   Fence              opens files below the served folder, and nothing else
//     FileVersion        tells the versions of a file apart
//   Digests            the SHA-256 of a version, computed once
//     KeptDigest         that of a file in memory
//     DigestTable        those that were asked for lately
//   UploadedVersions   the files that clients have put just now
//
// A check compares a file in the cache with the served folder. Its result is one of four states:
//
//   kCurrent    There is nothing to do. The copy in memory is current, or the file does not exist,
//               or it is meant to be served from disk.
//   kStale      The folder has another version. The updater loads it in its turn, which makes the
//               file kCurrent, or kUnsettled if the file changed while it was read.
//   kUnsettled  The file changed less than 20 ms ago (a second, or two, where the file system keeps
//               whole seconds), and a further change could not be detected yet. The updater checks
//               it again every 21 ms.
//   kUnchecked  The check failed because descriptors or memory ran out, or because of a disk. The
//               known version stays in service, and the updater repeats the check after 250 ms.
//
// A file is checked when inotify reports it, when its folder is listed, and when a client asks for
// a file that the cache does not know. A new file is served from disk until it is loaded. A kStale
// or kUnsettled file is served in its old version for up to 500 ms. After that, a kStale file is
// served from disk at once. A kUnsettled file is served from disk once a writer closes it, or it is
// renamed. Until then the old version is the last complete one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fileserver/files/folder_watch.h"
#include "fileserver/files/opened_file.h"
#include "fileserver/files/upload_times.h"

namespace fileserver {

// What the files in memory take.
struct FilesInMemory {
  std::int64_t files = 0;
  std::int64_t bytes = 0;        // with the bookkeeping of all files
  std::int64_t limit_bytes = 0;  // --memory-limit
};

class Files {
 public:
  virtual ~Files() = default;

  // Any thread. Opens one version of the file, for send() of opened_file.h. Errors: kNotFound,
  // kInternal. `name` is whatever a client sent, and must outlive what is opened.
  virtual base::Result<OpenedFile> open(std::string_view name) = 0;

  // Gives a name without links to a complete file. Nothing if it cannot, with errno.
  using GiveName = std::function<std::optional<NamedFile>()>;

  // Any thread. Calls give_name(), and returns what it does. `fd` reads the file. If it has got its
  // name, open() opens that file from then on, or a later one.
  virtual std::optional<NamedFile> publish(const std::string& /*name*/, int /*fd*/,
                                           const GiveName& give_name) {
    return give_name();
  }

  // Any thread. `unlink` takes the name away, or returns false with errno. Once this returns true,
  // open() does not find it, unless somebody has made it anew.
  virtual bool remove(const std::string& /*name*/, const std::function<bool()>& unlink) {
    return unlink();
  }

  // Any thread. Whether a change from now on gives the file a version that differs from this one:
  // it is settled, or an upload that nobody has changed since.
  virtual bool is_distinct(const FileVersion& version) const { return is_settled(version); }
  // Any thread. `rename` gives what has the name `from` the name `to`, and may replace what had
  // that one; both are without links. If it returns false, nothing has changed. Once this returns
  // true, open() serves under either name what is there on disk.
  virtual bool rename(const std::string& /*from*/, const std::string& /*to*/,
                      const std::function<bool()>& rename) {
    return rename();
  }

  // Any thread. What was below the folders has other names now, or is gone: open() serves what is
  // there on disk once this returns.
  virtual void forget_below(const Names& /*folders*/) {}

  // Any thread.
  virtual FilesInMemory in_memory() const { return {}; }
};

}  // namespace fileserver
