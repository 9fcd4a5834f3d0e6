import { isNode, parse, walk } from '../../test/syntax.ts'

/** Where a file names a module, quotes included, whether for its values or for its types. */
export interface ModuleName {
  readonly name: string
  readonly start: number
  readonly end: number
}

const WITH_SOURCE = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
])
/** `import x = require()` and `declare module`: nobody writes them here, and they would be missed. */
const REFUSED = new Set(['TSExternalModuleReference', 'TSImportEqualsDeclaration', 'TSModuleDeclaration'])

export function moduleNames(path: string, text: string): readonly ModuleName[] {
  const found: ModuleName[] = []
  // A declaration file is parsed as TypeScript, and compiled JavaScript is a part of it.
  walk(parse(path.endsWith('.d.ts') ? path : `${path}.ts`, text), (node) => {
    if (REFUSED.has(node.type)) throw new Error(`${path} has a ${node.type}`)
    if (!WITH_SOURCE.has(node.type) || !isNode(node.source)) return
    const { value: name, start, end } = node.source
    if (typeof name !== 'string' || typeof start !== 'number' || typeof end !== 'number') {
      throw new Error(`${path} imports a module whose name is not written down`)
    }
    found.push({ name, start, end })
  })
  return found
}

export function withNames(
  text: string,
  names: readonly ModuleName[],
  renamed: (name: string) => string,
): string {
  return [...names]
    .sort((one, other) => other.start - one.start)
    .reduce(
      (rest, { name, start, end }) => `${rest.slice(0, start)}'${renamed(name)}'${rest.slice(end)}`,
      text,
    )
}
