import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findBinaries, type RedisServer, readEnvironment, startRedis } from '@counterstep/test-servers'
import { describeOn, describeOwn } from '@counterstep/test-servers/vitest'
import { Redis } from 'ioredis'
import { createConnection } from 'mysql2/promise'
import { it, onTestFinished } from 'vitest'
import { expectRestore } from '../../../packages/cli/test/backup-run.ts'
import { ServeProcess } from '../../../packages/cli/test/serve-process.ts'

const TEST = { timeout: 90_000 }

function serving(store: string): ServeProcess {
  return new ServeProcess(['serve', '--ready-json', '--port', '0', '--lease-ms', '3000', '--store', store])
}

describeOn('mariadb', 'a dump that is made while it serves', (rootUrl) => {
  it(
    'A dump that is made while the server serves can be restored, and the server goes on with it',
    TEST,
    async (context) => {
      const { searchPath } = readEnvironment()
      const [dump] = await findBinaries(['mariadb-dump', 'mysqldump'], searchPath)
      const [client] = await findBinaries(['mariadb', 'mysql'], searchPath)
      if (dump === undefined || client === undefined) return context.skip('no dump program of MariaDB here')
      const { port } = new URL(rootUrl)
      const from = ['--no-defaults', '--protocol=tcp', '--host=127.0.0.1', `--port=${port}`, '--user=root']
      const root = await createConnection(rootUrl)
      onTestFinished(() => root.end())
      const name = `backup_${randomBytes(4).toString('hex')}`
      const names = { now: name, restored: `${name}_restored` }
      for (const each of Object.values(names)) {
        await root.query(`CREATE DATABASE ${each}`)
        onTestFinished(async () => void (await root.query(`DROP DATABASE ${each}`)))
      }
      const folder = mkdtempSync(join(tmpdir(), 'counterstep-backup-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const file = join(folder, 'counterstep.sql')
      let store = `${rootUrl}/${names.now}`
      await expectRestore({
        serve: () => serving(store),
        async backUp() {
          const options = ['--single-transaction', '--hex-blob', '--no-tablespaces', `--result-file=${file}`]
          await promisify(execFile)(dump, [...from, ...options, names.now])
        },
        async restore() {
          await promisify(execFile)(client, [...from, '--execute', `source ${file}`, names.restored])
          store = `${rootUrl}/${names.restored}`
        },
      })
    },
  )
})

describeOwn('redis', 'a copy of the append-only files that is made while it serves', () => {
  it(
    'A copy of the append-only files that is made while the server serves can be restored, and the server goes on with it',
    TEST,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'counterstep-backup-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      let server: RedisServer = await startRedis()
      onTestFinished(() => server.stop())
      await expectRestore({
        serve: () => serving(server.url),
        async backUp() {
          const redis = new Redis(server.url)
          await redis.config('SET', 'auto-aof-rewrite-percentage', '0')
          const [, data = ''] = (await redis.config('GET', 'dir')) as string[]
          cpSync(join(data, 'appendonlydir'), join(folder, 'appendonlydir'), { recursive: true })
          await redis.config('SET', 'auto-aof-rewrite-percentage', '100')
          redis.disconnect()
        },
        async restore() {
          await server.stop()
          server = await startRedis({ settings: ['--dir', folder] })
        },
      })
    },
  )
})
