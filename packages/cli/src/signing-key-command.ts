import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readSigningKeyFile } from '@counterstep/configuration'
import { createSigningKeyText, parseSigningKey, type SigningKey, toPublicJwk } from '@counterstep/signature'

export const SIGNING_KEY_USAGE = [
  'counterstep signing-key create [--alg ed25519|hmac-sha256] --out FILE   makes a key for --signing-key-file',
  'counterstep signing-key show --key FILE                                 prints its public half again',
]

export interface CommandOutcome {
  readonly exitCode: 0 | 1
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
}

/** Runs `counterstep signing-key`. The text on stdout is for services, and the text for people goes to stderr. */
export function runSigningKeyCommand(args: readonly string[]): CommandOutcome {
  const given = readArguments(args)
  if (given?.type === 'create') return create(given.algorithm, given.out)
  if (given?.type === 'show') return show(given.path)
  return { exitCode: 1, stdout: [], stderr: SIGNING_KEY_USAGE }
}

type Given =
  | { readonly type: 'create'; readonly algorithm: 'ed25519' | 'hmac-sha256'; readonly out: string }
  | { readonly type: 'show'; readonly path: string }

function readArguments(args: readonly string[]): Given | undefined {
  const { positionals, values } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    options: { alg: { type: 'string' }, out: { type: 'string' }, key: { type: 'string' } },
  })
  const { alg = 'ed25519', out, key, ...unknown } = values
  if (positionals.length !== 1 || Object.keys(unknown).length > 0) return undefined
  const [word] = positionals
  if (word === 'create' && typeof out === 'string' && key === undefined) {
    return alg === 'ed25519' || alg === 'hmac-sha256' ? { type: 'create', algorithm: alg, out } : undefined
  }
  const isShow = word === 'show' && typeof key === 'string' && out === undefined && values.alg === undefined
  return isShow ? { type: 'show', path: key } : undefined
}

function create(algorithm: 'ed25519' | 'hmac-sha256', out: string): CommandOutcome {
  const text = createSigningKeyText(algorithm)
  try {
    // The flag refuses to replace a file, since a server may be signing with the key in it.
    writeFileSync(out, text, { flag: 'wx', mode: 0o600 })
  } catch (error: unknown) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    const why = error.code === 'EEXIST' ? 'is there already' : `cannot be written (${String(error.code)})`
    return { exitCode: 1, stdout: [], stderr: [`counterstep: the file of --out ${why}.`] }
  }
  return showPublicHalf(parseSigningKey(text), `wrote ${out}`)
}

function show(path: string): CommandOutcome {
  const key = readSigningKeyFile(path)
  if ('problem' in key) return { exitCode: 1, stdout: [], stderr: [`counterstep: --key ${key.problem}.`] }
  return showPublicHalf(key.value, `read ${path}`)
}

function showPublicHalf(key: SigningKey, done: string): CommandOutcome {
  const jwk = toPublicJwk(key)
  const advice =
    jwk === undefined
      ? 'An HMAC key has no public half: each service needs the content of this file, and can sign with it.'
      : 'The line on stdout is for the services: signedCalls({ keys: [LINE], baseUrl }), where baseUrl is the service.'
  return {
    exitCode: 0,
    stdout: jwk === undefined ? [] : [jwk],
    stderr: [`counterstep: ${done} (keyid ${key.keyId}). ${advice}`],
  }
}
