#!/usr/bin/env bash
# Whether what install.sh made serves an index: started, asked, asked to end. Used by the gate.
# Usage: check.sh ENVIRONMENT
set -euo pipefail
program=$1/bin/neardup
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
printf '%s\n' '{"id": "raven", "text": "once upon a midnight dreary while I pondered"}' > in.jsonl
"$program" index build --kind documents idx in.jsonl --quiet
umask 077
python3 -c 'import secrets; print(secrets.token_urlsafe(32))' > token
"$program" serve idx --host 0.0.0.0 --port 0 --token-file token --check
"$program" serve idx --host 0.0.0.0 --port 0 --token-file token > out 2> log &
service=$!
for _ in $(seq 100); do grep -q ' at http' out && break; sleep 0.2; done
port=$(sed -E 's/.*:([0-9]+);.*/\1/' out)
for _ in $(seq 100); do curl -sf "http://127.0.0.1:$port/ready" > /dev/null && break; sleep 0.2; done
test "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/v1")" = 401
curl -sf -H "Authorization: Bearer $(cat token)" "http://127.0.0.1:$port/v1" | grep -q '"documents":1'
kill -TERM $service
wait $service
grep -q 'ended by SIGTERM' out
