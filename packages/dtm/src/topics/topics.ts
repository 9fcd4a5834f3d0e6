import { isDocumentKey } from '@counterstep/core'
import { readGrpcTarget } from '@counterstep/protocol'
import { GRPC, readBranchUrl, type UrlRules } from '../definition/branch-url.ts'
import { refuse } from '../wire/answer.ts'
import type { Subscriber, Topic, TopicStore } from './topic-store.ts'

/**
 * A message may be sent to the subscribers of a list that is this old. So every node sees another node's change after
 * this time.
 */
export const TOPICS_AGE_MS_MAX = 1_000
const TRIES_MAX = 20

interface Listed {
  /** The read began at this instant, so the list has every topic that was written before it. */
  readonly at: number
  readonly topics: Promise<ReadonlyMap<string, Topic>>
}

/** Changes topics and looks up their subscribers. An app has one object of this class, which caches the list. */
export class Topics {
  readonly #store: TopicStore
  readonly #checks: Omit<UrlRules, 'protocol'>
  readonly #now: () => number
  #listed: Listed | undefined

  constructor(store: TopicStore, checks: Omit<UrlRules, 'protocol'>, now: () => number) {
    this.#store = store
    this.#checks = checks
    this.#now = now
  }

  /** Returns no URL for an unknown topic. A topic that the cached list lacks may be new, so the list is read once more. */
  async findSubscribers(name: string): Promise<readonly string[]> {
    const askedAt = this.#now()
    const known = (await this.#list(askedAt - TOPICS_AGE_MS_MAX)).get(name)
    const topic = known ?? (await this.#list(askedAt)).get(name)
    return topic?.subscribers.map(({ url }) => url) ?? []
  }

  /** Lists the topics in the order of their names, as of at most TOPICS_AGE_MS_MAX ago. */
  async list(): Promise<readonly Topic[]> {
    const topics = await this.#list(this.#now() - TOPICS_AGE_MS_MAX)
    return [...topics.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  subscribe(name: string, url: string, remark: string): Promise<void> {
    requireBoth(name, url)
    if (!isDocumentKey(name)) throw refuse('a topic must be 1–128 characters that can be seen')
    // A topic has no protocol. Whether its subscribers are called by JSON-RPC or gRPC is judged when a message comes.
    readBranchUrl(url, { ...this.#checks, protocol: readGrpcTarget(url) === undefined ? 'http' : GRPC })
    return this.#change(name, (topic) => {
      const subscribers = topic?.subscribers ?? []
      if (subscribers.some((subscriber) => subscriber.url === url)) throw refuse('this url exists')
      return [...subscribers, { url, remark }]
    })
  }

  unsubscribe(name: string, url: string): Promise<void> {
    requireBoth(name, url)
    return this.#change(name, (topic) => {
      if (topic === undefined) throw refuse('no such a topic')
      if (topic.subscribers.length === 0) throw refuse('this topic is empty')
      const left = topic.subscribers.filter((subscriber) => subscriber.url !== url)
      if (left.length === topic.subscribers.length) throw refuse('no such an url ')
      return left
    })
  }

  async remove(name: string): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const topic = (await this.#read()).get(name)
      if (topic === undefined) throw refuse('storage: NotFound')
      const result = await this.#store.remove(name, topic.version)
      this.#listed = undefined
      if (result === 'removed') return
      if (result === 'absent') throw refuse('storage: NotFound')
    }
    throw refuseContended()
  }

  /**
   * Writes a change. If another request has changed the topic meanwhile, the topic is read again and the change is
   * applied to the new version, so that the caller does not notice.
   */
  async #change(name: string, change: (topic: Topic | undefined) => readonly Subscriber[]): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const topic = (await this.#read()).get(name)
      const subscribers = change(topic)
      const result = await this.#store.write({ name, subscribers, expectedVersion: topic?.version ?? 0 })
      this.#listed = undefined
      if (result === 'written') return
      if (result === 'too-many') throw refuse('there are too many topics')
      if (result === 'too-large') throw refuse('this topic has too many subscribers')
    }
    throw refuseContended()
  }

  /** Returns a list whose read began at `since` or later. */
  #list(since: number): Promise<ReadonlyMap<string, Topic>> {
    const listed = this.#listed
    return listed !== undefined && listed.at >= since ? listed.topics : this.#read()
  }

  #read(): Promise<ReadonlyMap<string, Topic>> {
    const topics = this.#store.list().then((list) => new Map(list.map((topic) => [topic.name, topic])))
    const listed = { at: this.#now(), topics }
    this.#listed = listed
    // A failed read is not cached, so the next request reads again.
    topics.catch(() => {
      if (this.#listed === listed) this.#listed = undefined
    })
    return topics
  }
}

function requireBoth(name: string, url: string): void {
  if (name === '') throw refuse('empty topic')
  if (url === '') throw refuse('empty url')
}

function refuseContended() {
  return refuse('others change this topic all the time: try again')
}
