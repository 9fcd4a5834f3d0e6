import type { ServerUser } from '../servers/server-user.ts'

/** What the owner tells its keeper. */
export type Order =
  | {
      readonly type: 'start'
      readonly id: number
      readonly command: string
      readonly args: readonly string[]
      /** Output is appended to this file. */
      readonly log: string
      /** Undefined: the owner. */
      readonly user: ServerUser | undefined
    }
  | { readonly type: 'signal'; readonly id: number; readonly signal: NodeJS.Signals }

/** What the keeper tells its owner. */
export type News =
  | { readonly type: 'ready'; readonly folder: string }
  | { readonly type: 'started'; readonly id: number; readonly pid: number }
  | { readonly type: 'refused'; readonly id: number; readonly why: string }
  /** `failure` is why it could not be. */
  | { readonly type: 'signalled'; readonly id: number; readonly failure: string | undefined }
  /** `how` is an exit code or the name of a signal. */
  | { readonly type: 'ended'; readonly id: number; readonly how: string }
