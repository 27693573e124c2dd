// A place in the trash for what is about to be deleted or replaced.
#pragma once

#include <string>

#include "fileserver/files/renames.h"
#include "net/fd.h"

namespace fileserver {

// Of one thing. Threads: one. Functions that fail set errno.
class TrashPlace {
 public:
  TrashPlace() = default;
  TrashPlace(TrashPlace&& other) noexcept { swap(other); }
  TrashPlace& operator=(TrashPlace&& other) noexcept {
    swap(other);
    return *this;
  }
  // Removes the record if nothing was taken.
  ~TrashPlace();

  enum class Taken {
    kYes,
    kCannotBeKept,  // no trash, another file system or a full disk: it is to be removed instead
    kFailed,        // with errno
  };

  // Moves what has the name to the trash, by one rename.
  Taken take(const NameIn& from);

  // The same for a file that is about to be replaced by a rename, and keeps its name until then.
  Taken take_link(const NameIn& file);

  // What was taken gets its name again. Whoever has made something of that name keeps it.
  void give_back(const std::string& last);

  // The name that an exchange gives to what is replaced; note_taken() once it has it. Requires:
  // is_open().
  NameIn name() const { return {folder_.get(), id_}; }
  void note_taken() { is_taken_ = true; }

  // What failed() says of an errno with which the place could not be used.
  Taken failed(int errno_value) const;

  bool is_open() const { return folder_.is_open(); }
  bool is_taken() const { return is_taken_; }
  bool was_asked_for() const { return is_open() || failure_ != 0; }
  bool needs_room() const;                  // is not open because the disk is full
  int failure() const { return failure_; }  // why it is not open; 0: nobody has asked for it

 private:
  friend class Trash;
  void swap(TrashPlace& other) noexcept;

  net::Fd folder_;  // of the trash
  net::Fd record_;  // locked (flock), so that no server takes it for one that was left behind
  std::string id_;
  net::Fd from_;  // the folder out of which it was taken
  int failure_ = 0;
  bool is_taken_ = false;
};

}  // namespace fileserver
