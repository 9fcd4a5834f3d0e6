import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fillCacheFolder, readEnvironment } from '@counterstep/test-servers'
import { REPOSITORY } from '../harness/paths.ts'

const FILES = ['package.json', 'package-lock.json']
const INSTALL_MS_MAX = 180_000
const KEY_LENGTH = 12
/** Their scripts do not run. */
const OPTIONS = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']

/** Packages of another system, which are no dependencies of this repository. */
export interface PinnedPackages {
  /** The packages lie in its `node_modules`. */
  readonly folder: string
  /** Names each package that is asked for, with its version. */
  readonly versions: string
}

export interface PinnedPlaces {
  /** Each folder in it has a package.json and its lockfile, which fixes all versions and digests. */
  readonly sources: string
  /** The folder that keeps what was installed from one run to the next. */
  readonly keptIn: string
  readonly ending: AbortSignal
}

export function pinnedPlaces({ ending }: Pick<PinnedPlaces, 'ending'>): PinnedPlaces {
  return {
    sources: join(REPOSITORY, 'bench', 'peers'),
    keptIn: join(readEnvironment().cacheFolder, 'peers'),
    ending,
  }
}

/** Finds the packages in the cache, or lets npm install them there. Throws an Error with the reason if it cannot. */
export async function installPinned(
  name: string,
  { sources, keptIn, ending }: PinnedPlaces,
): Promise<PinnedPackages> {
  const source = join(sources, name)
  const versions = readVersions(readFileSync(join(source, 'package.json'), 'utf8'))
  const folder = join(keptIn, `${name}-${hashFiles(source)}-${process.platform}-${process.arch}`)
  await fillCacheFolder(folder, async (partial) => {
    for (const file of FILES) cpSync(join(source, file), join(partial, file))
    try {
      await promisify(execFile)('npm', ['ci', `--prefix=${partial}`, ...OPTIONS], {
        cwd: partial,
        timeout: INSTALL_MS_MAX,
        signal: ending,
      })
    } catch (error: unknown) {
      throw new Error(`npm does not get ${versions}: ${toReason(error)}`, { cause: error })
    }
    return partial
  })
  return { folder, versions }
}

/** Loads a package from such a folder. `Exports` names the part of it that the bench uses. */
export function requireFrom<Exports>(folder: string, name: string): Exports {
  // The version is fixed, so its exports are known.
  return createRequire(join(folder, 'package.json'))(name) as Exports
}

/** Reads what a package.json asks for. The variants of one package for several machines count as one. */
export function readVersions(text: string): string {
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(text) as {
    readonly dependencies?: Readonly<Record<string, string>>
    readonly optionalDependencies?: Readonly<Record<string, string>>
  }
  const optional = Object.entries(optionalDependencies).map(
    ([name, version]) => [name.replace(/-(?:darwin|linux|win32)-(?:arm64|x64)$/, ''), version] as const,
  )
  const all = [...Object.entries(dependencies), ...optional]
  return [...new Set(all.map(([name, version]) => `${name}@${version}`))].join(', ')
}

/** Hashes the files that decide what is installed, so that another version makes a new folder. */
function hashFiles(folder: string): string {
  const hash = createHash('sha256')
  for (const name of FILES) hash.update(readFileSync(join(folder, name)))
  return hash.digest('hex').slice(0, KEY_LENGTH)
}

function toReason(error: unknown): string {
  const { stderr = '' } = error as { readonly stderr?: string }
  const [first = String(error)] = stderr
    .split('\n')
    .filter((line) => /^npm error (?!code|syscall|errno|address|port)/.test(line))
  return first.replace('npm error ', '')
}
