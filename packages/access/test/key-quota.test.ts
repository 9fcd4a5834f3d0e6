import { describe, expect, it } from 'vitest'
import { digestSecret } from '../src/digest-secret.ts'
import {
  createGate,
  KeyQuota,
  type QuotaBounds,
  type RequestHead,
  readBearerKey,
  readNetworks,
  type StoredKey,
} from '../src/index.ts'
import { drawKeyParts, writeKey } from '../src/key-text.ts'

const DAY_MS = 24 * 3_600_000
const MEBIBYTE = 1024 * 1024

function makeKey() {
  const parts = drawKeyParts()
  const stored: StoredKey = {
    id: parts.id,
    name: 'x',
    digest: digestSecret(parts.secret),
    scopes: ['submit'],
    createdAt: 0,
    expiresAt: null,
  }
  return { stored, text: writeKey(parts) }
}

const one = makeKey()
const other = makeKey()

function buildGate(bounds: QuotaBounds) {
  const clock = { nowMs: DAY_MS * 20_000 + 5_000 }
  const find = (id: string) => [one, other].find(({ stored }) => stored.id === id)?.stored
  const gate = createGate({
    keys: { find },
    credentials: readBearerKey,
    nowMs: () => clock.nowMs,
    keyQuota: new KeyQuota(bounds),
  })
  const codes = (stores: 'transaction' | 'branch' | undefined) => {
    const guard = gate.buildGuard(['submit'], true, stores)
    return (length?: string, { text } = one): string => {
      const headers = {
        authorization: `Bearer ${text}`,
        ...(length === undefined ? {} : { 'content-length': length }),
      }
      const head: RequestHead = { headers, socket: { remoteAddress: '192.0.2.1' } }
      const passed = guard(head)
      return passed instanceof Error ? passed.code : 'passes'
    }
  }
  return { clock, gate, submit: codes('transaction'), register: codes('branch'), command: codes(undefined) }
}

describe('S42: the quota of a key', () => {
  it('The quota bounds new transactions a day, each key on its own, and nothing that stores none', () => {
    const { submit, register, command } = buildGate({ submitsMax: 2 })
    expect([submit('10'), submit('10'), submit('10')]).toEqual(['passes', 'passes', 'SAGA_QUOTA_EXCEEDED'])
    expect(submit('10', other)).toBe('passes')
    expect([register('10'), command('10')]).toEqual(['passes', 'passes'])
  })

  it('The quota bounds bytes a day, also those of registered branches, and a refused request uses none of it', () => {
    const { submit, register } = buildGate({ bytesMax: 100 })
    expect(submit('60')).toBe('passes')
    expect(submit('60')).toBe('SAGA_QUOTA_EXCEEDED')
    expect(register('40')).toBe('passes')
    expect(register('1')).toBe('SAGA_QUOTA_EXCEEDED')
  })

  it.each([[undefined], ['-1'], ['1e999'], ['NaN'], ['99999999999999999999'], ['0x10, 5']])(
    'A body whose length is %s counts as the largest',
    (length) => {
      const { submit } = buildGate({ bytesMax: MEBIBYTE })
      expect(submit(length)).toBe('passes')
      expect(submit('1')).toBe('SAGA_QUOTA_EXCEEDED')
    },
  )

  it('The quota counts what a row has beyond its body, and nothing where it has less', () => {
    const { gate, submit } = buildGate({ bytesMax: 100 })
    const head: RequestHead = {
      headers: { authorization: `Bearer ${one.text}`, 'content-length': '10' },
      socket: { remoteAddress: '192.0.2.1' },
    }
    expect(gate.buildGuard(['submit'], true, 'transaction')(head)).toBe(one.stored.id)
    expect(gate.takeStored?.(head, 5)).toBeUndefined()
    expect(gate.takeStored?.(head, 101)).toMatchObject({ code: 'SAGA_QUOTA_EXCEEDED' })
    expect(gate.takeStored?.(head, 60)).toBeUndefined()
    expect([submit('41'), submit('40')]).toEqual(['SAGA_QUOTA_EXCEEDED', 'passes'])
  })

  it('The quota is whole again at midnight UTC, and not when the clock goes back', () => {
    const { submit, clock } = buildGate({ submitsMax: 1 })
    expect([submit('1'), submit('1')]).toEqual(['passes', 'SAGA_QUOTA_EXCEEDED'])
    clock.nowMs -= DAY_MS
    expect(submit('1')).toBe('SAGA_QUOTA_EXCEEDED')
    clock.nowMs += 2 * DAY_MS - 5_000
    expect(submit('1')).toBe('passes')
  })

  it('The quota counts a bounded number of keys', () => {
    const quota = new KeyQuota({ submitsMax: 1 })
    const take = (n: number) => quota.take(`${n}`, 'transaction', '1', DAY_MS)
    for (let n = 0; n < 10_001; n++) expect(take(n)).toBe(true)
    expect(take(10_000)).toBe(false)
    expect(take(0)).toBe(true)
  })

  it('Each address has a quota of its own where no key is needed', () => {
    const keylessNetworks = readNetworks(['192.0.2.0/24'])
    if (keylessNetworks === undefined) throw new Error('no networks')
    const gate = createGate({
      keys: { find: () => undefined },
      credentials: readBearerKey,
      keylessNetworks,
      keyQuota: new KeyQuota({ submitsMax: 1 }),
    })
    const guard = gate.buildGuard(['submit'], true, 'transaction')
    const submitFrom = (remoteAddress: string) => {
      const passed = guard({ headers: {}, socket: { remoteAddress } })
      return passed instanceof Error ? passed.code : 'passes'
    }
    expect(['192.0.2.1', '192.0.2.1', '192.0.2.2'].map(submitFrom)).toEqual([
      'passes',
      'SAGA_QUOTA_EXCEEDED',
      'passes',
    ])
  })

  it('The quota says when to come again', () => {
    expect(new KeyQuota({}).readRetryAfterS(DAY_MS + 5_000)).toBe(86_395)
  })

  it('Mutant: routes that do not say what they store have no quota', () => {
    const { command } = buildGate({ submitsMax: 1, bytesMax: 1 })
    expect([command('10'), command('10')]).toEqual(['passes', 'passes'])
  })
})
