import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REPOSITORY } from '../../repository/source-tree.ts'
import { BareMachine, STEP_MS_MAX } from './bare-machine.ts'
import { packBoth } from './packed/installed-project.ts'

const NO_COMPILER = expect.not.stringContaining('gyp')

describe.skipIf(process.platform === 'win32')(
  'an empty folder on a machine without a compiler and without Python',
  () => {
    let machine: BareMachine
    let tarball: string

    beforeAll(async () => {
      const packed = await packBoth()
      const path = packed.tarballs.find((each) => /counterstep-\d[^/]*$/.test(each)) ?? ''
      tarball = basename(path)
      machine = new BareMachine((folder) => copyFileSync(path, join(folder, tarball)))
      packed.remove()
    }, STEP_MS_MAX)
    afterAll(() => machine?.remove())

    it('The machine has neither a compiler nor Python, and its user is not root', async () => {
      expect(await machine.findFaults()).toEqual([])
    })

    it('The package is installed by npm install, and by npm ci from the lockfile of that', {
      timeout: STEP_MS_MAX,
    }, async () => {
      const installed = await machine.run('npm', ['install', `./${tarball}`])
      expect([installed.code, installed.stderr]).toEqual([0, NO_COMPILER])
      rmSync(join(machine.folder, 'node_modules'), { recursive: true })
      const again = await machine.run('npm', ['ci'])
      expect([again.code, again.stderr]).toEqual([0, NO_COMPILER])
    })

    it('The installed package runs the command, and the transaction of the README', {
      timeout: STEP_MS_MAX,
    }, async () => {
      const { version } = JSON.parse(
        readFileSync(join(REPOSITORY, 'packages/counterstep/package.json'), 'utf8'),
      )
      expect(await machine.run('npm', ['exec', '--', 'counterstep', '--version'])).toEqual({
        code: 0,
        stdout: `${version}\n`,
        stderr: '',
      })
      const readme = readFileSync(join(machine.folder, 'node_modules/counterstep/README.md'), 'utf8')
      const program = /^```js own\.mjs\n([\s\S]*?)^```$/m.exec(readme)?.[1] ?? ''
      writeFileSync(join(machine.folder, 'own.mjs'), program)
      const { code, stdout, stderr } = await machine.run('node', ['own.mjs'])
      // The log stands between these lines.
      const printed = stdout.split('\n').filter((line) => !line.startsWith('{'))
      expect([code, stderr, printed]).toEqual([0, '', ['/seat', '/card', '/seat/undo', 'failed', '']])
    })
  },
)
