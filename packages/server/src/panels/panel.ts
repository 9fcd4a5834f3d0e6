import type { ScopedAccess } from '@counterstep/access'
import type { PanelTable } from '@counterstep/protocol'

/** A read-only table that a host hands to the HTTP API, which knows nothing of what is in it. */
export interface Panel {
  /** It stands in the URL: 1–32 of `a-z` and `-`. */
  readonly id: string
  readonly title: string
  /** The scopes that read it. Every reader of panels has `read` or `admin`. */
  readonly access: ScopedAccess
  /** It is called again for each reader, unless a read is under way. It must hold no secret. */
  readonly read: () => PanelTable | Promise<PanelTable>
}

const PANEL_ID = /^[a-z-]{1,32}$/

/** Finds panels by their ids. Throws if two have the same id, or one has none that can stand in a URL. */
export function indexPanels(panels: readonly Panel[]): ReadonlyMap<string, Panel> {
  const byId = new Map(panels.map((panel) => [panel.id, panel]))
  if (byId.size < panels.length || !panels.every(({ id }) => PANEL_ID.test(id)))
    throw new TypeError('each panel needs an id of its own, 1–32 of a-z and -')
  return byId
}
