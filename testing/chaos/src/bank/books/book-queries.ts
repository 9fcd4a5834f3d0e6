/** Alike in SQLite, MySQL and PostgreSQL. An undo's row that stands for its original is what a null compensation leaves. */
export const BOOK_QUERIES = {
  accounts: 'SELECT id, initial_cents AS "initialCents", balance_cents AS "balanceCents" FROM account',
  effects: 'SELECT seq, gid, branch_id AS "branchId", op, account, cents FROM effect ORDER BY seq',
  blocked: 'SELECT gid, branch_id AS "branchId", op FROM counterstep_barrier WHERE reason <> op',
} as const
