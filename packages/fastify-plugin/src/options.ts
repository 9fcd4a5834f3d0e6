import type { KeyFinder, QuotaBounds } from '@counterstep/access'
import type { CounterstepOptions } from '@counterstep/embedded'

export interface PluginOptions extends CounterstepOptions {
  /** Transactions over HTTP. Default: none; `app.counterstep` is the only way in. */
  readonly face?: Face | false
}

export type Face = FacePlace & FaceKeys

interface FacePlace {
  /** Default: `/counterstep`. */
  readonly prefix?: string
  /** Names that a Host header may have, and a page that calls. */
  readonly allowedHosts?: readonly string[]
  /** Bytes of request bodies that the face holds at once, in all, until each is whole. Default: 32 MiB. */
  readonly unreadBodyBytesMax?: number
}

/** Says who may use the face. */
export type FaceKeys =
  | {
      /** `counterstep keys create` makes the file. It is read again when it changes. */
      readonly keysFile: string
      /** Requests per second of one key in this process. Default: no bound. */
      readonly ratePerKey?: number
      /** One key may have so much stored in a day (UTC) by this process. Default: no bound. */
      readonly quotaPerKey?: QuotaBounds
    }
  | {
      /** These are keys from elsewhere. */
      readonly keys: KeyFinder
      readonly ratePerKey?: number
      readonly quotaPerKey?: QuotaBounds
    }
  /** Every caller that reaches the face may use it. Only a loopback `Host` is answered, unless `allowedHosts` names others. */
  | { readonly insecureNoKeys: true }
