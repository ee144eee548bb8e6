#!/bin/sh
# Creates the secrets of compose.yaml in the folder `secrets` beside it, or in the folder that is
# passed. It replaces none. Compose mounts the files as they are, so each belongs to the user of its
# container: 10001 is the gateway's, 999 is that of the PostgreSQL image. Run it as root.
set -eu
umask 077
folder="${1:-$(dirname "$0")/secrets}"
mkdir -p "$folder"
cd "$folder"
for name in master_secret postgres_password database_url; do
  if [ -e "$name" ]; then
    echo "error: $folder/$name exists. Keep it: without it, the stored data cannot be used." >&2
    exit 1
  fi
done
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
random > master_secret
random > postgres_password
printf 'postgres://svc:%s@postgres:5432/svc' "$(cat postgres_password)" > database_url
chmod 0400 master_secret postgres_password database_url
chown 10001:10001 master_secret database_url
chown 999:999 postgres_password
echo "Created $folder. Back up master_secret: without it, API keys and vendor keys are lost."
