import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const GENERATED = join(import.meta.dirname, 'src/generated/scripts.ts')

/**
 * Writes the text of the generated module, with which a bundle or a compiled package carries its Lua. Each part stands in it once,
 * though many scripts include it.
 */
export function embedLua(folder: string): string {
  const files = listLua(join(folder, 'scripts'))
  const parts = listLua(join(folder, 'scripts/parts')).map(
    (part) => `  ${part}: ${embed(readFileSync(join(folder, 'scripts/parts', `${part}.lua`), 'utf8'))},`,
  )
  const names = files.map(toCamelCase)
  const scripts = files.map((file, index) => {
    const text = readFileSync(join(folder, 'scripts', `${file}.lua`), 'utf8')
    return `  ${names[index]}: [${splitAtParts(text).join(', ')}].join(''),`
  })
  // The type keeps the texts out of the declarations of the package, where they would stand a second time.
  return [
    '// Written by embed-lua.ts from scripts/; change those.',
    'export type ScriptName =',
    ...names.map((name) => `  | '${name}'`),
    'const PARTS = {',
    ...parts,
    '}',
    'export const SCRIPTS: Readonly<Record<ScriptName, string>> = {',
    ...scripts,
    '}',
    '',
  ].join('\n')
}

/** `-- @include row` stands for scripts/parts/row.lua: Redis scripts cannot load one another. */
function splitAtParts(text: string): readonly string[] {
  return text
    .split(/^-- @include (\w+)\n/m)
    .map((piece, index) => (index % 2 === 1 ? `PARTS.${piece}` : embed(piece)))
    .filter((piece) => piece !== '""')
}

function embed(text: string): string {
  return JSON.stringify(withoutComments(text))
}

function listLua(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.lua'))
    .sort()
    .map((file) => basename(file, '.lua'))
}

/** Comments speak to who reads the files. They are a quarter of what a package and a bundle would carry. */
function withoutComments(text: string): string {
  return text.replace(/^[ \t]*--.*\n/gm, '')
}

function toCamelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

if (import.meta.main) writeFileSync(GENERATED, embedLua(import.meta.dirname))
