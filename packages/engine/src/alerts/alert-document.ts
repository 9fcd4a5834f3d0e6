import {
  type AlertState,
  type Ids,
  NO_ALERTS,
  readAlertState,
  type Store,
  writeAlertState,
} from '@counterstep/core'

const CATEGORY = 'alerts'
const KEY = 'state'

export interface StoredAlerts {
  readonly state: AlertState
  readonly version: number
}

/** Keeps the state of alerts for all nodes in one document. Its version tells which node decides. */
export class AlertDocument {
  readonly #store: Pick<Store, 'readDocuments' | 'writeDocument'>
  readonly #ids: Pick<Ids, 'writeId'>

  constructor(store: Pick<Store, 'readDocuments' | 'writeDocument'>, ids: Pick<Ids, 'writeId'>) {
    this.#store = store
    this.#ids = ids
  }

  /** Returns undefined if newer code has written it, which then decides. */
  async read(): Promise<StoredAlerts | undefined> {
    const documents = await this.#store.readDocuments(CATEGORY)
    const document = documents.find(({ key }) => key === KEY)
    if (document === undefined) return { state: NO_ALERTS, version: 0 }
    const state = readAlertState(document.text)
    return state === undefined ? undefined : { state, version: document.version }
  }

  /** Returns undefined if another node was first. What has not changed is not written. */
  async write(state: AlertState, before: StoredAlerts): Promise<StoredAlerts | undefined> {
    const text = writeAlertState(state)
    if (text === writeAlertState(before.state)) return { state, version: before.version }
    const result = await this.#store.writeDocument({
      category: CATEGORY,
      key: KEY,
      text,
      expectedVersion: before.version,
      writeId: this.#ids.writeId(),
    })
    return result.type === 'written' ? { state, version: result.version } : undefined
  }
}
