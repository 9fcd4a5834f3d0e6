import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const GENERATED = join(import.meta.dirname, 'src/generated/sql.ts')

/** The text of the generated module: a bundle or a compiled package then carries its SQL. */
export function embedSql(folder: string): string {
  const statements = sqlFiles(folder, 'statements').map(
    ({ name, sql }) => `  ${camelCase(name)}: ${JSON.stringify(withoutComments(sql))},`,
  )
  const migrations = sqlFiles(folder, 'migrations').map(({ name, sql }) => `  ${migrationOf(name, sql)},`)
  return [
    '// Written by embed-sql.ts from statements/ and migrations/; change those.',
    'export const STATEMENTS = {',
    ...statements,
    '} as const',
    '',
    'export const MIGRATIONS = [',
    ...migrations,
    '] as const',
    '',
  ].join('\n')
}

function sqlFiles(folder: string, kind: string): readonly { readonly name: string; readonly sql: string }[] {
  return readdirSync(join(folder, kind))
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: basename(file, '.sql'), sql: readFileSync(join(folder, kind, file), 'utf8') }))
}

function migrationOf(name: string, sql: string): string {
  const minReader = /^-- minReader: (\d+)$/m.exec(sql)?.[1]
  if (minReader === undefined) throw new Error(`${name}.sql does not say its minReader`)
  const version = Number.parseInt(name, 10)
  // The driver sends one statement at a time; a semicolon ends one where it ends a line.
  const statements = withoutComments(sql).split(/;\n/)
  return `{ version: ${version}, minReader: ${minReader}, name: ${JSON.stringify(name)}, statements: ${JSON.stringify(statements)} }`
}

/** What goes over the wire a thousand times a second carries no comments, and no question mark of a comment is a value. */
function withoutComments(sql: string): string {
  return sql.replace(/^--.*\n/gm, '').trimEnd()
}

function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

if (import.meta.main) writeFileSync(GENERATED, embedSql(import.meta.dirname))
