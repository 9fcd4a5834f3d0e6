import { LAYERS } from './layers.ts'
import type { SourceTree } from './source-tree.ts'

const ROOT_MANIFEST = {
  name: 'root',
  scripts: { test: 'true', bench: 'true' },
  devDependencies: { vitest: '5.1.0' },
}

/** A repository without a fault: every workspace of the layers, each with one empty file. */
export function soundTree(changes: Readonly<Record<string, string>> = {}): SourceTree {
  const files = Object.entries(LAYERS).flatMap(([name, { folder }]) => [
    [`${folder}/package.json`, JSON.stringify({ name, exports: { '.': './src/index.ts' } })] as const,
    [`${folder}/src/index.ts`, 'export const one = 1\n'] as const,
  ])
  const root = ['package.json', JSON.stringify(ROOT_MANIFEST)] as const
  return new Map([root, ...files, ...Object.entries(changes)])
}
