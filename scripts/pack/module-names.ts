import { isNode, parse, type SyntaxNode, walk } from '../../testing/repository/syntax.ts'

/** A place where a file names a module, quotes included, whether for its values or for its types. */
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
/** `import x = require()` is not used here, and it would be missed. */
const REFUSED = new Set(['TSExternalModuleReference', 'TSImportEqualsDeclaration'])

/** A module that computes a name is refused, unless it may: that name is left as it is. */
export function moduleNames(path: string, text: string, mayCompute: boolean): readonly ModuleName[] {
  const found: ModuleName[] = []
  // A declaration file is parsed as TypeScript, and compiled JavaScript is a part of it.
  walk(parse(path.endsWith('.d.ts') ? path : `${path}.ts`, text), (node) => {
    if (REFUSED.has(node.type)) throw new Error(`${path} has a ${node.type}`)
    const source = getSource(node)
    if (source === undefined) return
    const { value: name, start, end } = source
    if (mayCompute && typeof name !== 'string') return
    if (typeof name !== 'string' || typeof start !== 'number' || typeof end !== 'number') {
      throw new Error(`${path} imports a module whose name is not written down`)
    }
    found.push({ name, start, end })
  })
  return found
}

/** `declare module 'name'` names one, too. */
function getSource(node: SyntaxNode): SyntaxNode | undefined {
  if (WITH_SOURCE.has(node.type)) return isNode(node.source) ? node.source : undefined
  const isAugmentation = node.type === 'TSModuleDeclaration' && isNode(node.id) && node.id.type === 'Literal'
  return isAugmentation && isNode(node.id) ? node.id : undefined
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
