import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** Writes the text of the generated module, with which a bundle or a compiled package carries its SQL. */
export function embedSql(folder: string): string {
  const files = readSqlFiles(folder, 'statements').map(({ name, sql }) => ({
    name: toCamelCase(name),
    sql: removeComments(sql),
  }))
  const statements = files.map(({ name, sql }) => `  ${name}: ${JSON.stringify(sql)},`)
  const columns = files.flatMap(({ name, sql }) => {
    const names = readColumns(sql)
    return names.length === 0
      ? []
      : [`  ${name}: { ${names.map((column, i) => `${column}: ${i}`).join(', ')} },`]
  })
  const migrations = readSqlFiles(folder, 'migrations').map(
    ({ name, sql }) => `  ${writeMigration(name, sql)},`,
  )
  return [
    '// Written by embed-sql.ts from statements/ and migrations/; change those.',
    'export const STATEMENTS = {',
    ...statements,
    '} as const',
    '',
    '// The place of each column in a row of that statement.',
    'export const COLUMNS = {',
    ...columns,
    '} as const',
    '',
    'export const MIGRATIONS = [',
    ...migrations,
    '] as const',
    '',
  ].join('\n')
}

interface SqlFile {
  readonly name: string
  readonly sql: string
}

function readSqlFiles(folder: string, kind: string): readonly SqlFile[] {
  return readdirSync(join(folder, kind))
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: basename(file, '.sql'), sql: readFileSync(join(folder, kind, file), 'utf8') }))
}

/** Reads the names of a SELECT's columns. A statement that computes one is read by place: it has no list of names. */
function readColumns(sql: string): readonly string[] {
  const list = /^SELECT\s+([\w.]+(?:,\s*[\w.]+)*)\s+FROM\s/.exec(sql)?.[1]
  return list === undefined
    ? []
    : list.split(/,\s*/).map((name) => toCamelCase(name.replace(/^\w+\./, '').toLowerCase()))
}

function writeMigration(name: string, sql: string): string {
  const minReader = /^-- minReader: (\d+)$/m.exec(sql)?.[1]
  if (minReader === undefined) throw new Error(`${name}.sql does not say its minReader`)
  const version = Number.parseInt(name, 10)
  // The driver sends one statement at a time; a semicolon ends one where it ends a line.
  const statements = removeComments(sql).split(/;\n/)
  return `{ version: ${version}, minReader: ${minReader}, name: ${JSON.stringify(name)}, statements: ${JSON.stringify(statements)} }`
}

/** The statements go over the wire a thousand times a second, and a question mark in a comment would be a placeholder. */
function removeComments(sql: string): string {
  return sql.replace(/^--.*\n/gm, '').trimEnd()
}

function toCamelCase(name: string): string {
  return name.replace(/[-_](.)/g, (_, letter: string) => letter.toUpperCase())
}

/** Writes the generated module of the package in this folder. */
export function writeGeneratedSql(folder: string): void {
  writeFileSync(join(folder, 'src/generated/sql.ts'), embedSql(folder))
}
