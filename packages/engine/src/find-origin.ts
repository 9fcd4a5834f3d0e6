import type { FindOrigin } from '@counterstep/core'

/** Finds the origin of an absolute http or https URL, in one spelling. */
export const findOriginOfUrl: FindOrigin = (url) => {
  const origin = URL.parse(url)?.origin
  return origin === 'null' ? undefined : origin
}
