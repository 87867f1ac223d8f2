#!/bin/sh
# It is 3 a.m. and a job hangs. Who holds this, who waits, since when, and why? And what then?
#
#   sh examples/operator/who-holds-this.sh
#
# It starts a server of its own. Against yours, only the lines with ls, show, history and release matter.
set -eu
main=$(dirname "$0")/../../dist/cli/main.js
holdfast() { node "$main" "$@"; }

log=$(mktemp)
node "$main" serve --port 0 --engine memory: --log error > "$log" &
server=$!
trap 'kill $server; wait; rm -f "$log"' EXIT
until grep -q 'listening on' "$log"; do sleep 0.1; done
HOLDFAST_SERVER=$(sed -n 's/.*listening on \(http:[^ ]*\).*/\1/p' "$log")
export HOLDFAST_SERVER

# A job that hangs, and two that wait for it.
(holdfast run nightly-report --owner batch-1 -- sleep 1000 || echo "batch-1 ended with $?") &
until holdfast show nightly-report | grep -q 'batch-1'; do sleep 0.1; done
(holdfast run nightly-report --owner batch-2 -- echo 'batch-2: done') &
until holdfast show nightly-report | grep -q '^1 waiting'; do sleep 0.1; done
(holdfast run nightly-report --owner batch-3 -- echo 'batch-3: done') &
until holdfast show nightly-report | grep -q '^2 waiting'; do sleep 0.1; done

echo '$ holdfast ls'
holdfast ls
echo
echo '$ holdfast show nightly-report'
holdfast show nightly-report
echo
echo '$ holdfast release --force nightly-report'
holdfast release --force nightly-report

# The hanging job is stopped, and the two others get their turns in order.
until [ "$(holdfast ls --json)" = '{"locks":[],"cursor":null}' ]; do sleep 0.1; done
echo
echo '$ holdfast history nightly-report'
holdfast history nightly-report
