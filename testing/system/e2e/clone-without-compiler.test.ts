import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REPOSITORY } from '../../repository/source-tree.ts'
import { BareMachine, STEP_MS_MAX } from './bare-machine.ts'

describe.skipIf(process.platform === 'win32')(
  'a clone on a machine without a compiler and without Python',
  () => {
    let machine: BareMachine

    beforeAll(() => {
      machine = new BareMachine((clone) => {
        // The files are those of the working tree, so that a change is tried before it is committed.
        const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
          cwd: REPOSITORY,
          encoding: 'utf8',
        })
        for (const file of listed.split('\0')) {
          if (file !== '' && existsSync(join(REPOSITORY, file)))
            cpSync(join(REPOSITORY, file), join(clone, file))
        }
      })
    })
    afterAll(() => machine?.remove())

    it('The machine has neither a compiler nor Python, and its user is not root', async () => {
      expect(await machine.findFaults()).toEqual([])
    })

    it('A clone is installed by npm ci, though every package may run its scripts', {
      timeout: STEP_MS_MAX,
    }, async () => {
      const { code, stderr } = await machine.run('npm', ['ci', '--ignore-scripts=false', '--no-audit'])
      expect([code, stderr]).toEqual([0, expect.not.stringContaining('gyp')])
    })

    it('A clone plays its transfers by npm start, with no word of an experiment', {
      timeout: STEP_MS_MAX,
    }, async () => {
      const { code, stdout, stderr } = await machine.run('npm', ['start', '--', '--once'])
      expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining('balances are right')])
      // The machine's own Node fits, so that none is downloaded.
      expect(stdout).not.toContain('Installing')
      expect(existsSync(join(machine.folder, 'scripts/own-node/node_modules'))).toBe(false)
      const log = readFileSync(join(machine.folder, '.data/logs/orchestrator.log'), 'utf8')
      expect(log).not.toContain('ExperimentalWarning')
    })
  },
)
