import { mkdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFinalStatus, type TransactionView } from '@counterstep/protocol'
import type { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { until } from '@counterstep/test-servers/until'
import type { BankLedger } from '../crash-points/bank-ledger.ts'
import { shimVariables, toFailingFile } from './compile-shim.ts'
import { Disk, type Image } from './disk.ts'
import { readImage, writeImage } from './image-folder.ts'
import type { Load } from './load.ts'
import type { PoweredServer, PoweredStore } from './powered-store.ts'
import type { Random } from './random.ts'
import { readJournal } from './read-journal.ts'
import { StartRefusedError } from './server-process.ts'
import { Fate } from './surviving-changes.ts'

/** Recovery takes a second or so; this only tells stuck from slow. */
const FINAL_MS_MAX = 60_000
const POLL_EVERY_MS = 2
/** Besides the acknowledged ones of a round, so that cuts fall anywhere. */
const MORE_MS_MAX = 40
const VIEWS_AT_ONCE = 32
/** So many sagas that are not final are shown where a run fails. */
const OPEN_SHOWN_MAX = 2

export interface CutRunParts {
  readonly store: PoweredStore
  readonly shimPath: string
  /** The folder of disks and journals. */
  readonly folder: string
  readonly load: Load
  readonly ledger: BankLedger
  readonly random: Random
  readonly cuts: number
  readonly acknowledgedPerCut: number
  /** The load of a round takes so long at least, where a store promises what is older than some time. */
  readonly loadMsMin?: number | undefined
  /** The disk only says that it has synced, once a server is up. */
  readonly isLying?: boolean
  /** In each round the syncs fail for a while, so that the server ends, and is started again before the cut. */
  readonly failsSyncs?: boolean
}

export interface CutReport {
  readonly cuts: number
  readonly acknowledged: number
  /** Cuts with something to lose: without them the run proves nothing. */
  readonly cutsBetweenWriteAndSync: number
  /** The changes that no sync had secured, over all cuts. */
  readonly unsettledChanges: number
  /** Acknowledged, and gone. */
  readonly lost: readonly string[]
  /** The longest time from an answer to the cut that took what was answered, in milliseconds. */
  readonly lostAgeMsMax: number
  readonly faults: readonly string[]
  readonly repairs: number
  /** The last image was none that the store could open; the run ended there. */
  readonly refused: string | undefined
}

/** Load, cut, a disk as the cut may leave it, start; and in the end every acknowledged saga must be final and right. */
export class CutRun {
  readonly #parts: CutRunParts
  readonly #lost = new Set<string>()
  readonly #faults: string[] = []
  #cutsBetween = 0
  #cutAt = 0
  #lostAgeMsMax = 0
  #unsettled = 0
  #cuts = 0

  constructor(parts: CutRunParts) {
    this.#parts = parts
  }

  async run(): Promise<CutReport> {
    const first = this.#freshRoot()
    await this.#parts.store.prepare(first)
    let image = readImage(first)
    let refused: string | undefined
    try {
      while (this.#cuts < this.#parts.cuts) image = await this.#loadAndCut(image)
      await this.#endOn(image)
    } catch (error: unknown) {
      if (!(error instanceof StartRefusedError)) throw error
      refused = error.message
    }
    const { load } = this.#parts
    return {
      cuts: this.#cuts,
      acknowledged: load.acknowledged.size,
      cutsBetweenWriteAndSync: this.#cutsBetween,
      unsettledChanges: this.#unsettled,
      lost: [...this.#lost],
      lostAgeMsMax: this.#lostAgeMsMax,
      faults: [...this.#faults, ...load.faults, ...load.watch.shown.map((where) => `S28: ${where}`)],
      repairs: this.#parts.store.repairs,
      refused,
    }
  }

  async #loadAndCut(image: Image): Promise<Image> {
    const root = this.#freshRoot()
    const journal = `${root}-journal`
    writeImage(root, image)
    let server = await this.#start(root, journal)
    const readyAt = statSync(journal).size
    try {
      await this.#compare(server)
      if (this.#parts.failsSyncs === true) server = await this.#failSyncs(server, root, journal)
      const running = await this.#loadSome(server)
      await sleep(this.#parts.random.next() * MORE_MS_MAX)
      this.#cutAt = performance.now()
      await server.cut()
      await running.ended
    } finally {
      await server.cut()
    }
    const left = this.#imageAfter({ root, journal, before: image, readyAt })
    this.#cuts += 1
    rmSync(root, { recursive: true, force: true })
    rmSync(journal)
    return left
  }

  /** Resolves when enough is acknowledged, with the load that goes on. */
  async #loadSome({ url }: PoweredServer): Promise<{ readonly ended: Promise<void> }> {
    const { load, acknowledgedPerCut } = this.#parts
    const enough = load.acknowledged.size + acknowledgedPerCut
    const ended = load.run(url)
    let isOver = false
    const over = ended.then(() => {
      isOver = true
    })
    const until = performance.now() + (this.#parts.loadMsMin ?? 0)
    while (load.acknowledged.size < enough || performance.now() < until) {
      if (isOver) throw new Error('the server has stopped to answer before its power was cut')
      await Promise.race([sleep(POLL_EVERY_MS), over])
    }
    return { ended }
  }

  /** Lets the server end under load, since no sync is done any more, and starts it on what it has left, as a supervisor does. */
  async #failSyncs(server: PoweredServer, root: string, journal: string): Promise<PoweredServer> {
    const { ended } = await this.#loadSome(server)
    writeFileSync(toFailingFile(journal), '')
    await ended
    await server.gone
    rmSync(toFailingFile(journal))
    return await this.#start(root, journal)
  }

  #imageAfter({ root, journal, before, readyAt }: Round): Image {
    const disk = new Disk(root, before, this.#parts.store.growth)
    for (const note of readJournal(journal)) {
      if (this.#parts.isLying === true && note.endsAt > readyAt) disk.lie()
      disk.apply(note)
    }
    if (disk.unsettled > 0) this.#cutsBetween += 1
    this.#unsettled += disk.unsettled
    return disk.image(new Fate(this.#parts.random, this.#cuts))
  }

  #start(root: string, journal: string): Promise<PoweredServer> {
    return this.#parts.store.start({ root, variables: shimVariables(this.#parts.shimPath, root, journal) })
  }

  /** Whatever a client was told still holds (I1, I18). */
  async #compare({ url }: PoweredServer): Promise<void> {
    const { acknowledged } = this.#parts.load
    const gids = [...acknowledged.keys()].filter((gid) => !this.#lost.has(gid))
    const views = await lookMany(url, gids, this.#parts.load.watch)
    for (const gid of gids) this.#compareOne(gid, acknowledged.get(gid), views.get(gid))
    for (const [gid, { status }] of views) acknowledged.set(gid, status)
  }

  #compareOne(gid: string, seen: string | undefined, view: TransactionView | undefined): void {
    if (view === undefined) {
      this.#lost.add(gid)
      const ageMs = this.#cutAt - (this.#parts.load.acknowledgedAt.get(gid) ?? this.#cutAt)
      this.#lostAgeMsMax = Math.max(this.#lostAgeMsMax, ageMs)
    } else if ((seen === 'succeeded' || seen === 'failed') && view.status !== seen) {
      this.#faults.push(`I18: ${gid} was ${seen}, then ${view.status}`)
    }
  }

  async #endOn(image: Image): Promise<void> {
    const root = this.#freshRoot()
    writeImage(root, image)
    const server = await this.#start(root, `${root}-journal`)
    try {
      await this.#compare(server)
      await this.#waitForFinal(server.url)
      await this.#audit(server.url)
    } finally {
      await server.cut()
    }
  }

  async #waitForFinal(url: string): Promise<void> {
    const { load } = this.#parts
    let open: readonly TransactionView[] | undefined
    let due = ''
    const sayWhat = () =>
      `every saga is final; open are ${JSON.stringify(open?.slice(0, OPEN_SHOWN_MAX))}, due first are ${due}`
    await until(sayWhat, FINAL_MS_MAX, async () => {
      const gids = open?.map(({ gid }) => gid) ?? [...load.sent]
      const views = await lookMany(url, gids, load.watch)
      open = [...views.values()].filter(({ status }) => !isFinalStatus(status))
      // A row that the due index lacks is claimed by no node, and stands in no such list.
      if (open.length > 0 && open.length <= OPEN_SHOWN_MAX) due = await readDueFirst(url)
      return open.length === 0
    })
  }

  async #audit(url: string): Promise<void> {
    const { load, ledger } = this.#parts
    const views = await lookMany(url, [...load.sent], load.watch)
    for (const gid of load.sent) {
      const view = views.get(gid)
      if (view !== undefined) this.#faults.push(...ledger.findFaults(view))
      else if (!load.acknowledged.has(gid) && ledger.wasCalled(gid)) {
        this.#faults.push(`${gid} was called before its accept was durable`)
      }
    }
    this.#faults.push(...ledger.wrongBalances())
  }

  #freshRoot(): string {
    const root = join(this.#parts.folder, `disk-${this.#cuts}`)
    rmSync(root, { recursive: true, force: true })
    mkdirSync(root, { recursive: true })
    return realpathSync(root)
  }
}

interface Round {
  readonly root: string
  readonly journal: string
  readonly before: Image
  /** The place in the journal at which the server was up. */
  readonly readyAt: number
}

/** Reads the rows that are due first, as the index of the store has them, and the time. */
async function readDueFirst(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/transactions?order=due&limit=${OPEN_SHOWN_MAX}`)
  return `${await response.text()} at ${Date.now()}`
}

/** Those that exist, by gid. */
async function lookMany(
  url: string,
  gids: readonly string[],
  watch: SecretWatch,
): Promise<Map<string, TransactionView>> {
  const views = new Map<string, TransactionView>()
  const left = [...gids]
  const lookAll = async () => {
    for (let gid = left.pop(); gid !== undefined; gid = left.pop()) {
      const response = await fetch(`${url}/v1/transactions/${gid}`)
      const text = await response.text()
      watch.hear('views', text)
      const body: unknown = JSON.parse(text)
      if (response.status === 200) views.set(gid, body as TransactionView)
      else if (response.status !== 404) {
        throw new Error(`GET of ${gid} answered ${response.status}: ${JSON.stringify(body)}`)
      }
    }
  }
  await Promise.all(Array.from({ length: VIEWS_AT_ONCE }, lookAll))
  return views
}
