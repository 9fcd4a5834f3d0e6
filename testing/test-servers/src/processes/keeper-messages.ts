import type { ServerUser } from '../servers/server-user.ts'

/** A message of the owner to its keeper. */
export type Order =
  | {
      readonly type: 'start'
      readonly id: number
      readonly command: string
      readonly args: readonly string[]
      /** Output is appended to this file. */
      readonly log: string
      /** The user of the program. If it is undefined, the program runs as the owner's user. */
      readonly user: ServerUser | undefined
    }
  | { readonly type: 'signal'; readonly id: number; readonly signal: NodeJS.Signals }

/** A message of the keeper to its owner. */
export type News =
  | { readonly type: 'ready'; readonly folder: string }
  | { readonly type: 'started'; readonly id: number; readonly pid: number }
  | { readonly type: 'refused'; readonly id: number; readonly why: string }
  /** The `failure` is the reason if the signal could not be sent. */
  | { readonly type: 'signalled'; readonly id: number; readonly failure: string | undefined }
  /** The end, `how`, is an exit code or the name of a signal. */
  | { readonly type: 'ended'; readonly id: number; readonly how: string }
