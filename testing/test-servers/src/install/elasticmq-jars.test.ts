import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ProgramRun } from '../processes/run-program.ts'
import { elasticmqProgram } from './elasticmq-jars.ts'
import type { Machine } from './machine.ts'

let programs = ''
let cache = ''
beforeEach(async () => {
  programs = await mkdtemp(join(tmpdir(), 'counterstep-programs-'))
  cache = await mkdtemp(join(tmpdir(), 'counterstep-cache-'))
})
afterEach(async () => {
  for (const folder of [programs, cache]) await rm(folder, { recursive: true, force: true })
})

function machine(asked: string[], run: ProgramRun): Machine {
  return {
    ...{
      isRoot: false,
      mayInstall: true,
      release: {},
      aptSources: [],
      debianKeys: undefined,
      tell: () => undefined,
    },
    async run(command) {
      asked.push(command)
      return run
    },
  }
}

async function put(...names: readonly string[]): Promise<void> {
  for (const name of names) await writeFile(join(programs, name), '', { mode: 0o755 })
}

it('ElasticMQ is missed by name where there is no Java, which is excused even in CI', async () => {
  const asked: string[] = []
  const program = elasticmqProgram(cache, [programs], machine(asked, { code: 0, output: '' }))
  await expect(program).rejects.toMatchObject({
    message: expect.stringMatching(/^no ElasticMQ here: java is not on the PATH\. Install/),
    isExcused: true,
  })
  expect(asked).toEqual([])
})

it('ElasticMQ is missed without an excuse when Maven does not bring it, and nothing is left behind', async () => {
  await put('java', 'javac', 'mvn')
  const failed = { code: 1, output: 'Could not transfer artifact' }
  const program = elasticmqProgram(cache, [programs], machine([], failed))
  await expect(program).rejects.toMatchObject({
    message: expect.stringContaining('mvn failed with exit code 1: Could not transfer artifact'),
    isExcused: false,
  })
  expect(await readdir(cache)).toEqual([])
})

it('ElasticMQ is fetched once, and then needs a Java alone', async () => {
  await put('java', 'javac', 'mvn')
  const asked: string[] = []
  const fetching = machine(asked, { code: 0, output: '' })
  const first = await elasticmqProgram(cache, [programs], fetching)
  expect(asked).toEqual([join(programs, 'mvn'), join(programs, 'javac')])
  await rm(join(programs, 'mvn'))
  expect(await elasticmqProgram(cache, [programs], fetching)).toEqual(first)
  expect(asked).toHaveLength(2)
})
