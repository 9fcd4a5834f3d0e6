import { WAIT_MS_MAX } from '@counterstep/protocol'

/**
 * Reads the seconds of `wait=N` in a Prefer header (RFC 7240), cut to the longest wait. Returns undefined if it is
 * absent, or malformed, which the RFC tells a server to ignore.
 */
export function readWaitSeconds(
  header: string | readonly string[] | undefined,
  waitMsMax: number = WAIT_MS_MAX,
): number | undefined {
  if (header === undefined) return undefined
  const preferences = parsePreferences(typeof header === 'string' ? header : header.join(','))
  // "If any preference is specified more than once, only the first instance is to be considered."
  const wait = preferences.find(({ name }) => name === 'wait')
  const digits = /^(?:(\d{1,9})|"(\d{1,9})")$/.exec(wait?.value ?? '')
  return digits === null ? undefined : Math.min(Number(digits[1] ?? digits[2]), toSecondsMax(waitMsMax))
}

export function toSecondsMax(waitMsMax: number): number {
  return Math.floor(waitMsMax / 1000)
}

/** More are not looked at: a head may have thousands. */
const PREFERENCES_MAX = 16

interface Preference {
  readonly name: string
  readonly value: string
}

/**
 * Parses preferences that are joined by commas, and drops their parameters. RFC 7240 has this rule:
 * preference = token [ BWS "=" BWS word ] *( OWS ";" [ OWS parameter ] )
 */
function parsePreferences(text: string): readonly Preference[] {
  const preferences: Preference[] = []
  let start = 0
  let end = -1
  let quoted = false
  for (let at = 0; at <= text.length && preferences.length < PREFERENCES_MAX; at += 1) {
    const character = text[at]
    if (quoted && character === '\\') at += 1
    else if (character === '"') quoted = !quoted
    else if (character === ';' && !quoted && end === -1) end = at
    else if (character === undefined || (character === ',' && !quoted)) {
      preferences.push(parsePreference(text.slice(start, end === -1 ? at : end)))
      start = at + 1
      end = -1
    }
  }
  return preferences
}

function parsePreference(text: string): Preference {
  const equalsAt = text.indexOf('=')
  if (equalsAt === -1) return { name: text.trim().toLowerCase(), value: '' }
  return { name: text.slice(0, equalsAt).trim().toLowerCase(), value: text.slice(equalsAt + 1).trim() }
}
