import type { KeyFinder, QuotaBounds } from '@counterstep/access'
import type { CounterstepOptions } from '@counterstep/embedded'

export interface PluginOptions extends CounterstepOptions {
  /** This adds the HTTP API to the app. By default there is none, and the app uses `app.counterstep` alone. */
  readonly face?: Face | false
}

export type Face = FacePlace & FaceKeys

interface FacePlace {
  /** The paths of the HTTP API begin with it. The default is `/counterstep`. */
  readonly prefix?: string
  /** A Host header may have these names, and so may the origin of a page that calls the HTTP API. */
  readonly allowedHosts?: readonly string[]
  /**
   * If it is true, the console is served under `console/` of the prefix. With keys its sessions are in the store. The
   * default is false.
   */
  readonly console?: boolean
  /** Request bodies that are not yet whole may hold this many bytes together. The default is 32 MiB. */
  readonly unreadBodyBytesMax?: number
}

/** Says who may use the HTTP API. */
export type FaceKeys =
  | {
      /** `counterstep keys create` makes the file. It is read again when it changes. */
      readonly keysFile: string
      /** One key may send this many requests per second to this process. By default there is no bound. */
      readonly ratePerKey?: number
      /** One key may have this much stored by this process in a day of UTC. By default there is no bound. */
      readonly quotaPerKey?: QuotaBounds
    }
  | {
      /** This finds keys that the app keeps by itself, without a file. */
      readonly keys: KeyFinder
      readonly ratePerKey?: number
      readonly quotaPerKey?: QuotaBounds
    }
  /** Every caller may use the HTTP API. Only a loopback `Host` is answered, unless `allowedHosts` names others. */
  | { readonly insecureNoKeys: true }
