import type { Machine } from '@counterstep/test-servers'
import { expect, it } from 'vitest'
import { ensureBuildTools } from './build-tools.ts'
import { RuntimeClientMissingError } from './errors.ts'

function createMachine(more: Partial<Machine>, asked: string[] = []): Machine {
  return {
    isRoot: true,
    mayInstall: true,
    release: { ID: 'debian' },
    aptSources: [],
    debianKeys: undefined,
    tell: () => undefined,
    async run(command, args) {
      asked.push([command, ...args.filter((arg) => !arg.startsWith('-') && !arg.includes('::'))].join(' '))
      return { code: 0, output: '' }
    },
    ...more,
  }
}

async function readRefusal(refused: Machine): Promise<RuntimeClientMissingError> {
  const error: unknown = await ensureBuildTools([], refused).catch((reason: unknown) => reason)
  if (!(error instanceof RuntimeClientMissingError)) throw new Error('not refused', { cause: error })
  return error
}

it('Missing build tools are asked of apt-get', async () => {
  const asked: string[] = []
  const { message } = await readRefusal(createMachine({}, asked))
  expect(asked).toEqual(['apt-get update', 'apt-get install g++ make cmake xz-utils python3 util-linux'])
  expect(message).toMatch(/takes g\+\+, make, cmake, xz, python3, setpriv: installed, and yet not found$/)
})

it('Build tools that cannot be installed are named as missing, which is excused even in CI', async () => {
  const { message, isExcused } = await readRefusal(createMachine({ isRoot: false }))
  expect(message).toContain('no runtime client of Lambda here: building it takes g++')
  expect(message).toContain('only root can install it')
  expect(isExcused).toBe(true)
})
