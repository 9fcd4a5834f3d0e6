-- Rows that are told apart by gid, token, version, due, write id and progress; what else is set is the same for all.
-- Never an insert: no purged row comes back. hold: 0 keep, 1 release, 2 finish, 3 command.
-- due: an instant; of a finish the retention. Absent: a command is due now, a finish is never purged.
-- Assigned from the left: due_at before the owner that it depends on.
UPDATE counterstep_transactions FORCE INDEX (counterstep_gid)
SET
  due_at = IF(? = 0 OR (? = 3 AND owned = 1), due_at, COALESCE(
    CASE gid /*rows  */WHEN _binary ? THEN ?/*end*/ END + IF(? = 2, LAST_INSERT_ID(), 0),
    IF(? = 2, ?, LAST_INSERT_ID())
  )),
  owned = IF(? IN (0, 3), owned, 0),
  live = IF(? = 2, 0, 1),
  status = ?, format = ?, retrying = ?, attention = ?, sent_list = COALESCE(?, sent_list), claims = 0,
  version = GREATEST(version + 1, LAST_INSERT_ID()), updated_at = LAST_INSERT_ID(),
  write_id = CASE gid /*rows  */WHEN _binary ? THEN _binary ?/*end*/ END,
  progress = CASE gid /*rows  */WHEN _binary ? THEN _binary ?/*end*/ END
WHERE gid IN (/*rows ,*/_binary ?/*end*/)
  AND (gid, token, version) IN (/*rows ,*/(_binary ?, _binary ?, ?)/*end*/)
  AND live = 1
