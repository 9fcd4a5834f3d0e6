import { AssertionError } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { ServerLink } from '../links/server-link.ts'
import { decodeHeads } from '../shards/decode-answers.ts'
import { readHeadsCall } from '../shards/encode-calls.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'

export interface TailLoss {
  readonly server: string
  /** The newest instant, by this process's clock, that the server still knows of. Absent: it knows of none. */
  readonly knownUntil?: number
  /** When it acknowledged the newest write of which it should know. */
  readonly acknowledgedUntil: number
  readonly foundAt: number
}

/** What one server has acknowledged: numbered, so that an older copy of it shows. */
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
  /** From then on the row may rightly be gone, and its gid used again. */
  readonly provesUntil: number
}

interface DocumentsWrite {
  readonly type: 'documents'
  readonly category: string
  /** How many writes the category has had: never less again, whatever is removed. */
  readonly sequence: number
}

interface Watch {
  isBusy: boolean
  isInspectionDue: boolean
  nextMarkAt: number
  nextLookAt: number
}

interface Finding {
  readonly isLost: boolean
  readonly knownUntil?: number
}

/** As scripts/parts/document.lua has it. */
const DOCUMENTS_SEQUENCE_FIELD = ''
const MARK_EVERY_MS = 1_000
/** A mark outlives its process by so much; after half of it a missing one proves nothing. */
const MARK_KEPT_MS = 24 * 3_600_000
/** Within the least retention nobody else can have finished and purged a row. */
const GONE_AFTER_MS = 50_000

/**
 * Sees that a server has forgotten what it had acknowledged. Redis loses a suffix of what it was told, so if the last
 * is there, all is. Under a living connection: a mark of this process on each server, replaced each second while there
 * are writes, never taken back. After a break also the last acknowledged write of each shard, which is younger.
 */
export class TailWatch {
  readonly #calls: ShardCalls
  readonly #processId: string
  readonly #onLoss: (loss: TailLoss) => void
  /** By shard, since a shard may move to another server: a server's mark stands in the first of its shards. */
  readonly #marks = new Map<number, Mark>()
  readonly #lastWrites = new Map<number, LastWrite>()
  readonly #watches = new WeakMap<ServerLink, Watch>()

  constructor(calls: ShardCalls, processId: string, onLoss: (loss: TailLoss) => void) {
    this.#calls = calls
    this.#processId = processId
    this.#onLoss = onLoss
  }

  /** After the answer to a write. `goneFrom` of a finish: the end of its retention. */
  acknowledged(shard: number, gid: Gid, version: number, goneFrom = Number.POSITIVE_INFINITY): void {
    const provesUntil = Math.min(goneFrom, Date.now() + GONE_AFTER_MS)
    this.#acknowledged(shard, { type: 'row', gid, version, provesUntil })
  }

  /** After the answer to a write of a document, or to its removal. */
  acknowledgedDocument(shard: number, category: string, sequence: number): void {
    this.#acknowledged(shard, { type: 'documents', category, sequence })
  }

  #acknowledged(shard: number, write: RowWrite | DocumentsWrite): void {
    const link = this.#calls.servers.linkOf(shard)
    if (link === undefined) return
    const watch = this.#watchOf(link)
    // What stands here is what an inspection looks for: nothing newer may take its place before.
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

  /** A cheap look at the marks, at most one each second, for a server that nobody writes to. */
  look(): void {
    const now = Date.now()
    for (const link of this.#calls.servers.masters()) {
      const watch = this.#watchOf(link)
      if (now < watch.nextLookAt || !link.isUp) continue
      watch.nextLookAt = now + MARK_EVERY_MS
      const look = () => (watch.isInspectionDue ? this.#inspect(link, watch) : this.#lookAtMarks(link))
      this.#work(link, watch, look)
    }
  }

  /** After a break, or when a server has taken over shards: it may be an older copy. */
  inspect(link: ServerLink): void {
    const watch = this.#watchOf(link)
    watch.isInspectionDue = true
    this.#work(link, watch, () => this.#inspect(link, watch))
  }

  #watchOf(link: ServerLink): Watch {
    const known = this.#watches.get(link)
    if (known !== undefined) return known
    const watch = { isBusy: false, isInspectionDue: false, nextMarkAt: 0, nextLookAt: 0 }
    this.#watches.set(link, watch)
    return watch
  }

  /** One at a time for each server: a mark is judged by what was acknowledged when it was asked for. */
  #work(link: ServerLink, watch: Watch, work: () => Promise<void>): void {
    if (watch.isBusy) return
    watch.isBusy = true
    work().then(
      () => {
        watch.isBusy = false
        // It fell due meanwhile.
        if (watch.isInspectionDue) this.inspect(link)
      },
      // No answer, or Redis still loads: the next write, look or connection asks again.
      () => {
        watch.isBusy = false
      },
    )
  }

  async #mark(link: ServerLink): Promise<void> {
    const shards = this.#calls.servers.shardsOf(link)
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
    const finding = findingOf(before, known)
    if (finding.isLost) return this.#report(link, shards, [finding])
    mark.acknowledged = Math.max(mark.acknowledged, sequence)
    mark.acknowledgedAt = Math.max(mark.acknowledgedAt, writtenAt)
  }

  async #lookAtMarks(link: ServerLink): Promise<void> {
    const shards = this.#calls.servers.shardsOf(link)
    const findings = await this.#findMarks(shards)
    if (findings.some(({ isLost }) => isLost)) this.#report(link, shards, findings)
  }

  async #inspect(link: ServerLink, watch: Watch): Promise<void> {
    const shards = this.#calls.servers.shardsOf(link)
    // All that is looked for is fixed before the first await; what is acknowledged after that is none of it.
    const looks = [
      this.#findMarks(shards),
      Promise.all(shards.map((shard) => this.#findWrite(shard))),
    ] as const
    watch.isInspectionDue = false
    try {
      const [marks, writes] = await Promise.all(looks)
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
        findingOf(
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

  /** Once: what is gone is gone, and the watch begins anew. */
  #report(link: ServerLink, shards: readonly number[], marks: readonly Finding[]): void {
    const instants = shards.flatMap((shard) => [
      this.#marks.get(shard)?.acknowledgedAt ?? 0,
      this.#lastWrites.get(shard)?.acknowledgedAt ?? 0,
    ])
    for (const shard of shards) {
      // The numbers go on: what survived of a mark must not stand above its successors.
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

/** A mark's text is its number and its instant. */
function findingOf(found: unknown, { acknowledged, acknowledgedAt }: Mark): Finding {
  if (found === null) {
    return { isLost: acknowledged > 0 && Date.now() < acknowledgedAt + MARK_KEPT_MS / 2 }
  }
  const [sequence = Number.NaN, instant = Number.NaN] = String(found).split(' ').map(Number)
  if (!Number.isSafeInteger(sequence) || !Number.isSafeInteger(instant)) {
    throw new AssertionError('a mark that cannot be read')
  }
  return { isLost: sequence < acknowledged, knownUntil: instant }
}
