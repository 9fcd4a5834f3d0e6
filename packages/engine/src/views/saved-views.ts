/** Keeps filters of the list under names, as documents of the store, so that all nodes and people share them. */
import { createHash } from 'node:crypto'
import type { Ids, Store, StoredDocument } from '@counterstep/core'
import {
  type Actor,
  CounterstepError,
  SAVED_VIEWS_MAX,
  type SavedView,
  type SavedViewRequest,
} from '@counterstep/protocol'
import type { Looks } from '../looks.ts'

const CATEGORY = 'views'
const TRIES_MAX = 5
const ID_LENGTH = 16

/** Hosts may do this with saved views. */
export type SavedViewsApi = Pick<ViewDocuments, 'list' | 'save' | 'remove'>

interface StoredView {
  readonly view: SavedView
  readonly version: number
}

export class ViewDocuments {
  readonly #store: Store
  readonly #ids: Ids
  readonly #now: () => number
  readonly #looks: Pick<Looks, 'take'>

  /** `now` tells epoch milliseconds. */
  constructor(store: Store, ids: Ids, now: () => number, looks: Pick<Looks, 'take'>) {
    this.#store = store
    this.#ids = ids
    this.#now = now
    this.#looks = looks
  }

  /** Lists the views in the caller's turn. Throws SAGA_TOO_MANY_READS. */
  list(caller?: string): Promise<readonly SavedView[]> {
    return this.#looks.take(
      () => this.#store.readDocuments(CATEGORY),
      (texts) => texts.map((text) => readView(text).view).sort((a, b) => a.name.localeCompare(b.name, 'en')),
      caller,
    )
  }

  /**
   * Saves a view, in place of one of the same name. It is durable when this resolves; after a crash before that, the
   * view is as it was or as it is to be, and the same again is safe. Two nodes that save the last one at once may go
   * over the bound by one.
   */
  async save({ name, filter }: SavedViewRequest, by: Actor): Promise<SavedView> {
    const id = toViewId(name)
    const view: SavedView = { id, name, filter, by, savedAt: this.#now() }
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const stored = await this.#read()
      const before = stored.find(({ view: each }) => each.id === id)
      if (before === undefined && stored.length >= SAVED_VIEWS_MAX) throw tooMany()
      const { type } = await this.#store.writeDocument({
        category: CATEGORY,
        key: id,
        text: JSON.stringify(view),
        expectedVersion: before?.version ?? 0,
        writeId: this.#ids.writeId(),
      })
      if (type === 'written') return view
      if (type === 'full') throw tooMany()
    }
    throw new CounterstepError('SAGA_CONTENDED', 'others save this view all the time: try again')
  }

  /** Removes a view. The removal is durable when this resolves. Throws SAGA_UNKNOWN_VIEW. */
  async remove(id: string): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const stored = (await this.#read()).find(({ view }) => view.id === id)
      if (stored === undefined) throw new CounterstepError('SAGA_UNKNOWN_VIEW', 'there is no such view')
      const removal = { category: CATEGORY, key: id, expectedVersion: stored.version }
      if ((await this.#store.removeDocument(removal)).type !== 'conflict') return
    }
    throw new CounterstepError('SAGA_CONTENDED', 'others save this view all the time: try again')
  }

  async #read(): Promise<StoredView[]> {
    return (await this.#store.readDocuments(CATEGORY)).map(readView)
  }
}

function readView({ text, version }: StoredDocument): StoredView {
  return { view: JSON.parse(text) as SavedView, version }
}

/** The same name gives the same id, so that a view that is saved again replaces the one before. */
function toViewId(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, ID_LENGTH)
}

function tooMany(): CounterstepError {
  return new CounterstepError(
    'SAGA_TOO_MANY_VIEWS',
    `there are ${SAVED_VIEWS_MAX} saved views: remove one that is not used`,
  )
}
