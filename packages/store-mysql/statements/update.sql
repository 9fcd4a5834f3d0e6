-- Joined to the new values, so that no purged row comes back. hold: 0 keep, 1 release, 2 finish, 3 command.
-- due: an instant; of a finish the retention. Absent: a command is due now, a finish is never purged.
-- The order of a joined update's assignments is not defined: no column is computed from one that changes with it.
-- STRAIGHT_JOIN: the few new values first, then each row by its gid.
UPDATE (
  /*rows UNION ALL*/SELECT
    _binary ? AS gid, _binary ? AS token, ? AS version, _binary ? AS write_id, ? AS status, ? AS format,
    _binary ? AS progress, ? AS retrying, ? AS attention, ? AS sent_list, ? AS hold, ? AS due
  /*end*/
) v
STRAIGHT_JOIN counterstep_transactions t FORCE INDEX (counterstep_gid) ON t.gid = v.gid
SET
  t.version = GREATEST(t.version + 1, ?), t.write_id = v.write_id, t.status = v.status, t.format = v.format,
  t.progress = v.progress, t.retrying = v.retrying, t.attention = v.attention,
  t.sent_list = COALESCE(v.sent_list, t.sent_list), t.claims = 0, t.updated_at = ?,
  t.live = IF(v.hold = 2, 0, 1),
  t.owned = IF(v.hold IN (0, 3), t.owned, 0),
  t.due_at = CASE v.hold
    WHEN 0 THEN t.due_at
    WHEN 1 THEN v.due
    WHEN 2 THEN COALESCE(v.due + ?, ?)
    ELSE IF(t.owned = 1, t.due_at, COALESCE(v.due, ?))
  END
WHERE t.token = v.token AND t.version = v.version AND t.live = 1
