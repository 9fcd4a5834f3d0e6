import { assert, isDocumentText, type Store, type StoredDocument } from '@counterstep/core'
import type { Subscriber, Topic, TopicStore } from './topic-store.ts'

type Documents = Pick<Store, 'readDocuments' | 'writeDocument' | 'removeDocument'>

const CATEGORY = 'dtm-topics'

/** Keeps the topics as documents in the store of the transactions. */
export function createDocumentTopicStore(documents: Documents, writeId: () => string): TopicStore {
  return {
    async list() {
      return (await documents.readDocuments(CATEGORY)).map(readTopic)
    },
    async write({ name, subscribers, expectedVersion }) {
      const text = JSON.stringify(subscribers)
      if (!isDocumentText(text)) return 'too-large'
      const document = { category: CATEGORY, key: name, text, expectedVersion, writeId: writeId() }
      const { type } = await documents.writeDocument(document)
      return type === 'full' ? 'too-many' : type
    },
    async remove(name, expectedVersion) {
      return (await documents.removeDocument({ category: CATEGORY, key: name, expectedVersion })).type
    },
  }
}

function readTopic({ key, text, version, updatedAt }: StoredDocument): Topic {
  const subscribers: unknown = JSON.parse(text)
  assert(
    Array.isArray(subscribers) && subscribers.every(isSubscriber),
    'a topic that is no list of subscribers',
  )
  return { name: key, subscribers, version, updatedAt }
}

function isSubscriber(value: unknown): value is Subscriber {
  return typeof value === 'object' && value !== null && 'url' in value && typeof value.url === 'string'
}
