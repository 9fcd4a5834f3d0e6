import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { publications } from '../../../scripts/pack/public-packages.ts'
import { registryState } from '../../../scripts/release/registry-state.ts'
import { REPOSITORY } from '../../repository/source-tree.ts'
import { type FakeRegistry, startFakeRegistry } from './packed/fake-registry.ts'
import { PackagesProject } from './packed/packages-project.ts'
import { readOutput, runProgram, type Service, startService } from './packed/run-program.ts'
import { replaceTexts } from './packed/user-project.ts'

const PUBLIC = publications(REPOSITORY)
const VERSION = PUBLIC[0]?.manifest.version ?? ''
/** A release that was cut short would have published only this. */
const PUBLISHED = '@counterstep/sdk'
const ENTRIES = PUBLIC.flatMap(({ name, manifest }) =>
  Object.keys(manifest.exports ?? {}).map((entry) => name + entry.slice(1)),
)
const SETUP_MS_MAX = 300_000

let registry: FakeRegistry
let project: PackagesProject

beforeAll(async () => {
  registry = await startFakeRegistry({ [PUBLISHED]: VERSION })
  project = await PackagesProject.create(registry.url)
  await project.install()
}, SETUP_MS_MAX)
afterAll(async () => {
  project?.remove()
  await registry?.close()
})

describe('npm run release:dry', () => {
  it('The dry run shows both packages, sound, and whether each is published', () => {
    const rows = project.report
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(/ {2,}/))
    const wanted = PUBLIC.map(({ name }) => [
      name,
      VERSION,
      name === PUBLISHED ? 'already there' : 'new',
      'sound',
    ])
    expect(rows.map(([name, version, , , , state, checks]) => [name, version, state, checks])).toEqual(wanted)
    for (const [, , packed, unpacked, files] of rows) {
      expect(packed).toMatch(/^\d+\.\d kB$/)
      expect(unpacked).toMatch(/^\d+\.\d kB$/)
      expect(Number(files)).toBeGreaterThan(3)
    }
  })

  it('A registry that cannot be asked is reported as unknown', () => {
    // No process may listen on this port without special rights.
    vi.stubEnv('npm_config_registry', 'http://127.0.0.1:1/')
    expect(registryState('counterstep', VERSION)).toBe('unknown')
    vi.unstubAllEnvs()
  })
})

describe('a project with both packed packages', () => {
  const services: Service[] = []
  afterAll(() => Promise.all(services.map((service) => service.stop())))

  const node = (...args: readonly string[]) => readOutput(process.execPath, args, { cwd: project.folder })

  it('A project with both packed packages has the counterstep command', async () => {
    const output = await readOutput('npx', ['--no-install', 'counterstep', '--version'], {
      cwd: project.folder,
    })
    expect(output.trim()).toBe(VERSION)
  })

  it('The packed command loads nothing of zod from its package to read the settings, and carries its licence', async () => {
    project.write(
      'show-zod.mjs',
      `import { registerHooks } from 'node:module'
      registerHooks({
        resolve(specifier, context, next) {
          const resolved = next(specifier, context)
          if (resolved.url.includes('/node_modules/zod/')) console.log(resolved.url)
          return resolved
        },
      })`,
    )
    const folder = 'node_modules/counterstep/dist/command'
    const output = await node('--import', './show-zod.mjs', `${folder}/counterstep.js`, '--version')
    expect(output.trim()).toBe(VERSION)
    const licences = readFileSync(join(project.folder, folder, 'THIRD-PARTY-LICENSES'), 'utf8')
    expect(licences).toMatch(/^── zod \d+\.\d+\.\d+ \(MIT\) ──\n/)
  })

  it('Traces that are wanted without the packages of OpenTelemetry end the start, which says what to install', async () => {
    const command = 'node_modules/counterstep/dist/command/counterstep.js'
    const args = [command, 'serve', '--port', '0', '--otlp', 'http://127.0.0.1:4318']
    const { code, stdout } = await runProgram(process.execPath, args, { cwd: project.folder })
    expect(code).toBe(1)
    expect(stdout).toContain('SAGA_TELEMETRY_MISSING')
    expect(stdout).toContain('npm install @opentelemetry/api @opentelemetry/sdk-node ')
  })

  it("DTM's gRPC API that is wanted without its package ends the start, which says what to install", async () => {
    const command = 'node_modules/counterstep/dist/command/counterstep.js'
    const args = [command, 'serve', '--port', '0', '--dtm-grpc-port', '0']
    const { code, stdout } = await runProgram(process.execPath, args, { cwd: project.folder })
    expect(code).toBe(1)
    expect(stdout).toContain('SAGA_GRPC_MISSING')
    expect(stdout).toContain('npm install protobufjs')
  })

  it('A project with both packed packages can import every entry', async () => {
    project.write(
      'import-all.ts',
      `for (const entry of ${JSON.stringify(ENTRIES)}) {
         if (Object.keys(await import(entry)).length === 0) throw new Error(entry + ' exports nothing')
       }`,
    )
    expect(await node('import-all.ts')).toBe('')
  })

  it('A project with both packed packages compiles against the types of every entry, strictly, those of dependencies included', async () => {
    const imports = ENTRIES.map((entry, index) => `import * as entry${index} from '${entry}'`)
    project.write(
      'consumer.ts',
      `${imports.join('\n')}
       import { createCounterstep, type OwnCounterstep } from 'counterstep'
       import { counterstep } from 'counterstep/fastify'
       import { createApi } from 'counterstep/lambda'
       import fastify from 'fastify'
       import { type MysqlStore, migrateMysql, openMysqlStore } from 'counterstep/store/mysql'
       import { openSqliteStore } from 'counterstep/store/sqlite'
       export const all: readonly object[] = [${ENTRIES.map((_, index) => `entry${index}`).join(', ')}]
       export const app = fastify()
       app.register(counterstep, {
         store: (onEvent) => openMysqlStore({ url: 'mysql://counterstep@127.0.0.1/counterstep', onEvent }),
         targets: { services: { bank: 'https://bank.example' } },
       })
       export const api = () => createApi({})
       export const own = (): Promise<OwnCounterstep> =>
         createCounterstep({ store: (onEvent) => openSqliteStore({ path: 'a.db', onEvent }), targets: 'loopback' })
       // @ts-expect-error It must be given a store.
       app.register(counterstep, { targets: {} })
       export async function open(): Promise<MysqlStore> {
         await migrateMysql({ url: 'mysql://root@127.0.0.1/counterstep' })
         // @ts-expect-error It must be told where the server is.
         await openMysqlStore({})
         return openMysqlStore({ url: 'mysql://counterstep@127.0.0.1/counterstep' })
       }\n`,
    )
    const compilerOptions = {
      ...{ module: 'nodenext', target: 'es2023', lib: ['es2023'], types: ['node'], strict: true },
      ...{ exactOptionalPropertyTypes: true, verbatimModuleSyntax: true, skipLibCheck: false, noEmit: true },
    }
    project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
    const { code, stdout } = await project.compile()
    expect([code, stdout]).toEqual([0, ''])
  })

  it('The transaction of the packed README runs in a process of its own', async () => {
    const program = project.examplesIn('counterstep', 'README.md').get('own.mjs') ?? ''
    project.write('own.mjs', program)
    const printed = (await node('own.mjs')).split('\n').filter((line) => !line.startsWith('{'))
    expect(printed).toEqual(['/seat', '/card', '/seat/undo', 'failed', ''])
  })

  it('The packed package counterstep has one copy of the module of errors', () => {
    const folder = join(project.folder, 'node_modules', 'counterstep', 'dist')
    const errors = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('protocol/errors.js'),
    )
    expect(errors).toEqual(['protocol/errors.js'])
  })

  it('The packed command serves on the embedded store, and a saga between two services with the SDK and its barrier ends', async () => {
    const start = async (program: string, name: string, args: readonly string[] = []): Promise<Service> => {
      const cwd = join(project.folder, name)
      mkdirSync(cwd)
      const service = await startService(program, { cwd, env: { PORT: '0' } }, args)
      services.push(service)
      return service
    }
    const command = join(project.folder, 'node_modules', 'counterstep', 'dist', 'command', 'counterstep.js')
    const flags = ['serve', '--port', '0', '--data', 'data', '--ready-json', '--log-level', 'error']
    const server = await start(command, 'server', flags)
    const ready = await fetch(`${server.url}/health/ready`)
    expect([ready.status, await ready.json()]).toMatchObject([
      200,
      { status: 'ready', store: { name: 'sqlite' } },
    ])

    // The guide's service needs this besides.
    project.addFromRepository(['express'])
    const sdk = '@counterstep/sdk'
    for (const [name, code] of project.examplesIn(sdk, 'docs/participant.md')) project.write(name, code)
    const bank = join(project.folder, 'serve.ts')
    const addresses = {
      'http://127.0.0.1:8470': server.url,
      'http://127.0.0.1:3001': (await start(bank, 'bank-a')).url,
      'http://127.0.0.1:3002': (await start(bank, 'bank-b')).url,
    }
    const transfer = project.examplesIn(sdk, 'README.md').get('transfer.ts') ?? ''
    project.write('transfer.ts', replaceTexts(transfer, addresses))
    expect(await node('transfer.ts')).toBe('succeeded\n')
    expect([readCents('bank-a', 'alice'), readCents('bank-b', 'bob')]).toEqual([8_750, 1_250])
    project.write('transfer.ts', replaceTexts(transfer, { ...addresses, "'bob'": "'nobody'" }))
    expect(await node('transfer.ts')).toBe('failed\n')
    expect([readCents('bank-a', 'alice'), readCents('bank-b', 'bob')]).toEqual([8_750, 1_250])
  })

  function readCents(bank: string, account: string): unknown {
    const database = new DatabaseSync(join(project.folder, bank, 'bank.db'), {
      readOnly: true,
      timeout: 5_000,
    })
    try {
      return database.prepare('SELECT cents FROM account WHERE id = ?').get(account)?.cents
    } finally {
      database.close()
    }
  }
})
