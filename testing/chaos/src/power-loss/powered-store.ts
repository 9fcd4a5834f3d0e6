import type { Growth } from './disk.ts'

/** A counterstep server and its store, on a machine whose power can be cut. */
export interface PoweredStore {
  readonly name: string
  /** The promise that the store needs from the file system below. */
  readonly growth: Growth
  /** How often it did not start before what came after the last good entry of its log was cut off. */
  readonly repairs: number
  /** Makes the files that are on the disk before the first cut, and are there for certain. */
  prepare(root: string): Promise<void>
  start(disk: RecordedDisk): Promise<PoweredServer>
}

export interface RecordedDisk {
  readonly root: string
  /** The environment of each process that writes below `root`. */
  readonly variables: Readonly<Record<string, string>>
}

export interface PoweredServer {
  readonly url: string
  /** Resolves when it has ended by itself, as it does when its store is broken. */
  readonly gone?: Promise<void>
  /** Ends it at once, without a shutdown. */
  cut(): Promise<void>
}
