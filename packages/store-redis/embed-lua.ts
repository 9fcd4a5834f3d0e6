import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const GENERATED = join(import.meta.dirname, 'src/generated/scripts.ts')

/** Writes the text of the generated module, with which a bundle or a compiled package carries its Lua. */
export function embedLua(folder: string): string {
  const files = readdirSync(join(folder, 'scripts'))
    .filter((file) => file.endsWith('.lua'))
    .sort()
  const names = files.map((file) => toCamelCase(basename(file, '.lua')))
  const scripts = files.map((file, index) => {
    const text = readFileSync(join(folder, 'scripts', file), 'utf8')
    return `  ${names[index]}: ${JSON.stringify(withoutComments(withParts(folder, text)))},`
  })
  // The type keeps the texts out of the declarations of the package, where they would stand a second time.
  return [
    '// Written by embed-lua.ts from scripts/; change those.',
    'export type ScriptName =',
    ...names.map((name) => `  | '${name}'`),
    'export const SCRIPTS: Readonly<Record<ScriptName, string>> = {',
    ...scripts,
    '}',
    '',
  ].join('\n')
}

/** `-- @include row` stands for scripts/parts/row.lua: Redis scripts cannot load one another. */
function withParts(folder: string, text: string): string {
  return text.replace(/^-- @include (\w+)\n/gm, (_, part: string) =>
    readFileSync(join(folder, 'scripts/parts', `${part}.lua`), 'utf8'),
  )
}

/** Comments speak to who reads the files. They are a quarter of what a package and a bundle would carry. */
function withoutComments(text: string): string {
  return text.replace(/^[ \t]*--.*\n/gm, '')
}

function toCamelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

if (import.meta.main) writeFileSync(GENERATED, embedLua(import.meta.dirname))
