#!/usr/bin/env bash
# Checks that the environment of install.sh serves an index: starts it, sends requests, ends it.
# Checks the files of the proxies where Caddy or nginx are installed. Run by CI.
# Usage: check.sh ENVIRONMENT
set -euo pipefail
program=$1/bin/neardup
here=$(cd "$(dirname "$0")" && pwd)
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
grep -q '^ended' out

if command -v caddy > /dev/null; then
  caddy validate --config "$here/Caddyfile" --adapter caddyfile
fi
if command -v nginx > /dev/null; then
  openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=dup.example.org \
    -keyout key.pem -out cert.pem 2> /dev/null
  sed "s|/etc/ssl/dup.example.org.pem|$work/cert.pem|; s|/etc/ssl/dup.example.org.key|$work/key.pem|" \
    "$here/nginx.conf" > site.conf
  printf 'pid %s/pid; events {} http { access_log off; include %s/site.conf; }\n' "$work" "$work" > all.conf
  nginx -t -q -e stderr -c "$work/all.conf"
fi
