-- No tag is longer than its column, so that only an entry which is there already is ignored.
INSERT IGNORE INTO counterstep_tags (tag, created_at, gid)
VALUES /*rows ,*/(_binary ?, LAST_INSERT_ID(), _binary ?)/*end*/
