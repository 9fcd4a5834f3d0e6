/** Alike in SQLite and MySQL. An undo's row that stands for its original is what a null compensation leaves. */
export const BOOK_QUERIES = {
  accounts: 'SELECT id, initial_cents AS initialCents, balance_cents AS balanceCents FROM account',
  effects: 'SELECT seq, gid, branch_id AS branchId, op, account, cents FROM effect ORDER BY seq',
  blocked: `SELECT CAST(gid AS CHAR) AS gid, CAST(branch_id AS CHAR) AS branchId, CAST(op AS CHAR) AS op
    FROM counterstep_barrier WHERE reason <> op`,
} as const
