import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { REPOSITORY } from '../../../repository/source-tree.ts'
import { readOutput } from './run-program.ts'
import { UserProject } from './user-project.ts'

const NAME = '@counterstep/sdk'

/** A user's project that has the packed SDK and nothing else installed. */
export class SdkProject extends UserProject {
  readonly tarball: string

  static async create(): Promise<SdkProject> {
    const folder = mkdtempSync(join(tmpdir(), 'counterstep-packed-'))
    const script = join(REPOSITORY, 'scripts', 'pack.ts')
    const packed = await readOutput(process.execPath, [script, '--only', NAME, '--into', folder], {
      cwd: folder,
    })
    const project = new SdkProject(folder, packed.trim())
    // All comes from the tarball: the cache is empty, and no registry is asked.
    const options = ['--offline', '--no-audit', '--no-fund', '--cache', join(folder, 'cache')]
    await readOutput('npm', ['install', ...options, project.tarball], { cwd: project.folder })
    return project
  }

  private constructor(parent: string, tarball: string) {
    super(parent)
    this.tarball = tarball
  }

  get installed(): string {
    return this.installedAt(NAME)
  }

  readExamples(document: string): ReadonlyMap<string, string> {
    return this.examplesIn(NAME, document)
  }
}
