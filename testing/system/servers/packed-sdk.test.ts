import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { describeOn } from '@counterstep/test-servers/vitest'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startChild } from '../e2e/child-process.ts'
import { readOutput, startService } from '../e2e/packed/run-program.ts'
import { SdkProject } from '../e2e/packed/sdk-project.ts'
import { replaceTexts } from '../e2e/packed/user-project.ts'

let project: SdkProject

beforeAll(async () => {
  project = await SdkProject.create()
  project.addFromRepository(['express', 'fastify', 'mysql2'])
})
afterAll(() => project?.remove())

for (const kind of ['mariadb', 'mysql'] as const) {
  describeOn(kind, "the README's participant, with the packed SDK", (rootUrl) => {
    const database = `readme_${crypto.randomUUID().slice(0, 8)}`
    const stops: (() => Promise<void>)[] = []
    let connection: Connection

    beforeAll(async () => {
      connection = await createConnection(rootUrl)
      await connection.query(`CREATE DATABASE ${database}`)
      await connection.query(`USE ${database}`)
      await connection.query('CREATE TABLE account (id VARCHAR(32) PRIMARY KEY, cents BIGINT NOT NULL)')
      await connection.query("INSERT INTO account VALUES ('alice', 4000)")
    })
    afterAll(async () => {
      await Promise.all(stops.map((stop) => stop()))
      await connection.query(`DROP DATABASE ${database}`)
      await connection.end()
    })

    async function start(): Promise<Readonly<Record<string, string>>> {
      const cwd = join(project.folder, kind)
      mkdirSync(cwd)
      const readme = project.readExamples('README.md')
      const program = `participant-${kind}.ts`
      const here = { 'mysql://bank@127.0.0.1/bank': `${rootUrl}/${database}`, 'port: 3001': 'port: 0' }
      project.write(program, replaceTexts(readme.get('participant.ts') ?? '', here))
      const debit = await startService(join(project.folder, program), { cwd })
      stops.push(debit.stop)
      for (const [name, code] of project.readExamples('docs/participant.md')) project.write(name, code)
      const credit = await startService(join(project.folder, 'serve.ts'), { cwd, env: { PORT: '0' } })
      stops.push(credit.stop)
      const flags = ['--port', '0', '--data', join(cwd, 'data'), '--ready-json', '--log-level', 'error']
      const server = await startChild(COUNTERSTEP_PROGRAM, ['serve', ...flags])
      stops.push(() => server.kill('SIGKILL'))
      return {
        'http://127.0.0.1:8470': server.url,
        'http://127.0.0.1:3001': debit.url,
        'http://127.0.0.1:3002': credit.url,
      }
    }

    async function transfer(addresses: Readonly<Record<string, string>>): Promise<string> {
      const code = replaceTexts(project.readExamples('README.md').get('transfer.ts') ?? '', addresses)
      project.write(`transfer-${kind}.ts`, code)
      return readOutput(process.execPath, [`transfer-${kind}.ts`], { cwd: project.folder })
    }

    async function cents(): Promise<readonly unknown[]> {
      const [rows] = await connection.query<RowDataPacket[]>('SELECT cents FROM account')
      const bank = new DatabaseSync(join(project.folder, kind, 'bank.db'), { readOnly: true, timeout: 5_000 })
      try {
        return [rows[0]?.cents, bank.prepare("SELECT cents FROM account WHERE id = 'bob'").get()?.cents]
      } finally {
        bank.close()
      }
    }

    it("The README's participant pays, pays back when the other bank says no, and refuses without money", async () => {
      const addresses = await start()
      expect(await transfer(addresses)).toBe('succeeded\n')
      expect(await cents()).toEqual([2_750, 1_250])
      expect(await transfer({ ...addresses, "'bob'": "'nobody'" })).toBe('failed\n')
      expect(await cents()).toEqual([2_750, 1_250])
      expect(await transfer({ ...addresses, '1_250': '2_751' })).toBe('failed\n')
      expect(await cents()).toEqual([2_750, 1_250])
      const ops = 'SELECT op FROM counterstep_barrier WHERE reason = op ORDER BY op'
      const [rows] = await connection.query<RowDataPacket[]>(ops)
      expect(rows.map(({ op }) => String(op))).toEqual(['action', 'action', 'compensate', 'compensate'])
    })
  })
}
