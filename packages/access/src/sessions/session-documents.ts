export interface SessionDocument {
  readonly key: string
  readonly text: string
  readonly version: number
}

/** The sessions need this part of a store. */
export interface SessionDocuments {
  readDocuments(category: string): Promise<readonly SessionDocument[]>
  writeDocument(write: {
    readonly category: string
    readonly key: string
    readonly text: string
    readonly expectedVersion: number
    readonly writeId: string
  }): Promise<{ readonly type: 'written' | 'conflict' | 'full' }>
  removeDocument(removal: {
    readonly category: string
    readonly key: string
    readonly expectedVersion: number
  }): Promise<
    { readonly type: 'removed' | 'absent' } | { readonly type: 'conflict'; readonly version: number }
  >
}

export const SESSIONS_CATEGORY = 'sessions'
