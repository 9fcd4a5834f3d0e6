DELETE FROM tags WHERE tag = ? AND created_at = ? AND gid = ?
