import { copyText, type Fault, GID_RULE, type Gid, InvalidRequestError, isGid } from '@counterstep/protocol'

/** One stream tells of this many transactions at most. */
export const LIVE_GIDS_MAX = 20
export const LIVE_TOPICS = ['overview', 'fresh'] as const
export type LiveTopic = (typeof LIVE_TOPICS)[number]

/** So much of the name of an unknown parameter is repeated. */
const PATH_LENGTH_MAX = 64

export interface LiveQuery {
  readonly topics: ReadonlySet<LiveTopic>
  readonly gids: readonly Gid[]
}

/** Reads what a stream is to tell. Throws an InvalidRequestError with every fault. */
export function readLiveQuery(query: unknown): LiveQuery {
  const { topics, gid, ...others } = Object(query) as Readonly<Record<string, unknown>>
  const faults: Fault[] = []
  const refuse = (path: string, message: string) =>
    faults.push({ code: 'SAGA_QUERY_INVALID', path: path.slice(0, PATH_LENGTH_MAX), message })
  for (const name of Object.keys(others)) refuse(name, 'there is no such parameter')
  const words = listTexts(topics).flatMap((text) => text.split(','))
  const known = LIVE_TOPICS.filter((topic) => words.includes(topic))
  if (words.some((word) => word !== '' && !LIVE_TOPICS.some((topic) => topic === word)))
    refuse('topics', `expected some of ${LIVE_TOPICS.join(', ')}`)
  const given = [...new Set(listTexts(gid))]
  // They are watched for as long as the stream lasts, and as parts of the URL they would keep it in memory.
  const gids = given.filter(isGid).map((each) => copyText(each) as Gid)
  if (gids.length < given.length) refuse('gid', GID_RULE)
  if (gids.length > LIVE_GIDS_MAX) refuse('gid', `expected at most ${LIVE_GIDS_MAX}`)
  if (known.length + given.length === 0 && faults.length === 0) refuse('topics', 'expected a topic or a gid')
  const [first, ...more] = faults
  if (first !== undefined) throw new InvalidRequestError([first, ...more])
  return { topics: new Set(known), gids }
}

/** A parameter may be repeated. */
function listTexts(given: unknown): readonly string[] {
  return given === undefined ? [] : [given].flat().map(String)
}
