import { transformSync } from 'esbuild'

const FOLDER = 'dist/cjs'

/** Returns the path of a module's CommonJS build in a package, by the path of the ES module. */
export function commonJsPath(path: string): string {
  return path.replace(/^dist\//, `${FOLDER}/`)
}

/**
 * The same modules once more, in a folder whose own package.json says that all in it is CommonJS: also the declarations, which
 * TypeScript takes for those of ES modules otherwise.
 */
export function commonJsModules(modules: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([
    [`${FOLDER}/package.json`, `${JSON.stringify({ type: 'commonjs' })}\n`],
    ...[...modules].map(([path, text]): [string, string] => [
      commonJsPath(path),
      path.endsWith('.js') ? asCommonJs(text) : text,
    ]),
  ])
}

/** The platform makes it list the exported names so that an ES module can import them, too. */
function asCommonJs(text: string): string {
  return transformSync(text, { format: 'cjs', platform: 'node', target: 'node20.19' }).code
}
