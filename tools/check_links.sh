#!/usr/bin/env bash
# tools/check_links.sh: every relative link in the Markdown files leads to a file or folder of the tree
set -euo pipefail
cd "$(dirname "$0")/.."
broken=0
while read -r file; do
  while read -r target; do
    if [ ! -e "$(dirname "$file")/$target" ]; then
      echo "$file: the link to $target leads nowhere"
      broken=1
    fi
  done < <({ grep -oE '\]\([^)]+\)' "$file" || true; } | sed -E 's/^\]\(//; s/\)$//; s/#.*//' | grep -vE '^$|^[a-z]+:' || true)
done < <(git ls-files '*.md')
exit $broken
