import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installUserDrivers } from '../../../sdk/test/user-drivers/install-user-drivers.ts'
import { REPOSITORY } from '../../repository/source-tree.ts'
import { readImports } from '../../repository/syntax.ts'
import { type Child, startChild } from './child-process.ts'
import { readOutput, type Service, startService } from './packed/run-program.ts'
import { SdkProject } from './packed/sdk-project.ts'
import { replaceTexts } from './packed/user-project.ts'

const GROUPING_DRIVERS = ['mysql', 'postgres', 'sqlite']
const DRIVERS = [...GROUPING_DRIVERS, 'redis']
const ENTRIES = [
  '.',
  './express',
  './fastify',
  './fetch',
  './grouped',
  './operator',
  './signatures',
  './testing',
  ...DRIVERS.map((name) => `./barrier/${name}`),
  ...GROUPING_DRIVERS.map((name) => `./grouped/${name}`),
]
/** This entry alone needs a package, which its users bring. */
const TELEMETRY = { entry: './telemetry', brought: '@opentelemetry/api' }
const ALL_ENTRIES = [...ENTRIES, TELEMETRY.entry]
const ENTRY_FILES = [
  'index',
  'express',
  'fastify',
  'fetch',
  'grouped/grouped',
  'operator/index',
  'signatures',
  'testing/index',
]

let project: SdkProject

beforeAll(async () => {
  project = await SdkProject.create()
})
afterAll(() => project?.remove())

function packedFiles(): readonly string[] {
  return readdirSync(project.installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(project.installed.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort()
}
const readText = (file: string) => readFileSync(join(project.installed, file), 'utf8')
const node = (args: readonly string[], cwd = project.folder) => readOutput(process.execPath, args, { cwd })

describe('the packed SDK', () => {
  it('The packed SDK is named for its version, and installs alone, without a registry', () => {
    expect(project.tarball).toMatch(/counterstep-sdk-\d+\.\d+\.\d+\.tgz$/)
    expect(readdirSync(join(project.folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(
      ['@counterstep'],
    )
    expect(readdirSync(join(project.folder, 'node_modules', '@counterstep'))).toEqual(['sdk'])
  })

  it('The packed SDK has a manifest for users, with every entry and nothing to install', () => {
    const { exports, main, types, typesVersions, homepage, bugs, repository, ...manifest } = JSON.parse(
      readText('package.json'),
    )
    expect([homepage, bugs.url, repository.url].filter((url) => !/^(git\+)?https:/.test(url))).toEqual([])
    expect(repository.directory).toBe('sdk')
    const sources = JSON.parse(readFileSync(join(REPOSITORY, 'sdk', 'package.json'), 'utf8'))
    expect(Object.keys(exports).sort()).toEqual([...ALL_ENTRIES, './package.json'].sort())
    expect(Object.keys(sources.exports).sort()).toEqual([...ALL_ENTRIES].sort())
    const { name, version, description, engines, peerDependencies, peerDependenciesMeta } = sources
    expect(manifest).toEqual({
      ...{ name, version, description, engines, peerDependencies, peerDependenciesMeta },
      keywords: sources.keywords,
      license: 'MIT',
      type: 'module',
      sideEffects: false,
      files: ['dist', 'docs'],
      publishConfig: { access: 'public' },
    })
    // A compiler with moduleResolution "node" reads these in place of exports.
    const others = ALL_ENTRIES.filter((entry) => entry !== '.')
    expect([main, types]).toEqual([exports['.'].require.default, exports['.'].require.types])
    expect(typesVersions).toEqual({
      '*': Object.fromEntries(others.map((entry) => [entry.slice(2), [exports[entry].require.types]])),
    })
    const peers = Object.keys(peerDependencies)
    expect(peers.filter((peer) => peerDependenciesMeta[peer]?.optional !== true)).toEqual([])
  })

  it('The packed SDK has compiled files, their types, documents and the license', () => {
    const files = packedFiles()
    // The first version has none.
    const others = files.filter((file) => !file.startsWith('dist/') && file !== 'CHANGELOG.md')
    expect(others).toEqual([
      'LICENSE',
      'README.md',
      'docs/approval.md',
      'docs/errors.md',
      'docs/glossary.md',
      'docs/message.md',
      'docs/participant.md',
      'docs/saga.md',
      'docs/signed-calls.md',
      'docs/tcc.md',
      'docs/values.md',
      'docs/workflow.md',
      'package.json',
    ])
    const compiled = files.filter((file) => file.startsWith('dist/'))
    expect(compiled.filter((file) => !/^[\w/-]+(\.js|\.d\.ts)$/.test(file))).toEqual([
      'dist/cjs/package.json',
    ])
    // Each module is there twice.
    const [required, imported] = [true, false].map((isCommonJs) =>
      compiled.filter((file) => file.startsWith('dist/cjs/') === isCommonJs),
    )
    expect(required?.map((file) => file.replace('/cjs/', '/'))).toEqual(
      [...(imported ?? []), 'dist/package.json'].sort(),
    )
    expect(readText('LICENSE')).toBe(readFileSync(join(REPOSITORY, 'LICENSE'), 'utf8'))
    expect(files).toContain('dist/protocol/barrier/decide-barrier.js')
    expect(files.filter((file) => file.includes('schemas'))).toEqual([])
  })

  it('The packed SDK imports nothing but its own files and Node, and one entry what its users bring', () => {
    const foreign = packedFiles()
      .filter((file) => /^dist\/.*\.(js|ts)$/.test(file))
      .flatMap((file) =>
        readImports(file.replace(/(\.d\.ts|\.js)$/, '.ts'), readText(file)).map((name) => [file, name]),
      )
      .filter(([, name = '']) => !/^\.{1,2}\/[\w./-]+\.js$/.test(name) && !name.startsWith('node:'))
    expect(foreign).toEqual(
      ['dist/cjs/sdk/telemetry.js', 'dist/sdk/telemetry.js'].map((file) => [file, TELEMETRY.brought]),
    )
  })

  it('The packed SDK names no private workspace, no path and no registry of this machine', () => {
    const told =
      /@counterstep\/(protocol|barrier|signature)\b|sourceMappingURL|counterstep-pack|file:\/\/|registry\.|\/(?:home|Users|work)\//
    const telling = packedFiles().filter(
      (file) => told.test(readText(file)) || readText(file).includes(REPOSITORY),
    )
    expect(telling).toEqual([])
  })

  it('The packed SDK has documents whose links lead to files of the package', () => {
    const files = packedFiles()
    const documents = files.filter((file) => file.endsWith('.md'))
    const broken = documents.flatMap((file) =>
      [...readText(file).matchAll(/\]\(([^)#\s]+)/g)]
        .map(([, link = '']) => new URL(link, `file:///${file}`).pathname.slice(1))
        .filter((target) => !files.includes(target)),
    )
    expect(broken).toEqual([])
  })

  it('The packed SDK has no problem that publint knows', async () => {
    const cli = join(REPOSITORY, 'node_modules/publint/src/cli.js')
    expect(await node([cli, '--strict', project.tarball])).toContain('All good!')
  })

  it('The packed SDK has no problem that attw knows, whatever resolves its types', async () => {
    const cli = join(REPOSITORY, 'node_modules/@arethetypeswrong/cli/dist/index.js')
    const output = await node([cli, project.tarball, '--format', 'json'])
    const { analysis } = JSON.parse(output)
    expect(Object.keys(analysis.entrypoints).sort()).toEqual([...ALL_ENTRIES, './package.json'].sort())
  })
})

/** This service is on a driver that its user has brought, and not the project. */
const USER_DRIVER = `
import type { Barrier } from '@counterstep/sdk'
import { migrateBarrier, sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import Database from 'better-sqlite3'

const database = new Database('user-driver.db')
migrateBarrier(database)
const barrier: Barrier<Database.Database> = sqliteBarrier(database)
const outcome = await barrier.run({ gid: 'g', branchId: '01', op: 'action' }, (tx) => tx.pragma('user_version'))
console.log(outcome.decision)`

/** Prints what importing a module loads. */
const PRINT_LOADED = `
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
await import(process.argv[1])
console.log(JSON.stringify(loaded))`

describe('an entry of the packed SDK', () => {
  const toEntryName = (entry: string) => `@counterstep/sdk${entry.slice(1)}`

  for (const entry of ENTRIES) {
    it(`The entry ${entry} loads without a driver or framework, and no file of another entry`, async () => {
      const output = await node(['--input-type=module', '--eval', PRINT_LOADED, toEntryName(entry)])
      const urls: string[] = JSON.parse(output)
      const paths = urls.flatMap((url) => url.split('/node_modules/@counterstep/sdk/dist/').slice(1))
      const builtins = urls.filter((url) => url.startsWith('node:'))
      expect(builtins.filter((url) => !builtinModules.includes(url.slice(5)))).toEqual([])
      expect(paths.length + builtins.length).toBe(urls.length)
      const own = entry.split('/').at(-1) ?? ''
      const others = DRIVERS.filter((name) => name !== own).join('|')
      const ofDrivers = new RegExp(`^sdk/(barrier|grouped)/(${others})[/.]`)
      expect(paths.filter((path) => ofDrivers.test(path))).toEqual([])
      const isGrouping = entry.startsWith('./grouped')
      expect(paths.some((path) => path.startsWith('sdk/grouped/'))).toBe(isGrouping)
      const ofEntries = paths.flatMap((path) => ENTRY_FILES.filter((file) => path === `sdk/${file}.js`))
      expect(ofEntries).toEqual(ENTRY_FILES.filter((file) => file.startsWith(entry === '.' ? 'index' : own)))
    })
  }

  it('The entry for traces says what is missing, and works once it is there', async () => {
    const code = `import { joinTraces } from '@counterstep/sdk/telemetry'; joinTraces(); console.log('joined')`
    const args = ['--input-type=module', '--eval', code]
    await expect(node(args)).rejects.toThrow(TELEMETRY.brought)
    project.addFromRepository([TELEMETRY.brought])
    expect(await node(args)).toBe('joined\n')
  })

  it('The packed SDK can be required, too', async () => {
    const code = `console.log(typeof require('@counterstep/sdk').createClient)`
    expect(await node(['--input-type=commonjs', '--eval', code])).toBe('function\n')
  })
})

describe('a project with the packed SDK', () => {
  let guide: ReadonlyMap<string, string>
  let readme: ReadonlyMap<string, string>
  const services: (Service | Child)[] = []

  beforeAll(async () => {
    const drivers = ['express', 'fastify', 'ioredis', 'mysql2', 'pg']
    const types = ['node', 'express', 'pg'].map((name) => `@types/${name}`)
    project.addFromRepository([...drivers, ...types])
    guide = project.readExamples('docs/participant.md')
    readme = project.readExamples('README.md')
    for (const [name, code] of [...guide, ...readme]) project.write(name, code)
    const brought = join(await installUserDrivers(), 'node_modules')
    symlinkSync(join(brought, 'better-sqlite3'), project.installedAt('better-sqlite3'), 'junction')
    // It is copied, so that it finds the types of Node that the project has.
    cpSync(join(brought, '@types/better-sqlite3'), project.installedAt('@types/better-sqlite3'), {
      recursive: true,
    })
    project.write('user-driver.ts', USER_DRIVER)
  })
  afterAll(async () => {
    await Promise.all(
      services.map((service) => ('stop' in service ? service.stop() : service.kill('SIGKILL'))),
    )
  })

  it('The documents of the packed SDK have these examples', () => {
    expect([...readme.keys()]).toEqual(['transfer.ts', 'participant.ts'])
    expect([...guide.keys()]).toEqual([
      'bank.ts',
      'serve.ts',
      'holds.ts',
      'bank.test.ts',
      'orders.ts',
      'rooms.ts',
      'fetch-handler.ts',
      'hot-row.ts',
    ])
  })

  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ] as const) {
    it(`A project compiles against the types of the SDK, strictly, with moduleResolution ${moduleResolution}`, async () => {
      project.write('consumer.ts', readFileSync(join(import.meta.dirname, 'packed', 'consumer.ts'), 'utf8'))
      const compilerOptions = {
        ...{ module, moduleResolution, target: 'es2023', lib: ['es2023'], types: ['node'] },
        ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
        ...{ verbatimModuleSyntax: true, erasableSyntaxOnly: true, allowImportingTsExtensions: true },
        ...{ skipLibCheck: false, noEmit: true },
      }
      project.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }))
      const { code, stdout } = await project.compile()
      expect([code, stdout]).toEqual([0, ''])
    })
  }

  it("The guide's test of its service passes", async () => {
    mkdirSync(join(project.folder, 'tested'))
    const output = await node(
      ['--test', join(project.folder, 'bank.test.ts')],
      join(project.folder, 'tested'),
    )
    expect(output).toMatch(/pass 2\b/)
    // The output is a summary: a line for each check, and none for the errors that the service was brought to.
    expect(output).toMatch(/^passed payloads$/m)
    expect(output.split('\n').length).toBeLessThan(60)
  })

  it('The SDK takes a database of the better-sqlite3 that its user has brought', async () => {
    expect([await node(['user-driver.ts']), await node(['user-driver.ts'])]).toEqual(['run\n', 'duplicate\n'])
  })

  it("The guide's hot row prints what the guide says", async () => {
    const said = /^\/\/ (\[.*\])$/m.exec(guide.get('hot-row.ts') ?? '')?.[1]
    expect((await node(['hot-row.ts'])).trim()).toBe(said)
  })

  it("The guide's undo uses the id that its action answered", async () => {
    project.write(
      'holds-test.ts',
      `import { once } from 'node:events'
       import { app, database } from './bank.ts'
       import './holds.ts'
       const server = app.listen(0, '127.0.0.1')
       await once(server, 'listening')
       const call = async (gid: string, op: string) => {
         const url = \`http://127.0.0.1:\${server.address().port}/holds?gid=\${gid}&trans_type=saga&branch_id=01&op=\${op}\`
         const headers = { 'content-type': 'application/json' }
         const body = JSON.stringify({ account: 'alice', cents: 100 })
         return (await fetch(url, { method: 'POST', headers, body })).status
       }
       const statuses = []
       for (const gid of ['a', 'b', 'c']) statuses.push(await call(gid, 'action'))
       for (const gid of ['b', 'never-held']) statuses.push(await call(gid, 'compensate'))
       console.log(statuses.join(), database.prepare('SELECT id FROM hold').all().map(({ id }) => id).join())
       server.close()`,
    )
    mkdirSync(join(project.folder, 'held'))
    const output = await node([join(project.folder, 'holds-test.ts')], join(project.folder, 'held'))
    expect(output).toBe('200,200,200,200,200 1,3\n')
  })

  it("The guide's handler for a Request passes the test kit", async () => {
    project.write(
      'fetch-handler-test.ts',
      `import { assertBranch } from '@counterstep/sdk/testing'
       import { database } from './bank.ts'
       import { debit } from './fetch-handler.ts'
       const read = () => database.prepare("SELECT cents FROM account WHERE id = 'alice'").get()
       const { ok } = await assertBranch({ service: { fetch: debit }, action: '/', compensation: '/', read })
       console.log(ok)`,
    )
    mkdirSync(join(project.folder, 'fetched'))
    const output = await node(
      [join(project.folder, 'fetch-handler-test.ts')],
      join(project.folder, 'fetched'),
    )
    expect(output).toBe('true\n')
  })

  it("The README's transfer runs between two of the guide's services, on a real server", async () => {
    const startBank = async (name: string): Promise<Service> => {
      const cwd = join(project.folder, name)
      mkdirSync(cwd)
      const bank = await startService(join(project.folder, 'serve.ts'), { cwd, env: { PORT: '0' } })
      services.push(bank)
      return bank
    }
    const readCents = (name: string, account: string): unknown => {
      const database = new DatabaseSync(join(project.folder, name, 'bank.db'), {
        readOnly: true,
        timeout: 5_000,
      })
      try {
        return database.prepare('SELECT cents FROM account WHERE id = ?').get(account)?.cents
      } finally {
        database.close()
      }
    }
    const [bankA, bankB] = [await startBank('bank-a'), await startBank('bank-b')]
    const data = join(project.folder, 'data')
    const flags = ['--port', '0', '--data', data, '--ready-json', '--log-level', 'error']
    const server = await startChild(COUNTERSTEP_PROGRAM, ['serve', ...flags])
    services.push(server)
    const addresses = {
      'http://127.0.0.1:8470': server.url,
      'http://127.0.0.1:3001': bankA.url,
      'http://127.0.0.1:3002': bankB.url,
    }
    const transfer = replaceTexts(readme.get('transfer.ts') ?? '', addresses)
    project.write('transfer-here.ts', transfer)
    expect(await node(['transfer-here.ts'])).toBe('succeeded\n')
    expect([readCents('bank-a', 'alice'), readCents('bank-b', 'bob')]).toEqual([8_750, 1_250])

    // The second bank says no when the first has paid.
    project.write('transfer-undone.ts', replaceTexts(transfer, { "'bob'": "'nobody'" }))
    expect(await node(['transfer-undone.ts'])).toBe('failed\n')
    expect([readCents('bank-a', 'alice'), readCents('bank-b', 'bob')]).toEqual([8_750, 1_250])

    // The guide's message and its TCC run, too.
    const [folder, here] = [join(project.folder, 'orders'), { 'http://127.0.0.1:8470': server.url }]
    mkdirSync(folder)
    const orders = replaceTexts(guide.get('orders.ts') ?? '', {
      ...here,
      'http://127.0.0.1:3002': bankB.url,
      'listen(3003': 'listen(0',
    })
    project.write('orders-here.ts', orders)
    expect(await node([join(project.folder, 'orders-here.ts')], folder)).toBe('succeeded\n')
    expect(readCents('bank-b', 'bob')).toBe(1_750)
    project.write('rooms-here.ts', replaceTexts(guide.get('rooms.ts') ?? '', here))
    const booked = await node([join(project.folder, 'rooms-here.ts')], folder)
    expect(booked).toMatch(/^FULL succeeded .*\{ free: 0, held: 0, taken: 1 \}\n$/)
  })
})
