import { CounterstepError } from '@counterstep/protocol'
import { SqlError } from '@counterstep/store-sql'
import { STATEMENTS } from '../generated/sql.ts'
import { isDenied } from '../sessions/server-errors.ts'
import type { Session } from '../sessions/session.ts'

/** The rights on each table without which a transaction cannot be stored. */
const PROBES = {
  counterstep_transactions: {
    INSERT: STATEMENTS.probeInsert,
    UPDATE: STATEMENTS.probeUpdate,
    DELETE: STATEMENTS.probeDelete,
  },
  counterstep_tags: {
    'SELECT or INSERT': STATEMENTS.probeInsertTags,
    DELETE: STATEMENTS.probeDeleteTags,
  },
} as const
const RIGHTS: Readonly<Record<keyof typeof PROBES, string>> = {
  counterstep_transactions: 'SELECT, INSERT, UPDATE, DELETE',
  counterstep_tags: 'SELECT, INSERT, DELETE',
}

/** Refuses to open as a user with only the right to read: the store would start, report no fault, and store nothing. */
export async function refuseReadOnlyUser(session: Session): Promise<void> {
  for (const [table, probes] of Object.entries(PROBES)) {
    const missing: string[] = []
    for (const [right, sql] of Object.entries(probes)) {
      if (!(await isAllowed(session, sql))) missing.push(right)
    }
    if (missing.length === 0) continue
    const rights = RIGHTS[table as keyof typeof PROBES]
    const message = `this user may not ${missing.join(', ')} on ${table}: GRANT ${rights} on it`
    throw new CounterstepError('SAGA_STORE_UNSUPPORTED', message)
  }
}

async function isAllowed(session: Session, sql: string): Promise<boolean> {
  try {
    await session.run(sql)
    return true
  } catch (error: unknown) {
    if (error instanceof SqlError && isDenied(error)) return false
    throw error
  }
}
