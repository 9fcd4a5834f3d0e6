import {
  ALERT_NAME,
  isName,
  isTagKey,
  isTagValue,
  NAME_RULE,
  TAG_KEY_RULE,
  TAG_VALUE_RULE,
  TAGS_MAX,
} from '@counterstep/protocol'
import type { Definition } from '../definition.ts'
import { type Faults, isRecord, pointerStep } from './faults.ts'

export type Naming = Pick<Definition, 'name' | 'tags'>

const UNNAMED: Naming = {}

/** Reads the name and the tags of a submit. Tags without an entry are none. */
export function parseNaming(
  { name, tags }: { readonly name?: unknown; readonly tags?: unknown },
  faults: Faults,
): Naming {
  if (name === undefined && tags === undefined) return UNNAMED
  if (name !== undefined && !isName(name)) faults.add('SAGA_NAME_INVALID', '/name', NAME_RULE)
  // Alerts are left out of the statistics by their name, so nothing else may have it.
  if (name === ALERT_NAME) faults.add('SAGA_NAME_INVALID', '/name', 'is kept for alerts')
  const known = tags === undefined ? {} : parseTags(tags, faults)
  return {
    ...(isName(name) ? { name } : {}),
    ...(Object.keys(known).length === 0 ? {} : { tags: known }),
  }
}

function parseTags(tags: unknown, faults: Faults): Readonly<Record<string, string>> {
  if (!isRecord(tags)) {
    faults.add('SAGA_TAG_INVALID', '/tags', 'must be an object of texts')
    return {}
  }
  if (Object.keys(tags).length > TAGS_MAX) {
    faults.add('SAGA_TAG_INVALID', '/tags', `must not be more than ${TAGS_MAX}`)
    return {}
  }
  for (const [key, value] of Object.entries(tags)) {
    const path = `/tags/${pointerStep(key)}`
    if (!isTagKey(key)) faults.add('SAGA_TAG_INVALID', path, `the key ${TAG_KEY_RULE}`)
    if (!isTagValue(value)) faults.add('SAGA_TAG_INVALID', path, `the value ${TAG_VALUE_RULE}`)
  }
  return tags as Readonly<Record<string, string>>
}
