import type { WakeUpRequest } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  buildWakeUpMessages,
  DELAY_S_MAX,
  GIDS_PER_MESSAGE_MAX,
  readWakeUpMessage,
} from '../src/wake-up-message.ts'

const look = (gid: string, dueInMs: number): WakeUpRequest => ({ gid: gid as Gid, dueInMs })
const readGids = (body: string) => readWakeUpMessage(body)?.gids

describe('a wake-up message', () => {
  it('A wake-up message has gids and nothing else, those due in the same second together and never early', () => {
    expect(buildWakeUpMessages([look('a', 0), look('b', 1), look('c', 1_000), look('d', 1_001)])).toEqual([
      { body: '{"gids":["a"]}', delayS: 0 },
      { body: '{"gids":["b","c"]}', delayS: 1 },
      { body: '{"gids":["d"]}', delayS: 2 },
    ])
  })

  it('S40: Transactions of different submitters share no message, and each message names its group', () => {
    const asked = [look('a', 0), { ...look('b', 0), group: 'x1' }, { ...look('c', 0), group: 'x2' }]
    const messages = buildWakeUpMessages([...asked, { ...look('d', 0), group: 'x1' }])
    expect(messages.map(({ group }) => group)).toEqual([undefined, 'x1', 'x2'])
    expect(messages.map(({ body }) => readWakeUpMessage(body))).toEqual([
      { gids: ['a'] },
      { gids: ['b', 'd'], group: 'x1' },
      { gids: ['c'], group: 'x2' },
    ])
    expect(readWakeUpMessage('{"gids":["a"],"group":7}')).toEqual({ gids: ['a'] })
  })

  it('A transaction that is due later than a message can be is left to the sweeper', () => {
    const [at, after] = [DELAY_S_MAX * 1_000, DELAY_S_MAX * 1_000 + 1]
    expect(buildWakeUpMessages([look('a', at), look('b', after)])).toEqual([
      { body: '{"gids":["a"]}', delayS: DELAY_S_MAX },
    ])
  })

  it('The gids that are written are read back, each once, in messages of bounded size', () => {
    const gids = fc.uniqueArray(fc.stringMatching(/^[a-z0-9]{1,12}$/), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(gids, fc.array(fc.nat(1_000_000)), (names, dues) => {
        const wakeUps = names.map((gid, position) => look(gid, dues[position % dues.length] ?? 0))
        const messages = buildWakeUpMessages(wakeUps)
        const read = messages.flatMap(({ body, delayS }) =>
          (readGids(body) ?? []).map((gid) => `${gid} ${delayS}`),
        )
        const meant = wakeUps
          .filter(({ dueInMs }) => dueInMs <= DELAY_S_MAX * 1_000)
          .map(({ gid, dueInMs }) => `${gid} ${Math.ceil(dueInMs / 1_000)}`)
        expect([...read].sort()).toEqual([...meant].sort())
        expect(messages.every(({ body }) => (readGids(body)?.length ?? 0) <= GIDS_PER_MESSAGE_MAX)).toBe(true)
      }),
    )
  })

  it.each([
    '',
    'gids',
    'null',
    '[]',
    '{}',
    '{"gids":"a"}',
    '{"gids":[1]}',
    '{"gids":["a b"]}',
    '{"gids":[""]}',
    '{"__proto__":{"gids":["a"]}}',
    JSON.stringify({
      gids: Array.from({ length: GIDS_PER_MESSAGE_MAX + 1 }, (_, position) => `g${position}`),
    }),
  ])('The text %s is not read as a wake-up message', (body) => {
    expect(readGids(body)).toBeUndefined()
    expect(({} as { gids?: unknown }).gids).toBeUndefined()
  })

  it('A gid that is twice in a wake-up message is read once', () => {
    expect(readGids('{"gids":["a","b","a"]}')).toEqual(['a', 'b'])
  })
})
