import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REPOSITORY } from '../../repository/source-tree.ts'
import { type Ended, runProgram } from './packed/run-program.ts'

/** The programs that npm and the shell scripts of packages may ask a bare machine for. */
const TOOLS = [
  'npm',
  'git',
  'sh',
  ...'basename cat cp dirname env ls mkdir mv readlink rm sed tr uname'.split(' '),
]
const MISSING = ['python', 'python3', 'cc', 'gcc', 'g++', 'c++', 'clang', 'make', 'cmake']
/** The user `nobody` of every Linux. */
const NOBODY = 65_534
const STEP_MS_MAX = 240_000

/** One that is not root runs it all, in a folder whose name has a space. */
const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

describe.skipIf(process.platform === 'win32')(
  'a clone on a machine without a compiler and without Python',
  () => {
    let parent: string
    let clone: string
    let environment: Readonly<Record<string, string>>

    const run = (file: string, args: readonly string[]): Promise<Ended> =>
      runProgram(join(parent, 'bin', file), args, {
        cwd: clone,
        only: environment,
        limitMs: STEP_MS_MAX,
        ...asNobody,
      })

    beforeAll(() => {
      parent = mkdtempSync(join(tmpdir(), 'counterstep clone '))
      clone = join(parent, 'my clone')
      const [bin, home] = [join(parent, 'bin'), join(parent, 'home')]
      for (const folder of [clone, bin, home]) mkdirSync(folder)
      // A copy, since another user may not be let into the folder of this one.
      cpSync(process.execPath, join(bin, 'node'))
      for (const tool of TOOLS) symlinkSync(findExecutable(tool), join(bin, tool))
      // The files are those of the working tree, so that a change is tried before it is committed.
      const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
        cwd: REPOSITORY,
        encoding: 'utf8',
      })
      for (const file of listed.split('\0')) {
        if (file !== '' && existsSync(join(REPOSITORY, file)))
          cpSync(join(REPOSITORY, file), join(clone, file))
      }
      if (asNobody.uid !== undefined) give(parent, asNobody.uid)
      // The address of the registry and what leads to it, and nothing else of this machine.
      const registry = execFileSync('npm', ['config', 'get', 'registry'], {
        encoding: 'utf8',
        cwd: parent,
      }).trim()
      const given = Object.entries(process.env).filter(([name]) =>
        /^(https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS)$/i.test(name),
      )
      environment = {
        ...(Object.fromEntries(given) as Record<string, string>),
        npm_config_registry: registry,
        PATH: bin,
        HOME: home,
        TMPDIR: home,
      }
    })
    afterAll(() => rmSync(parent, { recursive: true, force: true, maxRetries: 3 }))

    it('has neither of them, and is not root', async () => {
      const asked = MISSING.map((tool) => `command -v ${tool}`).join('; ')
      expect((await run('sh', ['-c', asked])).stdout).toBe('')
      const { stdout } = await run('node', ['--print', 'process.getuid() === 0'])
      expect(stdout.trim()).toBe('false')
    })

    it('is installed by npm ci, though every package may run its scripts', {
      timeout: STEP_MS_MAX,
    }, async () => {
      const { code, stderr } = await run('npm', ['ci', '--ignore-scripts=false', '--no-audit'])
      expect([code, stderr]).toEqual([0, expect.not.stringContaining('gyp')])
    })

    it('plays its transfers by npm start, with no word of an experiment', {
      timeout: STEP_MS_MAX,
    }, async () => {
      const { code, stdout, stderr } = await run('npm', ['start', '--', '--once'])
      expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining('balances are right')])
      // The machine's own Node fits, so that none is downloaded.
      expect(stdout).not.toContain('Installing')
      expect(existsSync(join(clone, 'scripts/own-node/node_modules'))).toBe(false)
      const log = readFileSync(join(clone, '.data/logs/orchestrator.log'), 'utf8')
      expect(log).not.toContain('ExperimentalWarning')
    })
  },
)

function findExecutable(name: string): string {
  // The machine's own, and none of a workspace.
  const folders = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'))
  const found = folders.map((each) => join(each, name)).find((path) => existsSync(path))
  if (found === undefined) throw new Error(`this machine has no ${name}`)
  return found
}

function give(path: string, owner: number): void {
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) chownSync(join(entry.parentPath, entry.name), owner, owner)
  }
  chownSync(path, owner, owner)
  chmodSync(path, 0o700)
}
