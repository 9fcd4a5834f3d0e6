import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { moduleNames, withNames } from './module-names.ts'

/** The compiled files of a workspace by their paths in the package, as the compiler wrote them. */
export function compiledModules(built: string, folder: string): ReadonlyMap<string, string> {
  const compiled = join(built, folder, 'src')
  return new Map(
    readdirSync(compiled, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        const text = readFileSync(path, 'utf8')
        const published = `dist/${relative(compiled, path).split(sep).join('/')}`
        return [published, path.endsWith('.d.ts') ? withCompiledNames(path, text) : text]
      }),
  )
}

/** Declarations keep the sources' names of modules, and the sources are not there. */
function withCompiledNames(path: string, text: string): string {
  return withNames(text, moduleNames(path, text), (name) =>
    name.startsWith('.') ? name.replace(/\.ts$/, '.js') : name,
  )
}
