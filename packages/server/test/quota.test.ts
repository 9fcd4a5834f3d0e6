import { createGate, KeyQuota, type QuotaBounds, readBearerKey } from '@counterstep/access'
import type { Gid } from '@counterstep/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../src/index.ts'
import { buildRealServer } from './real-server.ts'
import { openScopeKeys, type ScopeKeys } from './scope-keys.ts'
import { createScriptedEngine } from './scripted-engine.ts'

let held: ScopeKeys
beforeAll(async () => {
  held = await openScopeKeys()
})
afterAll(() => held[Symbol.asyncDispose]())

function buildKeyedApp(bounds: QuotaBounds) {
  const engine = createScriptedEngine()
  const gate = createGate({ keys: held.ring, credentials: readBearerKey, keyQuota: new KeyQuota(bounds) })
  const app = buildApp({ engine, gate })
  const post = (url: string, payload: object) =>
    app.inject({ method: 'POST', url, payload, headers: { authorization: `Bearer ${held.keys.submit}` } })
  return { app, engine, post }
}

describe('S42: the bytes of a key', () => {
  it('S42: The quota counts the stored bytes: headers of a transaction count with each of its branches', async () => {
    await using real = await buildRealServer(() => ({ result: 'success' }))
    const keyQuota = new KeyQuota({ bytesMax: 1_000_000 })
    const gate = createGate({ keys: held.ring, credentials: readBearerKey, keyQuota })
    const app = buildApp({ engine: real.engine, gate })
    const branches = Array.from({ length: 100 }, () => ({
      action: 'http://127.0.0.1/a',
      compensation: 'http://127.0.0.1/c',
    }))
    const submit = (gid: string) =>
      app.inject({
        method: 'POST',
        url: '/v1/transactions',
        headers: { authorization: `Bearer ${held.keys.submit}` },
        payload: { gid, headers: { 'x-note': 'x'.repeat(8_000) }, branches },
      })
    expect((await submit('first')).statusCode).toBe(202)
    const answer = await submit('second')
    expect([answer.statusCode, answer.json().code]).toEqual([429, 'SAGA_QUOTA_EXCEEDED'])
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(1)
    expect(await real.engine.read('second' as Gid)).toBeUndefined()
    await app.close()
  })
})

describe('S42: a key whose quota is used up', () => {
  it('S42: A used-up quota is answered with 429 until the next day, and nothing reaches the engine', async () => {
    const { app, engine, post } = buildKeyedApp({ submitsMax: 1 })
    expect((await post('/v1/transactions', { branches: [] })).statusCode).toBe(202)
    const answer = await post('/v1/transactions', { branches: [] })
    expect(answer.statusCode).toBe(429)
    expect(answer.json()).toMatchObject({ code: 'SAGA_QUOTA_EXCEEDED', status: 429 })
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(86_400)
    expect(engine.calls.map(({ verb }) => verb)).toEqual(['submit'])
    await app.close()
  })

  it('S42: A used-up quota registers no branch either, but a transaction may still be submitted and aborted', async () => {
    const { app, engine, post } = buildKeyedApp({ bytesMax: 20 })
    expect((await post('/v1/transactions/a/branches', { id: 'x'.repeat(40) })).statusCode).toBe(429)
    expect((await post('/v1/transactions/a/submit', {})).statusCode).not.toBe(429)
    expect((await post('/v1/transactions/a/abort', { reason: 'x'.repeat(40) })).statusCode).not.toBe(429)
    expect(engine.calls.map(({ verb }) => verb)).not.toContain('registerBranch')
    await app.close()
  })
})
