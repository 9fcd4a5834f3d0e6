import { createGate, readBearerKey } from '@counterstep/access'
import { PANEL_ROWS_MAX } from '@counterstep/protocol'
import { NAMED_SCHEMAS } from '@counterstep/protocol/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp, type Panel } from '../src/index.ts'
import { openScopeKeys, type ScopeKeys } from './scope-keys.ts'
import { createScriptedEngine } from './scripted-engine.ts'

let held: ScopeKeys
beforeAll(async () => {
  held = await openScopeKeys()
})
afterAll(() => held[Symbol.asyncDispose]())

const columns = [{ title: 'name', type: 'text' }] as const
const TOPICS: Panel = {
  id: 'topics',
  title: 'Topics',
  access: ['read'],
  read: () => ({ columns, rows: [['orders']] }),
}
const KEYS: Panel = {
  id: 'keys',
  title: 'Keys',
  access: ['admin'],
  read: () => ({ columns, rows: [['ops']] }),
}

function build(panels: readonly Panel[]) {
  const gate = createGate({ keys: held.ring, credentials: readBearerKey })
  const app = buildApp({ engine: createScriptedEngine(), gate, panels })
  return (path: string, scope: keyof ScopeKeys['keys']) =>
    app.inject({ url: `/v1/panels${path}`, headers: { authorization: `Bearer ${held.keys[scope]}` } })
}

describe('GET /v1/panels', () => {
  it('A key sees the panels of its own scope, and is refused the others by name', async () => {
    const ask = build([TOPICS, KEYS])
    expect((await ask('', 'read')).json()).toEqual({ items: [{ id: 'topics', title: 'Topics' }] })
    expect((await ask('', 'admin')).json()).toEqual({ items: [{ id: 'keys', title: 'Keys' }] })
    expect((await ask('/topics', 'read')).json()).toMatchObject({ id: 'topics', columns, rows: [['orders']] })
    const refused = await ask('/keys', 'read')
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'SAGA_FORBIDDEN'])
    expect(refused.json().detail).toContain('admin')
    expect((await ask('/topics', 'operate')).statusCode).toBe(403)
  })

  it('A panel that is not there has a code of its own, and so has one of the names that every object has', async () => {
    const ask = build([TOPICS])
    for (const path of ['/keys', '/constructor', '/__proto__', `/${'a'.repeat(200)}`]) {
      const answer = await ask(path, 'read')
      expect([answer.statusCode, answer.json().code]).toEqual([404, 'SAGA_UNKNOWN_PANEL'])
    }
  })

  it('Those who ask while a panel is read share the read, and the next ones get a new one', async () => {
    let reads = 0
    let answer: (rows: readonly [string][]) => void = () => undefined
    const read = async () => {
      reads += 1
      return { columns, rows: await new Promise<readonly [string][]>((resolve) => (answer = resolve)) }
    }
    const ask = build([{ ...TOPICS, read }])
    const [first, second] = [ask('/topics', 'read'), ask('/topics', 'read')]
    await expect.poll(() => reads).toBe(1)
    answer([['a']])
    expect([(await first).json().rows, (await second).json().rows]).toEqual([[['a']], [['a']]])
    expect(reads).toBe(1)
    const third = ask('/topics', 'read')
    await expect.poll(() => reads).toBe(2)
    answer([['b']])
    expect((await third).json().rows).toEqual([['b']])
  })

  it('A panel that cannot be read is an error for those who asked, and is read again for the next', async () => {
    let isAway = true
    const read = () => {
      if (isAway) throw new Error('away')
      return { columns, rows: [] }
    }
    const ask = build([{ ...TOPICS, read }])
    expect((await ask('/topics', 'read')).statusCode).toBe(500)
    isAway = false
    expect((await ask('/topics', 'read')).statusCode).toBe(200)
  })

  it('A long table is cut at its bound, and says how many rows are left out', async () => {
    const rows = Array.from({ length: PANEL_ROWS_MAX + 7 }, (_, at) => [`row ${at}`])
    const view = (await build([{ ...TOPICS, read: () => ({ columns, rows }) }])('/topics', 'read')).json()
    expect(NAMED_SCHEMAS.PanelView.safeParse(view).success).toBe(true)
    expect([view.rows.length, view.more]).toEqual([PANEL_ROWS_MAX, 7])
  })

  it('Two panels of one id, and an id that cannot stand in a URL, are faults of the host', () => {
    expect(() => build([TOPICS, TOPICS])).toThrow('an id of its own')
    expect(() => build([{ ...TOPICS, id: 'a/b' }])).toThrow('an id of its own')
  })
})
