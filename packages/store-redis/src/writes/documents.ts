import {
  AssertionError,
  compareByBytes,
  DOCUMENTS_MAX,
  type DocumentRemoval,
  type DocumentRemovalResult,
  type DocumentWrite,
  type DocumentWriteResult,
  type StoredDocument,
} from '@counterstep/core'
import { countWithin, ROWS_BYTES_MAX } from '../links/answer-bound.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'
import { MANY_SHARDS } from '../shards/shards.ts'
import type { TailWatch } from '../tail/tail-watch.ts'

const HEAD = /^1 (\d+) (\d+) [\w-]+\n/

/** Reads and writes documents. A category is one hash in one of the many shards, also if all rows are in one shard. */
export class Documents {
  readonly #calls: ShardCalls
  readonly #tail: TailWatch

  constructor(calls: ShardCalls, tail: TailWatch) {
    this.#calls = calls
    this.#tail = tail
  }

  async write(write: DocumentWrite): Promise<DocumentWriteResult> {
    const { category, key, text, expectedVersion, writeId } = write
    const [shard, categoryKey] = this.#getPlace(category)
    const args = [key, String(expectedVersion), writeId, String(DOCUMENTS_MAX), text]
    const answer = await this.#calls.script(shard, 'writeDocument', { keys: [categoryKey], args })
    const [type, version, sequence] = answer as readonly [DocumentWriteResult['type'], string, string]
    if (type === 'full') return { type }
    if (type === 'written') this.#tail.noteAcknowledgedDocument(shard, category, Number(sequence))
    return { type, version: Number(version) }
  }

  async remove({ category, key, expectedVersion }: DocumentRemoval): Promise<DocumentRemovalResult> {
    const [shard, categoryKey] = this.#getPlace(category)
    const args = [key, String(expectedVersion)]
    const answer = await this.#calls.script(shard, 'removeDocument', { keys: [categoryKey], args })
    const [type, number] = answer as readonly [DocumentRemovalResult['type'], string]
    if (type === 'conflict') return { type, version: Number(number) }
    if (type === 'removed') this.#tail.noteAcknowledgedDocument(shard, category, Number(number))
    return { type }
  }

  /** Reads the sizes first, and then so many documents at a time that no answer is late because of its size. */
  async read(category: string): Promise<readonly StoredDocument[]> {
    const [shard, categoryKey] = this.#getPlace(category)
    const answer = await this.#calls.script(shard, 'documentSizes', { keys: [categoryKey], args: [] })
    let left = decodeSizes(answer)
    const documents: StoredDocument[] = []
    while (left.length > 0) {
      const count = countWithin(
        left.map(({ bytes }) => bytes),
        ROWS_BYTES_MAX,
      )
      const keys = left.slice(0, count).map(({ key }) => key)
      left = left.slice(count)
      const values = (await this.#calls.command(shard, 'hmget', [categoryKey, ...keys])) as readonly unknown[]
      // A document without a value was removed meanwhile.
      documents.push(...keys.flatMap((key, i) => decodeDocument(category, key, values[i]) ?? []))
    }
    return documents.sort((a, b) => compareByBytes(a.key, b.key))
  }

  #getPlace(category: string): readonly [shard: number, key: string] {
    const shard = MANY_SHARDS.toShard(category)
    return [shard, this.#calls.keys(shard).documents(category)]
  }
}

function decodeSizes(answer: unknown): readonly { readonly key: string; readonly bytes: number }[] {
  const values = answer as readonly (string | number)[]
  return Array.from({ length: values.length / 2 }, (_, i) => ({
    key: String(values[i * 2]),
    bytes: Number(values[i * 2 + 1]),
  }))
}

function decodeDocument(category: string, key: string, value: unknown): StoredDocument | undefined {
  if (typeof value !== 'string') return undefined
  const head = HEAD.exec(value)
  if (head === null) throw new AssertionError(`a document of ${category} cannot be read by this version`)
  const [line, version, updatedAt] = head
  return {
    category,
    key,
    text: value.slice(line.length),
    version: Number(version),
    updatedAt: Number(updatedAt),
  }
}
