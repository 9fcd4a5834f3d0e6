import { AssertionError } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { ServerLink } from '../links/server-link.ts'
import { decodeHeads } from '../shards/decode-answers.ts'
import { readHeadsCall } from '../shards/encode-calls.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'

export interface TailLoss {
  readonly server: string
  /** The newest write that the server still knows, by this process's clock. Absent: it knows none. */
  readonly knownUntil?: number
  /** The time at which it acknowledged the newest write that it should know. */
  readonly acknowledgedUntil: number
  readonly foundAt: number
}

/** The numbered mark that one server has acknowledged. An older copy of the server has a lower number. */
interface Mark {
  sequence: number
  acknowledged: number
  acknowledgedAt: number
}

type LastWrite = { readonly acknowledgedAt: number } & (RowWrite | DocumentsWrite)

interface RowWrite {
  readonly type: 'row'
  readonly gid: Gid
  readonly version: number
  /** After this time the row may rightly be gone, and its gid used again. */
  readonly provesUntil: number
}

interface DocumentsWrite {
  readonly type: 'documents'
  readonly category: string
  /** The number of writes of the category, which a removal does not lower. */
  readonly sequence: number
}

interface Watch {
  isBusy: boolean
  isInspectionDue: boolean
  nextMarkAt: number
  nextCheckAt: number
}

interface Finding {
  readonly isLost: boolean
  readonly knownUntil?: number
}

/** The name of the field in scripts/parts/document.lua. */
const DOCUMENTS_SEQUENCE_FIELD = ''
const MARK_EVERY_MS = 1_000
/** A mark is kept for this long after its last write. After half of that time a missing mark proves nothing. */
const MARK_KEPT_MS = 24 * 3_600_000
/** Within the least retention no other node can have finished and purged a row. */
const GONE_AFTER_MS = 50_000

/**
 * Finds that a server has lost writes that it had acknowledged. Redis loses the newest writes, so if the last write is
 * there, all are. While a connection lives, this process keeps a mark on each server, which it replaces each second while
 * there are writes. After a break it also looks for the last acknowledged write of each shard, which is newer.
 */
export class TailWatch {
  readonly #calls: ShardCalls
  readonly #processId: string
  readonly #onLoss: (loss: TailLoss) => void
  /** The marks by shard, since a shard may move to another server. A server's mark stands in the first of its shards. */
  readonly #marks = new Map<number, Mark>()
  readonly #lastWrites = new Map<number, LastWrite>()
  readonly #watches = new WeakMap<ServerLink, Watch>()

  constructor(calls: ShardCalls, processId: string, onLoss: (loss: TailLoss) => void) {
    this.#calls = calls
    this.#processId = processId
    this.#onLoss = onLoss
  }

  /** Is called after the answer to a write. `goneFrom` is the end of a finished row's retention. */
  noteAcknowledged(shard: number, gid: Gid, version: number, goneFrom = Number.POSITIVE_INFINITY): void {
    const provesUntil = Math.min(goneFrom, Date.now() + GONE_AFTER_MS)
    this.#noteWrite(shard, { type: 'row', gid, version, provesUntil })
  }

  /** Is called after the answer to a write of a document, or to its removal. */
  noteAcknowledgedDocument(shard: number, category: string, sequence: number): void {
    this.#noteWrite(shard, { type: 'documents', category, sequence })
  }

  #noteWrite(shard: number, write: RowWrite | DocumentsWrite): void {
    const link = this.#calls.servers.findLink(shard)
    if (link === undefined) return
    const watch = this.#getWatch(link)
    // An inspection looks for the write that is kept here, so a newer one must not replace it before.
    if (watch.isInspectionDue) {
      this.#work(link, watch, () => this.#inspect(link, watch))
      return
    }
    const now = Date.now()
    this.#lastWrites.set(shard, { ...write, acknowledgedAt: now })
    if (now < watch.nextMarkAt) return
    watch.nextMarkAt = now + MARK_EVERY_MS
    this.#work(link, watch, () => this.#mark(link))
  }

  /** Reads the marks, at most once a second, for a server to which nothing is written. */
  checkMarks(): void {
    const now = Date.now()
    for (const link of this.#calls.servers.masters()) {
      const watch = this.#getWatch(link)
      if (now < watch.nextCheckAt || !link.isUp) continue
      watch.nextCheckAt = now + MARK_EVERY_MS
      const check = () => (watch.isInspectionDue ? this.#inspect(link, watch) : this.#readMarks(link))
      this.#work(link, watch, check)
    }
  }

  /** Is called after a break, or when a server has taken over shards, since it may be an older copy. */
  inspect(link: ServerLink): void {
    const watch = this.#getWatch(link)
    watch.isInspectionDue = true
    this.#work(link, watch, () => this.#inspect(link, watch))
  }

  #getWatch(link: ServerLink): Watch {
    const known = this.#watches.get(link)
    if (known !== undefined) return known
    const watch = { isBusy: false, isInspectionDue: false, nextMarkAt: 0, nextCheckAt: 0 }
    this.#watches.set(link, watch)
    return watch
  }

  /**
   * Does one work at a time for each server, because a mark is compared with what was acknowledged when it was asked
   * for.
   */
  #work(link: ServerLink, watch: Watch, work: () => Promise<void>): void {
    if (watch.isBusy) return
    watch.isBusy = true
    work().then(
      () => {
        watch.isBusy = false
        // An inspection has become due meanwhile.
        if (watch.isInspectionDue) this.inspect(link)
      },
      // There was no answer, or Redis still loads. The next write, check or connection asks again.
      () => {
        watch.isBusy = false
      },
    )
  }

  async #mark(link: ServerLink): Promise<void> {
    const shards = this.#calls.servers.findShards(link)
    const [shard] = shards
    if (shard === undefined) return
    const mark = this.#marks.get(shard) ?? { sequence: 0, acknowledged: 0, acknowledgedAt: 0 }
    this.#marks.set(shard, mark)
    mark.sequence += 1
    const [known, sequence, writtenAt] = [{ ...mark }, mark.sequence, Date.now()]
    const before = await this.#calls.script(shard, 'mark', {
      keys: [this.#calls.keys(shard).mark(this.#processId)],
      args: [String(sequence), String(writtenAt), String(MARK_KEPT_MS)],
    })
    const finding = compareMark(before, known)
    if (finding.isLost) return this.#report(link, shards, [finding])
    mark.acknowledged = Math.max(mark.acknowledged, sequence)
    mark.acknowledgedAt = Math.max(mark.acknowledgedAt, writtenAt)
  }

  async #readMarks(link: ServerLink): Promise<void> {
    const shards = this.#calls.servers.findShards(link)
    const findings = await this.#findMarks(shards)
    if (findings.some(({ isLost }) => isLost)) this.#report(link, shards, findings)
  }

  async #inspect(link: ServerLink, watch: Watch): Promise<void> {
    const shards = this.#calls.servers.findShards(link)
    // The searched writes are fixed before the first await. What is acknowledged after that is not among them.
    const searches = [
      this.#findMarks(shards),
      Promise.all(shards.map((shard) => this.#findWrite(shard))),
    ] as const
    watch.isInspectionDue = false
    try {
      const [marks, writes] = await Promise.all(searches)
      if ([...marks, ...writes].some(({ isLost }) => isLost)) this.#report(link, shards, marks)
    } catch (error: unknown) {
      watch.isInspectionDue = true
      throw error
    }
  }

  #findMarks(shards: readonly number[]): Promise<readonly Finding[]> {
    const marked = shards.flatMap((shard) => {
      const mark = this.#marks.get(shard)
      return mark === undefined ? [] : [[shard, { ...mark }] as const]
    })
    return Promise.all(
      marked.map(async ([shard, mark]) =>
        compareMark(
          await this.#calls.command(shard, 'get', [this.#calls.keys(shard).mark(this.#processId)]),
          mark,
        ),
      ),
    )
  }

  async #findWrite(shard: number): Promise<Finding> {
    const write = this.#lastWrites.get(shard)
    if (write === undefined) return { isLost: false }
    return write.type === 'row' ? this.#findRow(shard, write) : this.#findDocuments(shard, write)
  }

  async #findRow(shard: number, write: RowWrite): Promise<Finding> {
    const call = readHeadsCall(this.#calls.keys(shard), [write.gid])
    const answer = (await this.#calls.script(shard, 'readHeads', call)) as readonly [string, unknown]
    if (Date.now() >= write.provesUntil) return { isLost: false }
    if (answer[0] === '') return { isLost: true }
    const [head] = decodeHeads([write.gid], answer)
    return { isLost: head !== undefined && head.version < write.version }
  }

  async #findDocuments(shard: number, { category, sequence }: DocumentsWrite): Promise<Finding> {
    const key = this.#calls.keys(shard).documents(category)
    const found = await this.#calls.command(shard, 'hget', [key, DOCUMENTS_SEQUENCE_FIELD])
    return { isLost: Number(found ?? 0) < sequence }
  }

  /** Reports a loss once, and then watches only later writes. */
  #report(link: ServerLink, shards: readonly number[], marks: readonly Finding[]): void {
    const instants = shards.flatMap((shard) => [
      this.#marks.get(shard)?.acknowledgedAt ?? 0,
      this.#lastWrites.get(shard)?.acknowledgedAt ?? 0,
    ])
    for (const shard of shards) {
      // The numbers go on, so that a surviving older mark is never higher than the next one.
      const mark = this.#marks.get(shard)
      if (mark !== undefined) Object.assign(mark, { acknowledged: 0, acknowledgedAt: 0 })
      this.#lastWrites.delete(shard)
    }
    const known = marks.flatMap(({ knownUntil }) => knownUntil ?? [])
    this.#onLoss({
      server: `${link.endpoint.host}:${link.endpoint.port}`,
      ...(known.length > 0 && { knownUntil: Math.max(...known) }),
      acknowledgedUntil: Math.max(...instants),
      foundAt: Date.now(),
    })
  }
}

/** Compares a mark's text, which is its number and its timestamp, with what was acknowledged. */
function compareMark(found: unknown, { acknowledged, acknowledgedAt }: Mark): Finding {
  if (found === null) {
    return { isLost: acknowledged > 0 && Date.now() < acknowledgedAt + MARK_KEPT_MS / 2 }
  }
  const [sequence = Number.NaN, instant = Number.NaN] = String(found).split(' ').map(Number)
  if (!Number.isSafeInteger(sequence) || !Number.isSafeInteger(instant)) {
    throw new AssertionError('a mark that cannot be read')
  }
  return { isLost: sequence < acknowledged, knownUntil: instant }
}
