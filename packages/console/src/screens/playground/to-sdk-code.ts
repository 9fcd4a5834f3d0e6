import type { JsonValue } from '@counterstep/protocol'
import { type Draft, type DraftBranch, listBranches, readKind } from './draft.ts'

/** Writes a saga as a program of the SDK. The other kinds need a service around them, and are told so. */
export function toSdkCode(draft: Draft, serverUrl: string): string {
  const kind = readKind(draft)
  if (kind !== 'saga')
    return `// A ${kind} needs the code of its client around it: see the guide of the SDK.\n`
  const name = typeof draft.name === 'string' ? `${write(draft.name)}` : ''
  const branches = listBranches(draft).map(writeBranch)
  return [
    "import { createClient, saga } from '@counterstep/sdk'",
    '',
    `const client = createClient({ url: ${write(serverUrl)} })`,
    `const transaction = saga(${name})`,
    ...branches,
    'const { status } = await client.submit(transaction, { waitMs: 10_000 })',
    'console.log(status)',
    '',
  ].join('\n')
}

function writeBranch({ id, ...fields }: DraftBranch): string {
  const lines = Object.entries(fields).map(([name, value]) => `    ${writeName(name)}: ${write(value)},`)
  return [`  .branch(${write(id ?? '01')}, {`, ...lines, '  })'].join('\n')
}

function write(value: JsonValue): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  if (Array.isArray(value)) return `[${value.map(write).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([name, each]) => `${writeName(name)}: ${write(each)}`)
    return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
  }
  return JSON.stringify(value)
}

function writeName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : write(name)
}
