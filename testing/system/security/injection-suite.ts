import type { Store } from '@counterstep/core'
import { expect } from 'vitest'
import { apiRequests, withEachText } from './api-requests.ts'
import { type BothApis, openBothApis } from './both-apis.ts'

const TABLE = 'counterstep_transactions'

/** Texts that open a literal, a comment or another statement in one of the dialects. */
export const SQL_TEXTS: readonly string[] = [
  "'",
  "' OR '1'='1",
  "' OR 1=1 -- ",
  '" OR ""="',
  "\\' OR 1=1 #",
  `'; DROP TABLE ${TABLE}; -- `,
  `x'); DELETE FROM ${TABLE}; /*`,
  `'; UPDATE ${TABLE} SET status = 3; -- `,
  "' UNION SELECT token, token FROM transactions -- ",
  "'; ATTACH DATABASE '/tmp/x' AS y; --",
  "' AND SLEEP(5) -- ",
  '/*!50000 SLEEP(5) */',
  "\u00bf' OR 1=1 -- ",
  "LOAD_FILE('/etc/passwd')",
  "' || (SELECT 1) || '",
  '%\' OR "%_',
  '1;1',
  '?',
  ':gid @gid $1',
  '\u0000',
]

/** Values that an old driver would have written as a piece of SQL. */
const NO_TEXTS: readonly unknown[] = [{ gid: 1 }, { toSqlString: 'x' }, ['a'], [['a', 'b']], 1, true, null]

const INTERNAL = /SAGA_INTERNAL|syntax|SQL|SQLITE|ER_[A-Z]+|mariadb/i

export interface Injected {
  readonly sent: number
  /** Those of them that were accepted; the others were refused, and stored nothing. */
  readonly accepted: number
}

/** Sends each of them in each text field of both HTTP APIs. */
export async function injectEverywhere(store: Store): Promise<Injected> {
  await using apis = await openBothApis(store)
  const bystander = { gid: 'bystander', delayMs: 3_600_000, branches: [{ action: 'http://127.0.0.1:9/a' }] }
  const stored = await apis.send({
    api: 'native',
    method: 'POST',
    url: '/v1/transactions',
    body: bystander,
  })
  expect(stored.status).toBe(202)
  const before = await store.readMany(['bystander' as never])
  let [sent, accepted] = [0, 0]
  for (const [index, value] of [...SQL_TEXTS, ...NO_TEXTS].entries()) {
    // A transaction that one request changes must be there for the next.
    for (const request of apiRequests(`plain-${index}`)) await apis.send(request)
    for (const request of apiRequests(`x-${index}`).flatMap((one) => withEachText(one, value))) {
      const answer = await apis.send(request)
      const where = `${request.method} ${request.url} ${JSON.stringify(request.body)}`
      if (request.api === 'native')
        expect([where, answer.status]).toEqual([where, expect.toSatisfy(isNoFault)])
      if (answer.status >= 500) expect(withoutEchoes(answer.body)).not.toMatch(INTERNAL)
      sent += 1
      if (answer.status < 300) accepted += 1
    }
  }
  expect(await store.readMany(['bystander' as never])).toEqual(before)
  expect(errorsIn(apis)).toEqual([])
  return { sent, accepted }
}

/** An accepted text comes back as it was, character by character. */
export async function keepsTexts(store: Store): Promise<void> {
  await using apis = await openBothApis(store)
  for (const [index, text] of SQL_TEXTS.entries()) {
    const gid = `kept-${index}`
    const branches = [{ action: 'http://127.0.0.1:9/a', payload: { text } }]
    const sent = { api: 'native', method: 'POST', url: '/v1/transactions', body: { gid, branches } } as const
    const answer = await apis.send({ ...sent, headers: { prefer: 'wait=10' } })
    expect([text, answer.status]).toEqual([text, 200])
    const call = apis.calls.find((one) => one.gid === gid)
    expect(JSON.parse(String((call as unknown as { readonly body: string }).body))).toEqual({ text })
  }
}

/** The dialect repeats what it refuses, as DTM does. */
function withoutEchoes(body: string): string {
  return SQL_TEXTS.reduce((rest, text) => rest.replaceAll(JSON.stringify(text).slice(1, -1), ''), body)
}

function isNoFault(status: number): boolean {
  return status < 500
}

function errorsIn({ lines }: BothApis): readonly string[] {
  return lines.filter((line) => /"level":[5-9]\d/.test(line))
}
