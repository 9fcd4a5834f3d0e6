import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Branch, type BranchError, createClient, saga } from '@counterstep/sdk'
import { migrateBarrier, sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import { branchHandler, signedCalls } from '@counterstep/sdk/fastify'
import { createSigningKeyText, parseSigningKey, type SigningKey, toPublicJwk } from '@counterstep/signature'
import { freePort } from '@counterstep/test-servers'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { fastify } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startChild } from './child-process.ts'

const SAGAS = 200
const KEYS = 3
const CALLERS = 8
const TIMEOUT_MS = 120_000

interface Key {
  readonly text: string
  readonly key: SigningKey
  readonly publicKey: string
}

function newKey(): Key {
  const text = createSigningKeyText('ed25519')
  const key = parseSigningKey(text)
  return { text, key, publicKey: toPublicJwk(key) ?? '' }
}

/** Starts a bank with one account, behind a barrier and signatures. */
async function startBank(known: readonly Key[]) {
  const database = new DatabaseSync(':memory:')
  migrateBarrier(database)
  database.exec('CREATE TABLE account (id TEXT PRIMARY KEY, cents INTEGER NOT NULL)')
  database.exec("INSERT INTO account VALUES ('alice', 0)")
  const refused: string[] = []
  const signers = new Set<string>()
  const app = fastify()
  const keys = known.map(({ publicKey }) => publicKey)
  const onRefused = ({ code }: BranchError) => refused.push(code)
  const port = await freePort()
  const baseUrl = `http://127.0.0.1:${port}`
  app.addHook('preParsing', signedCalls({ keys, baseUrl, onRefused }))
  app.addHook('preHandler', async ({ headers }) => {
    signers.add(/keyid="([^"]+)"/.exec(String(headers['signature-input']))?.[1] ?? '')
  })
  const handler = branchHandler(sqliteBarrier(database), (tx: DatabaseSync, branch: Branch) => {
    const delta = branch.op === 'action' ? 1 : -1
    tx.prepare('UPDATE account SET cents = cents + ? WHERE id = ?').run(delta, 'alice')
  })
  app.post('/credit', handler)
  const url = await app.listen({ port, host: '127.0.0.1' })
  onTestFinished(() => app.close())
  const cents = () => database.prepare('SELECT cents FROM account').get()?.cents
  return { url: `${url}/credit`, refused, signers, cents }
}

async function startServer({ text }: Key) {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-rotation-'))
  const keyFile = join(folder, 'key.pem')
  const write = (path: string, content: string) => writeFileSync(path, content, { mode: 0o600 })
  write(keyFile, text)
  const flags = [
    '--port',
    '0',
    '--ready-json',
    '--log-level',
    'error',
    '--retry-initial-ms',
    '50',
    '--retry-cap-ms',
    '200',
  ]
  const files = ['--data', join(folder, 'data'), '--signing-key-file', keyFile]
  const server = await startChild(COUNTERSTEP_PROGRAM, ['serve', ...flags, ...files])
  onTestFinished(async () => {
    await server.kill('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    client: createClient({ url: server.url }),
    /** Replaces the key like an operator: another file, then its name. */
    replaceKey(next: Key) {
      write(`${keyFile}.next`, next.text)
      renameSync(`${keyFile}.next`, keyFile)
    },
  }
}

function creditTwice(url: string) {
  const branch = { action: url, compensation: url, payload: { cents: 1 } }
  return saga().branch('one', branch).branch('two', branch)
}

describe('the key of a server under load', () => {
  it('S22: The key is replaced twice in 200 sagas, and none of them fails or is refused', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const keys = [newKey(), newKey(), newKey()] as const
    const bank = await startBank(keys)
    const { client, replaceKey } = await startServer(keys[0])
    const statuses = new Map<string, number>()
    let sagas = 0
    for (const [index, key] of keys.entries()) {
      if (index > 0) replaceKey(key)
      const sagasMin = (SAGAS / KEYS) * (index + 1)
      const isDone = () => sagas >= sagasMin && bank.signers.has(key.key.keyId)
      const caller = async () => {
        while (!isDone()) {
          const { status } = await client.submit(creditTwice(bank.url), { waitMs: 20_000 })
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          sagas += 1
        }
      }
      await Promise.all(Array.from({ length: CALLERS }, caller))
    }
    expect(sagas).toBeGreaterThanOrEqual(SAGAS)
    expect([Object.fromEntries(statuses), bank.refused]).toEqual([{ succeeded: sagas }, []])
    expect(bank.signers).toEqual(new Set(keys.map(({ key }) => key.keyId)))
    expect(bank.cents()).toBe(2 * sagas)
  })

  it('S22: A saga waits and does not fail where the service was not told of the key, and ends when it is signed by one that is known', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const [old, next] = [newKey(), newKey()]
    const bank = await startBank([next])
    const { client, replaceKey } = await startServer(old)
    const waiting = client.submit(creditTwice(bank.url), { waitMs: 60_000 })
    await expect.poll(() => bank.refused.length, { timeout: 30_000 }).toBeGreaterThan(1)
    expect([new Set(bank.refused), bank.cents()]).toEqual([new Set(['BRANCH_SIGNATURE_KEY_UNKNOWN']), 0])
    replaceKey(next)
    expect((await waiting).status).toBe('succeeded')
    expect(bank.cents()).toBe(2)
  })
})
