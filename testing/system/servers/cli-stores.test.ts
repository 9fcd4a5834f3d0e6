import { randomBytes } from 'node:crypto'
import type { TransactionView } from '@counterstep/protocol'
import { type RedisServer, startRedis } from '@counterstep/test-servers'
import { canary } from '@counterstep/test-servers/canary'
import { describeOn, describeOwn } from '@counterstep/test-servers/vitest'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BranchService, startBranchService, submit } from '../../../packages/cli/test/branch-service.ts'
import { ServeProcess } from '../../../packages/cli/test/serve-process.ts'
import { startPortGate } from './cli-stores/port-gate.ts'
import { createSqlAccounts, type SqlAccounts } from './cli-stores/sql-accounts.ts'

// These have characters that a URL must encode: neither form may be shown.
const CANARY = canary('store-password')
const PASSWORD = `${CANARY}:/%@`
const PASSWORDS = { admin: `admin-${PASSWORD}`, serving: `serving-${PASSWORD}` }

let branch: BranchService
beforeAll(async () => {
  branch = await startBranchService()
})
afterAll(() => branch.close())

function serving(store: string, password: string | undefined, ...more: readonly string[]): ServeProcess {
  const args = ['serve', '--ready-json', '--port', '0', '--store', store, ...more]
  return new ServeProcess(args, password === undefined ? {} : { COUNTERSTEP_STORE_PASSWORD: password })
}

async function jsonAt(url: string): Promise<unknown> {
  return (await fetch(url)).json()
}

function logLine({ stdout }: ServeProcess, message: string): unknown {
  return stdout.map((line) => JSON.parse(line)).find(({ msg }) => msg === message)
}

async function stopped(process: ServeProcess): Promise<void> {
  process.signal('SIGTERM')
  const { code, tookMs } = await process.ended()
  expect(code).toBe(0)
  expect(tookMs).toBeLessThan(9_500)
  expect(process.stderr).toEqual([])
}

/** Runs a saga to its end, and answers all that a caller can see of the server. */
async function runSaga(url: string): Promise<string> {
  const response = await submit(url, { branches: [{ action: branch.url }, { action: branch.url }] }, 10)
  const view = (await response.json()) as TransactionView
  expect(view).toMatchObject({ status: 'succeeded' })
  const pages = ['/metrics', '/health/ready', '/', '/v1/transactions', '/v1/transactions/none']
  const texts = await Promise.all(pages.map(async (page) => (await fetch(url + page)).text()))
  return texts.join('\n')
}

const MYSQL = { name: 'mysql', applied: 'schema 1, 2, 3, 4 applied', upToDate: 'schema is up to date (4)' }
const SQL_STORES = {
  mariadb: MYSQL,
  mysql: MYSQL,
  postgres: { name: 'postgres', applied: 'schema 1 applied', upToDate: 'schema is up to date (1)' },
} as const

for (const kind of ['mariadb', 'mysql', 'postgres'] as const) {
  describeOn(kind, 'counterstep', (rootUrl) => {
    const { name, applied, upToDate } = SQL_STORES[kind]
    let accounts: SqlAccounts
    beforeAll(async () => {
      accounts = await createSqlAccounts(rootUrl, PASSWORDS)
    })
    afterAll(() => accounts.drop())

    function migrating(store: string, password: string, ...more: readonly string[]): ServeProcess {
      const args = ['migrate', '--store', store, ...more]
      return new ServeProcess(args, { COUNTERSTEP_STORE_PASSWORD: password })
    }

    it('The server refuses to serve before the migration, as a user who may not change tables', async () => {
      const process = serving(accounts.servingUrl, PASSWORDS.serving)
      expect((await process.ended()).code).toBe(1)
      expect(process.output).toContain('"code":"SAGA_STORE_SCHEMA","msg":"cannot start: SAGA_STORE_SCHEMA: ')
      expect(process.output).not.toContain('"stack"')
      expect(process.output).not.toContain(CANARY)
    })

    it('The migration is applied once, and says so', async () => {
      const first = migrating(accounts.adminUrl, PASSWORDS.admin)
      expect((await first.ended()).code).toBe(0)
      expect(first.stdout).toEqual([applied])
      const second = migrating(accounts.adminUrl, PASSWORDS.admin)
      expect((await second.ended()).code).toBe(0)
      expect(second.stdout).toEqual([upToDate])
      expect(first.output + second.output).not.toContain(CANARY)
    })

    it('The server serves as a user with rights on rows only, and shows its password nowhere', async () => {
      const process = serving(accounts.servingUrl, PASSWORDS.serving, '--store-failover', 'lossless')
      const url = await process.url()
      const store = { name, durabilityClass: 'A', failover: 'lossless', forced: false }
      expect(await jsonAt(`${url}/health/ready`)).toMatchObject({ status: 'ready', store })
      const seen = await runSaga(url)
      await stopped(process)
      expect(logLine(process, 'listening')).toMatchObject({
        store: name,
        durabilityClass: 'A',
        failover: 'lossless',
        place: accounts.servingUrl,
      })
      expect(seen).toContain('counterstep_store_events_total')
      for (const text of [seen, process.output]) {
        expect(text).not.toContain(CANARY)
        expect(text).not.toContain(encodeURIComponent(PASSWORD))
      }
    })

    it('The password in the URL is taken, and shown nowhere', async () => {
      const login = `_serving:${encodeURIComponent(PASSWORDS.serving)}@`
      const store = accounts.servingUrl.replace('_serving@', login)
      const process = serving(store, undefined, '--store-accept-class-c', '--store-failover', 'lossy')
      const url = await process.url()
      expect(await jsonAt(`${url}/health/ready`)).toMatchObject({
        store: { failover: 'lossy', forced: true },
      })
      const seen = await runSaga(url)
      await stopped(process)
      expect(process.output).toContain('--store-accept-class-c is on')
      expect(process.output).toContain('A failover of the store may take')
      expect(seen + process.output).not.toContain(CANARY)
    })

    it('A wrong password ends the program with a sentence that names the user', async () => {
      for (const process of [
        serving(accounts.servingUrl, `wrong-${PASSWORD}`, '--store-wait-ms', '0'),
        migrating(accounts.servingUrl, `wrong-${PASSWORD}`, '--store-wait-ms', '0'),
      ]) {
        expect((await process.ended()).code).toBe(1)
        expect(process.output).toMatch(/SAGA_STORE_\w+: .*_serving/)
        expect(process.output).not.toContain('"stack"')
        expect(process.output).not.toContain(CANARY)
      }
    })

    it('The server waits for a database that starts later', async () => {
      const { hostname, port, pathname, username } = new URL(accounts.servingUrl)
      const gate = await startPortGate({ host: hostname, port: Number(port) })
      const process = serving(`${name}://${username}@127.0.0.1:${gate.port}${pathname}`, PASSWORDS.serving)
      await process.logged('waiting for the store')
      gate.open()
      await runSaga(await process.url())
      await stopped(process)
      gate.close()
    })
  })
}

describeOn('redis', 'counterstep', (redisUrl) => {
  const user = `cli_${randomBytes(4).toString('hex')}`
  const store = redisUrl.replace('redis://', `redis://${user}@`)
  const prefix = ['--store-key-prefix', user]
  const admin = new Redis(redisUrl, { lazyConnect: true })
  beforeAll(async () => {
    await admin.connect()
    await admin.acl('SETUSER', user, 'on', `>${PASSWORD}`, `~${user}*`, '+@all')
  })
  afterAll(async () => {
    const keys = await admin.keys(`${user}*`)
    if (keys.length > 0) await admin.del(keys)
    await admin.acl('DELUSER', user)
    await admin.quit()
  })

  it('The server serves on Redis, and shows its password nowhere', async () => {
    const process = serving(store, PASSWORD, ...prefix)
    const url = await process.url()
    const expected = { name: 'redis', durabilityClass: 'A', failover: 'none', forced: false }
    expect(await jsonAt(`${url}/health/ready`)).toMatchObject({ status: 'ready', store: expected })
    const seen = await runSaga(url)
    await stopped(process)
    expect(logLine(process, 'listening')).toMatchObject({ store: 'redis', place: store })
    expect(seen + process.output).not.toContain(CANARY)
  })

  it('A Redis that hides its settings is refused until its class is told', async () => {
    const hidden = `${user}_hidden`
    await admin.acl('SETUSER', hidden, 'on', `>${PASSWORD}`, `~${user}*`, '+@all', '-config', '-info')
    try {
      const url = redisUrl.replace('redis://', `redis://${hidden}@`)
      const refused = serving(url, PASSWORD, ...prefix)
      expect((await refused.ended()).code).toBe(1)
      expect(refused.output).toMatch(/SAGA_STORE_NOT_DURABLE: .*--store-durability/)
      const process = serving(url, PASSWORD, ...prefix, '--store-durability', 'b')
      expect(await jsonAt(`${await process.url()}/health/ready`)).toMatchObject({
        store: { name: 'redis', durabilityClass: 'B', forced: false },
      })
      await stopped(process)
    } finally {
      await admin.acl('DELUSER', hidden)
    }
  })

  it('A wrong password ends the server with a sentence that says so', async () => {
    const process = serving(store, `wrong-${PASSWORD}`, '--store-wait-ms', '0')
    expect((await process.ended()).code).toBe(1)
    expect(process.output).toMatch(/cannot start: SAGA_STORE_\w+: .*WRONGPASS/)
    expect(process.output).not.toContain(CANARY)
  })

  it('A Redis has nothing to migrate', async () => {
    const process = new ServeProcess(['migrate', '--store', redisUrl])
    expect((await process.ended()).code).toBe(0)
    expect(process.stdout).toEqual(['nothing to do: a redis store needs no migration'])
  })
})

describeOn('redis-cluster', 'counterstep', (clusterUrl) => {
  it('The server serves on a Redis Cluster', async () => {
    const prefix = ['--store-key-prefix', `cli_${randomBytes(4).toString('hex')}`]
    const process = serving(clusterUrl, undefined, ...prefix)
    const url = await process.url()
    expect(await jsonAt(`${url}/health/ready`)).toMatchObject({ status: 'ready' })
    await runSaga(url)
    await stopped(process)
    expect(logLine(process, 'listening')).toMatchObject({ place: clusterUrl })
  })
})

describeOwn('redis', 'counterstep on one that forgets', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis({ settings: ['--appendonly', 'no'] })
  })
  afterAll(() => redis.stop())

  it('A Redis that forgets is refused, and the error names the switch that forces it', async () => {
    const process = serving(redis.url, undefined)
    expect((await process.ended()).code).toBe(1)
    expect(process.output).toContain('"code":"SAGA_STORE_NOT_DURABLE"')
    expect(process.output).toContain('--store-accept-class-c starts all the same')
    expect(process.output).not.toContain('"stack"')
  })

  it('A server that the switch forces onto a Redis that forgets says so, and reports what happens to its store', async () => {
    const process = serving(redis.url, undefined, '--store-accept-class-c')
    const url = await process.url()
    const store = { name: 'redis', durabilityClass: 'C', forced: true }
    expect(await jsonAt(`${url}/health/ready`)).toMatchObject({ store })
    await process.printed('--store-accept-class-c is on')
    await process.printed('The store is class C')
    await redis.restart()
    await process.logged('store-connection-lost')
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toContain('counterstep_store_events_total{name="store-connection-lost"} 1')
    await stopped(process)
  })
})
