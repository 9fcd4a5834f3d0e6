import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { REPOSITORY } from '../../../repository/source-tree.ts'
import { readOutput, runProgram } from './run-program.ts'
import { UserProject } from './user-project.ts'

/** Packs, checks and tries all packages one after the other. */
const RELEASE_DRY_MS_MAX = 240_000

interface Locked {
  readonly link?: boolean
}

/** A user's project that has every public package, as `npm run release:dry` packed it. */
export class PackagesProject extends UserProject {
  /** The output of `npm run release:dry`. */
  readonly report: string
  readonly tarballs: readonly string[]

  /** `registryUrl` is asked for what is published already. */
  static async create(registryUrl: string): Promise<PackagesProject> {
    const parent = mkdtempSync(join(tmpdir(), 'counterstep-packages-'))
    const into = join(parent, 'tarballs')
    const script = join(REPOSITORY, 'scripts', 'release-dry.ts')
    const { code, stdout, stderr } = await runProgram(process.execPath, [script, '--into', into], {
      cwd: parent,
      env: { npm_config_registry: registryUrl },
      limitMs: RELEASE_DRY_MS_MAX,
    })
    if (code !== 0) throw new Error(`release:dry ended with ${code}:\n${stdout}${stderr}`)
    const tarballs = readdirSync(into).map((name) => join(into, name))
    return new PackagesProject(parent, stdout, tarballs)
  }

  private constructor(parent: string, report: string, tarballs: readonly string[]) {
    super(parent)
    this.report = report
    this.tarballs = tarballs
  }

  /** Installs all other packages from the registry, in the versions that the repository has. */
  async install(): Promise<void> {
    const lock: { packages: Record<string, Locked> } = JSON.parse(
      readFileSync(join(REPOSITORY, 'package-lock.json'), 'utf8'),
    )
    const packages = Object.fromEntries(
      Object.entries(lock.packages).filter(
        ([path, { link }]) => path.startsWith('node_modules/') && link !== true,
      ),
    )
    this.write('package-lock.json', JSON.stringify({ lockfileVersion: 3, packages: { '': {}, ...packages } }))
    const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
    await readOutput('npm', ['install', ...options, ...this.tarballs], { cwd: this.folder })
  }
}
