-- This needs the rights to SELECT and to INSERT. It touches no row and locks none.
INSERT INTO counterstep_tags (tag, created_at, gid)
SELECT tag, created_at, gid FROM counterstep_tags WHERE FALSE
