import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Gid } from '@counterstep/protocol'
import { openSqliteStore, type SqliteStore } from '@counterstep/store-sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApiRequest, type BothApis, openBothApis } from './both-apis.ts'

/** One list scans as many rows. */
const ROWS = 10_000
const READERS = 600
/** There are a few places for lists, each in use again and again until the last reader has given up. */
const SERVED_MAX = 200

const get = (api: ApiRequest['api'], url: string): ApiRequest => ({ api, method: 'GET', url })

const SPELLINGS = {
  'a filter that matches nothing': get('native', '/v1/transactions?attention=true&limit=200'),
  'another kind, from the end of the range': get(
    'native',
    '/v1/transactions?kind=message&createdTo=9000000000000',
  ),
  "DTM's all, with a status that none has": get('dtm', '/api/dtmsvr/all?status=aborting'),
  "DTM's all, without a limit": get('dtm', '/api/dtmsvr/all?transType=msg&limit=0'),
}

describe('S42: 600 readers', () => {
  let folder: string
  let store: SqliteStore

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'counterstep-readers-'))
    store = await openSqliteStore({ path: join(folder, 'a.db') })
    await Promise.all(Array.from({ length: ROWS }, (_, at) => store.create(finishedLater(`row-${at}`))))
  })

  afterAll(async () => {
    await store.close()
    await rm(folder, { recursive: true })
  })

  for (const [name, request] of Object.entries(SPELLINGS)) {
    it(`Readers do not hold up a submit, and all but a few are refused by code: ${name}`, async () => {
      await using apis = await openBothApis(store)
      const { before, answers } = await submitBeside(apis, request)
      expect(before).toBeLessThan(SERVED_MAX)
      const served = answers.filter(({ status }) => status === 200)
      const refused = answers.filter(({ status }) => status === 429)
      expect(served.length).toBeGreaterThan(0)
      expect(served.length).toBeLessThan(SERVED_MAX)
      expect(served.length + refused.length).toBe(READERS)
      for (const { body, retryAfter } of refused) {
        expect(body).toContain('SAGA_TOO_MANY_READS')
        expect(retryAfter).toBe('1')
      }
    })
  }

  it('Mutant: no reader is refused without the bound', async () => {
    await using apis = await openBothApis(store, { settings: { scansAtOnceMax: 10_000 } })
    const { answers } = await submitBeside(apis, SPELLINGS['a filter that matches nothing'])
    expect(answers.filter(({ status }) => status === 429)).toEqual([])
  })
})

/** Counts in `before` how many readers were served before a submit beside them was answered with the end of its saga. */
async function submitBeside(apis: BothApis, request: ApiRequest) {
  let served = 0
  const readers = Array.from({ length: READERS }, async () => {
    const answer = await apis.send(request)
    if (answer.status === 200) served += 1
    return answer
  })
  const branches = [{ action: 'http://127.0.0.1:9/a' }]
  const url = '/v1/transactions'
  const submitted = await apis.send({
    ...{ api: 'native', method: 'POST', url, headers: { prefer: 'wait=10' } },
    body: { branches },
  })
  const before = served
  expect(submitted.status).toBe(200)
  return { before, answers: await Promise.all(readers) }
}

/** Makes a row that is not due until long after the test. */
function finishedLater(gid: string) {
  return {
    ...({ gid: gid as Gid, kind: 'saga', status: 'submitted', format: 1, sentList: 'unknown' } as const),
    ...{ digest: '0'.repeat(64), definition: '{}', progress: '{}' },
    ...{ token: randomBytes(16).toString('hex'), writeId: randomBytes(16).toString('hex') },
    hold: { type: 'waiting', dueInMs: 3_600_000 } as const,
  }
}
