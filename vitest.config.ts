import { globSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { defineConfig } from 'vitest/config'
import { ALONE_FILES } from './testing/run/alone-files.ts'
import { LongestFirst } from './testing/run/longest-first.ts'
import { QUIET_FILES } from './testing/run/quiet-files.ts'
import { QUICK_BROWSER_FILES, QUICK_SERVER_FILES, THOROUGH_FILES } from './testing/run/thorough-files.ts'

/** Hundreds of processes are started, which read the same modules: with it each takes half of the time. */
const env = { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/counterstep') }
/**
 * Modules are loaded once in each of the few processes, and not again for every file. Beside all that these leave in the
 * heap, more room for the young takes 5 to 9 % off the CPU time of tests that compute.
 */
const shared = { isolate: false, execArgv: ['--max-semi-space-size=64'] }
/** So are the orchestrators, from one bundle. */
const program = 'testing/run/bundle-counterstep.ts'
const every = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // Node loads the modules as it does for users. Through vite's own loader, tests that compute took an eighth more CPU time.
  experimental: { viteModuleRunner: false, nodeLoader: false },
}
const exclude = ['**/node_modules/**', '**/dist/**']

const inProcesses = [
  'packages/*/src/**/*.test.ts',
  'packages/*/test/**/*.test.ts',
  'sdk/**/*.test.ts',
  'functions/test/**/*.test.ts',
  'examples/*/test/**/*.test.ts',
  'bench/test/**/*.test.ts',
  'testing/*/src/**/*.test.ts',
  'testing/*/test/**/*.test.ts',
  'testing/system/**/*.test.ts',
]

/** Tests that need database servers. Only they pay for the start of these. */
const onServers = [
  'bench/test/servers/**/*.test.ts',
  'testing/chaos/test/servers/**/*.test.ts',
  'examples/*/test/servers/**/*.test.ts',
  'functions/test/servers/**/*.test.ts',
  'testing/lambda-emulator/test/servers/**/*.test.ts',
  'packages/store-mysql/test/**/*.test.ts',
  'packages/store-postgres/test/**/*.test.ts',
  'packages/store-redis/test/**/*.test.ts',
  'testing/test-servers/test/**/*.test.ts',
  'sdk/test/servers/**/*.test.ts',
  'testing/system/servers/**/*.test.ts',
]

/** `quick`: those of `npm test`; `rest`: those that it leaves out or may have skipped; undefined: all. */
const selection = process.env.TEST_SELECTION

/** Answers what a project includes and excludes, by which tests are wanted. */
function select(include: readonly string[], excluded: readonly string[]) {
  if (selection === 'quick') return { include: [...include], exclude: [...excluded, ...THOROUGH_FILES] }
  if (selection !== 'rest') return { include: [...include], exclude: [...excluded] }
  // A file is of the rest if both lists have it, which globs alone cannot say.
  const patterns = [...THOROUGH_FILES, ...QUICK_BROWSER_FILES]
  const thorough = globSync(patterns, { cwd: import.meta.dirname })
  const wanted = thorough.filter((path) => include.some((pattern) => matchesGlob(path, pattern)))
  return { include: wanted, exclude: [...excluded] }
}

/** The same for files on servers, where the shorter list is of those that `npm test` runs. */
function selectOnServers(include: readonly string[], excluded: readonly string[]) {
  return { include: selection === 'quick' ? [...QUICK_SERVER_FILES] : [...include], exclude: [...excluded] }
}

export default defineConfig({
  test: {
    // A server may take its time to stop.
    teardownTimeout: 60_000,
    // Twice the cores, since most tests wait for a server, a lease or a disk: 565 s after 636 with three.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'repository',
          ...select(['testing/{repository,run}/*.test.ts', 'infra/*/test/*.test.ts'], exclude),
          ...every,
        },
      },
      {
        test: {
          name: 'packages',
          ...select(inProcesses, [...exclude, ...onServers, ...ALONE_FILES, ...QUIET_FILES]),
          env,
          globalSetup: [program],
          ...shared,
          ...every,
        },
      },
      {
        test: {
          name: 'alone',
          ...select(ALONE_FILES, exclude),
          env,
          globalSetup: [program],
          ...every,
        },
      },
      {
        test: {
          name: 'servers',
          ...selectOnServers(onServers, [...exclude, ...QUIET_FILES]),
          env,
          globalSetup: [program, 'testing/test-servers/src/vitest/global-setup.ts'],
          ...shared,
          ...every,
        },
      },
      {
        test: {
          name: 'browser',
          ...select(['testing/browser/**/*.test.ts'], exclude),
          env,
          globalSetup: [
            program,
            'testing/browser/harness/build-console.ts',
            'testing/test-servers/src/vitest/own-mariadb-setup.ts',
          ],
          // A browser takes a core by itself.
          maxWorkers: 1,
          ...every,
          testTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'quiet',
          include: selection === 'quick' ? [] : [...QUIET_FILES],
          exclude,
          env,
          globalSetup: [program, 'testing/test-servers/src/vitest/own-servers-setup.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
          ...every,
        },
      },
    ],
  },
})
