SELECT gid FROM transactions WHERE gid = ? AND live = 0
