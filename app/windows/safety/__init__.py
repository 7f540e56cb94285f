"""Windows that keep work safe: backups, restoring, recovery, the passphrase, histories."""
