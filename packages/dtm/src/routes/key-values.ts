import { withoutQuery } from '@counterstep/core'
import type { FastifyInstance } from 'fastify'
import { writeGoJson } from '../go-json/write-go-json.ts'
import type { Topic } from '../topics/topic-store.ts'
import type { Topics } from '../topics/topics.ts'
import { LIST_ROWS_MAX } from '../view/list-page.ts'
import { toStableId, toTimeText } from '../view/show-transaction.ts'
import { answerWith } from '../wire/answer.ts'
import { readNumber } from '../wire/read-number.ts'
import { BASE_PATH } from './base-path.ts'
import { readParameter } from './read-parameter.ts'
import { READ } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'

/** DTM keeps nothing else as keys and values. Any other category is empty. */
const CATEGORY = 'topics'
const SCAN_LIMIT = 100

/** Adds the routes that show the topics as DTM stores them. */
export function addKeyValueRoutes(app: FastifyInstance, topics: Topics): void {
  const list = async (category: string) => (category === CATEGORY ? await topics.list() : [])
  app.get(`${BASE_PATH}/queryKV`, READ, async (request, reply) => {
    const key = readParameter(request, 'key')
    const all = await list(readParameter(request, 'cat'))
    const found = key === '' ? all.slice(0, LIST_ROWS_MAX) : all.filter(({ name }) => name === key)
    return sendAnswer(reply, answerWith({ kv: found.map(showTopic) }))
  })
  app.get(`${BASE_PATH}/scanKV`, READ, async (request, reply) => {
    const position = readParameter(request, 'position')
    const limit = Math.min(readNumber(readParameter(request, 'limit'), SCAN_LIMIT), LIST_ROWS_MAX)
    const all = await list(readParameter(request, 'cat'))
    const page = all.filter(({ name }) => name > position).slice(0, Math.max(0, limit))
    // A full page has a position behind it, even if nothing follows: DTM does the same.
    const next = page.length === limit ? (page.at(-1)?.name ?? '') : ''
    return sendAnswer(reply, answerWith({ kv: page.map(showTopic), next_position: next }))
  })
}

/** The query of a subscriber's URL may be a secret. */
function showTopic({ name, subscribers, version, updatedAt }: Topic) {
  const time = toTimeText(updatedAt)
  const shown = subscribers.map(({ url, remark }) => ({ url: withoutQuery(url), remark }))
  const value = writeGoJson(shown)
  const times = { create_time: time, update_time: time }
  return { id: toStableId(name), ...times, cat: CATEGORY, k: name, v: value, version }
}
