import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findNodeFault } from '../src/node-version.ts'

const COMMAND = join(import.meta.dirname, '../src/counterstep.ts')

function commandOn(version: string) {
  const versions = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  const args = ['--import', `data:text/javascript,${encodeURIComponent(versions)}`, COMMAND, '--version']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

describe('the version of Node', () => {
  test.each(['22.19.0', '22.20.1', '24.11.0', '24.21.0', '26.0.0', '27.1.0'])(
    'Node %s is accepted',
    (version) => {
      expect(findNodeFault(version)).toBeUndefined()
    },
  )

  test.each(['18.20.8', '20.20.2', '22.18.0', '23.11.0', '24.10.9', '25.0.0'])(
    'Node %s is refused',
    (version) => {
      expect(findNodeFault(version)).toBe(`counterstep needs Node 22.19+, 24.11+ or 26+; this is ${version}`)
    },
  )

  test('The command checks the version before it loads anything', () => {
    expect(commandOn('20.20.2')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'counterstep needs Node 22.19+, 24.11+ or 26+; this is 20.20.2\n',
    })
    expect(commandOn('24.11.0')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    })
  })
})
