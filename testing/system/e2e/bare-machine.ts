import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type Ended, runProgram } from './packed/run-program.ts'

/** The programs that npm and the shell scripts of packages may ask a bare machine for. */
const TOOLS = [
  'npm',
  'git',
  'sh',
  ...'basename cat cp dirname env ls mkdir mv readlink rm sed tr uname'.split(' '),
]
const MISSING = ['python', 'python3', 'cc', 'gcc', 'g++', 'c++', 'clang', 'make', 'cmake']
/** The id of the user without rights on every Linux. */
const NOBODY = 65_534
export const STEP_MS_MAX = 240_000

/** One that is not root runs it all, in a folder whose name has a space. */
const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** A PATH and a home as of a machine with node, npm, git and the shell's basic tools, but neither a compiler nor Python. */
export class BareMachine {
  /** An empty folder of the user that runs it all. */
  readonly folder: string
  readonly #parent: string
  readonly #environment: Readonly<Record<string, string>>

  /** `fill` writes what is in the folder at first. */
  constructor(fill: (folder: string) => void = () => undefined) {
    this.#parent = mkdtempSync(join(tmpdir(), 'counterstep bare '))
    this.folder = join(this.#parent, 'my folder')
    const [bin, home] = [join(this.#parent, 'bin'), join(this.#parent, 'home')]
    for (const folder of [this.folder, bin, home]) mkdirSync(folder)
    // A copy, since another user may not be let into the folder of this one.
    cpSync(process.execPath, join(bin, 'node'))
    for (const tool of TOOLS) symlinkSync(findExecutable(tool), join(bin, tool))
    fill(this.folder)
    if (asNobody.uid !== undefined) give(this.#parent, asNobody.uid)
    // The address of the registry and what leads to it, and nothing else of this machine.
    const asked = { encoding: 'utf8', cwd: this.#parent } as const
    const registry = execFileSync('npm', ['config', 'get', 'registry'], asked).trim()
    const given = Object.entries(process.env).filter(([name]) =>
      /^(https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS)$/i.test(name),
    )
    this.#environment = {
      ...(Object.fromEntries(given) as Record<string, string>),
      npm_config_registry: registry,
      PATH: bin,
      HOME: home,
      TMPDIR: home,
    }
  }

  /** Runs one of its programs in the folder. */
  run(program: string, args: readonly string[]): Promise<Ended> {
    return runProgram(join(this.#parent, 'bin', program), args, {
      cwd: this.folder,
      only: this.#environment,
      limitMs: STEP_MS_MAX,
      ...asNobody,
    })
  }

  /** Those of the compilers and of Python that it has after all, one a line; and whether it is run by root. */
  async findFaults(): Promise<readonly string[]> {
    const asked = MISSING.map((tool) => `command -v ${tool}`).join('; ')
    const { stdout: found } = await this.run('sh', ['-c', asked])
    const { stdout: isRoot } = await this.run('node', ['--print', 'process.getuid() === 0'])
    return [
      ...found.split('\n').filter((line) => line !== ''),
      ...(isRoot.trim() === 'false' ? [] : ['root']),
    ]
  }

  remove(): void {
    rmSync(this.#parent, { recursive: true, force: true, maxRetries: 3 })
  }
}

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
