import { URL_LENGTH_MAX } from '@counterstep/protocol'
import { refuse, refuseOver } from '../wire/answer.ts'
import { notThereYet } from '../wire/not-there-yet.ts'

/** Throws for a URL that no call could ever go to: DTM stores it and tries for ever. An empty one calls nobody. */
export function readBranchUrl(url: string): string {
  if (url === '') return url
  if (url.length > URL_LENGTH_MAX) throw refuseOver(`a URL is over ${URL_LENGTH_MAX} characters`)
  if (!/^https?:\/\//i.test(url)) throw notThereYet(`branches other than http:// and https:// are`)
  const parsed = URL.parse(url)
  if (parsed === null) throw refuse(`${url} is not a URL`)
  if (parsed.username !== '' || parsed.password !== '')
    throw refuse('a URL must not carry a user name or password')
  return url
}
