import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parseAst } from 'vitest/node'

const SDK = fileURLToPath(new URL('..', import.meta.url))
const manifest: { readonly exports: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(SDK, 'package.json'), 'utf8'),
)
const COMMENT_BEFORE = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/
const EXAMPLE = /^ \* @example\n \* ```ts\n( \*.*\n)+? \* ```$/m

interface Exported {
  readonly name: string
  /** This is the file that declares it, or the name of another package. */
  readonly from: string
  /** This is the comment that an editor shows, or undefined without one. */
  readonly comment: string | undefined
}

type Statement = ReturnType<typeof parseAst>['body'][number]

/** Lists the exports of a file, each name followed to its declaration. */
function listExports(file: string): Exported[] {
  const text = readFileSync(file, 'utf8')
  const { body } = parseAst(text, { lang: 'ts' }, file)
  return body.flatMap((statement) => {
    if (statement.type === 'ExportAllDeclaration') throw new Error(`${file} exports all of another`)
    if (statement.type !== 'ExportNamedDeclaration') return []
    if (statement.declaration !== null) return listDeclared(statement, file, text)
    return statement.specifiers.map((specifier) => {
      const { name, as } = readNames(specifier)
      const from = statement.source?.value
      if (from === undefined || !from.startsWith('.'))
        return { name: as, from: from ?? file, comment: undefined }
      const found = listExports(join(dirname(file), from)).find((each) => each.name === name)
      if (found === undefined) throw new Error(`${from} does not export ${name}`)
      return { ...found, name: as }
    })
  })
}

function readNames(specifier: { readonly local: unknown; readonly exported: unknown }) {
  const readName = (node: unknown) => String((node as { readonly name?: unknown }).name)
  return { name: readName(specifier.local), as: readName(specifier.exported) }
}

function listDeclared(
  statement: Statement & { readonly type: 'ExportNamedDeclaration' },
  file: string,
  text: string,
): Exported[] {
  const { declaration, start } = statement
  const comment = COMMENT_BEFORE.exec(text.slice(0, start))?.[1]
  const declared =
    declaration !== null && 'declarations' in declaration ? declaration.declarations : [declaration]
  return declared.map((each) => {
    const id = each !== null && 'id' in each ? each.id : null
    if (id === null || id === undefined || !('name' in id))
      throw new Error(`${file} exports what has no name`)
    return { name: String(id.name), from: relative(SDK, file), comment }
  })
}

describe('the exports of an entry', () => {
  for (const [entry, path] of Object.entries(manifest.exports)) {
    it(`Every export of the entry ${entry} has a comment with an example`, () => {
      const exported = listExports(join(SDK, path))
      expect(exported.length).toBeGreaterThan(0)
      const without = exported.filter(({ comment }) => !EXAMPLE.test(comment ?? ''))
      expect(without.map(({ name, from }) => `${name} of ${from}`)).toEqual([])
      const unsaid = exported.filter(({ comment }) => !/^\n \* \S/.test(comment ?? ''))
      expect(unsaid.map(({ name }) => name)).toEqual([])
    })
  }
})
