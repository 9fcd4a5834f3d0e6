import { isCode, isTest, type SourceTree } from './source-tree.ts'
import { isNode, parse, type SyntaxNode, walk } from './syntax.ts'

export interface FoundRegex {
  readonly path: string
  readonly pattern: string
  readonly flags: string
}

/** Code that runs beside other people's data: neither the tools of tests, nor code of a test or a generated module. */
const SHIPPED = /^(?:packages\/[^/]+|sdk)\/src\//

/** Every regular expression that is written in shipped code, and the files that build one. */
export function findRegexes(tree: SourceTree): {
  readonly written: readonly FoundRegex[]
  readonly built: readonly string[]
} {
  const written: FoundRegex[] = []
  const built = new Set<string>()
  for (const [path, text] of tree) {
    if (!SHIPPED.test(path) || !isCode(path) || isTest(path) || path.includes('/generated/')) continue
    walk(parse(path, text), (node) => {
      const regex = readLiteral(node)
      if (regex !== undefined) written.push({ path, ...regex })
      if (buildsRegex(node)) built.add(path)
    })
  }
  return { written, built: [...built].sort() }
}

function readLiteral(node: SyntaxNode): { readonly pattern: string; readonly flags: string } | undefined {
  if (node.type !== 'Literal' || typeof node.regex !== 'object' || node.regex === null) return undefined
  const { pattern, flags } = node.regex as { readonly pattern: string; readonly flags: string }
  return { pattern, flags }
}

function buildsRegex({ type, callee }: SyntaxNode): boolean {
  return (type === 'NewExpression' || type === 'CallExpression') && isNode(callee) && callee.name === 'RegExp'
}
