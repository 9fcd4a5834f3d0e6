import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createClient } from '@counterstep/sdk'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readCommand } from '../../../packages/cli/src/config.ts'
import { apiRequests } from './api-requests.ts'
import { type ApiRequest, openBothApis } from './both-apis.ts'

const POISON = [
  '"__proto__":{"polluted":"yes"}',
  '"constructor":{"prototype":{"polluted":"yes"}}',
  '"\\u005f_proto__":{"polluted":"yes"}',
]
const NAMES = Object.getOwnPropertyNames(Object.prototype).sort()

/** Returns the text once for each object in it, with a poisonous first member in that one. */
function poisoned(json: string, poison: string): readonly string[] {
  return [...json.matchAll(/\{/g)].map(({ index }) => {
    const rest = json.slice(index + 1)
    return `${json.slice(0, index + 1)}${poison}${rest.startsWith('}') ? '' : ','}${rest}`
  })
}

describe('S25: prototypes', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'counterstep-prototypes-'))
  })
  afterAll(() => rm(folder, { recursive: true }))
  afterEach(() => {
    expect(({} as { readonly polluted?: string }).polluted).toBeUndefined()
    expect(([] as { readonly polluted?: string }).polluted).toBeUndefined()
    expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(NAMES)
  })

  it('S25: The native HTTP API refuses a body that reaches a prototype, and neither API is poisoned by one', async () => {
    const store = await openSqliteStore({ path: join(folder, 'apis.db') })
    await using apis = await openBothApis(store)
    for (const request of apiRequests('a')) await apis.send(request)
    for (const request of apiRequests('b').filter(({ body }) => body !== undefined)) {
      for (const body of POISON.flatMap((poison) => poisoned(JSON.stringify(request.body), poison))) {
        const answer = await apis.send({ ...request, body })
        if (request.api === 'native') expect([body, answer.status]).toEqual([body, 422])
        expect(answer.body).not.toContain('"polluted":"yes"')
      }
    }
    const queries: ApiRequest[] = [
      { api: 'native', method: 'GET', url: '/v1/transactions?__proto__=x&constructor=y' },
      { api: 'native', method: 'GET', url: '/v1/transactions/__proto__' },
      { api: 'native', method: 'GET', url: '/v1/transactions/constructor' },
      { api: 'dtm', method: 'GET', url: '/api/dtmsvr/query?gid=__proto__&__proto__=x' },
      { api: 'dtm', method: 'GET', url: '/api/dtmsvr/all?transType=constructor&status=toString' },
      {
        api: 'dtm',
        method: 'GET',
        url: '/api/dtmsvr/subscribe?topic=__proto__&url=http%3A%2F%2F127.0.0.1%3A9%2Ft',
      },
      { api: 'dtm', method: 'DELETE', url: '/api/dtmsvr/topic/__proto__' },
    ]
    for (const query of queries)
      expect([query.url, (await apis.send(query)).body]).toEqual([
        query.url,
        expect.not.stringContaining('SAGA_INTERNAL'),
      ])
    expect(apis.lines.filter((line) => /"level":50/.test(line))).toEqual([])
    await store.close()
  })

  it('S25: A stored record that reaches for a prototype poisons no process that reads or runs it', async () => {
    const path = join(folder, 'stored.db')
    const first = await openSqliteStore({ path })
    {
      await using apis = await openBothApis(first)
      for (const request of apiRequests('s')) await apis.send(request)
    }
    await first.close()
    const database = new DatabaseSync(path)
    const rows = database
      .prepare('SELECT gid, definition, progress FROM transactions')
      .all() as unknown as Record<'gid' | 'definition' | 'progress', string>[]
    expect(rows.length).toBeGreaterThan(3)
    const update = database.prepare(
      'UPDATE transactions SET definition = ?, progress = ?, live = 1, due_at = 0 WHERE gid = ?',
    )
    for (const { gid, definition, progress } of rows) {
      const [poison = ''] = POISON
      const last = (json: string) => poisoned(json, poison).at(-1) ?? json
      update.run(last(definition), last(progress), gid)
    }
    database.close()
    const second = await openSqliteStore({ path })
    {
      await using apis = await openBothApis(second)
      for (const { gid } of rows) {
        for (const request of [
          { api: 'native', method: 'GET', url: `/v1/transactions/${gid}` },
          { api: 'dtm', method: 'GET', url: `/api/dtmsvr/query?gid=${gid}` },
        ] as const) {
          await apis.send(request)
        }
      }
      await apis.send({ api: 'dtm', method: 'GET', url: '/api/dtmsvr/all' })
    }
    await second.close()
  })

  it("S25: A server's answer that reaches for a prototype poisons no client", async () => {
    const body = `{${POISON[0]},"gid":"a","status":"succeeded","branches":[{${POISON[1]}}]}`
    const answer = async () =>
      new Response(body, { status: 200, headers: { 'content-type': 'application/json' } })
    const client = createClient({ url: 'http://127.0.0.1:9', fetch: answer })
    await client.get('a')
  })

  it('S25: Flags and variables of the configuration poison no prototype', () => {
    const { type } = readCommand(['serve', '--__proto__=x', '--constructor', 'y'], {
      COUNTERSTEP___PROTO__: '{"polluted":"yes"}',
      __proto__: 'x',
    } as unknown as Record<string, string>)
    expect(type).toBe('refused')
  })

  it('S25: Mutant: a merge that reaches a prototype is seen', () => {
    const merge = (into: Record<string, object>, from: Record<string, object>) => {
      for (const [key, value] of Object.entries(from)) {
        into[key] ??= {}
        Object.assign(into[key], value)
      }
    }
    const target: Record<string, object> = {}
    merge(target, JSON.parse(`{${POISON[0]}}`))
    const seen = ({} as { readonly polluted?: string }).polluted
    Reflect.deleteProperty(Object.prototype, 'polluted')
    expect(seen).toBe('yes')
  })
})
