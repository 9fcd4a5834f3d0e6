import { isCode, isTest, type SourceTree, type Violation } from './source-tree.ts'
import { isNode, parse, type SyntaxNode, walk } from './syntax.ts'

const CORE = 'packages/core/src/'
/** The ports are async by nature: their types may say so, and nothing in them runs. */
const PORT_FILES = new Set([`${CORE}ports/ports.ts`, `${CORE}ports/store.ts`])

const NEVER_NAMED = new Set([
  'Date',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'process',
  'globalThis',
  'crypto',
  'fetch',
  'console',
])

/** The core reads no clock, draws nothing at random, waits for nothing. */
export function checkCorePurity(tree: SourceTree): Violation[] {
  return [...tree]
    .filter(([path]) => path.startsWith(CORE) && isCode(path) && !isTest(path))
    .flatMap(([path, text]) =>
      [...impurities(path, text)].map((detail) => ({ rule: 'pure-core', path, detail })),
    )
}

function impurities(path: string, text: string): ReadonlySet<string> {
  const found = new Set<string>()
  walk(parse(path, text), (node, parent, key) => {
    if (node.async === true) found.add('async')
    if (node.type === 'AwaitExpression' || node.await === true) found.add('await')
    if (isMathRandom(node)) found.add('Math.random')
    const name = referenceName(node, parent, key)
    if (name === undefined) return
    if (NEVER_NAMED.has(name) && !isDateParse(parent)) found.add(name)
    const isPortType = PORT_FILES.has(path) && parent?.type === 'TSTypeReference'
    if (name === 'Promise' && !isPortType) found.add('Promise')
  })
  return found
}

/** The name of an identifier that stands for a value or a type, not for a property. */
function referenceName(node: SyntaxNode, parent: SyntaxNode | undefined, key: string): string | undefined {
  if (node.type !== 'Identifier' || typeof node.name !== 'string') return undefined
  const isProperty = (key === 'property' || key === 'key') && parent?.computed !== true
  return isProperty ? undefined : node.name
}

/** `Date.parse` reads a text and no clock. */
function isDateParse(parent: SyntaxNode | undefined): boolean {
  if (parent?.type !== 'MemberExpression' || parent.computed === true) return false
  const { object, property } = parent
  return isNode(object) && object.name === 'Date' && isNode(property) && property.name === 'parse'
}

function isMathRandom(node: SyntaxNode): boolean {
  if (node.type !== 'MemberExpression' || !isNode(node.object) || !isNode(node.property)) return false
  const property = node.property.name ?? node.property.value
  return node.object.name === 'Math' && property === 'random'
}

/** In the product each command line and each function has one such module; the servers for tests have theirs. */
const ENVIRONMENT_READERS = new Set([
  'packages/cli/src/config.ts',
  'packages/configuration/src/read-function-config.ts',
  'testing/test-servers/src/environment.ts',
])

/** Only these files read the environment; everything else is told. */
export function checkEnvironmentReads(tree: SourceTree): Violation[] {
  return [...tree]
    .filter(([path]) => /^(packages\/[^/]+|sdk)\/src\//.test(path) && isCode(path) && !isTest(path))
    .filter(([path]) => !ENVIRONMENT_READERS.has(path))
    .filter(([path, text]) => readsEnvironment(path, text))
    .map(([path]) => ({ rule: 'one-reader-of-the-environment', path, detail: 'reads process.env' }))
}

function readsEnvironment(path: string, text: string): boolean {
  let found = false
  walk(parse(path, text), (node) => {
    if (node.type !== 'MemberExpression' || !isNode(node.object) || !isNode(node.property)) return
    if (node.object.name === 'process' && node.property.name === 'env') found = true
  })
  return found
}
