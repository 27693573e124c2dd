// The way from a folder to one below it, of which only the last folder is open.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "net/fd.h"

namespace fileserver {

// Goes down into folders and back up, and needs two descriptors at most, however deep it is. The
// way up leads over "..", which must be the folder that it came from: somebody may have moved the
// one it is in. The folders are opened with O_PATH, which costs no check of the sandbox: such a
// check looks at every folder on the way.
//
// Functions that return false have set errno, and have gone nowhere. Threads: one.
class FolderTrail {
 public:
  // Begins at the folder. Returns false if it cannot be looked at. Called once, and first.
  bool begin(net::Fd top);

  // The folder where it is now, opened for nothing but its entries: to list it, open "." in it.
  int fd() const { return here_.get(); }

  // How many folders it has gone down. 0: it is where it began.
  std::size_t depth() const { return steps_.size() - 1; }

  // Goes into a folder that is in this one. Links are not followed. EBUSY for a folder of another
  // file system.
  bool go_down(const char* name);

  // Goes back to the folder above. EBUSY if that is not the one that it came from. Requires:
  // depth() > 0.
  bool go_up();

 private:
  struct Step {
    dev_t device;
    ino_t inode;
  };

  net::Fd here_;
  std::vector<Step> steps_;  // from the first folder to this one
};

}  // namespace fileserver
