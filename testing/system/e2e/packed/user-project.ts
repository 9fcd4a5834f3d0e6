import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { REPOSITORY } from '../../../repository/source-tree.ts'
import { type Ended, runProgram } from './run-program.ts'

/** A user's project, outside of the repository, alone with what is its own in a temporary folder. */
export class UserProject {
  readonly folder: string

  /** The project is in a folder that `remove` removes. */
  protected constructor(parent: string) {
    this.folder = join(parent, 'project')
    mkdirSync(this.folder)
    this.write('package.json', '{ "private": true, "type": "module" }\n')
  }

  /** Returns the folder to which a package was installed. */
  installedAt(name: string): string {
    return join(this.folder, 'node_modules', name)
  }

  /** Gives it packages that the repository has, in the same versions. */
  addFromRepository(names: readonly string[]): void {
    for (const name of names) {
      const path = this.installedAt(name)
      mkdirSync(dirname(path), { recursive: true })
      symlinkSync(join(REPOSITORY, 'node_modules', name), path, 'junction')
    }
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true })
    writeFileSync(join(this.folder, path), text)
  }

  /** Runs the compiler by tsconfig.json, with one checker: several would each check the same dependencies. */
  compile(): Promise<Ended> {
    const tsc = join(REPOSITORY, 'node_modules/typescript/bin/tsc')
    return runProgram(process.execPath, [tsc, '--project', '.', '--checkers', '1'], { cwd: this.folder })
  }

  /** The code of a document in a package, by the file names that stand behind the fences' language. */
  examplesIn(name: string, document: string): ReadonlyMap<string, string> {
    const text = readFileSync(join(this.installedAt(name), document), 'utf8')
    const blocks = text.matchAll(/^```(?:ts|js) ([\w.-]+\.m?[jt]s)\n([\s\S]*?)^```$/gm)
    return new Map([...blocks].map(([, file = '', code = '']) => [file, code]))
  }

  remove(): void {
    rmSync(dirname(this.folder), { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Puts something else in the place of each of these texts, which must all be there. */
export function replaceTexts(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((rest, [from, to]) => {
    if (!rest.includes(from)) throw new Error(`the example has no ${from}`)
    return rest.replaceAll(from, to)
  }, text)
}
