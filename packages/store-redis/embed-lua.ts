import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const GENERATED = join(import.meta.dirname, 'src/generated/scripts.ts')

/** Writes the text of the generated module, with which a bundle or a compiled package carries its Lua. */
export function embedLua(folder: string): string {
  const scripts = readdirSync(join(folder, 'scripts'))
    .filter((file) => file.endsWith('.lua'))
    .sort()
    .map((file) => {
      const text = readFileSync(join(folder, 'scripts', file), 'utf8')
      return `  ${toCamelCase(basename(file, '.lua'))}: ${JSON.stringify(withParts(folder, text))},`
    })
  return [
    '// Written by embed-lua.ts from scripts/; change those.',
    'export const SCRIPTS = {',
    ...scripts,
    '} as const',
    '',
  ].join('\n')
}

/** `-- @include row` stands for scripts/parts/row.lua: Redis scripts cannot load one another. */
function withParts(folder: string, text: string): string {
  return text.replace(/^-- @include (\w+)\n/gm, (_, part: string) =>
    readFileSync(join(folder, 'scripts/parts', `${part}.lua`), 'utf8'),
  )
}

function toCamelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

if (import.meta.main) writeFileSync(GENERATED, embedLua(import.meta.dirname))
