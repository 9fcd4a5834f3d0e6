import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { REPOSITORY } from '../../../repository/source-tree.ts'
import { readOutput, type Service, startService } from './run-program.ts'
import { UserProject } from './user-project.ts'

const PROJECTS = join(import.meta.dirname, 'projects')
const INSTALL_MS_MAX = 120_000
/** It takes 15 s alone, and several times as long beside other tests. */
const PACK_MS_MAX = 200_000

export interface Wanted {
  /** The folders of `projects` that have the sources, each with the package.json that is its own. */
  readonly sources: Readonly<Record<string, object>>
  /** The packages that they need besides, in exact versions. */
  readonly dependencies: Readonly<Record<string, string>>
}

/**
 * A folder that was empty, and has both packed packages now, a server of its own, and small projects in it. These share one
 * `node_modules`, since npm takes longer to write it than all of them to run.
 */
export class InstalledProject extends UserProject {
  readonly #parent: string
  #server: Service | undefined

  static async create(tarballs: readonly string[], wanted: Wanted): Promise<InstalledProject> {
    const { sources, dependencies } = wanted
    const project = new InstalledProject(mkdtempSync(join(tmpdir(), 'counterstep-projects-')))
    project.write('package.json', JSON.stringify({ private: true, dependencies }))
    for (const [name, manifest] of Object.entries(sources)) {
      cpSync(join(PROJECTS, name), join(project.folder, name), { recursive: true })
      project.write(`${name}/package.json`, JSON.stringify({ private: true, ...manifest }))
      copyFileSync(join(PROJECTS, 'memory-barrier.cjs'), join(project.folder, name, 'memory-barrier.cjs'))
    }
    const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
    await readOutput('npm', ['install', ...options, ...tarballs], {
      cwd: project.folder,
      limitMs: INSTALL_MS_MAX,
    })
    return project
  }

  private constructor(parent: string) {
    super(parent)
    this.#parent = parent
  }

  /** Runs a program in one of the projects, on the tests' Node or another, with the address of the server. */
  async run(name: string, args: readonly string[], node: string = process.execPath): Promise<string> {
    this.#server ??= await startService(
      join(this.installedAt('counterstep'), 'dist', 'command', 'counterstep.js'),
      { cwd: this.#parent },
      ['serve', '--port', '0', '--data', join(this.#parent, 'data'), '--ready-json', '--log-level', 'error'],
    )
    return readOutput(node, args, {
      cwd: join(this.folder, name),
      env: { COUNTERSTEP_URL: this.#server.url },
    })
  }

  /** A folder beside all that, from which none of the packages is found. */
  folderOutside(name: string): string {
    const folder = join(this.#parent, name)
    mkdirSync(folder)
    return folder
  }

  async stopAndRemove(): Promise<void> {
    await this.#server?.stop()
    this.remove()
  }
}

/** Both packages, packed from the sources. */
export async function packBoth(): Promise<{ readonly tarballs: readonly string[]; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-both-'))
  const script = join(REPOSITORY, 'scripts', 'pack.ts')
  const printed = await readOutput(process.execPath, [script, '--into', folder], {
    cwd: folder,
    limitMs: PACK_MS_MAX,
  })
  return {
    tarballs: printed.trim().split('\n'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The Node that the PATH leads to outside of npm's scripts: another version than the tests' own, on many a machine. */
export function nodesOfSystem(): readonly string[] {
  const paths = (process.env.PATH ?? '').split(process.platform === 'win32' ? ';' : ':')
  const names = paths
    .filter((path) => !path.includes('node_modules'))
    .map((path) => join(path, process.platform === 'win32' ? 'node.exe' : 'node'))
  return names.filter((name) => name !== process.execPath && existsSync(name)).slice(0, 1)
}
