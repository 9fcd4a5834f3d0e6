import { isHalf } from './session-halves.ts'

const PLAIN_NAME = 'counterstep'
/** A browser takes a cookie of this name only over https, so that no page over http can replace it. */
const SECURE_NAME = '__Secure-counterstep'

export interface CookiePlace {
  /** The browser reaches this server over https. */
  readonly isSecure: boolean
  /** The browser sends the cookie to this path and those below it. */
  readonly path: string
}

/**
 * Finds the half of a session that stands in the cookies of a request. Returns undefined if two cookies have its name: another
 * host of the same domain may have set one of them, and nothing tells which.
 */
export function readSessionCookie(cookies: string | undefined): string | undefined {
  if (cookies === undefined) return undefined
  const secure = listValues(cookies, SECURE_NAME)
  const values = secure.length === 0 ? listValues(cookies, PLAIN_NAME) : secure
  const [only = ''] = values
  return values.length === 1 && isHalf(only) ? only : undefined
}

export function writeSessionCookie(half: string, maxAgeS: number, { isSecure, path }: CookiePlace): string {
  const name = isSecure ? SECURE_NAME : PLAIN_NAME
  const attributes = [`Path=${path}`, `Max-Age=${maxAgeS}`, 'HttpOnly', 'SameSite=Strict']
  return [`${name}=${half}`, ...attributes, ...(isSecure ? ['Secure'] : [])].join('; ')
}

/** Lists the values of the cookies of this name, two at most. It looks for the name alone, since a head may have thousands of cookies. */
function listValues(cookies: string, name: string): readonly string[] {
  const begin = `${name}=`
  const values: string[] = []
  for (let at = cookies.indexOf(begin); at !== -1 && values.length < 2; at = cookies.indexOf(begin, at + 1)) {
    let before = at - 1
    while (cookies[before] === ' ' || cookies[before] === '\t') before -= 1
    if (before >= 0 && cookies[before] !== ';') continue
    const end = cookies.indexOf(';', at)
    values.push(cookies.slice(at + begin.length, end === -1 ? undefined : end).trim())
  }
  return values
}
