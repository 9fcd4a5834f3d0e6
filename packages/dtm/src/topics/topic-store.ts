/** Where the topics are kept. One store for all nodes. */
export interface TopicStore {
  list(): Promise<readonly Topic[]>
  /** Durable when it resolves. Only if the topic has that version; 0: there must be none. */
  write(topic: TopicWrite): Promise<TopicWriteResult>
  remove(name: string, expectedVersion: number): Promise<'removed' | 'conflict' | 'absent'>
}

export type TopicWriteResult = 'written' | 'conflict' | 'too-many' | 'too-large'

export interface Topic {
  readonly name: string
  readonly subscribers: readonly Subscriber[]
  /** Grows with each write; 1 for one that was removed and is there again. */
  readonly version: number
}

export type TopicWrite = Pick<Topic, 'name' | 'subscribers'> & { readonly expectedVersion: number }

export interface Subscriber {
  readonly url: string
  readonly remark: string
}
