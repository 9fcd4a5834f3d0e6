import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { REPOSITORY } from '../../source-tree.ts'
import { outputOf } from './run-program.ts'

/** A user's project, outside of the repository, that has the packed SDK and nothing else installed. */
export class SdkProject {
  readonly folder: string
  readonly tarball: string
  /** Where the package was installed to. */
  readonly installed: string

  static async create(): Promise<SdkProject> {
    const folder = mkdtempSync(join(tmpdir(), 'counterstep-packed-'))
    const project = join(folder, 'project')
    mkdirSync(project)
    const script = join(REPOSITORY, 'scripts', 'pack.ts')
    const packed = await outputOf(
      process.execPath,
      [script, '--only', '@counterstep/sdk', '--into', folder],
      {
        cwd: folder,
      },
    )
    const tarball = packed.trim()
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n')
    // From nowhere but the tarball: the cache is empty, and no registry is asked.
    const options = ['--offline', '--no-audit', '--no-fund', '--cache', join(folder, 'cache')]
    await outputOf('npm', ['install', ...options, tarball], { cwd: project })
    return new SdkProject(project, tarball)
  }

  private constructor(folder: string, tarball: string) {
    this.folder = folder
    this.tarball = tarball
    this.installed = join(folder, 'node_modules', '@counterstep', 'sdk')
  }

  /** Gives it packages that the repository has, in the same versions. */
  addFromRepository(names: readonly string[]): void {
    for (const name of names) {
      const path = join(this.folder, 'node_modules', name)
      mkdirSync(dirname(path), { recursive: true })
      symlinkSync(join(REPOSITORY, 'node_modules', name), path, 'junction')
    }
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true })
    writeFileSync(join(this.folder, path), text)
  }

  /** The code of a document in the package, by the file names that stand behind the fences' language. */
  examplesOf(document: string): ReadonlyMap<string, string> {
    const text = readFileSync(join(this.installed, document), 'utf8')
    const blocks = text.matchAll(/^```ts ([\w.-]+\.ts)\n([\s\S]*?)^```$/gm)
    return new Map([...blocks].map(([, name = '', code = '']) => [name, code]))
  }

  remove(): void {
    rmSync(dirname(this.folder), { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Puts something else in the place of each of these texts, which must all be there. */
export function replaced(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((rest, [from, to]) => {
    if (!rest.includes(from)) throw new Error(`the example has no ${from}`)
    return rest.replaceAll(from, to)
  }, text)
}
