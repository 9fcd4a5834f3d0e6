import { CounterstepError } from '@counterstep/protocol'
import { STATEMENTS } from '../generated/sql.ts'
import { isDenied, SqlError } from '../sessions/server-errors.ts'
import type { Session } from '../sessions/session.ts'

const PROBES = {
  INSERT: STATEMENTS.probeInsert,
  UPDATE: STATEMENTS.probeUpdate,
  DELETE: STATEMENTS.probeDelete,
} as const

/** Refuses to open as a user with only the right to read: the store would start, report no fault, and store nothing. */
export async function refuseReadOnlyUser(session: Session): Promise<void> {
  const missing: string[] = []
  for (const [right, sql] of Object.entries(PROBES)) {
    if (!(await isAllowed(session, sql))) missing.push(right)
  }
  if (missing.length === 0) return
  throw new CounterstepError(
    'SAGA_STORE_UNSUPPORTED',
    `this user may not ${missing.join(', ')} on counterstep_transactions: GRANT SELECT, INSERT, UPDATE, DELETE on it`,
  )
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
