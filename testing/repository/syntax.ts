import { parseAst } from 'vitest/node'

/** A node of the syntax tree (ESTree, with TypeScript's nodes). */
export interface SyntaxNode {
  readonly type: string
  readonly [key: string]: unknown
}

export function parse(path: string, text: string): SyntaxNode {
  const lang = path.endsWith('.tsx') ? 'tsx' : path.endsWith('.ts') ? 'ts' : 'js'
  return parseAst(text, { lang }, path) as unknown as SyntaxNode
}

/** Visits every node with its parent and the key under which the parent holds it, parents first. */
export function walk(
  root: SyntaxNode,
  visit: (node: SyntaxNode, parent: SyntaxNode | undefined, key: string) => void,
): void {
  const step = (node: SyntaxNode, parent: SyntaxNode | undefined, key: string): void => {
    visit(node, parent, key)
    for (const [name, value] of Object.entries(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (isNode(child)) step(child, node, name)
      }
    }
  }
  step(root, undefined, '')
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

const WITH_SOURCE = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
])

/** Every module that a file names: static and dynamic imports, re-exports and types. */
export function readImports(path: string, text: string): readonly string[] {
  const names = new Set<string>()
  walk(parse(path, text), (node) => {
    const source = WITH_SOURCE.has(node.type) ? node.source : requiredBy(node)
    if (!isNode(source)) return
    const { value } = source
    // A computed import cannot be checked, and no layer allows `<computed>`.
    names.add(typeof value === 'string' ? value : '<computed>')
  })
  return [...names]
}

function requiredBy(node: SyntaxNode): unknown {
  if (node.type !== 'CallExpression' || !isNode(node.callee) || node.callee.name !== 'require')
    return undefined
  return Array.isArray(node.arguments) ? node.arguments[0] : undefined
}
