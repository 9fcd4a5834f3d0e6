import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { REPOSITORY } from './source-tree.ts'

export interface Service {
  readonly image: string
  readonly command?: readonly string[]
  readonly build?: { readonly dockerfile: string; readonly target: string }
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly secrets?: readonly string[]
  readonly networks?: readonly string[]
  readonly depends_on?: Readonly<Record<string, unknown>>
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly networks: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}

/** Services share what stands in anchors, and some of that has anchors in it, which YAML's reader counts as aliases of each other. */
const ALIASES_MAX = 1_000

export function readComposeFile(): Compose {
  const text = readFileSync(join(REPOSITORY, 'infra/compose.yaml'), 'utf8')
  return parse(text, { merge: true, maxAliasCount: ALIASES_MAX })
}
