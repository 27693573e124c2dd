#!/usr/bin/env bash
# The shell into which a page is pasted. It reads names of files with commands from the FIFO $1, runs
# each as if it had been typed, and writes its exit status to the FIFO $2.
set -m -o pipefail
exec 7<"$1" 8>"$2"
shift 2
if ((EUID == 0)) && ! command -v sudo >/dev/null; then
  sudo() { "$@"; }
fi
while IFS= read -r -u 7 pasted; do
  # shellcheck source=/dev/null
  source "$pasted" <"$pasted.typed" 7<&- 8>&-
  status=$?
  jobs >/dev/null # as a prompt does, so that the numbers of jobs that have ended are free again
  echo $status >&8
done
