import type { Parsed } from './setting.ts'

/** A secret's text: the password itself, or the JSON that RDS keeps, with `password` in it. Never quoted. */
export function passwordOfSecret(text: string): Parsed<string> {
  // Editors and echo end a file with a line break, which is no part of the secret.
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

/** Undefined: it is none, and a password may start with a brace. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error: unknown) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}
