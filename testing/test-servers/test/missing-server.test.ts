import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readEnvironment } from '../src/environment.ts'
import { findBinaries } from '../src/install/find-binaries.ts'

const REPOSITORY = join(import.meta.dirname, '../../..')
const RUN_MS_MAX = 60_000
const NOWHERE = '/nonexistent'
const ON_REDIS = 'testing/test-servers/test/shared-redis.test.ts'
const ON_OTHERS = 'testing/test-servers/test/shared-servers.test.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-missing-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

interface Counts {
  readonly passed: number
  readonly failed: readonly string[]
  readonly skipped: readonly { readonly name: string; readonly reason: string }[]
}

describe('a run of vitest without a sound Redis', () => {
  it('A run of vitest skips the tests of a missing Redis by name, with the reason', {
    timeout: RUN_MS_MAX,
  }, async (context) => {
    if (await isRedisElsewhere()) context.skip('this machine has a Redis where it is found without a PATH')
    const counts = await runWithoutPath([ON_REDIS], { CI: '' })
    expect(counts.failed).toEqual([])
    expect(counts.skipped.filter(({ name }) => name.includes('redis'))).toEqual([
      { name: expect.stringContaining('a shared server (redis)'), reason: expect.stringMatching(REASON) },
      {
        name: expect.stringContaining('a shared server (redis-cluster)'),
        reason: expect.stringMatching(REASON),
      },
    ])
  })

  it('A run of vitest fails by name when CI=true and an installation is allowed', {
    timeout: RUN_MS_MAX,
  }, async (context) => {
    if (await isRedisElsewhere()) context.skip('this machine has a Redis where it is found without a PATH')
    const counts = await runWithoutPath([ON_REDIS], { CI: 'true', TEST_INSTALL: 'yes' })
    expect(counts.failed.filter((name) => name.includes('redis'))).toEqual([
      expect.stringContaining('a shared server (redis)'),
      expect.stringContaining('a shared server (redis-cluster)'),
    ])
  })

  it('A run of vitest fails by name where its Redis does not start, and tests that need other servers run', {
    timeout: RUN_MS_MAX,
  }, async () => {
    await writeFile(join(folder, 'redis-server'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const counts = await runWithoutPath([ON_REDIS, ON_OTHERS], { CI: '', PATH: folder })
    expect(counts.failed.filter((name) => !name.includes('redis'))).toEqual([])
    expect(counts.failed).toContainEqual(
      expect.stringContaining('a shared server (redis) > The server of these tests is there'),
    )
    expect(counts.passed + counts.skipped.length).toBeGreaterThan(0)
  })

  it('A run of vitest takes the Redis of TEST_REDIS_URL', { timeout: RUN_MS_MAX }, async (context) => {
    if (await isRedisElsewhere()) context.skip('this machine has a Redis where it is found without a PATH')
    const counts = await runWithoutPath([ON_REDIS], { CI: '', TEST_REDIS_URL: 'redis://127.0.0.1:1' })
    expect(counts.failed).toEqual([
      expect.stringContaining('a shared server (redis) > A shared Redis answers'),
    ])
  })
})

const REASON = /^no Redis here: .+\. Install one .+ or set TEST_REDIS_URL$/

/** Runs the tests without a PATH, so that nothing can be installed either. */
async function runWithoutPath(
  files: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<Counts> {
  const counts = join(folder, 'counts.json')
  const run = spawn(
    process.execPath,
    [
      join(REPOSITORY, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--project',
      'servers',
      `--reporter=${join(REPOSITORY, 'scripts/count-reporter.mjs')}`,
      ...files,
    ],
    {
      cwd: REPOSITORY,
      env: {
        HOME: process.env.HOME,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        TEST_COUNTERSTEP_PROGRAM: process.env.TEST_COUNTERSTEP_PROGRAM,
        PATH: NOWHERE,
        TEST_COUNTS_FILE: counts,
        ...variables,
      },
      stdio: 'ignore',
    },
  )
  await once(run, 'exit')
  return JSON.parse(await readFile(counts, 'utf8'))
}

async function isRedisElsewhere(): Promise<boolean> {
  const ofPath = new Set(process.env.PATH?.split(':'))
  const others = readEnvironment().searchPath.filter((path) => !ofPath.has(path))
  return (await findBinaries(['redis-server', 'valkey-server'], others)).length > 0
}
