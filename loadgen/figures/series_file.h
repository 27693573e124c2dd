// A line for each second of a run, for --series.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "loadgen/figures/line_file.h"
#include "loadgen/figures/thread_series.h"

namespace loadgen {

// The file: CSV with a header. Each second has a line of its own, also if several are written at
// once because loadgen had no time for it.
//
// One thread.
class SeriesFile {
 public:
  // Replaces the file by one with a header; see LineFile::open(). With an empty path, the result
  // is null.
  static base::Result<std::unique_ptr<SeriesFile>> open(const std::string& path);

  // Adds a thread, which must outlive the file. Its seconds are those of all others.
  void add(ThreadSeries& thread) { threads_.push_back(&thread); }

  // Writes the seconds in front of second `end`, which counts from 0, and that were not written
  // before. Returns whether all lines so far could be written.
  bool write_before(std::size_t end);

  // Writes what is left and closes the file. Fails if a line could not be written. Requires: the
  // threads were joined.
  base::Status finish();

 private:
  explicit SeriesFile(LineFile file) : file_(std::move(file)) {}

  LineFile file_;
  std::vector<ThreadSeries*> threads_;
  std::size_t written_ = 0;      // seconds
  std::uint64_t under_way_ = 0;  // at the end of the last one
};

}  // namespace loadgen
