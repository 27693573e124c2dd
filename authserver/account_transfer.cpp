#include "authserver/account_transfer.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <system_error>
#include <vector>

#include "authserver/csv.h"
#include "authserver/private_file.h"
#include "authserver/tokens.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "base/text_lines.h"
#include "wire/request.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

// Reports how far a long transfer is, every two seconds.
class Progress {
 public:
  explicit Progress(const char* what) : what_(what) {}

  void count() {
    ++count_;
    if (!report_at_.has_passed()) return;
    report_at_ = base::Deadline::in_ms(kEveryMs);
    std::cerr << fmt::format("authserver: {} {} accounts so far\n", what_, count_);
  }
  std::size_t total() const { return count_; }

 private:
  static constexpr int kEveryMs = 2000;
  const char* what_;
  std::size_t count_ = 0;
  base::Deadline report_at_ = base::Deadline::in_ms(kEveryMs);
};

bool has_content(const std::string& path) {
  std::error_code failure;
  const auto bytes = std::filesystem::file_size(path, failure);
  return !failure && bytes > 0;
}

base::Status write_to(const std::string& path, const std::function<base::Status(int fd)>& fill) {
  return path == "-" ? fill(STDOUT_FILENO) : write_private_file(path, fill);
}

struct Imported {
  std::size_t made = 0;
  std::size_t same = 0;
  std::size_t different = 0;
};

base::Status import_one(AccountStore& store, const CsvAccount& account, Imported& imported) {
  const auto created = store.create({account.user, account.record});
  if (created) {
    ++imported.made;
    return base::kDone;
  }
  if (created.error().code != ErrorCode::kExists) return created;
  const auto record = store.find_record(account.user);
  if (!record) return record.error();
  ++(*record == account.record ? imported.same : imported.different);
  return base::kDone;
}

// Whether reading ended early because of an error. read_line() reports that like the end of the
// file. For std::cin only the C library knows the difference.
bool has_failed(const std::istream& input) {
  return input.bad() || (&input == &std::cin && std::ferror(stdin) != 0);
}

}  // namespace

base::Status export_accounts(AccountStore& store, const std::string& where,
                             const std::string& path) {
  Progress progress("exported");
  const auto fill = [&](int fd) -> base::Status {
    int failure = 0;
    const auto visited = store.for_each([&](const Account& account) {
      if (is_row_of_tokens(account.user)) return;
      if (failure == 0 && !base::write_all(fd, csv_line(account))) failure = errno;
      progress.count();
    });
    if (visited && progress.total() == 0 && has_content(path))
      return Error{ErrorCode::kInternal,
                   "the store has no accounts, so the export in " + path + " was kept"};
    if (!visited || failure == 0) return visited;
    return base::errno_error(ErrorCode::kInternal, "export to " + path, failure);
  };
  if (const auto written = write_to(path, fill); !written) return written;
  std::cerr << fmt::format("authserver: exported {} accounts from {}\n", progress.total(), where);
  return base::kDone;
}

base::Status import_accounts(AccountStore& store, const std::string& where,
                             const std::string& path) {
  const auto unreadable = [&path] {
    return base::errno_error(ErrorCode::kInternal, "import from " + path, errno);
  };
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) return unreadable();
  }
  std::istream& input = path == "-" ? std::cin : file;
  Progress progress("imported");
  Imported imported;
  std::string line;
  while (base::read_line(input, line)) {
    progress.count();
    const auto account = parse_csv_line(line);
    if (!account)
      return Error{
          ErrorCode::kInvalid,
          fmt::format("{} line {}: not in the form user,record, or a record that costs more than "
                      "ours to check",
                      path, progress.total())};
    if (const auto done = import_one(store, *account, imported); !done) {
      return Error{done.error().code,
                   fmt::format("line {}: {}", progress.total(), done.error().context)};
    }
  }
  if (has_failed(input)) return unreadable();
  std::cerr << fmt::format("authserver: imported {} accounts, {} existed already, in {}\n",
                           imported.made, imported.same, where);
  if (imported.different == 0) return base::kDone;
  return Error{ErrorCode::kExists,
               fmt::format("{} accounts exist with another record and were not changed",
                           imported.different)};
}

base::Status list_users(AccountStore& store, const std::string& path) {
  std::vector<std::string> users;
  const auto visited = store.for_each([&](const Account& account) {
    // Another program may have stored a name that no user can have.
    if (wire::is_valid_user(account.user)) users.emplace_back(account.user);
  });
  if (!visited) return visited;
  std::ranges::sort(users);
  const auto repeated = std::unique(users.begin(), users.end());
  users.erase(repeated, users.end());
  std::string lines;
  for (const std::string& user : users) lines.append(user).append("\n");
  return write_to(path, [&](int fd) -> base::Status {
    if (base::write_all(fd, lines)) return base::kDone;
    return base::errno_error(ErrorCode::kInternal, "list to " + path, errno);
  });
}

}  // namespace authserver
