import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { REPOSITORY } from '../../../repository/source-tree.ts'

/** The first commit in this folder taught the record its third format. */
const FIRST_OF_FORMAT_3 = 'packages/core/src/values'

export type OlderProgram =
  | { readonly type: 'here'; readonly program: string; readonly commit: string; remove(): void }
  | { readonly type: 'missing'; readonly reason: string }

/**
 * The program `counterstep` as it was before sagas had values, from git: its sources beside today's dependencies, which
 * lie in a folder above.
 */
export function unpackOlderProgram(): OlderProgram {
  const log = git(['log', '--format=%P', '--reverse', '--', FIRST_OF_FORMAT_3])
  const [commit] = log.output.split(/\s/, 1)
  if (commit === undefined || commit === '') {
    const reason = `git does not tell the commit before ${FIRST_OF_FORMAT_3}: ${log.errors || 'its history is cut off'}`
    return { type: 'missing', reason }
  }
  const temporary = join(REPOSITORY, '.tmp')
  mkdirSync(temporary, { recursive: true })
  const folder = mkdtempSync(join(temporary, 'older-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const index = { GIT_INDEX_FILE: join(folder, 'index') }
    for (const args of [
      ['read-tree', `${commit}:packages`],
      ['checkout-index', '--all', `--prefix=${join(folder, 'packages')}/`],
    ]) {
      const { isDone, errors } = git(args, index)
      if (!isDone) throw new Error(`git ${args.join(' ')}: ${errors}`)
    }
    linkPackages(folder)
  } catch (error: unknown) {
    remove()
    throw error
  }
  return { type: 'here', program: join(folder, 'packages/cli/src/main.ts'), commit, remove }
}

function git(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const env = { ...process.env, ...environment }
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: REPOSITORY, encoding: 'utf8', env })
  return { isDone: status === 0, output: stdout ?? '', errors: error?.message ?? stderr.trim() }
}

/** The old packages import each other by their names. */
function linkPackages(folder: string): void {
  for (const entry of readdirSync(join(folder, 'packages'))) {
    const target = join(folder, 'packages', entry)
    const { name } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8')) as {
      readonly name: string
    }
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(target, link, 'junction')
  }
}
