#!/bin/sh
# Makes the files of secrets/ that are missing; never changes one that is there. Run it in the folder of
# docker-compose.yml. The folder is closed to others; the files are open inside containers, which run as nobody special.
set -eu

folder=secrets
mkdir -p "$folder"
chmod 0700 "$folder"

make_file() {
    [ -e "$folder/$1" ] || printf '%s\n' "$2" >"$folder/$1"
    chmod 0644 "$folder/$1"
}

random() {
    head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'
}

make_file postgres_password "$(random)"
make_file digest_database_url "postgresql://digest:$(cat "$folder/postgres_password")@postgres:5432/digest"
make_file digest_secret_keys "$(random)"
make_file digest_admin_token "$(random)"
make_file digest_metrics_token "$(random)"
# Yours to fill in; empty means unset.
for name in sendgrid_api_key smtp_url dkim_key staff webhook_secrets challenge_secret_key chat_api_key alive_url \
    sentry_dsn; do
    make_file "digest_$name" ""
done
echo "secrets/ is complete. Fill in digest_sendgrid_api_key or digest_smtp_url, and keep a copy of the folder elsewhere."
