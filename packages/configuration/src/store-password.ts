import type { Parsed } from '@counterstep/branch-http/targets'
import { readNamedFile } from './named-file.ts'
import { toVariable } from './setting.ts'

/** The password has no flag, because the machine's list of processes shows the arguments of a process. */
export const PASSWORD_VARIABLE = 'COUNTERSTEP_STORE_PASSWORD'
/** Names a file that holds it, which is how Docker and Kubernetes hand over secrets. */
export const PASSWORD_FILE_VARIABLE = 'COUNTERSTEP_STORE_PASSWORD_FILE'
/** Names the secret that holds it, for a function. */
export const PASSWORD_SECRET_VARIABLE = toVariable('storePasswordSecret')

export interface GivenPassword {
  readonly variable: string
  readonly text: string
}

/**
 * The value is undefined if there is no password. An empty variable counts as unset, because Compose makes one of an
 * unset variable.
 */
export function readPassword(
  environment: Readonly<Record<string, string | undefined>>,
): Parsed<GivenPassword | undefined> {
  const { [PASSWORD_VARIABLE]: text = '', [PASSWORD_FILE_VARIABLE]: path = '' } = environment
  if (text !== '' && path !== '') {
    return { problem: `${PASSWORD_VARIABLE} and ${PASSWORD_FILE_VARIABLE} are both set; set one.` }
  }
  if (text !== '') return { value: { variable: PASSWORD_VARIABLE, text } }
  if (path === '') return { value: undefined }
  const file = readNamedFile(path)
  if ('problem' in file) return { problem: `${PASSWORD_FILE_VARIABLE} ${file.problem}.` }
  // Editors and echo end a file with a line break, which does not belong to the secret.
  const password = file.value.replace(/\r?\n$/, '')
  if (password === '') return { problem: `${PASSWORD_FILE_VARIABLE} names an empty file.` }
  return { value: { variable: PASSWORD_FILE_VARIABLE, text: password } }
}

/**
 * Reads a secret's text: the password itself, or the JSON that RDS keeps, with `password` in it. No problem quotes
 * it.
 */
export function readSecretPassword(text: string): Parsed<string> {
  // Editors and echo end a file with a line break, which does not belong to the secret.
  const plain = text.replace(/\r?\n$/, '')
  if (plain === '') return { problem: 'is an empty secret' }
  if (!plain.trimStart().startsWith('{')) return { value: plain }
  const parsed = parseJson(plain)
  if (parsed === undefined) return { value: plain }
  const password =
    typeof parsed === 'object' && parsed !== null && 'password' in parsed ? parsed.password : ''
  return typeof password === 'string' && password !== ''
    ? { value: password }
    : { problem: 'is JSON without a "password"' }
}

/** Returns undefined if the text is not JSON. That is no fault, because a password may start with a brace. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error: unknown) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}
