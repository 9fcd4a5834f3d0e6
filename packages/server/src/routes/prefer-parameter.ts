import { toSecondsMax } from '../http/prefer.ts'
import type { JsonObject } from '../openapi/operation.ts'

export function buildPreferParameter(waitMsMax: number): JsonObject {
  const secondsMax = toSecondsMax(waitMsMax)
  return {
    name: 'Prefer',
    in: 'header',
    description: `With wait=N (RFC 7240), the answer comes when the transaction is final, or after N seconds (0 to ${secondsMax}; more is taken as ${secondsMax}).`,
    schema: { type: 'string', examples: ['wait=10'] },
  }
}

export const preferenceApplied = { 'Preference-Applied': 'wait=N, the seconds that were waited for at most.' }
export const placeAndPreference = { ...preferenceApplied, Location: 'The path of the transaction.' }
