import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { ALONE_FILES } from './test/alone-files.ts'
import { LongestFirst } from './test/longest-first.ts'
import { QUIET_FILES } from './test/quiet-files.ts'

/** Hundreds of processes are started, which read the same modules: with it each takes half of the time. */
const env = { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/counterstep') }
/**
 * Modules are loaded once in each of the few processes, and not again for every file. Beside all that these leave in the
 * heap, more room for the young takes 5 to 9 % off the CPU time of tests that compute.
 */
const shared = { isolate: false, execArgv: ['--max-semi-space-size=64'] }
/** So are the orchestrators, from one bundle. */
const program = 'test/bundle-counterstep.ts'
const every = {
  testTimeout: 30_000,
  hookTimeout: 60_000,
  // As Node loads modules for users. Through vite's own loader, tests that compute took an eighth more CPU time.
  experimental: { viteModuleRunner: false, nodeLoader: false },
}
const exclude = ['**/node_modules/**', '**/dist/**']

/** Tests that need database servers. Only they pay for the start of these. */
const onServers = [
  'bench/test/servers/**/*.test.ts',
  'chaos/test/servers/**/*.test.ts',
  'examples/*/test/servers/**/*.test.ts',
  'functions/test/servers/**/*.test.ts',
  'packages/lambda-emulator/test/servers/**/*.test.ts',
  'packages/store-mysql/test/**/*.test.ts',
  'packages/store-redis/test/**/*.test.ts',
  'packages/test-servers/test/**/*.test.ts',
  'sdk/test/servers/**/*.test.ts',
  'test/servers/**/*.test.ts',
]

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
          include: ['test/*.test.ts', 'infra/*/test/*.test.ts'],
          exclude,
          ...every,
        },
      },
      {
        test: {
          name: 'packages',
          include: [
            'packages/*/src/**/*.test.ts',
            'packages/*/test/**/*.test.ts',
            'sdk/**/*.test.ts',
            'functions/test/**/*.test.ts',
            'examples/*/test/**/*.test.ts',
            'bench/test/**/*.test.ts',
            'chaos/test/**/*.test.ts',
            'conformance/src/**/*.test.ts',
            'test/*/**/*.test.ts',
          ],
          exclude: [...exclude, ...onServers, ...ALONE_FILES],
          env,
          globalSetup: [program],
          ...shared,
          ...every,
        },
      },
      {
        test: {
          name: 'alone',
          include: [...ALONE_FILES],
          exclude,
          env,
          globalSetup: [program],
          ...every,
        },
      },
      {
        test: {
          name: 'servers',
          include: onServers,
          exclude: [...exclude, ...QUIET_FILES],
          env,
          globalSetup: [program, 'packages/test-servers/src/vitest/global-setup.ts'],
          ...shared,
          ...every,
        },
      },
      {
        test: {
          name: 'quiet',
          include: [...QUIET_FILES],
          exclude,
          env,
          globalSetup: [program, 'packages/test-servers/src/vitest/own-servers-setup.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
          ...every,
        },
      },
    ],
  },
})
