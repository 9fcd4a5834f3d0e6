/** The topics are kept here. All nodes share one store. */
export interface TopicStore {
  list(): Promise<readonly Topic[]>
  /**
   * Writes only if the topic has the expected version, where 0 means that it must not exist. The write is durable when
   * the call resolves.
   */
  write(topic: TopicWrite): Promise<TopicWriteResult>
  remove(name: string, expectedVersion: number): Promise<'removed' | 'conflict' | 'absent'>
}

export type TopicWriteResult = 'written' | 'conflict' | 'too-many' | 'too-large'

export interface Topic {
  readonly name: string
  readonly subscribers: readonly Subscriber[]
  /** It grows with each write. A topic that was removed and then written again begins with 1. */
  readonly version: number
  /** The instant of the last write, by the store's clock. */
  readonly updatedAt: number
}

export type TopicWrite = Pick<Topic, 'name' | 'subscribers'> & { readonly expectedVersion: number }

export interface Subscriber {
  readonly url: string
  readonly remark: string
}
