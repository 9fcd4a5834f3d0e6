SELECT live, owned, due_at, format FROM transactions WHERE gid = ?
