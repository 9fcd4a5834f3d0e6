import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createKey,
  isGranted,
  KeyQuota,
  KeyRate,
  KeyRing,
  readBearerOrBasicKey,
  readNetworks,
  SCOPES,
  type Scope,
  type ScopedAccess,
} from '@counterstep/access'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DTM_METHODS, type DtmMethod } from '../src/method-access.ts'
import { DEFINITION, openGrpcFixture } from './support/grpc-fixture.ts'

const UNAUTHENTICATED = 16
const PERMISSION_DENIED = 7
const RESOURCE_EXHAUSTED = 8

const keys = new Map<Scope, string>()
let folder = ''
let ring: KeyRing

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dtm-grpc-keys-'))
  const path = join(folder, 'keys.json')
  for (const scope of SCOPES) {
    const { key } = await createKey(path, { name: scope, scopes: [scope], createdAt: 0, expiresAt: null })
    keys.set(scope, key)
  }
  ring = await KeyRing.open(path, { onRead: () => undefined, onBroken: () => undefined })
})

afterAll(async () => {
  ring.close()
  await rm(folder, { recursive: true, force: true })
})

const asBearer = (scope: Scope) => ({ authorization: `Bearer ${keys.get(scope)}` })
const isRefused = (code: number) => code === UNAUTHENTICATED || code === PERMISSION_DENIED
const tcc = (Gid: string) => ({ Gid, TransType: 'tcc' })

/** These are the scopes of the same commands over HTTP. */
const SCOPES_OF: Readonly<Record<DtmMethod, readonly Scope[]>> = {
  NewGid: ['submit'],
  Submit: ['submit'],
  Prepare: ['submit'],
  Abort: ['submit', 'admin'],
  RegisterBranch: ['submit'],
  PrepareWorkflow: ['submit'],
  Subscribe: ['admin'],
  Unsubscribe: ['admin'],
  DeleteTopic: ['admin'],
}

describe('the access to methods', () => {
  it('Each method of the service has its scopes', () => {
    expect(Object.keys(DTM_METHODS).sort()).toEqual(Object.keys(DEFINITION['dtmgimp.Dtm'] ?? {}).sort())
    for (const [name, { access }] of Object.entries(DTM_METHODS))
      expect([name, access]).toEqual([name, SCOPES_OF[name as DtmMethod]])
  })

  it('A method is open to a key with its scope alone, and to no call without a key', async () => {
    await using fixture = await openGrpcFixture({ gate: { keys: ring } })
    for (const [name, { access }] of Object.entries(DTM_METHODS)) {
      const { code } = await fixture.client.call(name, {})
      expect([name, code]).toEqual([name, UNAUTHENTICATED])
      for (const scope of SCOPES) {
        const { code } = await fixture.client.call(name, {}, asBearer(scope))
        const isOpen = isGranted(access as ScopedAccess, (each) => each === scope)
        expect([name, scope, isRefused(code)]).toEqual([name, scope, !isOpen])
      }
    }
  })

  for (const [what, authorization] of [
    ['a key that is unknown', 'Bearer cs_unknown_0123456789'],
    ['another scheme', 'Digest abc'],
    ['two words', 'Bearer a b'],
  ] as const) {
    it(`A call with ${what} is refused`, async () => {
      await using fixture = await openGrpcFixture({ gate: { keys: ring } })
      expect(await fixture.client.call('NewGid', {}, { authorization })).toMatchObject({
        code: UNAUTHENTICATED,
      })
    })
  }

  it('A client may carry its key as a login', async () => {
    await using fixture = await openGrpcFixture({ gate: { keys: ring } })
    const login = Buffer.from(`any:${keys.get('submit')}`).toString('base64')
    const metadata = { authorization: `Basic ${login}` }
    expect(await fixture.client.call('NewGid', {}, metadata)).toMatchObject({ code: 0 })
  })

  it('A network of --dtm-networks submits without a key, and does nothing else', async () => {
    const keylessNetworks = readNetworks(['127.0.0.0/8'])
    if (keylessNetworks === undefined) throw new Error('no network')
    await using fixture = await openGrpcFixture({ gate: { keys: ring, keylessNetworks } })
    expect(await fixture.client.call('Prepare', tcc('g-1'))).toMatchObject({ code: 0 })
    const topic = { Topic: 't', URL: 'http://127.0.0.1/a' }
    expect(await fixture.client.call('Subscribe', topic)).toMatchObject({ code: UNAUTHENTICATED })
  })

  it('A call that a page of another origin may have made is refused', async () => {
    await using fixture = await openGrpcFixture()
    const metadata = { origin: 'https://evil.example' }
    expect(await fixture.client.call('NewGid', {}, metadata)).toMatchObject({ code: PERMISSION_DENIED })
  })

  it('The rate of a key holds over gRPC', async () => {
    await using fixture = await openGrpcFixture({ gate: { keys: ring, keyRate: new KeyRate(2) } })
    const codes = []
    for (let n = 0; n < 4; n++) codes.push((await fixture.client.call('NewGid', {}, asBearer('submit'))).code)
    expect(codes.slice(0, 2)).toEqual([0, 0])
    expect(codes).toContain(RESOURCE_EXHAUSTED)
  })

  it('The quota of a key counts what is stored, by the bytes of the message', async () => {
    const keyQuota = new KeyQuota({ submitsMax: 2, bytesMax: 100_000 })
    await using fixture = await openGrpcFixture({
      gate: { keys: ring, keyQuota, credentials: readBearerOrBasicKey },
    })
    const prepare = async (gid: string) =>
      (await fixture.client.call('Prepare', tcc(gid), asBearer('submit'))).code
    expect([await prepare('q-1'), await prepare('q-2'), await prepare('q-3')]).toEqual([
      0,
      0,
      RESOURCE_EXHAUSTED,
    ])
    expect(await fixture.client.call('NewGid', {}, asBearer('submit'))).toMatchObject({ code: 0 })
  })
})
