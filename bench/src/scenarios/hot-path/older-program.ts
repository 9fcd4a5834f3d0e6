import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { REPOSITORY } from '../../harness/paths.ts'

/** The commit that added such a file brought what a scenario compares with the code before it. */
export const FIRST_FILES = {
  /** Rows carry a name, tags and a problem. */
  names: 'packages/core/src/record/tags-column.ts',
  /** A host's tracing is told what the engine does. */
  traces: 'packages/engine/src/tracer.ts',
} as const

export interface OlderProgram {
  readonly program: string
  readonly commit: string
}

/**
 * Takes the program `counterstep` from git as it was before the commit that added a file: its sources beside today's
 * dependencies, which lie in a folder above.
 */
export function unpackOlderProgram(folder: string, firstFile: string): OlderProgram {
  const commit = findOlderCommit(firstFile)
  if (commit === undefined)
    throw new Error(`git does not tell the commit before ${firstFile}: is its history cut off?`)
  const place = join(folder, `older-${commit}`)
  mkdirSync(place)
  const index = { GIT_INDEX_FILE: join(place, 'index') }
  git(['read-tree', `${commit}:packages`], index)
  git(['checkout-index', '--all', `--prefix=${join(place, 'packages')}/`], index)
  linkPackages(place)
  return { program: join(place, 'packages/cli/src/main.ts'), commit }
}

/** Finds the commit before that of the file, or nothing where the history does not reach so far. */
export function findOlderCommit(firstFile: string): string | undefined {
  const log = runGit(['log', '--format=%p', '--reverse', '--', firstFile])
  const [parent = ''] = log.stdout?.split(/\s/, 1) ?? []
  return parent === '' ? undefined : parent
}

function git(args: readonly string[], environment: NodeJS.ProcessEnv): string {
  const { status, stdout, stderr, error } = runGit(args, environment)
  if (status === 0) return stdout
  throw new Error(`git ${args.join(' ')}: ${error?.message ?? stderr.trim()}`)
}

function runGit(args: readonly string[], environment: NodeJS.ProcessEnv = {}): SpawnSyncReturns<string> {
  const env = { ...process.env, ...environment }
  return spawnSync('git', args, { cwd: REPOSITORY, encoding: 'utf8', env })
}

/** The older packages import each other by their names. */
function linkPackages(place: string): void {
  for (const entry of readdirSync(join(place, 'packages'))) {
    const target = join(place, 'packages', entry)
    const { name } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8')) as {
      readonly name: string
    }
    const link = join(place, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(target, link, 'junction')
  }
}
