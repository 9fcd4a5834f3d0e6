SELECT token, write_id, version, digest, status, created_at FROM transactions WHERE gid = ?
