import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findOnPath } from '../image/tools.ts'
import { readOutput } from '../run-command.ts'

export interface ComposeService {
  readonly image: string
  readonly entrypoint: readonly string[] | null
  readonly command: readonly string[] | null
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly {
    readonly type: 'volume' | 'bind'
    readonly source: string
    readonly target: string
    readonly read_only?: boolean
  }[]
  readonly secrets?: readonly { readonly source: string }[]
  readonly healthcheck?: { readonly test: readonly string[] }
}

export interface ComposeProject {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}

/** Says why the compose file cannot be loaded here. Returns undefined if it can. */
export function explainMissingCompose(): string | undefined {
  return findOnPath('go') === undefined ? 'no Go, in which Docker Compose is written' : undefined
}

/** Loads the compose file with Docker Compose's own loader and these variables. An error has Compose's text. */
export async function loadProject(
  root: string,
  kept: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<ComposeProject> {
  const program = await buildLoader(root, kept)
  const file = join(root, 'infra', 'compose.yaml')
  return JSON.parse(await readOutput(program, [file], { env: { ...process.env, ...variables } }))
}

/** Builds the program that runs Docker Compose's loader. Returns its path. */
export async function buildLoader(root: string, kept: string): Promise<string> {
  mkdirSync(kept, { recursive: true })
  const program = join(kept, 'compose-project')
  const sources = join(root, 'infra', 'test', 'compose')
  await readOutput('go', ['build', '-mod=readonly', '-o', program, '.'], { cwd: sources })
  return program
}
