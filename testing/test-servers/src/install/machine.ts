import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readEnvironment } from '../environment.ts'
import { type RunProgram, runProgram } from '../processes/run-program.ts'
import { progress } from '../progress.ts'

/** The parts of a machine that an installation needs. */
export interface Machine {
  readonly isRoot: boolean
  /** The user has allowed installations and downloads. */
  readonly mayInstall: boolean
  /** The fields of /etc/os-release, or none if there is no such file. */
  readonly release: Readonly<Record<string, string>>
  /** The contents of the files that name apt's sources. */
  readonly aptSources: readonly string[]
  /** The keys of Debian's archive, if they are there. */
  readonly debianKeys: string | undefined
  readonly run: RunProgram
  /** Shows a line to the person who waits. */
  readonly tell: (line: string) => void
}

const RELEASE_FILE = '/etc/os-release'
const DEBIAN_KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg'
const SOURCES_FILE = '/etc/apt/sources.list'
const SOURCES_FOLDER = '/etc/apt/sources.list.d'

export function thisMachine(): Machine {
  return {
    isRoot: process.getuid?.() === 0,
    mayInstall: readEnvironment().mayInstall,
    release: readRelease(),
    aptSources: readAptSources(),
    debianKeys: existsSync(DEBIAN_KEYS) ? DEBIAN_KEYS : undefined,
    run: runProgram,
    tell: progress,
  }
}

/** The reason why nothing is installed or downloaded on a machine whose user has not allowed it. */
export const NOT_ALLOWED =
  'nothing is installed unless you allow it by TEST_INSTALL=yes, as npm run test:all does'

/** Tells whether the machine runs this system, or one that declares itself like it. */
export function isSystem(machine: Machine, name: 'debian' | 'ubuntu'): boolean {
  const { ID, ID_LIKE = '' } = machine.release
  return ID === name || ID_LIKE.split(' ').includes(name)
}

function readRelease(): Readonly<Record<string, string>> {
  if (!existsSync(RELEASE_FILE)) return {}
  return parseRelease(readFileSync(RELEASE_FILE, 'utf8'))
}

export function parseRelease(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(/^(\w+)=["']?(.*?)["']?$/gm)]
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]))
}

/** Reads the contents of all source files of this machine's apt. */
function readAptSources(): readonly string[] {
  const names = existsSync(SOURCES_FOLDER) ? readdirSync(SOURCES_FOLDER).sort() : []
  const paths = names
    .filter((name) => /\.(list|sources)$/.test(name))
    .map((name) => join(SOURCES_FOLDER, name))
  return [SOURCES_FILE, ...paths].filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'))
}
