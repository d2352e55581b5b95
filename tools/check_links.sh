#!/usr/bin/env bash
# tools/check_links.sh [FOLDER]: every relative link in the Markdown files of the tree, or of an installed one
# (PREFIX/share/lockstep), leads to a file or folder
set -euo pipefail
if [ $# -gt 0 ]; then
  cd "$1"
  files=$(find . -name '*.md')
else
  cd "$(dirname "$0")/.."
  files=$(git ls-files '*.md')
fi
broken=0
while read -r file; do
  while read -r target; do
    if [ ! -e "$(dirname "$file")/$target" ]; then
      echo "$file: the link to $target leads nowhere"
      broken=1
    fi
  done < <({ grep -oE '\]\([^)]+\)' "$file" || true; } | sed -E 's/^\]\(//; s/\)$//; s/#.*//' | grep -vE '^$|^[a-z]+:' || true)
done <<<"$files"
exit $broken
